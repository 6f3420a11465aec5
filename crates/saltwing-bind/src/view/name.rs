//! Names in trees.

use saltwing_sql::{quote_name, without_dynamic_columns};
use saltwing_types::Span;
use sqlparser::ast::{Ident, ObjectName};

/// The schema and the name of a table; dynamic columns behind it are no part of it.
pub(super) fn table_name(name: &ObjectName) -> Option<(Option<&str>, &str)> {
    let part = |place: usize| name.0.get(place)?.as_ident().map(|ident| ident.value.as_str());
    match name.0.len() - usize::from(without_dynamic_columns(name).is_some()) {
        1 => Some((None, part(0)?)),
        2 => Some((Some(part(0)?), part(1)?)),
        _ => None,
    }
}

/// A name as it is, quoted where it must be.
pub(crate) fn quoted(name: &str) -> Ident {
    ident(name, sqlparser::tokenizer::Span::empty())
}

/// A name as it is, quoted where it must be, at a place of the statement.
pub(super) fn ident(name: &str, span: sqlparser::tokenizer::Span) -> Ident {
    Ident { value: name.to_owned(), quote_style: (quote_name(name) != name).then_some('"'), span }
}

/// The place of a name in the statement.
pub(crate) fn span_of(name: &ObjectName) -> Option<Span> {
    let idents = name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
    saltwing_sql::expr_span(&sqlparser::ast::Expr::CompoundIdentifier(idents))
}
