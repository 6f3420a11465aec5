//! Opening: directories and live deltas are read, nothing else, and nothing is written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::{Mutex, RwLock};
use saltwing_store::{Bytes, Direction, KeyBounds, OrderedKv};

use super::block_ref::{Shelf, Unread};
use super::delta::TableRows;
use super::delta_record::{self, Record};
use super::directory::{Directory, Entry};
use super::meta::Meta;
use super::options::LayoutOptions;
use super::spaces::{DIR, META, META_KEY, OLD_ROWS, REPLACED, delta_space, id_of, split_table};
use super::worker::Signal;
use super::{Commits, Merge, Moment, Packed};
use crate::{Clock, TableError};

impl Packed {
    /// Reads what a store holds.
    ///
    /// # Errors
    /// The store's; [`TableError::CorruptLayout`]; [`TableError::OtherLayout`].
    pub(crate) fn open(
        kv: Arc<dyn OrderedKv>,
        clock: Arc<dyn Clock>,
        options: LayoutOptions,
    ) -> Result<Self, TableError> {
        let shelf = Arc::new(Shelf::new(kv.clone(), options.cache_bytes));
        let stored = kv.get(META, META_KEY)?;
        let has_meta = stored.is_some();
        let meta = match stored {
            Some(bytes) => Meta::read(&bytes)?,
            None if !is_empty(&*kv)? => return Err(TableError::OtherLayout),
            None => Meta::default(),
        };
        let mut tables = directories(&*kv, &shelf)?;
        let mut commits = Commits { active: meta.active, rows: 0, bytes: 0, next_record: 0, has_meta };
        if let Some(frozen) = meta.frozen_generation() {
            read_generation(&*kv, frozen, |_, record| {
                let frozen = &mut tables.entry(record.table.0).or_default().frozen;
                let unmerged = |key: &Bytes| (record.table, &**key) >= (meta.cursor.table, &*meta.cursor.key);
                record.rows().filter(|(key, _)| unmerged(key)).for_each(|(key, row)| drop(frozen.insert(key, row)));
            })?;
        }
        read_generation(&*kv, meta.active, |number, record| {
            commits.count(std::slice::from_ref(record));
            commits.next_record = commits.next_record.max(number + 1);
            let active = &mut tables.entry(record.table.0).or_default().active;
            record.rows().for_each(|(key, row)| drop(active.insert(key, row)));
        })?;
        let mut base_rows = 0;
        for rows in tables.values() {
            base_rows += rows.directory.size().rows;
            rows.active.keys().chain(rows.frozen.keys()).for_each(|key| {
                if let Some(entry) = rows.directory.owner(key) {
                    entry.mark_dirty();
                }
            });
        }
        shelf.return_unread(replaced(&*kv)?);
        Ok(Self {
            kv,
            clock,
            options,
            shelf,
            tables: RwLock::default(),
            // A crash may have come between the end of a merge and the clearing of its generation.
            merging: Mutex::new(Merge { clear_next: !meta.frozen, meta }),
            commits: Mutex::new(commits),
            rows: RwLock::new(tables.into_iter().collect::<Moment>()),
            base_rows: AtomicU64::new(base_rows),
            merges: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            signal: Signal::default(),
        })
    }
}

/// Whether the store has no rows of the form that came before this one.
fn is_empty(kv: &dyn OrderedKv) -> Result<bool, TableError> {
    Ok(kv.cursor(OLD_ROWS, KeyBounds::all(), Direction::Forward)?.next()?.is_none())
}

fn directories(kv: &dyn OrderedKv, shelf: &Arc<Shelf>) -> Result<BTreeMap<u32, TableRows>, TableError> {
    let mut entries: BTreeMap<u32, Vec<Arc<Entry>>> = BTreeMap::new();
    let mut cursor = kv.cursor(DIR, KeyBounds::all(), Direction::Forward)?;
    while let Some((key, value)) = cursor.next()? {
        let entry = split_table(&key).and_then(|(table, rest)| {
            let fence = rest.get(1..)?;
            Some((table.0, Entry::read(table, fence, &value, shelf)?))
        });
        let (table, entry) = entry.ok_or(TableError::CorruptLayout("a directory entry"))?;
        entries.entry(table).or_default().push(Arc::new(entry));
    }
    let rows = |entries| TableRows { directory: Arc::new(Directory::new(entries)), ..TableRows::default() };
    Ok(entries.into_iter().map(|(table, entries)| (table, rows(entries))).collect())
}

/// Reads the records of a generation in the order of their commits, with their numbers.
fn read_generation(kv: &dyn OrderedKv, generation: u64, mut each: impl FnMut(u64, &Record)) -> Result<(), TableError> {
    let mut cursor = kv.cursor(delta_space(generation), KeyBounds::all(), Direction::Forward)?;
    while let Some((key, bytes)) = cursor.next()? {
        let damaged = || TableError::CorruptLayout("a record of recent rows");
        let ((table, _), number) = split_table(&key).zip(id_of(&key)).ok_or_else(damaged)?;
        let mut count = 0;
        for row in delta_record::rows(&bytes) {
            row.ok_or_else(damaged)?;
            count += 1;
        }
        each(number, &Record { table, rows: count, bytes });
    }
    Ok(())
}

fn replaced(kv: &dyn OrderedKv) -> Result<Vec<Unread>, TableError> {
    let mut blocks = Vec::new();
    let mut cursor = kv.cursor(REPLACED, KeyBounds::all(), Direction::Forward)?;
    while let Some((key, families)) = cursor.next()? {
        let block = split_table(&key).and_then(|(table, rest)| {
            Some(Unread { table, id: u64::from_be_bytes(rest.try_into().ok()?), families: families.to_vec() })
        });
        blocks.push(block.ok_or(TableError::CorruptLayout("the record of a replaced block"))?);
    }
    Ok(blocks)
}
