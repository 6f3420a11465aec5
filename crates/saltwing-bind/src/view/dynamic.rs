//! Tables with dynamic columns: `FROM t (extra VARCHAR)`.
//!
//! A query over one such table has [`DYNAMIC_COLUMN`](saltwing_types::dynamic) in the place of their names. In every other
//! query the table becomes a subquery that gives its columns and them.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{DynamicColumn, dynamic_columns, expr_span, parse_query_at, quote_name, without_dynamic_columns};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::table::{ColumnMatch, HIDDEN_COLUMNS, ROW_KEY_COLUMN, ROW_TIME_COLUMN, is_same_name};
use saltwing_types::{ColumnDef, Span, SqlType, TableDef, ViewColumn, ViewDef};
use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableFactor, TableVersion, VisitMut, VisitorMut,
    visit_expressions,
};

use super::merged::{Shown, with_columns};
use super::name::span_of;
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::scope::Scope;
use crate::target::{column_path, table_path};

/// A table with the dynamic columns that a statement declares for it.
pub(super) struct ListedTable {
    table: Arc<Table>,
    columns: Vec<DynamicColumn>,
}

impl ListedTable {
    /// # Errors
    /// A name that a column of the table has, or that comes twice.
    pub(super) fn new(table: Arc<Table>, list: &Ident) -> Result<Self> {
        let span = expr_span(&Expr::Identifier(list.clone())).unwrap_or_else(|| Span::on_line(1, 1, 1));
        let columns = dynamic_columns(&list.value, span)?;
        check_dynamic(table.def(), columns.iter().map(|it| &it.column))?;
        Ok(Self { table, columns })
    }

    /// A query over this table alone, without them; `None` if they are named where it cannot be done.
    pub(super) fn merged(&self, outer: &QueryStatement, catalog: &dyn CatalogReader) -> Option<QueryStatement> {
        let qualifier = crate::plain_query::simple(&outer.query).and_then(|query| match query.alias {
            Some(alias) => Some(alias.name.to_string()),
            None => without_dynamic_columns(query.name).map(|(name, _)| name.to_string()),
        })?;
        let mut columns = Vec::with_capacity(self.columns.len());
        for dynamic in &self.columns {
            let value = expr_of(&value_text(self.table.def(), dynamic, &format!("{qualifier}."))).ok()?;
            let family = dynamic.column.family.as_ref().map(|family| family.text.clone());
            columns.push(Shown { family, name: dynamic.column.name.text.clone(), value });
        }
        with_columns(outer, &self.table, columns, catalog)
    }

    /// The query that gives the table's columns and them, as that of a view; `name` stands for the table with them. Of the hidden
    /// columns it gives those of these names.
    pub(super) fn query(
        &self,
        name: &ObjectName,
        version: Option<TableVersion>,
        hidden: &[&'static str],
    ) -> Result<(ViewDef, Query)> {
        let def = self.table.def();
        let is_shown = |column: &&ColumnDef| !column.hidden || hidden.contains(&column.name.as_str());
        let shown = || def.columns.iter().filter(is_shown);
        let of_row = || ROW_COLUMNS.into_iter().filter(|(name, ..)| hidden.contains(name));
        let own = of_row().map(|(name, ..)| name.to_owned()).chain(shown().map(|column| column_path(def, column)));
        let items: Vec<String> = own.chain(self.columns.iter().map(|it| value_text(def, it, ""))).collect();
        let text = format!("SELECT {} FROM {}", items.join(", "), table_path(&def.name));
        let mut query = parse_query_at(&text, span_of(name).unwrap_or_else(|| Span::on_line(1, 1, 1)))?.query;
        if let SetExpr::Select(select) = query.body.as_mut()
            && let [from] = select.from.as_mut_slice()
            && let TableFactor::Table { version: place, name: written, .. } = &mut from.relation
        {
            *place = version;
            // The name as it was written: the definition's own may be hidden by a temporary table.
            written.clone_from(&without_dynamic_columns(name).map_or_else(|| name.clone(), |(table, _)| table));
        }
        let column = |name: String, ty, nullable| ViewColumn { name, ty, nullable, comment: None };
        let own = shown().map(|it| column(def.unique_name(it), it.ty, it.nullable));
        let own = of_row().map(|(name, ty, nullable)| column(name.to_owned(), ty, nullable)).chain(own);
        let columns = own.chain(self.columns.iter().map(|it| column(it.column.name.text.clone(), it.ty, true)));
        let columns = columns.collect();
        let view = ViewDef { name: def.name.clone(), columns, query: text, uses: Vec::new(), comment: None };
        Ok((view, *query))
    }
}

/// The hidden columns that each table has, with their types, and whether they can be NULL.
const ROW_COLUMNS: [(&str, SqlType, bool); 2] =
    [(ROW_KEY_COLUMN, SqlType::Varbinary, false), (ROW_TIME_COLUMN, SqlType::Date, true)];

/// The hidden columns that a SELECT names; none if it has a wildcard, which does not show them.
pub(super) fn named_hidden(select: &Select) -> Vec<&'static str> {
    let is_wildcard = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let mut named = Vec::new();
    if select.projection.iter().any(is_wildcard) {
        return named;
    }
    let _ = visit_expressions(select, |expr| {
        let column = match expr {
            Expr::Identifier(column) => Some(column),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        let hidden = |column: &Ident| HIDDEN_COLUMNS.into_iter().find(|name| is_same_name(name, &column.value));
        named.extend(column.and_then(hidden));
        ControlFlow::<()>::Continue(())
    });
    named
}

/// An expression over a row of a table, and the row `excluded`, with the values of dynamic columns in the places of their names.
pub(crate) fn with_dynamic_values(expr: &Expr, table: &Arc<Table>, known: &[DynamicColumn]) -> Result<Expr> {
    let mut expr = expr.clone();
    if !known.is_empty() {
        let rows = ["", "excluded."].map(|row| {
            known.iter().map(|column| expr_of(&value_text(table.def(), column, row))).collect::<Result<Vec<_>>>()
        });
        let [of_row, of_excluded] = rows;
        let scope = Scope::of(table.clone(), None).with_excluded();
        let mut values = Values { scope: &scope, known, of_row: of_row?, of_excluded: of_excluded? };
        let _ = VisitMut::visit(&mut expr, &mut values);
    }
    Ok(expr)
}

/// Puts values in the places of the names of dynamic columns.
struct Values<'a> {
    scope: &'a Scope,
    known: &'a [DynamicColumn],
    of_row: Vec<Expr>,
    of_excluded: Vec<Expr>,
}

