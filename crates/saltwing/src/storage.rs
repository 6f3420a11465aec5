//! SHOW STORAGE and COMPACT.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use saltwing_access::Table;
use saltwing_bind::{ResultColumn, resolve};
use saltwing_sql::TableRef;
use saltwing_store::WaitStats;
use saltwing_table::{BackgroundFailure, StorageStats, TableStorage};
use saltwing_types::{SqlType, Value, text};

use crate::Error;
use crate::attached::check_own;
use crate::outcome::RowsOutcome;
use crate::session::Session;
use crate::text_rows::ready;

/// A number of SHOW STORAGE and of the metrics.
pub(crate) struct Count<T> {
    /// The label of its column.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) description: &'static str,
    pub(crate) pick: fn(&T) -> u64,
}

/// Whether a number can fall.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// The number only grows, from the opening of the database.
    Counter,
    Gauge,
}

const fn gauge<T>(name: &'static str, description: &'static str, pick: fn(&T) -> u64) -> Count<T> {
    Count { name, kind: Kind::Gauge, description, pick }
}

const fn counter<T>(name: &'static str, description: &'static str, pick: fn(&T) -> u64) -> Count<T> {
    Count { name, kind: Kind::Counter, description, pick }
}

/// The numbers of a table before the column `write_amplification_ratio`. The row of the total has their sums.
pub(crate) const WRITTEN: [Count<TableStorage>; 13] = [
    gauge("delta_rows", "recent rows that are not in blocks yet, deletions included", |t| t.delta_rows),
    gauge("delta_bytes", "bytes of these, keys included", |t| t.delta_bytes),
    gauge("block_count", "blocks", |t| t.blocks),
    gauge("block_rows", "rows in blocks", |t| t.block_rows),
    gauge("block_raw_bytes", "bytes of these before they are packed, keys included", |t| t.block_bytes),
    gauge("run_count", "runs: small blocks of rows that are newer than the others", |t| t.runs),
    gauge("run_rows", "rows in runs, deletions included", |t| t.run_rows),
    gauge("run_raw_bytes", "bytes of these, about, before they are packed", |t| t.run_bytes),
    counter("written_rows", "rows committed, deletions included", |t| t.rows_written),
    counter("written_bytes", "bytes of these, keys included", |t| t.bytes_written),
    counter("merge_step_count", "steps of merges that wrote blocks", |t| t.merge_steps),
    counter("merged_rows", "rows in the blocks and runs that were written", |t| t.block_rows_written),
    counter("merged_bytes", "bytes of these as stored", |t| t.block_bytes_written),
];

/// The numbers of a table after the column `write_amplification_ratio`.
pub(crate) const READ: [Count<TableStorage>; 2] = [
    counter("cache_hit_count", "parts of blocks that a reader found in memory", |t| t.cache_hits),
    counter("cache_miss_count", "parts of blocks that were read from the store", |t| t.cache_misses),
];

/// The numbers of the database, which only the row of the total has.
pub(crate) const WHOLE: [Count<StorageStats>; 7] = [
    counter("merge_count", "merges that ended", |s| s.merges),
    counter("merge_wait_count", "waits of commits for a merge", |s| s.merge_waits.count),
    gauge("merge_wait_max_us", "the longest of these waits, in microseconds", |s| longest_us(s.merge_waits)),
    counter("checkpoint_count", "checkpoints of the store, for which commits wait", |s| s.checkpoints.count),
    gauge("checkpoint_max_us", "the longest of these, in microseconds", |s| longest_us(s.checkpoints)),
    gauge("cache_bytes", "bytes of blocks in memory", |s| s.cache_bytes),
    gauge("cache_bytes_max", "the most there may be, about", |s| s.cache_bytes_max),
];

fn longest_us(waits: WaitStats) -> u64 {
    u64::try_from(waits.longest.as_micros()).unwrap_or(u64::MAX)
}

/// The numbers of tables, and their totals.
struct Listing {
    tables: Vec<(Arc<Table>, TableStorage)>,
    /// `None` if a single table was requested, or the session does not see all tables.
    total: Option<StorageStats>,
}

