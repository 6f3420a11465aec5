//! How much storage keeps for a snapshot alone.

use std::collections::HashMap;

use crate::engine::memtable::row_bytes;
use crate::engine::storage_engine::{StorageEngine, TableMap};
use crate::engine::table_rows::TableRows;

impl StorageEngine {
    /// Bytes of the rows that could be given back if nobody read these tables: recent rows that were written again since, or merged
    /// into blocks, and the rows of blocks that merges replaced. Rows count as a delta has them: before they are packed, keys included.
    ///
    /// Walks over the tables' recent rows and over the entries of their directories that are in memory: a merge decodes the entries
    /// whose blocks it replaces.
    pub(crate) fn pinned_bytes(&self, tables: &TableMap) -> u64 {
        let (newest, ()) = self.freeze_tables(|| ());
        let gone = TableRows::default();
        tables.iter().map(|(table, rows)| of_table(rows, newest.get(table).unwrap_or(&gone))).sum()
    }
}

fn of_table(rows: &TableRows, newest: &TableRows) -> u64 {
    let deltas = [&newest.active, &newest.frozen];
    let recent = rows.active.iter().chain(rows.frozen.iter());
    let old = recent.filter(|(key, row)| deltas.iter().all(|delta| delta.get(key) != Some(row)));
    // A run is named by each entry that it has rows of.
    let mut blocks: HashMap<u64, u64> = HashMap::new();
    rows.directory.visit_runs(|run| {
        if run.block.is_replaced() {
            blocks.insert(run.block.id, run.block.summary.bytes.into());
        }
    });
    for block in
        rows.directory.decoded_entries().filter_map(|entry| entry.block.as_ref()).filter(|block| block.is_replaced())
    {
        blocks.insert(block.id, block.summary.bytes.into());
    }
    old.map(row_bytes).sum::<u64>() + blocks.values().sum::<u64>()
}