impl VisitorMut for Values<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let parts: Vec<&str> = match expr {
            Expr::Identifier(name) => vec![&name.value],
            Expr::CompoundIdentifier(parts) => parts.iter().map(|part| part.value.as_str()).collect(),
            _ => return ControlFlow::Continue(()),
        };
        let is_it = |DynamicColumn { column, .. }: &DynamicColumn, parts: &[&str]| match parts {
            [name] => is_same_name(&column.name.text, name),
            _ => is_same_name(&stored_name(column), &parts.join(".")),
        };
        // A column may have the name of the table before it, or that of the other row.
        let qualifiers = (0..parts.len()).filter_map(|end| parts.split_at_checked(end));
        let found = qualifiers.filter(|(qualifier, _)| qualifier.is_empty() || self.scope.is_row(qualifier));
        let value = found.filter_map(|(qualifier, name)| {
            let place = self.known.iter().position(|column| is_it(column, name))?;
            let values = if self.scope.is_excluded_row(qualifier) { &self.of_excluded } else { &self.of_row };
            values.get(place).cloned()
        });
        if let Some(value) = value.into_iter().next() {
            *expr = value;
        }
        ControlFlow::Continue(())
    }
}

/// Checks the names of dynamic columns of a table.
///
/// # Errors
/// [`BindErrorKind::ColumnExists`]; [`BindErrorKind::DuplicateColumn`].
pub(crate) fn check_dynamic<'n>(
    def: &TableDef,
    names: impl IntoIterator<Item = &'n saltwing_sql::ColumnName>,
) -> Result<()> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        let place = |error: BindErrorKind| BindError::from(error).at(Some(name.span()));
        let family = name.family.as_ref().map(|family| family.text.as_str());
        if def.find_column(family, &name.name.text) != ColumnMatch::None {
            let (table, column) = (def.name.to_string(), name.to_string());
            let error = place(BindErrorKind::ColumnExists { table, column }).phoenix(514);
            return Err(error.help("name it without a type: it is a column of the table"));
        }
        let stored = stored_name(name);
        if seen.iter().any(|other| is_same_name(other, &stored)) {
            return Err(place(BindErrorKind::DuplicateColumn(name.to_string())));
        }
        seen.push(stored);
    }
    Ok(())
}

/// The name under which rows keep a dynamic column: with its family if it has one.
pub(crate) fn stored_name(name: &saltwing_sql::ColumnName) -> String {
    name.parts().join(".")
}

/// The value of a dynamic column in a row of a table, as SQL. A table without any has no column that keeps them.
fn value_text(def: &TableDef, DynamicColumn { column, ty }: &DynamicColumn, qualifier: &str) -> String {
    let null = match ty.element() {
        Some(element) => format!("CAST(NULL AS {element}[])"),
        None => format!("CAST(NULL AS {ty})"),
    };
    let name = stored_name(column).replace('\'', "''");
    let row = match def.column_index(DYNAMIC_COLUMNS) {
        Some(_) => format!("{qualifier}{}", quote_name(DYNAMIC_COLUMNS)),
        None => format!("CAST(NULL AS {})", SqlType::Json),
    };
    format!("DYNAMIC_COLUMN({row}, '{name}', {null})")
}
