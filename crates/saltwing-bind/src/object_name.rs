//! Names of tables in syntax trees.

use saltwing_sql::{quote_name, without_dynamic_columns};
use sqlparser::ast::{Ident, ObjectName};

/// The schema and the name of a table; dynamic columns behind it are no part of it.
pub(crate) fn table_name(name: &ObjectName) -> Option<(Option<&str>, &str)> {
    let part = |place: usize| name.0.get(place)?.as_ident().map(|ident| ident.value.as_str());
    match name.0.len() - usize::from(without_dynamic_columns(name).is_some()) {
        1 => Some((None, part(0)?)),
        2 => Some((Some(part(0)?), part(1)?)),
        _ => None,
    }
}

/// A name as it is, quoted where it must be.
pub(crate) fn quoted(name: &str) -> Ident {
    let span = sqlparser::tokenizer::Span::empty();
    Ident { value: name.to_owned(), quote_style: (quote_name(name) != name).then_some('"'), span }
}
