//! The path from an operator down to the scan below it.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use saltwing_types::{Expr, SqlType};

use crate::expression::expr_function::ExprFunction;
use crate::expression::order_form::below_form;
use crate::scan::table_scan::TableScanExec;

/// The nodes from below an operator down to a scan; none of them changes the order of rows except by grouping.
#[derive(Clone)]
pub(crate) struct Path {
    nodes: Vec<Arc<dyn ExecutionPlan>>,
    scan: Arc<dyn ExecutionPlan>,
    /// Whether each row of the scan comes out.
    pub(crate) all_rows: bool,
}

impl Path {
    /// The path from a plan down, if it is one.
    pub(crate) fn below(start: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        Self::through(start, is_row_by_row)
    }

    /// The path from a plan down through groups too: with fewer rows, the groups that are left are the same if all rows
    /// of a group are. The order of rows is not kept.
    pub(crate) fn below_groups(start: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        Self::through(start, |node| is_row_by_row(node) || grouping(node).is_some())
    }

    fn through(start: &Arc<dyn ExecutionPlan>, is_step: impl Fn(&Arc<dyn ExecutionPlan>) -> bool) -> Option<Self> {
        let (mut nodes, mut at, mut all_rows) = (Vec::new(), start.clone(), true);
        while !at.is::<TableScanExec>() {
            all_rows &= !at.is::<FilterExec>() && !at.is::<AggregateExec>();
            if !is_step(&at) {
                return None;
            }
            let next = (*at.children().first()?).clone();
            nodes.push(at);
            at = next;
        }
        Some(Self { nodes, scan: at, all_rows })
    }

    /// The scan at its end.
    pub(crate) fn scan(&self) -> Option<&TableScanExec> {
        self.scan.downcast_ref::<TableScanExec>()
    }

    /// The same as a node.
    pub(crate) fn scan_node(&self) -> &Arc<dyn ExecutionPlan> {
        &self.scan
    }

    /// The same path to another scan, which puts out the same columns.
    pub(crate) fn with_scan(self, scan: TableScanExec) -> Self {
        Self { scan: Arc::new(scan), ..self }
    }

    /// The table's column that an expression over the path's output is, if it is one.
    pub(crate) fn table_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        self.table_column_below(expr, |expr| expr.downcast_ref::<Column>())
    }

    /// The table's column by whose order an expression over the path's output sorts, if there is one.
    pub(crate) fn sorted_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        self.table_column(below_form(expr))
    }

    /// The table's column that an expression over the path's output casts, or is, and the types of the casts, the innermost
    /// first.
    pub(crate) fn cast_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<(usize, Vec<SqlType>)> {
        let mut casts = Vec::new();
        let column = self.table_column_below(expr, |expr| {
            let Some((ty, column)) = ExprFunction::column_cast(expr) else { return expr.downcast_ref::<Column>() };
            casts.push(ty);
            Some(column)
        })?;
        casts.reverse();
        Some((column, casts))
    }

    /// The table's column below an expression over the path's output; `column` takes the column out of an expression of each step.
    fn table_column_below<'e>(
        &'e self,
        expr: &'e Arc<dyn PhysicalExpr>,
        mut column: impl FnMut(&'e Arc<dyn PhysicalExpr>) -> Option<&'e Column>,
    ) -> Option<usize> {
        let mut index = column(expr)?.index();
        for node in &self.nodes {
            if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
                index = column(&projection.expr().get(index)?.expr)?.index();
            } else if let Some(filter) = node.downcast_ref::<FilterExec>()
                && let Some(kept) = filter.projection()
            {
                index = *kept.get(index)?;
            } else if let Some(grouping) = grouping(node) {
                index = grouping.expr().get(index)?.0.downcast_ref::<Column>()?.index();
            }
        }
        self.scan()?.request().columns.get(index).copied()
    }

    /// The part of the table's key that an expression over the path's output is, by its position: a computed one.
    pub(crate) fn key_part(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        let computed = self.computed(expr, 0)?;
        let key = &self.scan()?.table_use().table.def().key;
        key.columns.iter().position(|part| part.computed() == Some(&computed))
    }

    /// The expression over the table's columns that one over the output of a node is; `None` for a column.
    fn computed(&self, expr: &Arc<dyn PhysicalExpr>, depth: usize) -> Option<Expr> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            let (below, node) =
                self.nodes.iter().enumerate().skip(depth).find(|(_, node)| node.is::<ProjectionExec>())?;
            let is_plain = |node: &Arc<dyn ExecutionPlan>| node.is::<CoalescePartitionsExec>();
            let projection = node.downcast_ref::<ProjectionExec>()?;
            let item = &projection.expr().get(column.index())?.expr;
            return self.nodes.get(depth..below)?.iter().all(is_plain).then(|| self.computed(item, below + 1))?;
        }
        let (call, args) = ExprFunction::of_physical(expr)?;
        let path = Self { nodes: self.nodes.get(depth..)?.to_vec(), ..self.clone() };
        let table = &self.scan()?.table_use().table;
        let columns: Vec<usize> = args.iter().map(|arg| path.table_column(arg)).collect::<Option<_>>()?;
        let mut computed = call.clone();
        computed.map_columns(&mut |column| {
            if let Some(&index) = columns.get(column.index) {
                (column.index, column.ty) = (index, table.column_type(index));
            }
        });
        Some(computed)
    }

    /// The same nodes over another scan.
    pub(crate) fn over(self, scan: TableScanExec) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_scan(scan).whole()
    }

    /// The nodes over the scan, as a plan.
    pub(crate) fn whole(self) -> Result<Arc<dyn ExecutionPlan>> {
        self.nodes.into_iter().rev().try_fold(self.scan, |child, node| rebuilt(node, child))
    }
}

fn is_row_by_row(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<ProjectionExec>() || node.is::<FilterExec>() || node.is::<CoalescePartitionsExec>()
}

/// The keys of a grouping node with a single grouping set and without a limit on its groups.
fn grouping(node: &Arc<dyn ExecutionPlan>) -> Option<&PhysicalGroupBy> {
    let aggregate = node.downcast_ref::<AggregateExec>()?;
    let grouping = aggregate.group_expr();
    let is_plain = grouping.is_single() && !grouping.expr().is_empty() && aggregate.limit_options().is_none();
    is_plain.then_some(grouping)
}

/// A node over another child.
pub(crate) fn rebuilt(node: Arc<dyn ExecutionPlan>, child: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
    node.replace_children(vec![child], ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}
