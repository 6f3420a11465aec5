//! No code: the features that third-party crates have in every build of this workspace. `Cargo.toml` says why.
