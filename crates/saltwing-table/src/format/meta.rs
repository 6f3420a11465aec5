//! Which generations live, and how far the merge has come: one record of the store.

use saltwing_access::TableError;
use saltwing_store::Bytes;
use saltwing_types::TableId;

use crate::format::bits::{Reader, seal};

/// The version of the whole layout that is written.
const VERSION: u8 = 4;
/// The one before it, which is read too: it had no runs.
const VERSION_WITHOUT_RUNS: u8 = 3;

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    /// The generation that takes writes.
    pub(crate) active: u64,
    /// Whether the generation before it lives: it is being merged.
    pub(crate) frozen: bool,
    /// The next block's id: they grow, and none is used twice.
    pub(crate) next_block: u64,
    /// The merge resumes here: everything before is in blocks.
    pub(crate) cursor: Cursor,
}

/// A place in all tables' keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    pub(crate) table: TableId,
    pub(crate) key: Bytes,
}

impl Default for Cursor {
    fn default() -> Self {
        Self { table: TableId(0), key: Bytes::default() }
    }
}

impl Meta {
    /// The generation that is being merged.
    pub(crate) fn frozen_generation(&self) -> Option<u64> {
        self.frozen.then(|| self.active.wrapping_sub(1))
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::from(self.frozen)];
        out.extend_from_slice(&self.active.to_le_bytes());
        out.extend_from_slice(&self.next_block.to_le_bytes());
        out.extend_from_slice(&self.cursor.table.0.to_le_bytes());
        out.extend_from_slice(&(self.cursor.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.cursor.key);
        seal(out)
    }

    /// Reads the record.
    ///
    /// # Errors
    /// [`TableError::OtherLayout`] for one of another version; [`TableError::CorruptLayout`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, TableError> {
        let damaged = TableError::CorruptLayout("the record of generations");
        let Some(mut reader) = Reader::checked(bytes) else { return Err(damaged) };
        match reader.u8() {
            Some(VERSION | VERSION_WITHOUT_RUNS) => Self::read_content(&mut reader).ok_or(damaged),
            Some(_) => Err(TableError::OtherLayout),
            None => Err(damaged),
        }
    }

    fn read_content(reader: &mut Reader<'_>) -> Option<Self> {
        let frozen = reader.u8()? != 0;
        let (active, next_block) = (reader.u64()?, reader.u64()?);
        let table = TableId(reader.u32()?);
        let key_bytes = reader.u16()?;
        let key = Bytes::from(reader.bytes(key_bytes.into())?);
        Some(Self { active, frozen, next_block, cursor: Cursor { table, key } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_it_was_written() {
        let cursor = Cursor { table: TableId(9), key: Bytes::from(b"key") };
        let meta = Meta { active: 5, frozen: true, next_block: 77, cursor };
        let stored = meta.write();
        assert_eq!(Meta::read(&stored).unwrap(), meta);
        assert!((0..stored.len()).all(|cut| Meta::read(&stored[..cut]).is_err()));
        let mut other = stored[..stored.len() - 4].to_vec();
        other[0] = VERSION_WITHOUT_RUNS;
        assert_eq!(Meta::read(&seal(other.clone())).unwrap(), meta);
        for unknown in [VERSION_WITHOUT_RUNS - 1, VERSION + 1] {
            other[0] = unknown;
            assert!(matches!(Meta::read(&seal(other.clone())), Err(TableError::OtherLayout)));
        }
    }
}
