//! SHOW STORAGE and COMPACT.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use saltwing_access::Table;
use saltwing_bind::{ResultColumn, resolve};
use saltwing_exec::select::result_schema;
use saltwing_sql::TableRef;
use saltwing_sql::statement::Compact;
use saltwing_table::{BackgroundFailure, StorageStats, TableStorage};
use saltwing_types::{SqlType, Value, text};

use crate::Error;
use crate::outcome::{ExecResult, Outcome, RowsOutcome};
use crate::session::Session;

/// A number of a table, added up in the row of the total.
type Count = (&'static str, fn(&TableStorage) -> u64);

/// The columns of numbers before `write_amplification_ratio`.
const WRITTEN: [Count; 13] = [
    ("delta_rows", |t| t.delta_rows),
    ("delta_bytes", |t| t.delta_bytes),
    ("block_count", |t| t.blocks),
    ("block_rows", |t| t.block_rows),
    ("block_raw_bytes", |t| t.block_bytes),
    ("run_count", |t| t.runs),
    ("run_rows", |t| t.run_rows),
    ("run_raw_bytes", |t| t.run_bytes),
    ("written_rows", |t| t.rows_written),
    ("written_bytes", |t| t.bytes_written),
    ("merge_step_count", |t| t.merge_steps),
    ("merged_rows", |t| t.block_rows_written),
    ("merged_bytes", |t| t.block_bytes_written),
];

/// Those behind it.
const READ: [Count; 2] = [("cache_hit_count", |t| t.cache_hits), ("cache_miss_count", |t| t.cache_misses)];

/// A number of the database, in the row of the total alone.
type Whole = (&'static str, fn(&StorageStats) -> u64);

const WHOLE: [Whole; 3] =
    [("merge_count", |s| s.merges), ("cache_bytes", |s| s.cache_bytes), ("cache_bytes_max", |s| s.cache_bytes_max)];

/// Tables' numbers, and what they make together.
struct Listing {
    tables: Vec<(Arc<Table>, TableStorage)>,
    /// `None` where one table alone was asked for.
    total: Option<StorageStats>,
}

impl Session {
    pub(crate) fn show_storage(&self, name: Option<&TableRef>) -> Result<RowsOutcome, Error> {
        let catalog = self.catalog();
        let tables: Vec<Arc<Table>> = match name {
            Some(name) => vec![resolve(&*catalog, name)?],
            None => catalog.tables(),
        };
        let stats = self.database().shared.storage("SHOW STORAGE")?.storage_stats();
        // A table that was dropped meanwhile has no numbers any more.
        let numbers = |table: Arc<Table>| {
            let found = stats.tables.iter().find(|storage| storage.table == table.def().id)?.clone();
            Some((table, found))
        };
        let tables = tables.into_iter().filter_map(numbers).collect();
        Listing { tables, total: name.is_none().then_some(stats) }.rows()
    }

    /// Merges the tables' recent rows now; ends early when the statement is cancelled or its time is over.
    pub(crate) fn run_compact(&self, compact: &Compact) -> Result<Outcome, Error> {
        self.writable()?;
        let context = self.begin();
        let catalog = self.catalog();
        let tables = compact.tables.iter().map(|name| resolve(&*catalog, name)).collect::<Result<Vec<_>, _>>()?;
        for table in tables {
            self.database().shared.storage("COMPACT")?.compact(table.def().id, &context)?;
        }
        Ok(ExecResult::default().into())
    }
}

impl Listing {
    fn rows(&self) -> Result<RowsOutcome, Error> {
        let name = |pick: fn(&Table) -> Option<&str>| -> ArrayRef {
            let names = self.tables.iter().map(|(table, _)| pick(table));
            Arc::new(names.chain(self.total.iter().map(|_| None)).collect::<StringArray>())
        };
        let text = |label: &str, pick| (label.to_owned(), SqlType::Varchar(None), name(pick));
        let mut columns = vec![
            text("table_schema", |table| table.def().name.schema.as_deref()),
            text("table_name", |table| Some(&table.def().name.name)),
        ];
        columns.extend(WRITTEN.iter().map(|count| self.counts(count)));
        columns.push(("write_amplification_ratio".into(), SqlType::Double, self.write_amplification()));
        columns.extend(READ.iter().map(|count| self.counts(count)));
        columns.extend(WHOLE.iter().map(|(label, pick)| {
            let of_tables = self.tables.iter().map(|_| None);
            let numbers = of_tables.chain(self.total.iter().map(|total| Some(signed(pick(total)))));
            ((*label).to_owned(), SqlType::BigInt, Arc::new(numbers.collect::<Int64Array>()) as ArrayRef)
        }));
        let last = self.total.iter().map(|total| total.last_failure.as_ref().map(failure_text));
        let last: StringArray = self.tables.iter().map(|_| None).chain(last).collect();
        columns.push(("last_failure".into(), SqlType::Varchar(None), Arc::new(last)));
        let arrays = columns.iter().map(|(_, _, array)| array.clone()).collect();
        let columns: Vec<ResultColumn> =
            columns.into_iter().map(|(label, ty, _)| ResultColumn { label, ty, nullable: true }).collect();
        let batch = RecordBatch::try_new(result_schema(&columns), arrays).map_err(saltwing_access::TableError::from)?;
        Ok(RowsOutcome::ready(columns, batch))
    }

    fn sum(&self, pick: fn(&TableStorage) -> u64) -> u64 {
        self.tables.iter().map(|(_, storage)| pick(storage)).sum()
    }

    fn counts(&self, (label, pick): &Count) -> (String, SqlType, ArrayRef) {
        let of_tables = self.tables.iter().map(|(_, storage)| signed(pick(storage)));
        let numbers = of_tables.chain(self.total.iter().map(|_| signed(self.sum(*pick))));
        ((*label).to_owned(), SqlType::BigInt, Arc::new(numbers.collect::<Int64Array>()))
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

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
