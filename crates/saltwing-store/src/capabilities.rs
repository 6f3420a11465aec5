//! The abilities of a store.

use saltwing_types::DurabilityScope;

/// The longest key that the embedded stores take, in bytes.
pub const KEY_BYTES_MAX: usize = 65_535;

/// The abilities of a store, as data: no caller asks which store it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// `redb`, `sled` or `memory`.
    pub name: &'static str,
    /// Whether [`OrderedKv::snapshot`](crate::OrderedKv::snapshot) works, and a cursor sees one snapshot.
    pub snapshots: bool,
    /// Whether anything is there after the process ends.
    pub persistent: bool,
    /// Whether [`Access::ReadOnly`](crate::Access) writes nothing into the directory, needs no permission to, and goes
    /// beside other readers. If not, a reader has the directory alone, and the store may write to it.
    pub reads_without_writing: bool,
    /// The failures that an acknowledged synced write survives.
    pub durability: DurabilityScope,
    /// The longest key that can be written, in bytes.
    pub key_bytes_max: usize,
}
