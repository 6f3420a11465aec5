//! Checks a store for damage, and reads its intact parts. Damage is data here, not an error.

pub(crate) mod examine;
pub(crate) mod image;
pub(crate) mod named;
pub(crate) mod one_moment;
pub(crate) mod orphans;
pub(crate) mod read_only;
pub(crate) mod verify;
