//! What a store can do.

/// The longest key that the embedded stores take, in bytes.
pub const KEY_BYTES_MAX: usize = 65_535;

/// What a batch is atomic over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicScope {
    /// Only over one key: a crash may leave some of a batch's mutations.
    Row,
    /// Over the whole batch, across spaces.
    Batch,
}

/// What an acknowledged [`Durability::Synced`](crate::Durability::Synced) write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurabilityScope {
    /// Nothing: it is gone with the process.
    None,
    /// A killed process; not a power cut, nor a crash of the operating system.
    Process,
    /// A power cut, as far as the device keeps what it was asked to sync.
    Power,
}

/// What a store can do, as data: no caller asks which store it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// `fjall`, `redb`, `sled` or `memory`.
    pub name: &'static str,
    /// What [`OrderedKv::write`](crate::OrderedKv::write) is atomic over.
    pub atomic: AtomicScope,
    /// Whether [`OrderedKv::snapshot`](crate::OrderedKv::snapshot) works, and a cursor sees one moment only.
    pub snapshots: bool,
    /// Whether anything is there after the process ends.
    pub persistent: bool,
    /// Whether [`Access::ReadOnly`](crate::Access) writes nothing into the directory, needs no permission to, and goes
    /// beside other readers. If not, a reader has the directory alone, and the store may write to it.
    pub reads_without_writing: bool,
    /// What an acknowledged synced write survives.
    pub durability: DurabilityScope,
    /// The longest key that can be written, in bytes.
    pub key_bytes_max: usize,
}
