//! `format` of a literal.

use sqlparser::ast::{Expr, Value};

use super::build::{call, text};
use super::casts::open_as_text;
use super::scope::Type;
use super::translator::not_supported;
use crate::CatalogError;

/// `format('%I.%s', a, b)` of a literal.
pub(super) fn formatted(exprs: Vec<Expr>, types: &[Type]) -> Result<Expr, CatalogError> {
    let mut arguments = exprs.into_iter().zip(types);
    let form = match arguments.next() {
        Some((Expr::Value(value), _)) => match value.value {
            Value::SingleQuotedString(form) => form,
            _ => return Err(not_supported("format of what is no literal")),
        },
        _ => return Err(not_supported("format of what is no literal")),
    };
    let mut joined = vec![text("")];
    let mut rest = form.as_str();
    while let Some((before, after)) = rest.split_once('%') {
        joined.push(text(before));
        let mut chars = after.chars();
        let directive = chars.next();
        rest = chars.as_str();
        if directive == Some('%') {
            joined.push(text("%"));
            continue;
        }
        let (expr, ty) = arguments.next().ok_or_else(|| not_supported("format with too few arguments"))?;
        let value = open_as_text(expr, ty);
        joined.push(match directive {
            Some('I') => call("quote_ident", vec![value]),
            Some('L') => call("coalesce", vec![call("quote_literal", vec![value]), text("NULL")]),
            Some('s') => value,
            _ => return Err(not_supported("this directive of format")),
        });
    }
    joined.push(text(rest));
    Ok(call("concat_ws", std::iter::once(text("")).chain(joined).collect()))
}
