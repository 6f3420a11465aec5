//! Names of functions, columns and tables in a plan.
//!
//! A function that only this crate calls has a name with [`PREFIX`], as DataFusion's own start with two underscores. A statement cannot
//! call it: the engine finds no such function ([`crate::engine::functions`]).
//!
//! A column or a table has its name in the statement. If that does not tell it from all others, it has a [`unique_name`]: DataFusion's rules
//! take columns of one qualified name for the same. EXPLAIN and errors show the name alone ([`shown`]).

use std::fmt::Display;

use saltwing_types::{ColumnDef, TableDef};

/// The prefix of the name of a function.
pub(crate) const PREFIX: &str = "__saltwing_";

/// Stands before and after what makes a name unique. It takes no room on a screen, so that a name is readable where it was not passed
/// to [`shown`].
const MARK: char = '\u{2063}';

/// Whether a name of a statement is one of those that it must not use.
pub(crate) fn is_internal(name: &str) -> bool {
    name.to_lowercase().starts_with(PREFIX)
}

/// A name that is shown as `name`, and differs from the others by `suffix`.
pub(crate) fn unique_name(name: &str, suffix: impl Display) -> String {
    format!("{name}{MARK}{suffix}{MARK}")
}

/// A text without what makes its names unique.
pub(crate) fn shown(text: &str) -> String {
    text.split(MARK).step_by(2).collect()
}

/// The name of a table's column in a plan: its own, or that with its family if another column has the same.
pub(crate) fn field_name(def: &TableDef, column: &ColumnDef) -> String {
    match def.needed_family(column) {
        Some(family) => unique_name(&format!("{family}.{}", column.name), "family"),
        None => column.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unique_name_is_shown_as_the_name() {
        let (first, second) = (unique_name("a b", 1), unique_name("a b", 2));
        assert_ne!(first, second);
        assert_eq!(shown(&format!("{first} = f({second})")), "a b = f(a b)");
        assert_eq!(shown("no name"), "no name");
    }
}
