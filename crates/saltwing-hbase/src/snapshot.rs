//! Reads. Servers have no view of the cluster at one instant: a row is read as it is when a server comes to it.

use std::sync::Arc;

use saltwing_access::{
    Aggregation, ColumnEstimate, Estimate, KeySet, PartialSource, Projection, RowSource, ScanContext, ScanRange,
    ScanRoute, ScanSpec, Snapshot, SplitTarget, Table, TableError,
};
use saltwing_expr::RowValues;
use saltwing_rowkey::KeyRange;
use saltwing_types::Value;

use crate::aggregate::RegionGroups;
use crate::cluster::{Cluster, Place};
use crate::open_tables::OpenTables;
use crate::phoenix_table::PhoenixTable;
use crate::rows::{ReadRow, RowReader};
use crate::scan::RouteScan;

/// Rows of a range of which nothing is known: the cluster counts none.
const ROWS_OF_RANGE: u64 = 1000;
/// Bytes of a row, about.
const BYTES_OF_ROW: u64 = 100;
/// Most keys of a call of several rows.
const KEYS_AT_ONCE: usize = 1000;

/// Reads, with the time of their beginning.
pub(crate) struct ClusterSnapshot {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) tables: Arc<OpenTables>,
    pub(crate) now_ms: i64,
}

impl ClusterSnapshot {
    /// The columns of a row by its physical key; `None` if there is no row.
    ///
    /// # Errors
    /// Those of calls and of damaged rows; [`TableError::DefinitionChanged`].
    pub(crate) fn read_row(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<ReadRow>, TableError> {
        let table = columns.table();
        self.tables.check(table)?;
        let phoenix = PhoenixTable::of(table)?;
        let hbase = self.cluster.client.table(phoenix.physical.clone());
        let reader = RowReader::new(table, phoenix, columns.columns().to_vec());
        let (get, of_call) = (reader.get(row_key), hbase.clone());
        self.cluster.call(Place::Row(&hbase, row_key), |context| async move {
            let row = of_call.get(&context, get).await?;
            reader.read(&row)
        })
    }

    /// The rows of some keys, those that are there, in the order of the keys.
    fn read_rows(
        &self,
        columns: &Projection,
        keys: &[Vec<u8>],
        context: &ScanContext,
    ) -> Result<Vec<ReadRow>, TableError> {
        let table = columns.table();
        self.tables.check(table)?;
        let phoenix = PhoenixTable::of(table)?;
        let hbase = self.cluster.client.table(phoenix.physical.clone());
        let reader = RowReader::new(table, phoenix, columns.columns().to_vec());
        let (gets, of_call) = (keys.iter().map(|key| reader.get(key)).collect(), hbase.clone());
        self.cluster.call_for(Some(context.statement()), Place::Table(&hbase), |context| async move {
            let mut rows = Vec::new();
            for row in of_call.get_many(&context, gets).await {
                rows.extend(reader.read(&row?)?);
            }
            Ok(rows)
        })
    }
}

impl Snapshot for ClusterSnapshot {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn scan(&self, spec: &ScanSpec, route: ScanRoute, context: ScanContext) -> Result<Box<dyn RowSource>, TableError> {
        self.tables.check(spec.table())?;
        Ok(Box::new(RouteScan::new(&self.cluster, spec, route, context)?))
    }

    fn get(&self, columns: &Projection, row_key: &[u8]) -> Result<Option<Vec<Value>>, TableError> {
        Ok(self.read_row(columns, row_key)?.map(|row| row.values))
    }

    fn get_all(
        &self,
        columns: &Projection,
        keys: &[Vec<u8>],
        values: &mut RowValues,
        context: Option<&ScanContext>,
    ) -> Result<usize, TableError> {
        let unlimited = ScanContext::of_look_up();
        let mut found = 0;
        for keys in keys.chunks(KEYS_AT_ONCE) {
            for row in self.read_rows(columns, keys, context.unwrap_or(&unlimited))? {
                if let Some(context) = context {
                    context.charge(1, row.bytes)?;
                }
                found += 1;
                values.push_row(row.values);
            }
        }
        Ok(found)
    }

    fn contains(&self, table: &Table, row_key: &[u8]) -> Result<bool, TableError> {
        let columns = Projection::new(&Arc::new(table.clone()), []);
        Ok(self.read_row(&columns, row_key)?.is_some())
    }

    /// One part: the store itself reads regions side by side.
    fn split(&self, table: &Table, _: &ScanRoute, _: SplitTarget) -> Result<Vec<KeyRange>, TableError> {
        self.tables.check(table)?;
        Ok(vec![KeyRange::all()])
    }

    fn reads_wait(&self) -> bool {
        true
    }

    /// Single keys have a row each; nothing is known of ranges.
    fn estimate(&self, table: &Table, keys: &KeySet) -> Result<Estimate, TableError> {
        self.tables.check(table)?;
        let sample = keys.sample(&table.def().key);
        let rows_of = |ScanRange { range, .. }: &ScanRange| if range.is_point() { 1 } else { ROWS_OF_RANGE };
        let rows = sample.ranges.iter().map(rows_of).sum::<u64>();
        let sum = Estimate { rows, bytes: rows * BYTES_OF_ROW, is_exact: false };
        Ok(sum.scaled_to(sample.total, sample.ranges.len() as u64))
    }

    fn estimate_columns(&self, table: &Table, columns: &[usize]) -> Result<Vec<ColumnEstimate>, TableError> {
        self.tables.check(table)?;
        Ok(vec![ColumnEstimate { unseen: u64::MAX, ..ColumnEstimate::default() }; columns.len()])
    }

    fn aggregate(
        &self,
        aggregation: &Aggregation<'_>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Option<Box<dyn PartialSource>>, TableError> {
        self.tables.check(aggregation.spec.table())?;
        let groups = RegionGroups::start(&self.cluster, aggregation, route, &context)?;
        Ok(groups.map(|groups| Box::new(groups) as Box<dyn PartialSource>))
    }

    fn adds_up(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }

    fn knows_totals(&self, _: &ScanSpec) -> Result<bool, TableError> {
        Ok(false)
    }
}
