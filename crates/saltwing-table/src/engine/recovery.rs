//! Opening: directories and live deltas are read, nothing else, and nothing is written.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use saltwing_access::{Clock, SteadyClock, StorageError, TableError};
use saltwing_heat::Room;
use saltwing_store::{Direction, KeyBounds, OrderedKv, Waits};

use crate::engine::block_store::{BlockStore, Unread};
use crate::engine::counters::ACCESS_BYTES_MAX;
use crate::engine::failure::Failures;
use crate::engine::memtable::Delta;
use crate::engine::options::LayoutOptions;
use crate::engine::signal::MergeSignal;
use crate::engine::storage_engine::{CommitState, MergeState, StorageEngine, TableMap};
use crate::engine::stored_directory;
use crate::engine::table_rows::TableRows;
use crate::format::delta_record;
use crate::format::meta::{Cursor, Meta};
use crate::format::spaces::{META, META_KEY, OLD_ROWS, REPLACED, delta_space, id_of, split_table};
use crate::format::stored_row::RecentRow;
use crate::format::versions::Stamp;

impl StorageEngine {
    /// Opens the tables of a store.
    ///
    /// # Errors
    /// The store's; [`TableError::CorruptLayout`]; [`TableError::OtherLayout`].
    pub(crate) fn open(
        kv: Arc<dyn OrderedKv>,
        clock: Arc<dyn Clock>,
        options: LayoutOptions,
    ) -> Result<Self, TableError> {
        let blocks = Arc::new(BlockStore::new(kv.clone(), options.cache_bytes));
        let stored = kv.get(META, META_KEY).map_err(StorageError::from)?;
        let has_meta = stored.is_some();
        let meta = match stored {
            Some(bytes) => Meta::read(&bytes)?,
            None if !is_empty(&*kv)? => return Err(TableError::OtherLayout),
            None => Meta::default(),
        };
        // The active generation side by side with the rest: there are as many rows in it as in the frozen one.
        let (directories, frozen, active) = std::thread::scope(|scope| {
            let read_active = || Generation::read(&*kv, meta.active, &Cursor::default());
            let active = stored_directory::opening_thread(scope, read_active)?;
            let directories = stored_directory::directories(&*kv, &blocks, options.open_entries.max(1))?;
            let frozen =
                meta.frozen_generation().map(|frozen| Generation::read(&*kv, frozen, &meta.cursor)).transpose()?;
            let active = active.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok::<_, TableError>((directories, frozen.unwrap_or_default(), active))
        })?;
        let of_table = |directory| TableRows { directory: Arc::new(directory), ..TableRows::default() };
        let mut tables: BTreeMap<u32, TableRows> =
            directories.into_iter().map(|(table, directory)| (table, of_table(directory))).collect();
        let frozen_size = (frozen.rows, frozen.bytes);
        let Generation { rows, bytes, next_record, .. } = active;
        let commits =
            CommitState { active: meta.active, rows, bytes, next_record, has_meta, last_stamp: Stamp::default() };
        for (table, delta) in frozen.deltas {
            tables.entry(table).or_default().frozen = delta;
        }
        for (table, delta) in active.deltas {
            tables.entry(table).or_default().active = delta;
        }
        let mut base_rows = 0;
        for rows in tables.values() {
            base_rows += rows.directory.size().rows;
            for delta in [&rows.active, &rows.frozen] {
                rows.directory.mark_owners(delta.iter().map(|(key, _)| &**key));
            }
        }
        blocks.add_unread(replaced(&*kv)?);
        Ok(Self {
            kv,
            clock: Arc::new(SteadyClock::new(clock)),
            options,
            tables: blocks.tables().clone(),
            blocks,
            // A crash may have come between the end of a merge and the clearing of its generation.
            merging: Mutex::new(MergeState { clear_next: !meta.frozen, frozen_size, meta }),
            commits: Mutex::new(commits),
            rows: RwLock::new(tables.into_iter().collect::<TableMap>()),
            base_rows: AtomicU64::new(base_rows),
            merges: AtomicU64::new(0),
            stalled: OnceLock::new(),
            merge_waits: Waits::default(),
            failures: Failures::default(),
            access_room: Arc::new(Room::new(ACCESS_BYTES_MAX)),
            signal: MergeSignal::default(),
        })
    }
}

/// Whether the store has no rows of the form that came before this one.
fn is_empty(kv: &dyn OrderedKv) -> Result<bool, TableError> {
    Ok(kv
        .cursor(OLD_ROWS, KeyBounds::all(), Direction::Forward)
        .map_err(StorageError::from)?
        .next()
        .map_err(StorageError::from)?
        .is_none())
}

/// The recent rows of a generation, by table.
#[derive(Default)]
struct Generation {
    deltas: BTreeMap<u32, Delta>,
    /// Rows and bytes in its records, and the number of the next one.
    rows: u64,
    bytes: u64,
    next_record: u64,
}

impl Generation {
    /// Reads the records of a generation in the order of their commits, and keeps the rows from `from` on.
    fn read(kv: &dyn OrderedKv, generation: u64, from: &Cursor) -> Result<Self, TableError> {
        let mut read = Self::default();
        let mut by_table: BTreeMap<u32, Vec<RecentRow>> = BTreeMap::new();
        let mut cursor =
            kv.cursor(delta_space(generation), KeyBounds::all(), Direction::Forward).map_err(StorageError::from)?;
        while let Some((key, bytes)) = cursor.next().map_err(StorageError::from)? {
            let damaged = || TableError::CorruptLayout("a record of recent rows");
            let ((table, _), number) = split_table(&key).zip(id_of(&key)).ok_or_else(damaged)?;
            let of_table = by_table.entry(table.0).or_default();
            for row in delta_record::rows(&bytes) {
                let (key, row) = row.ok_or_else(damaged)?;
                read.rows += 1;
                if (table, &*key) >= (from.table, &*from.key) {
                    of_table.push((key, row));
                }
            }
            read.bytes += bytes.len() as u64;
            read.next_record = read.next_record.max(number + 1);
        }
        read.deltas = by_table.into_iter().map(|(table, rows)| (table, Delta::of_commits(rows))).collect();
        Ok(read)
    }
}

fn replaced(kv: &dyn OrderedKv) -> Result<Vec<Unread>, TableError> {
    let mut blocks = Vec::new();
    let mut cursor = kv.cursor(REPLACED, KeyBounds::all(), Direction::Forward).map_err(StorageError::from)?;
    while let Some((key, families)) = cursor.next().map_err(StorageError::from)? {
        let block = split_table(&key).and_then(|(table, rest)| {
            Some(Unread { table, id: u64::from_be_bytes(rest.try_into().ok()?), families: families.to_vec() })
        });
        blocks.push(block.ok_or(TableError::CorruptLayout("the record of a replaced block"))?);
    }
    Ok(blocks)
}
