//! Columns qualified by their family: `family.column`, `table.family.column`.
//!
//! DataFusion takes the first part of a name for a table, and wants names that no two columns of a table share. So a family
//! is replaced by its table, unless the FROM clause has a table of that name, and a column that shares its name with another
//! one by its name in the plan ([`field_name`]).

use std::collections::HashSet;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{ColumnDef, TableDef};
use sqlparser::ast::{Expr, Ident, ObjectName, Select, SelectItem, TableFactor, TableWithJoins};

use super::tree::{column_name, factor_name, factors};
use crate::RelationalError;
use crate::error::{OUTER_MARKER, RelationalErrorKind};
use crate::expression::internal_name::field_name;

/// The tables of one FROM, and the names of the SELECT's items.
#[derive(Default)]
pub(super) struct Scope {
    relations: Vec<Relation>,
    items: Vec<String>,
    /// Whether there are tables whose names are not known here: those of functions.
    has_others: bool,
    /// The names that columns of several families of a table have and none of its default family, in lower case.
    pub(super) ambiguous: HashSet<String>,
}

struct Relation {
    /// How columns name it, in lower case: its alias, or its name with its schema.
    name: Vec<String>,
    /// The table of the catalog that it is, if it is one.
    table: Option<Arc<Table>>,
}

impl Scope {
    /// The tables of a SELECT; `is_cte` tells names that are no tables of the catalog.
    pub(super) fn of(select: &Select, catalog: &dyn CatalogReader, is_cte: &dyn Fn(&str) -> bool) -> Self {
        let items = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
            SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(_)) => column_name(expr),
            _ => None,
        });
        let mut scope = Self { items: items.collect(), ..Self::default() };
        select.from.iter().for_each(|table| scope.add(table, catalog, is_cte));
        scope.ambiguous = scope.tables().flat_map(ambiguous).collect();
        scope
    }

    fn add(&mut self, table: &TableWithJoins, catalog: &dyn CatalogReader, is_cte: &dyn Fn(&str) -> bool) {
        for factor in factors(table) {
            if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
                self.add(table_with_joins, catalog, is_cte);
            }
            let Some(name) = factor_name(factor) else {
                self.has_others |= !matches!(factor, TableFactor::NestedJoin { alias: None, .. });
                continue;
            };
            let table = match factor {
                TableFactor::Table { name, args: None, .. } => table_of(name, catalog, is_cte),
                _ => None,
            };
            self.relations.push(Relation { name: parts(&name), table });
        }
    }

    /// Whether FROM has one table or subquery, so that none of its rows is without a partner.
    pub(super) fn has_one_table(&self) -> bool {
        self.relations.len() <= 1 && !self.has_others
    }

    fn named(&self, name: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| relation.name.last().is_some_and(|last| last == name))
    }

    fn tables(&self) -> impl Iterator<Item = &TableDef> {
        self.relations.iter().filter_map(|relation| Some(&**relation.table.as_ref()?.def()))
    }

    fn knows_family(&self, family: &str) -> bool {
        self.tables().any(|def| def.has_family(family))
    }

    /// The columns that `family.*` or `table.family.*` stands for, each with its table and family; `None` if these parts
    /// name no family.
    pub(super) fn family_columns(&self, parts: &[Ident]) -> Option<Vec<Vec<Ident>>> {
        let (family, table) = parts.split_last()?;
        let relation = match table.last() {
            None if self.named(&family.value).is_some() => return None,
            None => self.relations.iter().find(|relation| relation.has_family(&family.value))?,
            Some(table) => self.named(&table.value)?,
        };
        let def = relation.table.as_ref()?.def();
        let is_of_family =
            |column: &&ColumnDef| def.family_name(column).is_some_and(|f| is_same_name(f, &family.value));
        let path = |column: &ColumnDef| {
            let table = relation.name.iter().map(|part| Ident::with_quote('"', part));
            table.chain([family.clone(), Ident::with_quote('"', &column.name)]).collect()
        };
        relation.has_family(&family.value).then(|| def.columns.iter().filter(is_of_family).map(path).collect())
    }
}

impl Scope {
    /// Checks a wildcard that is none of a [family](Scope::family_columns).
    ///
    /// # Errors
    /// `name.*` of neither a table nor a family of one, `table.name.*` of no family of the table.
    pub(super) fn check_wildcard(&self, parts: &[Ident]) -> Result<(), RelationalError> {
        let Some((family, table)) = parts.split_last() else { return Ok(()) };
        if self.has_others || self.named(&family.value).is_some() {
            return Ok(());
        }
        let (kind, tables): (_, Vec<String>) = match table.last().and_then(|table| self.named(&table.value)) {
            Some(relation) => {
                let name = format!("{}.{}.*", relation.name.join("."), family.value);
                let families = relation.table.iter().map(|table| table.def().families_text());
                (RelationalErrorKind::NoSuchColumn(name), families.collect())
            }
            None => {
                let name: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
                let families = self.tables().map(TableDef::families_text);
                (RelationalErrorKind::NoSuchTable(name.join(".")), families.collect())
            }
        };
        let error = RelationalError::from(kind).at(saltwing_sql::expr_span(&Expr::CompoundIdentifier(parts.to_vec())));
        Err(if tables.is_empty() { error } else { error.help(tables.join("; ")) })
    }
}

