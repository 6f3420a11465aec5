//! What goes to the client.

use sqlparser::ast::Expr;

use super::build::{concat, text};
use super::casts::{as_text, object_texts};
use super::scope::Type;
use crate::pg_type::{PgType, Storage};

/// An expression of the outermost list: numbers of objects become their names, and a row a text.
pub(super) fn for_client(expr: Expr, ty: Type) -> (Expr, Type) {
    let texts = Type::Of(PgType::TEXT_ARRAY);
    match &ty {
        Type::Of(of) if of.is_object() => (as_text(expr, &ty), Type::Of(PgType::TEXT)),
        Type::Of(of) if of.element().is_some_and(PgType::is_object) => match object_texts(expr.clone(), &ty) {
            Ok(names) => (names, texts),
            Err(_) => (expr, ty),
        },
        Type::Record(fields) => match expr {
            Expr::Tuple(values) => {
                let parts = values.into_iter().zip(fields).map(|(value, (_, ty))| as_text(value, ty));
                let joined = parts.fold(None, |row: Option<Expr>, part| {
                    Some(match row {
                        None => concat(text("("), part),
                        Some(row) => concat(concat(row, text(",")), part),
                    })
                });
                let row = joined.map_or_else(|| text("()"), |row| concat(row, text(")")));
                (row, Type::Of(PgType::TEXT))
            }
            other => (other, Type::Natural),
        },
        _ => (expr, ty),
    }
}

/// The number of a column's type for the client, where it is not the one that the value's own type has.
pub(super) fn wire_type(ty: &Type) -> Option<u32> {
    let ty = match ty {
        Type::Of(ty) => *ty,
        Type::Open => return Some(PgType::TEXT.0),
        _ => return None,
    };
    match ty.0 {
        // `"char"`, `name`, vectors, `text`, numbers of objects and transactions, arrays of these.
        18 | 19 | 22 | 25 | 26 | 28 | 30 | 1002 | 1003 | 1009 | 1028 => Some(ty.0),
        1184 => Some(ty.0),
        // Lists of rights are texts in all but name.
        1034 => Some(1009),
        1042 | 1043 => Some(PgType::VARCHAR.0),
        17 | 114 | 1082 | 1083 | 1186 | 1266 | 1700 | 2950 | 3802 => None,
        2278 => Some(PgType::VOID.0),
        _ if ty.storage() == Storage::Text => Some(PgType::TEXT.0),
        _ => None,
    }
}
