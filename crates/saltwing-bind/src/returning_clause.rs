//! The RETURNING of a statement, as it is written.

use saltwing_sql::statement::{Delete, Hint, Merge, Returning, Update, Upsert};
use saltwing_sql::{Name, Statement, TableRef};
use saltwing_types::{ColumnRef, SqlType};

/// The RETURNING of a statement, and what it is over.
#[derive(Clone, Copy)]
pub(crate) struct ReturningClause<'a> {
    pub(crate) clause: &'a Returning,
    pub(crate) table: &'a TableRef,
    pub(crate) alias: Option<&'a Name>,
    pub(crate) hints: &'a [Hint],
}

pub(crate) fn clause_of(statement: &Statement) -> Option<ReturningClause<'_>> {
    let (clause, table, alias, hints) = match statement {
        Statement::Upsert(Upsert { returning, table, alias, hints, .. })
        | Statement::Insert(Upsert { returning, table, alias, hints, .. })
        | Statement::Delete(Delete { returning, table, alias, hints, .. })
        | Statement::Update(Update { returning, table, alias, hints, .. })
        | Statement::Merge(Merge { returning, table, alias, hints, .. }) => (returning, table, alias.as_ref(), hints),
        _ => return None,
    };
    clause.as_ref().map(|clause| ReturningClause { clause, table, alias, hints })
}

/// What a MERGE has done to a row, as a column with this id.
pub(crate) fn merge_action(id: usize) -> ColumnRef {
    let name = "MERGE_ACTION()".to_owned();
    ColumnRef { index: id, name, ty: SqlType::Varchar(None), nullable: false, span: None }
}
