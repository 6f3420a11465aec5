//! `pg_constraint`: primary keys and CHECK constraints.
//!
//! A UNIQUE index is no constraint, as in PostgreSQL after CREATE UNIQUE INDEX. Foreign keys do not exist.

use super::cells::{Cell, row};
use super::relation::Entry;
use crate::CatalogError;
use crate::definitions::{Column, Definitions, PartOids, Table, key_constraint_oid, key_index_oid};

pub(super) static RELATIONS: &[Entry] = &[Entry::table(
    "pg_constraint",
    2606,
    "oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool, convalidated bool, conrelid oid, \
     contypid oid, conindid oid, conparentid oid, confrelid oid, confupdtype char, confdeltype char, confmatchtype char, \
     conislocal bool, coninhcount int4, connoinherit bool, conkey _int2, confkey _int2, conpfeqop _oid, conppeqop _oid, \
     conffeqop _oid, confdelsetcols _int2, conexclop _oid, conbin pg_node_tree",
    |definitions| constraints(definitions)?.into_iter().map(|constraint| Ok(constraint.row(definitions))).collect(),
)];

/// A constraint of a table.
pub(super) struct Constraint<'a> {
    pub(super) oid: u32,
    pub(super) name: String,
    pub(super) table: &'a Table,
    /// The condition of a CHECK; `None` of a primary key.
    pub(super) condition: Option<&'a str>,
}

impl Constraint<'_> {
    fn row(&self, definitions: &Definitions) -> Vec<Cell> {
        let is_key = self.condition.is_none();
        let (kind, index) = if is_key { ('p', key_index_oid(self.table.oid)) } else { ('c', 0) };
        let numbers: Vec<i64> = self.columns().iter().map(|column| column.number.into()).collect();
        row![
            self.oid,
            &self.name,
            definitions.schema_oid(&self.table.schema).unwrap_or(0),
            kind,
            false,
            false,
            true,
            self.table.oid,
            0,
            index,
            0,
            0,
            " ",
            " ",
            " ",
            true,
            0,
            is_key,
            numbers,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            self.condition
        ]
    }

    /// Its columns: of a CHECK those whose names stand in the condition.
    pub(super) fn columns(&self) -> Vec<&Column> {
        let Some(condition) = self.condition else { return self.table.key_columns() };
        let names = names(condition);
        let is_named = |column: &&Column| names.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
        self.table.columns.iter().filter(is_named).collect()
    }
}

/// The names in an expression.
fn names(expression: &str) -> Vec<String> {
    use saltwing::syntax::{Lexeme, lexemes};
    let names = lexemes(expression).filter(|(kind, _)| matches!(kind, Lexeme::Word | Lexeme::QuotedName));
    names
        .filter_map(|(_, place)| expression.get(place))
        .map(|name| name.trim_matches('"').replace("\"\"", "\""))
        .collect()
}

/// All constraints.
///
/// # Errors
/// [`CatalogError::NoOid`].
pub(super) fn constraints(definitions: &Definitions) -> Result<Vec<Constraint<'_>>, CatalogError> {
    let mut constraints = Vec::new();
    let mut checks = PartOids::of_checks();
    for table in &definitions.tables {
        if table.has_key() {
            let name = table.key_index_name();
            constraints.push(Constraint { oid: key_constraint_oid(table.oid), name, table, condition: None });
        }
        for (place, check) in table.checks.iter().enumerate() {
            let (oid, condition) = (checks.next(table.oid, place)?, Some(check.condition.as_str()));
            constraints.push(Constraint { oid, name: check.name.clone(), table, condition });
        }
    }
    Ok(constraints)
}
