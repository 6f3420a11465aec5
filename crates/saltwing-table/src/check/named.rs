//! What the directories name, and the records of a space as far as they can be read.

use std::collections::{BTreeMap, HashSet};

use saltwing_access::{Damage, TableError};
use saltwing_store::{Bytes, Direction, KeyBounds, OrderedKv, Space};
use saltwing_types::TableId;

use crate::format::directory_format::{StoredEntry, read_run};
use crate::format::spaces::{DIR, DIR_ENTRY, DIR_RUN, hex, label, split_table};

/// The references of the directories of all tables.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) tables: BTreeMap<TableId, NamedByTable>,
    /// Tables and ids of blocks, runs and values in `OVERFLOW` that wait to be deleted.
    pub(crate) replaced: HashSet<(TableId, u64)>,
}

/// The references of a table's directory.
#[derive(Default)]
pub(crate) struct NamedByTable {
    /// Each fence with its block; `None` where the entry cannot be read.
    pub(crate) entries: BTreeMap<Bytes, Option<u64>>,
    /// The last key of each block, by the fence of its entry.
    pub(crate) last_keys: BTreeMap<Bytes, Bytes>,
    /// Each run, and whether its record can be read.
    pub(crate) runs: BTreeMap<u64, bool>,
    /// Values in `OVERFLOW` that readable entries name.
    pub(crate) overflow: HashSet<u64>,
}

impl Named {
    /// Adds a record of a directory; returns its damage if it is unreadable.
    pub(super) fn note(&mut self, key: &Bytes, value: &Bytes, next_id: u64) -> Option<Damage> {
        let damaged = |table, place: String, what: &str| Some(Damage::new(label(DIR), table, place, what));
        let Some((table, (kind, rest))) = split_table(key).and_then(|(t, rest)| Some((t, rest.split_first()?))) else {
            return damaged(None, hex(key), "the key is none of a directory");
        };
        let of_table = self.tables.entry(table).or_default();
        match (*kind, <[u8; 8]>::try_from(rest)) {
            (DIR_ENTRY, _) => {
                let entry = StoredEntry::read(value);
                let id = entry.as_ref().map(|entry| entry.block.id());
                of_table.entries.insert(Bytes::new(rest), id);
                match (entry, id) {
                    (Some(entry), Some(id)) if id < next_id => {
                        of_table.overflow.extend(entry.overflow_ids());
                        // A copy: no slice of the record.
                        let last_key = Bytes::new(&entry.block.summary().last_key);
                        of_table.last_keys.insert(Bytes::new(rest), last_key);
                        None
                    }
                    (_, Some(id)) => {
                        of_table.entries.insert(Bytes::new(rest), None);
                        damaged(Some(table), format!("entry {}", hex(rest)), &format!("its block {id} was never made"))
                    }
                    _ => damaged(Some(table), format!("entry {}", hex(rest)), "the entry cannot be read"),
                }
            }
            (DIR_RUN, Ok(id)) => {
                let id = u64::from_be_bytes(id);
                let is_good = read_run(value).is_some_and(|(read, ..)| read == id);
                of_table.runs.insert(id, is_good);
                if is_good { None } else { damaged(Some(table), format!("run {id}"), "the record cannot be read") }
            }
            _ => damaged(Some(table), hex(key), "the key is none of a directory"),
        }
    }
}

impl NamedByTable {
    /// The ids of blocks and runs whose records can be read.
    pub(super) fn ids(&self, table: TableId) -> impl Iterator<Item = (TableId, u64)> {
        let runs = self.runs.iter().filter(|(_, is_good)| **is_good).map(|(id, _)| *id);
        self.entries.values().flatten().copied().chain(runs).map(move |id| (table, id))
    }

    /// Whether no block has keys between two keys.
    pub(super) fn has_room(&self, first: &Bytes, last: &Bytes) -> bool {
        self.last_keys.range(..=last.clone()).next_back().is_none_or(|(_, end)| end < first)
    }

    /// The block of the entry that owns a key.
    pub(super) fn owner(&self, key: &[u8]) -> Option<u64> {
        self.entries
            .range::<[u8], _>((std::ops::Bound::Unbounded, std::ops::Bound::Included(key)))
            .next_back()?
            .1
            .as_ref()
            .copied()
    }
}

/// Calls `each` with the entries of a space that can be read; returns the gaps between them. If the cursors of a store do not
/// continue after unreadable entries, the space is walked from both ends.
pub(crate) fn walk(
    kv: &dyn OrderedKv,
    space: Space,
    go_on: &dyn Fn() -> Result<(), TableError>,
    each: &mut dyn FnMut(&Bytes, &Bytes),
) -> Result<Vec<Damage>, TableError> {
    const ASK_EVERY: u64 = 256;
    let (mut last, mut gaps): (Option<Bytes>, Vec<Damage>) = (None, Vec::new());
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut cursor = match kv.cursor(space, KeyBounds::all(), direction) {
            Ok(cursor) => cursor,
            Err(failed) => return Ok(vec![Damage::new(label(space), None, "the whole space", failed.to_string())]),
        };
        let (mut seen, mut last_error) = (0u64, None);
        loop {
            seen += 1;
            if seen.is_multiple_of(ASK_EVERY) {
                go_on()?;
            }
            match cursor.next() {
                Ok(Some((key, value))) => {
                    if direction == Direction::Reverse && last.as_ref().is_some_and(|last| key <= *last) {
                        break;
                    }
                    each(&key, &value);
                    if direction == Direction::Forward {
                        last = Some(key);
                    }
                }
                Ok(None) => break,
                // A cursor that does not come further.
                Err(failed) if last_error.as_ref() == Some(&failed.to_string()) => break,
                // The forward walk has reported it.
                Err(failed) if direction == Direction::Reverse => last_error = Some(failed.to_string()),
                Err(failed) => {
                    last_error = Some(failed.to_string());
                    let key = last.as_ref().map_or_else(|| "the first key".to_owned(), |last| hex(last));
                    gaps.push(Damage::new(label(space), None, format!("behind {key}"), failed.to_string()));
                }
            }
        }
        if gaps.is_empty() {
            break;
        }
    }
    Ok(gaps)
}
