//! Which spaces of the store hold what, and under which keys.
//!
//! All keys begin with the table's number, 4 bytes big endian, so that none is empty. `META` has one key.
//!
//! ```text
//! DELTAS   table | number 8            -> record of rows           one space a generation, by turns
//! DIR      table | 0 | fence           -> directory entry
//!          table | 1 | id 8            -> a run, and whose rows it has
//! FIX, VAR table | block id 8 | family -> part
//! REPLACED table | id 8                -> its families: a block that no directory names; none: a value in OVERFLOW
//! OVERFLOW      table | id 8                -> a value too long for a block
//! VERSIONS      table | row key | stamp     -> a row before a commit: see `versions`
//! ```

use saltwing_store::{KeyBounds, Space};
use saltwing_types::{TableId, text};

/// Rows of the form before this one: one pair a row.
pub(crate) const OLD_ROWS: Space = Space::new(1);
/// Generations, by their number's last bit.
pub(crate) const DELTAS: [Space; 2] = [Space::new(2), Space::new(3)];
pub(crate) const DIR: Space = Space::new(4);
pub(crate) const FIX: Space = Space::new(5);
pub(crate) const VAR: Space = Space::new(6);
pub(crate) const REPLACED: Space = Space::new(7);
pub(crate) const META: Space = Space::new(8);
/// Values too long for a block.
pub(crate) const OVERFLOW: Space = Space::new(9);
/// Older versions of rows.
pub(crate) const VERSIONS: Space = Space::new(10);
/// The key of [`META`].
pub(crate) const META_KEY: &[u8] = b"layout";
/// Bytes of a table's number in front of a key.
pub(crate) const TABLE_BYTES: usize = 4;

/// The content of a space with its number, for reports of damage.
pub(crate) fn label(space: Space) -> &'static str {
    match space.id() {
        1 => "rows of an earlier form (space 1)",
        2 => "recent rows (space 2)",
        3 => "recent rows (space 3)",
        4 => "directory (space 4)",
        5 => "fixed parts of blocks (space 5)",
        6 => "variable parts of blocks (space 6)",
        7 => "replaced blocks (space 7)",
        8 => "record of generations (space 8)",
        9 => "long values (space 9)",
        10 => "older versions of rows (space 10)",
        _ => "an unknown space",
    }
}

/// The space of a generation.
pub(crate) fn delta_space(generation: u64) -> Space {
    let [even, odd] = DELTAS;
    if generation.is_multiple_of(2) { even } else { odd }
}

/// First byte after the table's number in [`DIR`]: of an entry, and of a run.
pub(crate) const DIR_ENTRY: u8 = 0;
pub(crate) const DIR_RUN: u8 = 1;

/// The key of a directory entry.
pub(crate) fn dir_key(table: TableId, fence: &[u8]) -> Vec<u8> {
    [&table.0.to_be_bytes()[..], &[DIR_ENTRY], fence].concat()
}

/// The key of a run's record.
pub(crate) fn run_key(table: TableId, id: u64) -> Vec<u8> {
    [&table.0.to_be_bytes()[..], &[DIR_RUN], &id.to_be_bytes()].concat()
}

/// The key of a part of a block.
pub(crate) fn part_key(table: TableId, block: u64, family: u8) -> Vec<u8> {
    [&table.0.to_be_bytes()[..], &block.to_be_bytes(), &[family]].concat()
}

/// The key of a numbered item: a record of recent rows, an overflow value, or a mark that an overflow value or a block
/// is obsolete.
pub(crate) fn id_key(table: TableId, id: u64) -> Vec<u8> {
    [&table.0.to_be_bytes()[..], &id.to_be_bytes()].concat()
}

/// The number in such a key.
pub(crate) fn id_of(key: &[u8]) -> Option<u64> {
    split_table(key).and_then(|(_, id)| Some(u64::from_be_bytes(id.try_into().ok()?)))
}

/// All keys of a table.
pub(crate) fn table_bounds(table: TableId) -> KeyBounds {
    KeyBounds::prefix(&table.0.to_be_bytes())
}

/// The table that a key belongs to, and the rest of the key.
pub(crate) fn split_table(key: &[u8]) -> Option<(TableId, &[u8])> {
    let (table, rest) = key.split_first_chunk::<TABLE_BYTES>()?;
    Some((TableId(u32::from_be_bytes(*table)), rest))
}

/// Bytes as text: `00ff`, of long ones the first 32.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 32;
    let shown = bytes.get(..SHOWN_MAX).unwrap_or(bytes);
    let mut out = text::hex(shown);
    if shown.len() < bytes.len() {
        out.push_str("..");
    }
    out
}
