//! JSON of values and of rows.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::build::{call, cast, concat, folded, nested, text};
use super::casts::{engine_type, open_as_text};
use super::scope::{Output, Scope, Type};
use super::translator::not_supported;
use crate::CatalogError;
use crate::pg_type::PgType;

/// The blanks of a JSON object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonForm {
    /// As `json_build_object` has them.
    Wide,
    /// As `row_to_json` has them: none.
    Tight,
}

/// `json_build_object('a', 1, ..)`.
pub(super) fn json_object(exprs: Vec<Expr>, types: &[Type], form: JsonForm) -> Result<Expr, CatalogError> {
    if !exprs.len().is_multiple_of(2) {
        return Err(not_supported("json_build_object of an odd number of arguments"));
    }
    let mut joined = text("{");
    for (place, (expr, ty)) in exprs.into_iter().zip(types).enumerate() {
        let is_key = place.is_multiple_of(2);
        let storage_is_plain = matches!(ty, Type::Natural)
            || ty.pg().is_some_and(|ty| !ty.is_object() && !ty.is_text() && ty.element().is_none());
        let is_json = matches!(ty.pg(), Some(PgType::JSON | PgType::JSONB));
        let as_json = match (storage_is_plain || is_json) && !is_key {
            // Numbers and truth values are written in JSON as in SQL, and JSON as it is.
            true => cast(expr, engine_type(PgType::TEXT)),
            false => call("json_text", vec![open_as_text(expr, ty)]),
        };
        let before = match (place, is_key, form) {
            (0, ..) => "",
            (_, true, JsonForm::Wide) => ", ",
            (_, false, JsonForm::Wide) => " : ",
            (_, true, JsonForm::Tight) => ",",
            (_, false, JsonForm::Tight) => ":",
        };
        joined = concat(joined, text(before));
        joined = concat(joined, call("coalesce", vec![as_json, text("null")]));
    }
    Ok(cast(nested(concat(joined, text("}"))), engine_type(PgType::JSON)))
}

/// Names and values of all columns of a relation, if the call is `row_to_json` of its rows.
pub(super) fn whole_row(function: &Function, name: &str, scope: Scope<'_>) -> Option<Vec<(Expr, Type)>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(of)))] = list.args.as_slice() else { return None };
    let of = folded(of);
    let source = scope.sources.iter().find(|source| source.alias == of).filter(|_| name == "row_to_json")?;
    let pair = |output: &Output| [(text(&output.name), Type::Open), (source.expr(output), output.ty.clone())];
    Some(source.columns.iter().flat_map(pair).collect())
}
