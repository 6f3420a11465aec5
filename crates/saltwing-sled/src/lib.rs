//! The ordered key-value contract on sled
