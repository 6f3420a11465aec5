//! Tables of the catalog as DataFusion's planner sees them.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr as PlanExpr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use saltwing_bind::ParamValues;
use saltwing_plan::Condition;
use saltwing_planner::{AccessRequest, TableAccess, plan};
use saltwing_types::{ColumnRef, CompareOp, Expr, typing};

use crate::RelationalError;
use crate::expression::translation::{Leaves, translate};
use crate::scan::scan_request::{ScanRequest, TableUse, bound_conditions};
use crate::scan::scan_statistics::rows_of;
use crate::scan::table_scan::TableScanExec;

/// A table in a statement.
#[derive(Clone, Debug)]
pub(crate) struct TableSource {
    of: TableUse,
    schema: SchemaRef,
    /// The table's column of each field.
    columns: Vec<usize>,
}

impl TableSource {
    /// The table with its columns, hidden ones included.
    pub(crate) fn new(of: TableUse) -> Self {
        let columns: Vec<usize> = (0..of.table.width()).collect();
        let schema = of.schema(&columns);
        Self { of, schema, columns }
    }

    /// Whether nothing bounds a scan with these filters, and with values for these fields.
    ///
    /// # Errors
    /// Those of planning the access.
    pub(crate) fn reads_all(&self, filters: &[PlanExpr], known: &[&str]) -> Result<bool> {
        let mut conditions = self.conditions(filters);
        for name in known {
            let column = self.schema.index_of(name).ok().and_then(|field| self.column(field));
            if let Some(column) = column
                && let Ok(equal) = typing::compare(CompareOp::Eq, Expr::Column(column), Expr::Param(0, None))
            {
                conditions.push(Condition::new(equal));
            }
        }
        Ok(self.access(conditions)?.access().verdict.is_refused())
    }

    /// About how many rows a scan with these filters puts out.
    ///
    /// # Errors
    /// Those of planning the access.
    pub(crate) fn rows(&self, filters: &[PlanExpr]) -> Result<Option<u64>> {
        let conditions = self.conditions(filters);
        let samples = &self.of.reading.samples;
        let conditions = if samples.is_empty() {
            Some(conditions)
        } else {
            bound_conditions(&conditions, ParamValues::untyped(samples))
        };
        conditions.map_or(Ok(None), |conditions| Ok(rows_of(&self.of, &self.access(conditions)?)))
    }

    /// The filters that are conditions over the table.
    fn conditions(&self, filters: &[PlanExpr]) -> Vec<Condition> {
        let filters = filters.iter().filter_map(|filter| self.condition(filter));
        filters.flat_map(|filter| filter.expr.into_conjuncts()).map(Condition::new).collect()
    }

    fn access(&self, conditions: Vec<Condition>) -> Result<TableAccess> {
        let hints = &self.of.reading.guard.hints;
        let request = AccessRequest { single_table: false, hints, ..AccessRequest::of(&self.of.table, conditions) };
        Ok(plan(request).map_err(RelationalError::from)?)
    }

    /// The table's column of a field.
    fn column(&self, field: usize) -> Option<ColumnRef> {
        let index = self.columns.get(field).copied()?;
        let field = self.of.table.schema().field(index);
        let (name, nullable) = (field.name().clone(), field.is_nullable());
        Some(ColumnRef { index, name, ty: self.of.table.column_type(index), nullable, span: None })
    }

    /// The condition over the table's columns that a filter is, if it is one.
    fn condition(&self, filter: &PlanExpr) -> Option<Condition> {
        let expr = translate(filter, &mut TableColumns(self)).ok()??;
        Some(Condition::new(expr))
    }
}

#[async_trait]
impl TableProvider for TableSource {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&PlanExpr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&PlanExpr| match self.condition(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[PlanExpr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            None => self.columns.clone(),
            Some(fields) => fields.iter().filter_map(|&field| self.columns.get(field).copied()).collect(),
        };
        let mut conditions = Vec::with_capacity(filters.len());
        for filter in filters {
            let condition = self.condition(filter);
            let condition = condition.ok_or_else(|| RelationalError::bug(format!("no condition: {filter}")))?;
            // Conditions that were joined on the way come apart again.
            conditions.extend(condition.expr.into_conjuncts().into_iter().map(Condition::new));
        }
        let request = ScanRequest {
            conditions,
            columns,
            order: Vec::new(),
            limit: limit.map(|limit| limit as u64),
            limit_open: false,
            single_table: false,
            ends: None,
            partitions: 1,
            opaque: Vec::new(),
            join_advice: Vec::new(),
        };
        Ok(Arc::new(TableScanExec::new(self.of.clone(), request)))
    }
}

/// Only columns of the table itself are leaves.
struct TableColumns<'a>(&'a TableSource);

impl Leaves for TableColumns<'_> {
    fn leaf(&mut self, expr: &PlanExpr) -> std::result::Result<Option<Expr>, RelationalError> {
        let PlanExpr::Column(column) = expr else { return Ok(None) };
        let field = self.0.schema.index_of(&column.name).ok();
        Ok(field.and_then(|field| self.0.column(field)).map(Expr::Column))
    }
}
