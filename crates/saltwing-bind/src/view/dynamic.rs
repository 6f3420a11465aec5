//! Tables with dynamic columns: `FROM t (extra VARCHAR)`.
//!
//! A query over one such table has [`DYNAMIC_COLUMN`](saltwing_types::dynamic) in the place of their names. In every other
//! query the table becomes a subquery that gives its columns and them.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{DynamicColumn, dynamic_columns, expr_span, parse_query_at, quote_name, without_dynamic_columns};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{Span, TableDef, ViewColumn, ViewDef};
use sqlparser::ast::{Expr, Ident, ObjectName, Query, SetExpr, TableFactor, TableVersion};

use super::merged::{Shown, with_columns};
use super::name::span_of;
use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
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
        let qualifier = crate::select::simple(&outer.query).and_then(|query| match query.alias {
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

    /// The query that gives the table's columns and them, as that of a view; `name` stands for the table with them.
    pub(super) fn query(&self, name: &ObjectName, version: Option<TableVersion>) -> Result<(ViewDef, Query)> {
        let def = self.table.def();
        let shown = || def.columns.iter().filter(|column| !column.hidden);
        let own = shown().map(|column| column_path(def, column));
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
        let columns = own.chain(self.columns.iter().map(|it| column(it.column.name.text.clone(), it.ty, true)));
        let columns = columns.collect();
        let view = ViewDef { name: def.name.clone(), columns, query: text, uses: Vec::new(), comment: None };
        Ok((view, *query))
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
    match def.column_index(DYNAMIC_COLUMNS) {
        Some(_) => format!("DYNAMIC_COLUMN({qualifier}{}, '{name}', {null})", quote_name(DYNAMIC_COLUMNS)),
        None => null,
    }
}
