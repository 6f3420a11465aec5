//! Compares indexes with their tables: each row must have its entry, and each entry its row.
//!
//! The hashes of both sides are added up, in any order. Only if the sums differ are the entries themselves compared, which takes memory
//! for each entry.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use saltwing_access::{Damage, Examine, Index, Loss, ReadableRow, ScanContext, Table, TableError};
use saltwing_types::Value;

/// The number of entries and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    entries: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, hash: u64) {
        self.entries += 1;
        self.hashes = self.hashes.wrapping_add(hash);
    }
}

/// The entries that the rows of a table must have, added up while the rows are examined.
pub(super) struct ExpectedEntries {
    indexes: Vec<Index>,
    sums: Vec<Sum>,
    now_ms: i64,
}

impl ExpectedEntries {
    pub(super) fn of(table: &Table, now_ms: i64) -> Self {
        let indexes: Vec<Index> = table.indexes().iter().filter(|index| index.is_complete()).cloned().collect();
        Self { sums: vec![Sum::default(); indexes.len()], indexes, now_ms }
    }

    /// Adds the entries of a row.
    pub(super) fn add(&mut self, table: &Table, row: &ReadableRow) {
        if is_expired(table, row, self.now_ms) {
            return;
        }
        for (index, sum) in self.indexes.iter().zip(&mut self.sums) {
            if let Some(hash) = hash_of_row(index, row) {
                sum.add(hash);
            }
        }
    }

    /// The indexes whose entries do not match the rows of `table`.
    ///
    /// # Errors
    /// As [`Examine::examine`].
    pub(super) fn differences(
        &self,
        store: &dyn Examine,
        table: &Arc<Table>,
        context: &ScanContext,
    ) -> Result<Vec<Damage>, TableError> {
        let mut damages = Vec::new();
        for (index, expected) in self.indexes.iter().zip(&self.sums) {
            let mut found = Sum::default();
            let entries = index.entries();
            store.examine(entries, context, &mut |entry| {
                if !is_expired(entries, &entry, self.now_ms) {
                    found.add(hash(entries, &entry.values));
                }
                Ok(())
            })?;
            if found != *expected {
                damages.push(self.difference(store, table, index, context)?);
            }
        }
        Ok(damages)
    }

    fn difference(
        &self,
        store: &dyn Examine,
        table: &Arc<Table>,
        index: &Index,
        context: &ScanContext,
    ) -> Result<Damage, TableError> {
        // For each hash, the number of rows minus the number of entries: positive if entries are missing, negative if rows are.
        let mut counts: HashMap<u64, i64> = HashMap::new();
        let entries = index.entries();
        store.examine(table, context, &mut |row| {
            if !is_expired(table, &row, self.now_ms)
                && let Some(hash) = hash_of_row(index, &row)
            {
                *counts.entry(hash).or_default() += 1;
            }
            Ok(())
        })?;
        store.examine(entries, context, &mut |entry| {
            if !is_expired(entries, &entry, self.now_ms) {
                *counts.entry(hash(entries, &entry.values)).or_default() -= 1;
            }
            Ok(())
        })?;
        let rows: i64 = counts.values().filter(|count| **count > 0).sum();
        let extra: i64 = -counts.values().filter(|count| **count < 0).sum::<i64>();
        Ok(Damage {
            table: Some(table.def().id),
            space: "indexes",
            place: format!("index {}", index.def().name),
            what: format!("{rows} rows have no entry, and {extra} entries have no row"),
            loss: Loss::Nothing,
        })
    }
}

fn is_expired(table: &Table, row: &ReadableRow, now_ms: i64) -> bool {
    table.expired_ms(now_ms).is_some_and(|limit_ms| row.written_ms <= limit_ms)
}

/// The [`hash`] of the entry that a row must have; `None` if a partial index does not include the row.
fn hash_of_row(index: &Index, row: &ReadableRow) -> Option<u64> {
    // A row whose entry cannot be computed could not have been written, so its entry counts as missing.
    let entry = index.entry(&row.values).unwrap_or_else(|_| Some(Vec::new()))?;
    Some(hash(index.entries(), &entry))
}

/// A number that almost always differs for different entries.
fn hash(entries: &Table, entry: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    entries.row_key(entry).unwrap_or_default().hash(&mut hasher);
    entry.iter().for_each(|value| format!("{value:?}").hash(&mut hasher));
    hasher.finish()
}
