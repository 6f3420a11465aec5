//! RETURNING as a query: over all rows of the table, and over those that a statement has written or deleted.
//!
//! ```text
//! UPDATE t .. RETURNING k, (SELECT n FROM u WHERE u.k = t.k)     sort place:3
//!                                                                  apply [(subquery):8 = scalar]
//!                                                                    the rows [k:0, .., place:3, action:4]
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::statement::{Delete, Merge, Returning, Update};
use saltwing_sql::{DynamicColumn, Statement};
use saltwing_types::table::ROW_KEY_COLUMN;
use saltwing_types::{ColumnRef, SortOrder, SqlType};

use crate::dml::declared_by;
use crate::error::{BindError, BindErrorKind, Result};
use crate::query_binder::{Bound, QueryBinder, unsupported};
use crate::returning_clause::{ReturningClause, clause_of, merge_action};
use crate::select::QueryClauses;
use crate::select_tree::Clauses;
use crate::statement_query::ReturnedQuery;
use crate::target::NamedTarget;
use crate::tree::{BoundQuery, ExternalSource, Relation, Scan, SortItem};

/// The columns that the rows of a RETURNING have beside those of their table, by id.
pub(crate) struct AddedColumns {
    /// The place of a row among them.
    place: usize,
    /// What was done to it.
    pub(crate) action: usize,
}

impl QueryBinder<'_> {
    /// The tree of RETURNING over all rows of the table.
    pub(crate) fn returned_rows(
        &self,
        statement: &Statement,
        returned: &ReturningClause<'_>,
    ) -> Bound<(BoundQuery, AddedColumns)> {
        let dynamic = dynamic_of(statement);
        let first_input = self.ids.next();
        let named = NamedTarget { table: returned.table, dynamic: &dynamic, alias: returned.alias };
        let from = self.target(&named, true)?;
        let place = self.ids.take(2);
        let added = AddedColumns { place, action: place + 1 };
        let merge_action = matches!(statement, Statement::Merge(_)).then_some(added.action);
        let clauses = QueryClauses { items: &returned.clause.texts, ..QueryClauses::default() };
        let query = QueryBinder { merge_action, ..*self }.over(from, first_input, &[], clauses, |binder| {
            Ok(Clauses { items: binder.items(&returned.clause.items)?, ..Clauses::default() })
        })?;
        Ok((query, added))
    }

    /// The tree of RETURNING over the rows that the statement has written or deleted, in their order.
    pub(crate) fn returned_query(&self, query: &ReturnedQuery<'_>) -> Bound<BoundQuery> {
        let Some(returned) = clause_of(query.statement) else { return unsupported("a statement without RETURNING") };
        let (BoundQuery { mut relation, output }, added) = self.returned_rows(query.statement, &returned)?;
        checked(&BoundQuery { relation: relation.clone(), output: output.clone() }, returned.clause)?;
        put_rows(&mut relation, query, &added);
        let by_place = SortItem { column: place(added.place), order: SortOrder::Asc, nulls_first: true };
        let relation = Relation::Sort { input: Box::new(relation), items: vec![by_place] };
        Ok(BoundQuery { relation, output })
    }
}

/// The table of a RETURNING whose rows are those of the table, each with more columns.
///
/// # Errors
/// Other rows, and times of rows: they get them with their commit.
pub(crate) fn checked(bound: &BoundQuery, clause: &Returning) -> Result<Arc<Table>> {
    let refused = || {
        BindError::from(BindErrorKind::NotSupported("RETURNING of this".into()))
            .at(Some(clause.span))
            .help("RETURNING computes values of one row: no aggregates or windows but in subqueries, and not its time")
    };
    let mut relation = &bound.relation;
    while let Relation::Project { input, .. } | Relation::Apply { input, .. } = relation {
        relation = input;
    }
    let Relation::Scan(scan) = relation else { return Err(refused()) };
    let time = scan.first_column + scan.table.row_time_index();
    let mut names_time = bound.output.iter().any(|output| output.column.index == time);
    bound.relation.for_each(&mut |relation| {
        relation.for_each_column(&mut |column| names_time |= column.index == time);
    });
    if names_time { Err(refused()) } else { Ok(scan.table.clone()) }
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

/// Puts the rows in the place of the target's scan.
fn put_rows(relation: &mut Relation, query: &ReturnedQuery<'_>, added: &AddedColumns) {
    match relation {
        Relation::Project { input, .. } | Relation::Apply { input, .. } => put_rows(input, query, added),
        Relation::Scan(scan) => {
            let columns = columns_of(scan, added);
            let (source, alias) = (ExternalSource::Arrow(query.rows.clone()), scan.alias.clone());
            *relation = Relation::External { source, alias, columns };
        }
        _ => {}
    }
}

fn place(id: usize) -> ColumnRef {
    ColumnRef { index: id, name: "place".to_owned(), ty: SqlType::BigInt, nullable: false, span: None }
}

/// The columns of [`ReturnedQuery::rows`] in the place of a scan.
fn columns_of(scan: &Scan, added: &AddedColumns) -> Vec<ColumnRef> {
    let (table, first) = (&scan.table, scan.first_column);
    let of_table = (0..table.row_key_index()).filter_map(|index| table.column_ref(index, None));
    let of_table = of_table.map(|column| ColumnRef { index: first + column.index, ..column });
    let key = ColumnRef {
        index: first + table.row_key_index(),
        name: ROW_KEY_COLUMN.to_owned(),
        ty: SqlType::Varbinary,
        nullable: false,
        span: None,
    };
    of_table.chain([key, place(added.place), merge_action(added.action)]).collect()
}
