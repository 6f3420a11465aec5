//! Columns qualified by their family: `family.column`, `table.family.column`.
//!
//! DataFusion takes the first part of a name for a table. So a family is replaced by its table, unless the FROM clause
//! has a table of that name.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use sqlparser::ast::{Ident, ObjectName, TableFactor, TableWithJoins};

use super::tree::factor_name;
use crate::RelationalError;
use crate::error::RelationalErrorKind;

/// The tables of one FROM.
#[derive(Default)]
pub(super) struct Scope {
    relations: Vec<Relation>,
}

struct Relation {
    /// How columns name it, in lower case: its alias, or its name with its schema.
    name: Vec<String>,
    /// The table of the catalog that it is, if it is one.
    table: Option<Arc<Table>>,
}

impl Scope {
    /// The tables of a FROM clause; `is_cte` tells names that are no tables of the catalog.
    pub(super) fn of(from: &[TableWithJoins], catalog: &dyn CatalogReader, is_cte: &dyn Fn(&str) -> bool) -> Self {
        let mut scope = Self::default();
        from.iter().for_each(|table| scope.add(table, catalog, is_cte));
        scope
    }

    fn add(&mut self, table: &TableWithJoins, catalog: &dyn CatalogReader, is_cte: &dyn Fn(&str) -> bool) {
        for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
            if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
                self.add(table_with_joins, catalog, is_cte);
            }
            let Some(name) = factor_name(factor) else { continue };
            let table = match factor {
                TableFactor::Table { name, args: None, .. } => table_of(name, catalog, is_cte),
                _ => None,
            };
            self.relations.push(Relation { name: parts(&name), table });
        }
    }

    fn named(&self, name: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| relation.name.last().is_some_and(|last| last == name))
    }

    /// The table that has this family with this column.
    fn with_family(&self, family: &str, column: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| relation.has_family(family, column))
    }

    fn knows_family(&self, family: &str) -> bool {
        let tables = self.relations.iter().filter_map(|relation| relation.table.as_ref());
        tables.flat_map(|table| table.def().families.iter().flatten()).any(|name| name.to_lowercase() == family)
    }
}

impl Relation {
    fn has_family(&self, family: &str, column: &str) -> bool {
        let Some(def) = self.table.as_ref().map(|table| table.def()) else { return false };
        let index = def.column_index(column);
        let family_index = index.and_then(|index| def.columns.get(index)?.family);
        let name = family_index.and_then(|index| def.families.get(index)?.as_deref());
        name.is_some_and(|name| name.to_lowercase() == family)
    }
}

/// Puts tables in the place of families. The names are in lower case, the scopes from outer to inner.
///
/// # Errors
/// No such column, where there is the family without it.
pub(super) fn without_family(name: &mut Vec<Ident>, scopes: &[Scope]) -> Result<(), RelationalError> {
    let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
    let qualifier: Vec<String> = match parts.as_slice() {
        [family, column] => {
            if scopes.iter().any(|scope| scope.named(family).is_some()) {
                return Ok(());
            }
            match scopes.iter().rev().find_map(|scope| scope.with_family(family, column)) {
                Some(relation) => relation.name.clone(),
                None if scopes.iter().any(|scope| scope.knows_family(family)) => {
                    return Err(RelationalErrorKind::NoSuchColumn(format!("{family}.{column}")).into());
                }
                None => return Ok(()),
            }
        }
        [table, family, column] => {
            let relation = scopes.iter().rev().find_map(|scope| scope.named(table));
            match relation.filter(|relation| relation.has_family(family, column)) {
                Some(relation) => relation.name.clone(),
                None => return Ok(()),
            }
        }
        _ => return Ok(()),
    };
    if let Some(column) = name.pop() {
        *name = qualifier.into_iter().map(|part| Ident::with_quote('"', part)).chain([column]).collect();
    }
    Ok(())
}

/// The table of the catalog that a name in FROM stands for; `None` for a WITH table, and if there is no such table.
pub(super) fn table_of(
    name: &ObjectName,
    catalog: &dyn CatalogReader,
    is_cte: &dyn Fn(&str) -> bool,
) -> Option<Arc<Table>> {
    match parts(name).as_slice() {
        [name] if is_cte(name) => None,
        [name] => catalog.resolve(None, name).ok(),
        [schema, name] => catalog.resolve(Some(schema), name).ok(),
        _ => None,
    }
}

fn parts(name: &ObjectName) -> Vec<String> {
    name.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.to_lowercase()).collect()
}
