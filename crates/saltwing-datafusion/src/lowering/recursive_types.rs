//! The column types of recursive queries, fixed before anything is lowered.
//!
//! DataFusion's planner gives the working table the types of the first term as planned. If the first term is a UNION
//! whose arms are later brought to another common type, the recursive term must be planned over that type.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{LogicalPlan, RecursiveQuery, TableScan, TableScanBuilder};

use super::set_operation;

/// The plan with unions of one type, where recursive queries count on it.
pub(crate) fn brought_together(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !plan.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))))? {
        return Ok(plan);
    }
    let typed = plan.transform_up_with_subqueries(|node| {
        let typed = match node {
            LogicalPlan::Union(union) => LogicalPlan::Union(set_operation::brought_together(union)?),
            LogicalPlan::RecursiveQuery(query) => LogicalPlan::RecursiveQuery(over_first_rows(query)?),
            other => other,
        };
        Ok(Transformed::yes(typed.recompute_schema()?))
    })?;
    Ok(typed.data)
}

/// A recursive query whose rounds read rows of the types that the first ones have.
fn over_first_rows(mut query: RecursiveQuery) -> Result<RecursiveQuery> {
    query.static_term = set_operation::as_own_types(&query.static_term)?;
    let first = query.static_term.schema().as_arrow().clone();
    let rounds = Arc::unwrap_or_clone(query.recursive_term).transform_down(|node| match &node {
        // It hides the outer query of its name.
        LogicalPlan::RecursiveQuery(inner) if inner.name == query.name => {
            Ok(Transformed::new(node, false, TreeNodeRecursion::Jump))
        }
        LogicalPlan::TableScan(scan) => match retyped(scan, &query.name, &first)? {
            Some(scan) => Ok(Transformed::yes(LogicalPlan::TableScan(scan))),
            None => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    })?;
    let rounds = match rounds.transformed {
        true => rounds.data.transform_up(|node| Ok(Transformed::yes(node.recompute_schema()?)))?.data,
        false => rounds.data,
    };
    query.recursive_term = Arc::new(rounds);
    Ok(query)
}

/// The scan of the last round's rows with these types, if it has others.
fn retyped(scan: &TableScan, name: &str, types: &Schema) -> Result<Option<TableScan>> {
    let Ok(provider) = source_as_provider(&scan.source) else { return Ok(None) };
    let Some(table) = provider.downcast_ref::<CteWorkTable>().filter(|table| table.name() == name) else {
        return Ok(None);
    };
    let fields = scan.source.schema();
    let same = fields.fields().iter().zip(types.fields()).all(|(old, new)| old.data_type() == new.data_type());
    if same || fields.fields().len() != types.fields().len() {
        return Ok(None);
    }
    let fields: Vec<Field> = fields
        .fields()
        .iter()
        .zip(types.fields())
        .map(|(old, new)| new.as_ref().clone().with_name(old.name()).with_nullable(true))
        .collect();
    let table = CteWorkTable::new(table.name(), Arc::new(Schema::new(fields)));
    let (projection, filters) = (scan.projection.clone(), scan.filters.clone());
    let source = provider_as_source(Arc::new(table));
    let scan = TableScanBuilder::new(scan.table_name.clone(), source)
        .with_projection(projection)
        .with_filters(filters)
        .with_fetch(scan.fetch);
    Ok(Some(scan.build()?))
}
