//! The counters of each open table, and the blocks that reads have found damaged.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use saltwing_access::Clock;
use saltwing_heat::{Recorder, Room};
use saltwing_types::TableId;

/// Damaged blocks that are reported; more are counted.
const REPORTED_MAX: usize = 3;

/// Bytes of the counts of accesses by key of all tables, beyond which new counts are coarse.
pub(super) const ACCESS_BYTES_MAX: usize = 64 << 20;

/// The counters of one table.
#[derive(Debug, Default)]
pub(crate) struct TableCounters {
    pub(crate) rows_written: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) merge_steps: AtomicU64,
    pub(crate) folds: AtomicU64,
    pub(crate) run_rows_written: AtomicU64,
    pub(crate) block_rows_written: AtomicU64,
    pub(crate) block_bytes_written: AtomicU64,
    /// Hits of deleted blocks; existing blocks count their own.
    pub(crate) cache_hits: AtomicU64,
    pub(crate) cache_misses: AtomicU64,
    pub(crate) damage: DamagedBlocks,
    /// From the first opening on.
    accesses: OnceLock<Arc<Recorder>>,
}

impl TableCounters {
    /// The reads and writes by key, counted from now on if they were not before.
    pub(crate) fn count_accesses(&self, table: TableId, clock: &Arc<dyn Clock>, room: &Arc<Room>) -> Arc<Recorder> {
        let recorder = || {
            let clock = clock.clone();
            Arc::new(Recorder::new(table.0.into(), Arc::new(move || clock.now_ms()), room.clone()))
        };
        self.accesses.get_or_init(recorder).clone()
    }

    /// The reads and writes by key; `None` of a table that was never open.
    pub(crate) fn accesses(&self) -> Option<&Arc<Recorder>> {
        self.accesses.get()
    }
}

/// The blocks that the store could not read, each with the reason.
#[derive(Debug, Default)]
pub(crate) struct DamagedBlocks(Mutex<BTreeMap<u64, String>>);

impl DamagedBlocks {
    /// A read of a block failed.
    pub(crate) fn note(&self, block: u64, why: &str) {
        self.0.lock().entry(block).or_insert_with(|| {
            tracing::error!(block, why, "a block is damaged");
            why.to_owned()
        });
    }

    pub(crate) fn has(&self, block: u64) -> bool {
        self.0.lock().contains_key(&block)
    }

    fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// The block is gone.
    pub(crate) fn forget(&self, block: u64) {
        self.0.lock().remove(&block);
    }

    /// `block 17: page 5 of data/pages does not have its checksum`, and so on; `None` if there are none.
    pub(crate) fn text(&self) -> Option<String> {
        let blocks = self.0.lock();
        let reported: Vec<String> =
            blocks.iter().take(REPORTED_MAX).map(|(block, why)| format!("block {block}: {why}")).collect();
        let more = blocks.len().saturating_sub(REPORTED_MAX);
        let more = (more > 0).then(|| format!("{more} more blocks"));
        let all: Vec<String> = reported.into_iter().chain(more).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// The counters of all tables.
#[derive(Debug, Default)]
pub(crate) struct AllCounters(RwLock<BTreeMap<TableId, Arc<TableCounters>>>);

impl AllCounters {
    /// Those of a table, from zero if it has none yet.
    pub(crate) fn of(&self, table: TableId) -> Arc<TableCounters> {
        if let Some(counters) = self.0.read().get(&table) {
            return counters.clone();
        }
        self.0.write().entry(table).or_default().clone()
    }

    /// Damaged blocks of all tables.
    pub(crate) fn damaged_blocks(&self) -> usize {
        self.0.read().values().map(|counters| counters.damage.len()).sum()
    }

    /// The table is gone.
    pub(crate) fn forget(&self, table: TableId) {
        self.0.write().remove(&table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_blocks_are_reported_once_and_not_without_end() {
        let blocks = DamagedBlocks::default();
        assert_eq!(blocks.text(), None);
        for block in [7, 8, 7] {
            blocks.note(block, &format!("page {block} is bad"));
        }
        assert_eq!(blocks.text().as_deref(), Some("block 7: page 7 is bad; block 8: page 8 is bad"));
        blocks.forget(8);
        (10..20).for_each(|block| blocks.note(block, "bad"));
        assert_eq!(
            blocks.text().as_deref(),
            Some("block 7: page 7 is bad; block 10: bad; block 11: bad; 8 more blocks")
        );
    }
}
