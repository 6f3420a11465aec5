//! Hidden row ids: the key of tables that declare none.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{
    Buckets, Budget, RangeIter, RangeSource, ScanContext, ScanOrder, ScanRequest, Table, TableError,
};
use saltwing_expr::value_at;
use saltwing_rowkey::KeyRange;
use saltwing_store::Direction;
use saltwing_types::{KeyColumn, SqlType, Value};

use crate::EmbeddedTables;

struct AllRows;

impl RangeSource for AllRows {
    fn ranges(&self, _bucket: Option<u8>, _direction: Direction) -> RangeIter {
        Box::new(std::iter::once(KeyRange::all()))
    }
}

impl EmbeddedTables {
    /// `count` row ids that no row of the table has.
    ///
    /// They go on from the largest one stored, which the first call after opening looks up: one row a bucket.
    ///
    /// # Errors
    /// The store's.
    pub fn allocate_row_ids(&self, table: &Arc<Table>, count: usize) -> Result<Range<i64>, TableError> {
        let stored = self.stored(table);
        let mut next = stored.next_row_id.lock();
        let first = match *next {
            Some(first) => first,
            None => self.largest_row_id(table)?.map_or(1, |largest| largest.saturating_add(1)),
        };
        let end = first.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        *next = Some(end);
        Ok(first..end)
    }

    fn largest_row_id(&self, table: &Arc<Table>) -> Result<Option<i64>, TableError> {
        let request = ScanRequest {
            table: table.clone(),
            ranges: Arc::new(AllRows),
            buckets: Buckets::All,
            columns: table.def().key.columns.iter().filter_map(KeyColumn::column).collect(),
            filter: Vec::new(),
            direction: Direction::Reverse,
            order: ScanOrder::Merged,
            limit: Some(1),
            first_batch: None,
        };
        let mut scan = self.scan(self.view()?, request, ScanContext::new(Budget::default()))?;
        let Some(batch) = scan.next_batch()? else { return Ok(None) };
        match value_at(batch.column(0), 0, SqlType::BigInt)? {
            Value::Int(id) => Ok(Some(id)),
            _ => Ok(None),
        }
    }
}
