//! The saltwing shell.
fn main() {}