pub(crate) fn show_storage(session: &Session, name: Option<&TableRef>) -> Result<RowsOutcome, Error> {
    let catalog = session.catalog()?;
    let tables: Vec<Arc<Table>> = match name {
        Some(name) => {
            // The number of an attached table is the number of another table in this database.
            check_own(session, name.schema.as_ref(), &name.name)?;
            vec![resolve(&*catalog, name)?]
        }
        None => catalog.tables()?,
    };
    let with_entries = |table: Arc<Table>| {
        let entries: Vec<Arc<Table>> = table.indexes().iter().map(|index| index.entries().clone()).collect();
        std::iter::once(table).chain(entries)
    };
    let stats = session.shared().storage("SHOW STORAGE")?.storage_stats();
    // A table that was dropped meanwhile has no numbers.
    let numbers = |table: Arc<Table>| {
        let found = stats.tables.iter().find(|storage| storage.table == table.def().id)?.clone();
        Some((table, found))
    };
    let tables = tables.into_iter().flat_map(with_entries).filter_map(numbers).collect();
    ready(
        storage_columns(),
        Listing { tables, total: (name.is_none() && session.user().is_none()).then_some(stats) }.arrays(),
    )
}

/// The columns of SHOW STORAGE.
pub(crate) fn storage_columns() -> Vec<ResultColumn> {
    let column = |label: &str, ty| ResultColumn { label: label.to_owned(), ty, nullable: true };
    let text = |label| column(label, SqlType::Varchar(None));
    let number = |label| column(label, SqlType::BigInt);
    let mut columns = vec![text("table_schema"), text("table_name")];
    columns.extend(WRITTEN.iter().map(|count| number(count.name)));
    columns.push(column("write_amplification_ratio", SqlType::Double));
    columns.extend(READ.iter().map(|count| number(count.name)));
    columns.extend(WHOLE.iter().map(|count| number(count.name)));
    columns.extend([text("last_failure"), text("damage")]);
    columns
}

impl Listing {
    /// The values of [`storage_columns`].
    fn arrays(&self) -> Vec<ArrayRef> {
        let name = |pick: fn(&Table) -> Option<&str>| -> ArrayRef {
            let names = self.tables.iter().map(|(table, _)| pick(table));
            Arc::new(names.chain(self.total.iter().map(|_| None)).collect::<StringArray>())
        };
        let mut arrays =
            vec![name(|table| table.def().name.schema.as_deref()), name(|table| Some(&table.def().name.name))];
        arrays.extend(WRITTEN.iter().map(|count| self.counts(count)));
        arrays.push(self.write_amplification());
        arrays.extend(READ.iter().map(|count| self.counts(count)));
        arrays.extend(WHOLE.iter().map(|count| {
            let of_tables = self.tables.iter().map(|_| None);
            let numbers = of_tables.chain(self.total.iter().map(|total| Some(signed((count.pick)(total)))));
            Arc::new(numbers.collect::<Int64Array>()) as ArrayRef
        }));
        let last = self.total.iter().map(|total| total.last_failure.as_ref().map(failure_text));
        let last: StringArray = self.tables.iter().map(|_| None).chain(last).collect();
        arrays.push(Arc::new(last));
        let of_tables = self.tables.iter().map(|(_, storage)| storage.damage.clone());
        let damage: StringArray = of_tables.chain(self.total.iter().map(pages_text)).collect();
        arrays.push(Arc::new(damage));
        arrays
    }

    fn sum(&self, pick: fn(&TableStorage) -> u64) -> u64 {
        self.tables.iter().map(|(_, storage)| pick(storage)).sum()
    }

    fn counts(&self, Count { pick, .. }: &Count<TableStorage>) -> ArrayRef {
        let of_tables = self.tables.iter().map(|(_, storage)| signed(pick(storage)));
        let numbers = of_tables.chain(self.total.iter().map(|_| signed(self.sum(*pick))));
        Arc::new(numbers.collect::<Int64Array>())
    }

    fn write_amplification(&self) -> ArrayRef {
        let total = || {
            let written = self.sum(|t| t.bytes_written);
            (written > 0).then(|| (written + self.sum(|t| t.block_bytes_written)) as f64 / written as f64)
        };
        let of_tables = self.tables.iter().map(|(_, storage)| storage.write_amplification());
        Arc::new(of_tables.chain(self.total.iter().map(|_| total())).collect::<Float64Array>())
    }
}

/// `merge, 3 times, last at 2026-11-23 08:00:00: why`.
fn failure_text(failure: &BackgroundFailure) -> String {
    let BackgroundFailure { task, at_ms, times, error } = failure;
    let at = text::format(&Value::Date(*at_ms), SqlType::Date).unwrap_or_default();
    let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("{task}, {times}, last at {at}: {error}")
}

/// Most damaged pages that are listed; further ones are only counted.
const TOLD_MAX: usize = 3;

/// `page 5 of data/pages does not have its checksum`, and so on; `None` if no page is damaged.
fn pages_text(stats: &StorageStats) -> Option<String> {
    let damages = &stats.damages;
    let more = damages.len().saturating_sub(TOLD_MAX);
    let more = (more > 0).then(|| format!("{more} more"));
    let told: Vec<String> = damages.iter().take(TOLD_MAX).cloned().chain(more).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
