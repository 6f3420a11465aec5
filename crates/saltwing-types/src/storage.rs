//! Words that the border of tables and the border of bytes have in common.

/// The way in which sorted keys are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From small keys to large ones.
    Forward,
    /// From large keys to small ones.
    Reverse,
}

impl Direction {
    /// Whether a walk reaches key `a` before key `b`.
    pub fn is_before(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Self::Forward => a < b,
            Self::Reverse => a > b,
        }
    }
}

/// What an acknowledged write has survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Promises order, not survival: a crash may take the last so many of these
    /// writes, never one without all later ones.
    Buffered,
    /// On the disk before it is acknowledged, as far as the store's [`DurabilityScope`] says. Writers at the same time
    /// share one sync (group commit).
    Synced,
}

/// What an acknowledged [`Durability::Synced`] write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurabilityScope {
    /// Nothing: it is gone with the process.
    None,
    /// A killed process; not a power cut, nor a crash of the operating system.
    Process,
    /// A power cut, as far as the device keeps what it was asked to sync.
    Power,
}
