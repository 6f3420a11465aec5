//! Tables with dynamic columns: `FROM t (extra VARCHAR)`.
//!
//! The binder computes each from the table's hidden column of them, by [`DYNAMIC_COLUMN`](saltwing_types::dynamic).

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_sql::{DynamicColumn, quote_name};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{SqlType, TableDef};
use sqlparser::ast::{Expr, VisitMut, VisitorMut};

use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};
use crate::scope::Scope;

/// An expression over a row of a table, and the row `excluded`, with the values of dynamic columns in the places of their names.
pub(crate) fn with_dynamic_values(expr: &Expr, table: &Arc<Table>, known: &[DynamicColumn]) -> Result<Expr> {
    let mut expr = expr.clone();
    if !known.is_empty() {
        let rows = ["", "excluded."]
            .map(|row| known.iter().map(|column| value_of_row(table.def(), column, row)).collect::<Result<Vec<_>>>());
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

/// The value of a dynamic column in a row of a table.
pub(crate) fn dynamic_value(def: &TableDef, column: &DynamicColumn) -> Result<Expr> {
    value_of_row(def, column, "")
}

/// The same in the row that a qualifier names.
fn value_of_row(def: &TableDef, column: &DynamicColumn, qualifier: &str) -> Result<Expr> {
    expr_of(&value_text(def, column, qualifier))
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