impl Relation {
    /// The name in the plan of this family's column, in lower case.
    fn field(&self, family: &str, column: &str) -> Option<String> {
        let def = self.table.as_ref()?.def();
        let ColumnMatch::One(index) = def.find_column(Some(family), column) else { return None };
        def.columns.get(index).map(|column| field_name(def, column).to_lowercase())
    }

    fn has_family(&self, family: &str) -> bool {
        self.table.as_ref().is_some_and(|table| table.def().has_family(family))
    }
}

/// Refuses a name without a qualifier that columns of several families have, unless it is that of an item.
///
/// # Errors
/// [`RelationalErrorKind::AmbiguousColumn`].
pub(super) fn check_unqualified(name: &Ident, scopes: &[Scope]) -> Result<(), RelationalError> {
    let is_ambiguous = |scope: &Scope| scope.ambiguous.contains(&name.value) && !scope.items.contains(&name.value);
    let Some(scope) = scopes.last().filter(|scope| is_ambiguous(scope)) else { return Ok(()) };
    let names = scope.tables().flat_map(|def| {
        let named = def.columns.iter().filter(|column| is_same_name(&column.name, &name.value));
        named.map(|column| def.unique_name(column))
    });
    let error = RelationalError::from(RelationalErrorKind::AmbiguousColumn(name.value.clone()));
    Err(error.help(format!("there are {}", names.collect::<Vec<_>>().join(", "))))
}

fn ambiguous(def: &TableDef) -> Vec<String> {
    if def.families.iter().flatten().nth(1).is_none() {
        return Vec::new();
    }
    let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
    for column in def.columns.iter().filter(|column| def.family_name(column).is_some()) {
        let name = column.name.to_lowercase();
        if !seen.insert(name.clone()) {
            shared.insert(name);
        }
    }
    shared.into_iter().filter(|name| def.find_column(None, name) == ColumnMatch::Several).collect()
}

/// Puts tables in the place of families. The names are in lower case, the scopes from outer to inner.
///
/// # Errors
/// No such column, where there is the family without it.
pub(super) fn without_family(name: &mut Vec<Ident>, scopes: &[Scope]) -> Result<(), RelationalError> {
    let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
    let found = match parts.as_slice() {
        [family, column] => {
            if scopes.iter().any(|scope| scope.named(family).is_some()) {
                return Ok(());
            }
            let mut relations = scopes.iter().rev().flat_map(|scope| &scope.relations);
            let found = relations.find_map(|relation| Some((relation, relation.field(family, column)?)));
            if found.is_none() && scopes.iter().any(|scope| scope.knows_family(family)) {
                return Err(RelationalErrorKind::NoSuchColumn(format!("{family}.{column}")).into());
            }
            found
        }
        [.., table, family, column] => {
            let relation = scopes.iter().rev().find_map(|scope| scope.named(table));
            relation.and_then(|relation| Some((relation, relation.field(family, column)?)))
        }
        _ => None,
    };
    if let Some((relation, field)) = found {
        let span = name.last().map(|column| column.span);
        let mut column = Ident::with_quote('"', field);
        column.span = span.unwrap_or(column.span);
        *name = relation.name.iter().map(|part| Ident::with_quote('"', part)).chain([column]).collect();
    }
    Ok(())
}

/// Marks a column of an outer query's table as such. DataFusion looks `z.x` up in the inner query first, and would take it for
/// the field x of a column z there.
pub(super) fn mark_outer(name: &mut Vec<Ident>, scopes: &[Scope]) {
    let (Some((_, written)), Some((inner, outer))) = (name.split_last(), scopes.split_last()) else { return };
    let Some(table) = written.last() else { return };
    if inner.has_others || inner.named(&table.value).is_some() {
        return;
    }
    let Some(relation) = outer.iter().rev().find_map(|scope| scope.named(&table.value)) else { return };
    let Some(left_out) = relation.name.len().checked_sub(written.len()) else { return };
    let (before, same) = relation.name.split_at(left_out);
    if same.iter().zip(written).all(|(part, written)| *part == written.value) {
        let marker = std::iter::once(OUTER_MARKER).chain(before.iter().map(String::as_str));
        let marker: Vec<Ident> = marker.map(|part| Ident::with_quote('"', part)).collect();
        name.splice(..0, marker);
    }
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
