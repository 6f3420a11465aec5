//! Snapshots: all rows as of one commit.

use std::collections::HashMap;
use std::sync::Arc;

use saltwing_access::{
    Aggregation, AtomicScope, ColumnEstimate, Direction, Estimate, KeySet, PartialSource, Projection, RowSource,
    ScanContext, ScanOrder, ScanRange, ScanRoute, ScanSpec, Snapshot, SplitTarget, Table, TableError,
};
use saltwing_expr::RowValues;
use saltwing_rowkey::KeyRange;
use saltwing_types::{TableId, Value};

use crate::aggregation::RemoteAggregation;
use crate::client::{Client, Link, OwnChanges};
use crate::rows::{StoredRow, value};
use crate::scan::RemoteScan;

pub(crate) fn projected(columns: &Projection, key: &[u8], row: &StoredRow) -> Result<Vec<Value>, TableError> {
    columns.columns().iter().map(|&column| value(columns.table(), column, key, row)).collect()
}

/// All rows as of one commit, or as they are when they are read: see the [profiles](crate#profiles).
#[derive(Clone)]
pub(crate) struct RemoteSnapshot {
    pub(crate) link: Link,
    /// The versions of the definitions that rows may be written by.
    definitions: HashMap<TableId, u32>,
}

impl RemoteSnapshot {
    pub(crate) fn new(client: &Arc<Client>) -> Self {
        let (newest, definitions) = client.cluster.newest();
        let at = match client.atomic {
            AtomicScope::Store => newest,
            // Each call sees what there is then.
            AtomicScope::Row => u64::MAX,
        };
        // The clock is read after the commit number: a row that was dropped as expired is expired at this time, too.
        let now_ms = client.now_ms();
        Self { link: Link::new(client.clone(), at, now_ms), definitions }
    }

    /// The same rows with these changes.
    pub(crate) fn with(&self, own: OwnChanges) -> Self {
        Self { link: self.link.with(own), definitions: self.definitions.clone() }
    }

    pub(crate) fn at(&self) -> u64 {
        self.link.at
    }

    /// Rows are not read by a definition that is older than they are.
    pub(crate) fn check(&self, table: &Table) -> Result<(), TableError> {
        match self.definitions.get(&table.def().id) {
            Some(version) if *version > table.version() => {
                Err(TableError::DefinitionChanged { table: table.def().name.to_string() })
            }
            _ => Ok(()),
        }
    }
}

impl Snapshot for RemoteSnapshot {
    fn now_ms(&self) -> i64 {
        self.link.now_ms
    }

    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError> {
        self.check(spec.table())?;
        Ok(Box::new(RemoteScan::new(&self.link, spec, route, context)?))
    }

    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        self.check(columns.table())?;
        self.link.row(columns.table(), row_key)?.map(|row| projected(columns, row_key, &row)).transpose()
    }

    fn get_all(
        &self,
        columns: &Projection,
        keys: &[Vec<u8>],
        values: &mut RowValues,
        context: Option<&ScanContext>,
    ) -> Result<usize, TableError> {
        self.check(columns.table())?;
        let unlimited = ScanContext::of_look_up();
        let rows = self.link.rows(columns.table(), keys, context.unwrap_or(&unlimited))?;
        let found = keys.iter().filter_map(|key| rows.get_key_value(key));
        for (key, row) in found {
            if let Some(context) = context {
                context.charge(1, (key.len() + row.cells.len()) as u64)?;
            }
            values.push_row(projected(columns, key, row)?);
        }
        Ok(rows.len())
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        self.check(table)?;
        Ok(self.link.row(table, row_key)?.is_some())
    }

    /// Region by region, as they are now; a part can be read after they have changed, too.
    fn split(&self, table: &Table, route: &ScanRoute, _: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        self.check(table)?;
        let is_whole = matches!(route.keys, KeySet::Range(_))
            || route.limit.or(route.first_batch).is_some()
            || route.direction == Direction::Reverse
            || route.order == ScanOrder::Merged && route.keys.buckets(&table.def().key).len() > 1;
        Ok(if is_whole { vec![KeyRange::all()] } else { self.link.cluster.regions(table.def().id) })
    }

    fn reads_wait(&self) -> bool {
        true
    }

    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError> {
        self.check(table)?;
        let id = table.def().id;
        let sample = keys.sample(&table.def().key);
        let mut rows = 0;
        for ScanRange { range, bucket: of } in &sample.ranges {
            let buckets = if of.is_some() { vec![*of] } else { sample.buckets.of(&table.def().key) };
            for bucket in buckets {
                let place = range.in_bucket(bucket);
                let own = self.link.own_between(table, place.start(), place.end()).count();
                rows += self.link.cluster.count(id, place.start(), place.end()) + own as u64;
            }
        }
        let sum = Estimate { rows, bytes: rows * 64, is_exact: false };
        Ok(sum.scaled_to(sample.total, sample.ranges.len() as u64))
    }

    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError> {
        self.check(table)?;
        Ok(vec![ColumnEstimate { unseen: u64::MAX, ..ColumnEstimate::default() }; columns.len()])
    }

    /// Rows of the transaction's own are not on the servers.
    fn aggregate(
        &self,
        aggregation: &Aggregation<'_>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Option<Box<dyn PartialSource>>, TableError> {
        let table = aggregation.spec.table();
        self.check(table)?;
        if self.link.own_between(table, &[], None).next().is_some() {
            return Ok(None);
        }
        let route = ScanRoute { limit: None, first_batch: None, ..route };
        let scan = RemoteScan::by_region(&self.link, aggregation.spec, route, context)?;
        Ok(Some(Box::new(RemoteAggregation::new(scan, aggregation))))
    }

    fn adds_up(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }

    fn knows_totals(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }
}
