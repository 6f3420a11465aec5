//! Calls of PostgreSQL's functions of texts and arrays that the library has in another form.

use sqlparser::ast::{BinaryOperator, Expr};

use super::build::{binary, call, int, nested, text};
use super::casts::open_as_text;
use super::catalog_calls::{Call, texts};
use super::formats::formatted;
use super::json::{JsonForm, json_object};
use super::scope::Type;
use super::translator::Translator;
use crate::CatalogError;
use crate::pg_type::PgType;

impl Translator<'_> {
    pub(super) fn text_call(&mut self, asked: &mut Call<'_>) -> Result<Option<(Expr, Type)>, CatalogError> {
        let text_type = Type::Of(PgType::TEXT);
        Ok(Some(match asked.form() {
            ("quote_ident", 1) => (call("quote_ident", texts(asked.take_exprs())), text_type),
            ("quote_literal", 1) => (call("quote_literal", as_texts(asked)), text_type),
            ("quote_nullable", 1) => {
                let quoted = call("quote_literal", as_texts(asked));
                (call("coalesce", vec![quoted, text("NULL")]), text_type)
            }
            ("parse_ident", 1 | 2) => {
                let mut exprs = asked.take_exprs();
                exprs.truncate(1);
                let parts = call("parse_ident", texts(exprs));
                (call("string_to_array", vec![parts, text("\u{1f}")]), Type::Of(PgType::TEXT_ARRAY))
            }
            ("json_build_object" | "jsonb_build_object", _) => {
                let exprs = asked.take_exprs();
                (json_object(exprs, &asked.types, JsonForm::Wide)?, Type::Of(PgType::JSON))
            }
            ("format", 1..) => (formatted(asked.take_exprs(), &asked.types)?, text_type),
            // NULLs are left out in PostgreSQL, and so they are by concat_ws.
            ("concat", 1..) => {
                let mut exprs = as_texts(asked);
                exprs.insert(0, text(""));
                (call("concat_ws", exprs), text_type)
            }
            ("concat_ws", 1..) => (call("concat_ws", as_texts(asked)), text_type),
            _ => return Ok(array_call(asked)),
        }))
    }
}

/// Bounds and lengths of arrays. Vectors are counted from 0.
fn array_call(asked: &mut Call<'_>) -> Option<(Expr, Type)> {
    let is_vector = asked.types.first().is_some_and(Type::counts_from_zero);
    let value = match asked.form() {
        ("array_upper", 2) => {
            let length = call("array_length", asked.take_exprs());
            if is_vector { nested(binary(length, BinaryOperator::Minus, int(1))) } else { length }
        }
        ("array_lower", 2) => {
            // NULL of an empty array.
            let nothing = nested(binary(call("array_length", asked.take_exprs()), BinaryOperator::Multiply, int(0)));
            nested(binary(nothing, BinaryOperator::Plus, int(i64::from(!is_vector))))
        }
        ("cardinality", 1) => {
            let mut exprs = asked.take_exprs();
            exprs.push(int(1));
            call("coalesce", vec![call("array_length", exprs), int(0)])
        }
        _ => return None,
    };
    Some((value, Type::Of(PgType::INT4)))
}

/// Arguments as texts.
fn as_texts(asked: &mut Call<'_>) -> Vec<Expr> {
    let exprs = asked.take_exprs();
    let types = asked.types.iter().chain(std::iter::repeat(&Type::Open));
    exprs.into_iter().zip(types).map(|(expr, ty)| open_as_text(expr, ty)).collect()
}
