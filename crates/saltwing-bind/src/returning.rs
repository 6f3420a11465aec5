//! RETURNING.

use std::borrow::Cow;

use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::{Delete, Merge, Returning, Update, Upsert};
use saltwing_sql::{DynamicColumn, Name, Statement, TableRef};

use crate::dml::declared_by;
use crate::engine::NoEngine;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Params;
use crate::names::Names;
use crate::query::BoundWith;
use crate::query_binder::BinderState;
use crate::statement_query::Root;
use crate::target::NamedTarget;
use crate::tree::{BoundQuery, Relation};

/// Binds the RETURNING of a statement as a query of all rows of its table, which are those that it writes or deletes; `None`
/// without a RETURNING.
///
/// # Errors
/// [`BindErrorKind::NotSupported`] for aggregates, subqueries, and functions that only the relational engine has; as
/// [`query`](crate::query).
pub fn returning(statement: &Statement, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<Option<BoundQuery>> {
    let Some((clause, table, alias)) = clause_of(statement) else { return Ok(None) };
    let dynamic = dynamic_of(statement);
    let named = NamedTarget { table, dynamic: &dynamic, alias };
    let with = BoundWith { catalog, engine: &NoEngine, params, names: Names::Statement };
    let state = BinderState::new(Root::Returning(clause));
    let root = with.bound(&state, |binder, _| binder.returned_rows(&named, clause))?;
    match root.subqueries.is_empty() && is_of_each_row(&root.query) {
        true => Ok(Some(root.query)),
        false => Err(BindError::from(BindErrorKind::NotSupported("RETURNING of this".into()))
            .at(Some(clause.span))
            .help("RETURNING computes values of one row: no aggregates, windows or subqueries, and not its time")),
    }
}

/// Whether its rows are those of the table, each with more columns, and it reads no times of rows: they get them with their commit.
fn is_of_each_row(bound: &BoundQuery) -> bool {
    let (mut relation, mut computed) = (&bound.relation, Vec::new());
    while let Relation::Project { input, columns } = relation {
        computed.extend(columns);
        relation = input;
    }
    let Relation::Scan(scan) = relation else { return false };
    let time = scan.first_column + scan.table.row_time_index();
    bound.output.iter().all(|output| output.column.index != time)
        && computed.iter().all(|column| !column.expr.columns().contains(&time))
}

/// The dynamic columns that a statement declares for the table it writes.
fn dynamic_of(statement: &Statement) -> Cow<'_, [DynamicColumn]> {
    match statement {
        Statement::Upsert(it) | Statement::Insert(it) => Cow::Owned(declared_by(it)),
        Statement::Delete(Delete { dynamic, .. })
        | Statement::Update(Update { dynamic, .. })
        | Statement::Merge(Merge { dynamic, .. }) => Cow::Borrowed(dynamic),
        _ => Cow::Borrowed(&[]),
    }
}

fn clause_of(statement: &Statement) -> Option<(&Returning, &TableRef, Option<&Name>)> {
    let (clause, table, alias) = match statement {
        Statement::Upsert(Upsert { returning, table, alias, .. })
        | Statement::Insert(Upsert { returning, table, alias, .. })
        | Statement::Delete(Delete { returning, table, alias, .. })
        | Statement::Update(Update { returning, table, alias, .. })
        | Statement::Merge(Merge { returning, table, alias, .. }) => (returning, table, alias.as_ref()),
        _ => return None,
    };
    clause.as_ref().map(|clause| (clause, table, alias))
}
