//! Opening: directories and live deltas are read, nothing else, and nothing is written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::{Mutex, RwLock};
use saltwing_store::{Bytes, Direction, KeyBounds, OrderedKv};

use super::block_ref::{BlockRef, Shelf, Unread};
use super::delta::{RecentRow, TableRows};
use super::delta_record::{self, Record};
use super::directory::{Directory, Entry};
use super::directory_format::{PartRecord, read_run};
use super::meta::Meta;
use super::options::LayoutOptions;
use super::run::{Run, RunPart};
use super::spaces::{DIR, DIR_ENTRY, DIR_RUN, META, META_KEY, OLD_ROWS, REPLACED, delta_space, id_of, split_table};
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
            read_generation(&*kv, frozen, |_, record, rows| {
                let frozen = &mut tables.entry(record.table.0).or_default().frozen;
                let unmerged = |key: &Bytes| (record.table, &**key) >= (meta.cursor.table, &*meta.cursor.key);
                rows.into_iter().filter(|(key, _)| unmerged(key)).for_each(|(key, row)| frozen.insert(key, row));
            })?;
        }
        read_generation(&*kv, meta.active, |number, record, rows| {
            commits.count(std::slice::from_ref(record));
            commits.next_record = commits.next_record.max(number + 1);
            let active = &mut tables.entry(record.table.0).or_default().active;
            rows.into_iter().for_each(|(key, row)| active.insert(key, row));
        })?;
        let mut base_rows = 0;
        for rows in tables.values() {
            base_rows += rows.directory.size().rows;
            rows.active.iter().chain(rows.frozen.iter()).for_each(|(key, _)| {
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

/// What the store has of one table's directory.
#[derive(Default)]
struct Stored {
    entries: Vec<Entry>,
    /// Oldest first.
    runs: Vec<(Arc<Run>, Vec<PartRecord>)>,
}

fn directories(kv: &dyn OrderedKv, shelf: &Arc<Shelf>) -> Result<BTreeMap<u32, TableRows>, TableError> {
    let mut stored: BTreeMap<u32, Stored> = BTreeMap::new();
    let mut cursor = kv.cursor(DIR, KeyBounds::all(), Direction::Forward)?;
    while let Some((key, value)) = cursor.next()? {
        let read = split_table(&key).and_then(|(table, rest)| {
            let of_table = stored.entry(table.0).or_default();
            match rest.split_first()? {
                (&DIR_ENTRY, fence) => of_table.entries.push(Entry::read(table, fence, &value, shelf)?),
                (&DIR_RUN, _) => {
                    let (id, summary, filter, parts) = read_run(&value)?;
                    let block = BlockRef::new(id, table, summary, Vec::new(), shelf.clone());
                    of_table.runs.push((Arc::new(Run::new(Arc::new(block), filter)), parts));
                }
                _ => return None,
            }
            Some(())
        });
        read.ok_or(TableError::CorruptLayout("a directory entry"))?;
    }
    let rows = |stored: Stored| {
        let entries = stored.with_runs().into_iter().map(Arc::new).collect();
        TableRows { directory: Arc::new(Directory::new(entries)), ..TableRows::default() }
    };
    Ok(stored.into_iter().map(|(table, stored)| (table, rows(stored))).collect())
}

impl Stored {
    /// The entries with the runs that they name: by their blocks, so that an entry whose block was written anew has
    /// none of those that were before.
    fn with_runs(mut self) -> Vec<Entry> {
        if self.runs.is_empty() {
            return self.entries;
        }
        let ids = self.entries.iter().enumerate().filter_map(|(i, entry)| Some((entry.block.as_ref()?.id, i)));
        let by_block: HashMap<u64, usize> = ids.collect();
        for (run, parts) in &self.runs {
            let mut start = 0;
            for PartRecord { block, rows, oldest } in parts {
                let end = start + rows;
                if let Some(entry) = by_block.get(block).and_then(|index| self.entries.get_mut(*index)) {
                    entry.runs.retain(|older| older.run.block.id < *oldest);
                    entry.runs.insert(0, RunPart::new(run.clone(), start..end, *oldest));
                }
                start = end;
            }
        }
        self.entries.iter().flat_map(|entry| &entry.runs).for_each(|part| part.run.gain(1));
        self.entries
    }
}

/// Reads the records of a generation in the order of their commits, with their numbers.
fn read_generation(
    kv: &dyn OrderedKv,
    generation: u64,
    mut each: impl FnMut(u64, &Record, Vec<RecentRow>),
) -> Result<(), TableError> {
    let mut cursor = kv.cursor(delta_space(generation), KeyBounds::all(), Direction::Forward)?;
    while let Some((key, bytes)) = cursor.next()? {
        let damaged = || TableError::CorruptLayout("a record of recent rows");
        let ((table, _), number) = split_table(&key).zip(id_of(&key)).ok_or_else(damaged)?;
        let rows = delta_record::rows(&bytes).collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
        each(number, &Record { table, rows: rows.len() as u64, bytes }, rows);
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
