//! Views that give rows of one table as they come.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_plan::Condition;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::{Expr, TableName};

use crate::engine::NoEngine;
use crate::error::{Result, if_bound};
use crate::lower::Params;
use crate::names::Names;
use crate::plain_query::simple;
use crate::query::{BoundWith, bound_query};
use crate::query_binder::BinderState;
use crate::statement_query::Root;
use crate::tree::{Relation, Rows, Scan, value_of};
use crate::uncorrelated::RootQuery;

/// Rows of one table as they come: those that meet the conditions.
pub(super) struct TableRows {
    pub(super) table: Arc<Table>,
    pub(super) conditions: Vec<Condition>,
    /// The columns of the result, over those of the table.
    pub(super) columns: Vec<Expr>,
    /// The table and the views that the query reads.
    pub(super) reads: Vec<TableName>,
}

/// The query of a view, if it gives rows of one table as they come.
///
/// # Errors
/// That of the catalog.
pub(super) fn rows_of(
    inner: &QueryStatement,
    names: Names<'_>,
    catalog: &dyn CatalogReader,
) -> Result<Option<TableRows>> {
    match simple(&inner.query) {
        // A query in its FROM has conditions of its own.
        None => Ok(None),
        Some(_) => {
            let with = BoundWith { catalog, engine: &NoEngine, params: Params::NONE, names };
            let state = BinderState::new(Root::Query(inner.into()));
            Ok(if_bound(bound_query(inner, &state, with))?.and_then(rows_of_table))
        }
    }
}

fn rows_of_table(root: RootQuery) -> Option<TableRows> {
    if !root.has_one_plan() {
        return None;
    }
    let Rows { relation, conditions, computed } = root.query.relation.into_rows()?;
    let Relation::Scan(Scan { table, first_column: 0, .. }) = relation else { return None };
    // A value that is another one each time is computed once for each row of the view.
    if computed.iter().any(|column| column.expr.is_volatile()) {
        return None;
    }
    let columns = root.query.output.iter().map(|output| value_of(&output.column, &computed)).collect();
    let reads = root.reads.into_iter().map(|read| read.name).collect();
    Some(TableRows { table, conditions, columns, reads })
}
