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

/// A number that SHOW STORAGE shows, and that metrics have.
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
    /// It grows from the opening of the database on.
    Counter,
    Gauge,
}

/// The numbers of a table before `write_amplification_ratio`; in the row of the total they are added up.
pub(crate) const WRITTEN: [Count<TableStorage>; 13] = [
    Count {
        name: "delta_rows",
        kind: Kind::Gauge,
        description: "recent rows that are not in blocks yet, deletions included",
        pick: |t| t.delta_rows,
    },
    Count {
        name: "delta_bytes",
        kind: Kind::Gauge,
        description: "bytes of these, keys included",
        pick: |t| t.delta_bytes,
    },
    Count { name: "block_count", kind: Kind::Gauge, description: "blocks", pick: |t| t.blocks },
    Count { name: "block_rows", kind: Kind::Gauge, description: "rows in blocks", pick: |t| t.block_rows },
    Count {
        name: "block_raw_bytes",
        kind: Kind::Gauge,
        description: "bytes of these before they are packed, keys included",
        pick: |t| t.block_bytes,
    },
    Count {
        name: "run_count",
        kind: Kind::Gauge,
        description: "runs: small blocks of rows that are newer than the others",
        pick: |t| t.runs,
    },
    Count {
        name: "run_rows",
        kind: Kind::Gauge,
        description: "rows in runs, deletions included",
        pick: |t| t.run_rows,
    },
    Count {
        name: "run_raw_bytes",
        kind: Kind::Gauge,
        description: "bytes of these, about, before they are packed",
        pick: |t| t.run_bytes,
    },
    Count {
        name: "written_rows",
        kind: Kind::Counter,
        description: "rows committed, deletions included",
        pick: |t| t.rows_written,
    },
    Count {
        name: "written_bytes",
        kind: Kind::Counter,
        description: "bytes of these, keys included",
        pick: |t| t.bytes_written,
    },
    Count {
        name: "merge_step_count",
        kind: Kind::Counter,
        description: "steps of merges that wrote blocks",
        pick: |t| t.merge_steps,
    },
    Count {
        name: "merged_rows",
        kind: Kind::Counter,
        description: "rows in the blocks and runs that were written",
        pick: |t| t.block_rows_written,
    },
    Count {
        name: "merged_bytes",
        kind: Kind::Counter,
        description: "bytes of these as stored",
        pick: |t| t.block_bytes_written,
    },
];

/// Those behind it.
pub(crate) const READ: [Count<TableStorage>; 2] = [
    Count {
        name: "cache_hit_count",
        kind: Kind::Counter,
        description: "parts of blocks that a reader found in memory",
        pick: |t| t.cache_hits,
    },
    Count {
        name: "cache_miss_count",
        kind: Kind::Counter,
        description: "parts of blocks that were read from the store",
        pick: |t| t.cache_misses,
    },
];

/// The numbers of the database, in the row of the total alone.
pub(crate) const WHOLE: [Count<StorageStats>; 3] = [
    Count { name: "merge_count", kind: Kind::Counter, description: "merges that ended", pick: |s| s.merges },
    Count { name: "cache_bytes", kind: Kind::Gauge, description: "bytes of blocks in memory", pick: |s| s.cache_bytes },
    Count {
        name: "cache_bytes_max",
        kind: Kind::Gauge,
        description: "the most there may be, about",
        pick: |s| s.cache_bytes_max,
    },
];

/// The numbers of tables, and their totals.
struct Listing {
    tables: Vec<(Arc<Table>, TableStorage)>,
    /// `None` if a single table was requested.
    total: Option<StorageStats>,
}

impl Session {
    pub(crate) fn show_storage(&self, name: Option<&TableRef>) -> Result<RowsOutcome, Error> {
        let catalog = self.catalog();
        let tables: Vec<Arc<Table>> = match name {
            Some(name) => vec![resolve(&*catalog, name)?],
            None => catalog.tables(),
        };
        let stats = self.shared().storage("SHOW STORAGE")?.storage_stats();
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
            self.shared().storage("COMPACT")?.compact(table.def().id, &context)?;
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
        columns.extend(WHOLE.iter().map(|Count { name, pick, .. }| {
            let of_tables = self.tables.iter().map(|_| None);
            let numbers = of_tables.chain(self.total.iter().map(|total| Some(signed(pick(total)))));
            ((*name).to_owned(), SqlType::BigInt, Arc::new(numbers.collect::<Int64Array>()) as ArrayRef)
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

    fn counts(&self, Count { name, pick, .. }: &Count<TableStorage>) -> (String, SqlType, ArrayRef) {
        let of_tables = self.tables.iter().map(|(_, storage)| signed(pick(storage)));
        let numbers = of_tables.chain(self.total.iter().map(|_| signed(self.sum(*pick))));
        ((*name).to_owned(), SqlType::BigInt, Arc::new(numbers.collect::<Int64Array>()))
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
