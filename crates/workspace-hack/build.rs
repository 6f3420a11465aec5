//! Nothing to do: cargo takes build dependencies of crates with a build script only.
fn main() {}
