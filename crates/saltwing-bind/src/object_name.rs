//! Names of tables in syntax trees.

use saltwing_sql::{quote_name, table_name_parts};
use sqlparser::ast::{Ident, ObjectName};

/// The schema and the name of a table; dynamic columns after it are no part of it.
pub(crate) fn table_name(name: &ObjectName) -> Option<(Option<&str>, &str)> {
    match table_name_parts(name) {
        [name] => Some((None, name.as_ident()?.value.as_str())),
        [schema, name] => Some((Some(schema.as_ident()?.value.as_str()), name.as_ident()?.value.as_str())),
        _ => None,
    }
}

/// A name as it is, quoted where it must be.
pub(crate) fn quoted(name: &str) -> Ident {
    let span = sqlparser::tokenizer::Span::empty();
    Ident { value: name.to_owned(), quote_style: (quote_name(name) != name).then_some('"'), span }
}
