//! Row keys: codec, salt, key ranges
