//! Hidden row ids: the key of tables that declare none.

use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{
    Budget, Direction, KeySet, ScanContext, ScanOrder, ScanRoute, ScanSpec, Table, TableError, TableStore,
};
use saltwing_expr::value_at;
use saltwing_types::{KeyColumn, SqlType, Value};

use crate::store::EmbeddedTables;

impl EmbeddedTables {
    /// They continue after the largest stored one, which the first call after opening looks up: one row a bucket.
    pub(crate) fn next_row_ids(&self, table: &Arc<Table>, count: usize) -> Result<Range<i64>, TableError> {
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
        let columns = table.def().key.columns.iter().filter_map(KeyColumn::column).collect();
        let route = ScanRoute {
            direction: Direction::Reverse,
            order: ScanOrder::Merged,
            limit: Some(1),
            ..ScanRoute::of(KeySet::all())
        };
        let spec = ScanSpec::new(table, columns, Vec::new())?;
        let mut scan = self.snapshot()?.scan(&spec, route, ScanContext::new(Budget::default()))?;
        let Some(batch) = scan.next_batch()? else { return Ok(None) };
        match value_at(batch.column(0), 0, SqlType::BigInt)? {
            Value::Int(id) => Ok(Some(id)),
            _ => Ok(None),
        }
    }
}
