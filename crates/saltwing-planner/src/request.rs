//! The request of a SELECT to its table, besides its conditions.

use saltwing_plan::{Condition, OrderItem, RowLimit};

use crate::access::{AccessRequest, TableAccess, UsableKeys};
use crate::direct_query::DirectQuery;
use crate::error::Result;
use crate::plan::plan;

/// The request of a SELECT to its table, besides its conditions.
pub(crate) struct SelectRequest<'a> {
    /// One more condition.
    pub(crate) condition: Option<Condition>,
    pub(crate) order: &'a [OrderItem],
    /// Whether the scan may come in two parts for the sake of the order.
    pub(crate) nulls_apart: bool,
    pub(crate) limit: RowLimit,
    pub(crate) grouped: bool,
    /// The column of which only MIN or MAX is requested.
    pub(crate) min_max: Option<usize>,
    /// The keys by which the rows may be read.
    pub(crate) keys: UsableKeys,
}

impl SelectRequest<'_> {
    /// Rows in no order.
    pub(crate) fn of_rows() -> Self {
        Self {
            condition: None,
            order: &[],
            nulls_apart: false,
            limit: RowLimit::None,
            grouped: false,
            min_max: None,
            keys: UsableKeys::All,
        }
    }

    /// Rows that are grouped.
    pub(crate) fn of_groups() -> Self {
        Self { grouped: true, ..Self::of_rows() }
    }

    pub(crate) fn plan(self, bound: &DirectQuery) -> Result<TableAccess> {
        let columns = (!bound.table.indexes().is_empty()).then(|| bound.output.table_columns());
        plan(AccessRequest {
            table: &bound.table,
            alias: bound.alias.clone(),
            span: bound.span,
            conditions: bound.conditions.iter().cloned().chain(self.condition).collect(),
            order: self.order,
            nulls_apart: self.nulls_apart,
            is_page: bound.is_page,
            limit: self.limit,
            offset: if self.grouped { 0 } else { bound.skipped() },
            aggregate_or_distinct: self.grouped,
            min_max: self.min_max,
            single_table: true,
            columns: columns.as_deref(),
            keys: self.keys,
            hints: &bound.hints,
        })
    }
}
