//! Names that this crate gives to functions, columns and tables of a plan.
//!
//! They start with [`PREFIX`], as DataFusion's own start with two underscores. A statement cannot call a function by such a name:
//! the engine finds none ([`crate::engine::functions`]).

use saltwing_types::{ColumnDef, TableDef};

/// The prefix of each such name.
pub(crate) const PREFIX: &str = "__saltwing_";

/// Whether a name of a statement is one of those that it must not use.
pub(crate) fn is_internal(name: &str) -> bool {
    name.to_lowercase().starts_with(PREFIX)
}

/// The name of a table's column in a plan, in any case: its own, followed by its family if another column has that name.
pub(crate) fn field_name(def: &TableDef, column: &ColumnDef) -> String {
    match def.needed_family(column) {
        Some(family) => format!("{}{PREFIX}.{family}", column.name),
        None => column.name.clone(),
    }
}
