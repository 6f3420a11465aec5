//! The sorted maps of a store.

use std::fmt;

/// One sorted map of a store, by number.
///
/// Spaces are few and shared by all tables; the crate above defines what each
/// number is for. A space exists as soon as something was written to it;
/// one that does not exist reads as empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(u8);

impl Space {
    /// The space with this number.
    pub const fn new(id: u8) -> Self {
        Self(id)
    }

    /// Its number.
    pub const fn id(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "space {}", self.0)
    }
}
