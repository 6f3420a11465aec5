//! The ordered key-value contract on fjall
