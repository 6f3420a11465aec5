//! Tables with dynamic columns: `FROM t (extra VARCHAR)`.
//!
//! The binder computes each from the table's hidden column of them, by [`DYNAMIC_COLUMN`](saltwing_types::dynamic).

use saltwing_sql::{DynamicColumn, quote_name};
use saltwing_types::dynamic::DYNAMIC_COLUMNS;
use saltwing_types::table::{ColumnMatch, is_same_name};
use saltwing_types::{SqlType, TableDef};
use sqlparser::ast::Expr;

use crate::computed::expr_of;
use crate::error::{BindError, BindErrorKind, Result};

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

/// The value of a dynamic column in a row of a table. A table without any has no column that keeps them.
pub(crate) fn dynamic_value(def: &TableDef, DynamicColumn { column, ty }: &DynamicColumn) -> Result<Expr> {
    let null = match ty.element() {
        Some(element) => format!("CAST(NULL AS {element}[])"),
        None => format!("CAST(NULL AS {ty})"),
    };
    let name = stored_name(column).replace('\'', "''");
    let row = match def.column_index(DYNAMIC_COLUMNS) {
        Some(_) => quote_name(DYNAMIC_COLUMNS),
        None => format!("CAST(NULL AS {})", SqlType::Json),
    };
    expr_of(&format!("DYNAMIC_COLUMN({row}, '{name}', {null})"))
}
