//! The labels that columns without an alias have in PostgreSQL.

use sqlparser::ast::{AccessExpr, Expr, FunctionArguments, SelectItem, SetExpr, TrimWhereField};

use super::build::folded;
use crate::pg_type::PgType;

const UNNAMED: &str = "?column?";

/// The label of an expression as the client wrote it.
pub(super) fn label(expr: &Expr) -> String {
    named(expr).map_or_else(|| UNNAMED.to_owned(), |(label, _)| label)
}

/// The label, and whether it is a name and not only the type of a cast.
fn named(expr: &Expr) -> Option<(String, bool)> {
    let strong = |label: &str| Some((label.to_owned(), true));
    match expr {
        Expr::Identifier(name) => strong(&folded(name)),
        Expr::CompoundIdentifier(names) => strong(&names.last().map(folded)?),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => named(inner),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let fields = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => Some(folded(field)),
                _ => None,
            });
            fields.map_or_else(|| named(root), |field| strong(&field))
        }
        Expr::Function(function) => {
            let name = function.name.0.last().and_then(|part| part.as_ident()).map(folded)?;
            match (name.as_str(), &function.args) {
                ("array", FunctionArguments::Subquery(_)) => strong("array"),
                _ => strong(&name),
            }
        }
        Expr::Cast { expr: inner, data_type, .. } => {
            let of_inner = named(inner).filter(|(_, is_name)| *is_name);
            of_inner.or_else(|| Some((type_label(&data_type.to_string()), false)))
        }
        Expr::TypedString(typed) => Some((type_label(&typed.data_type.to_string()), false)),
        Expr::Case { else_result, .. } => {
            let of_else = else_result.as_deref().and_then(named).filter(|(_, is_name)| *is_name);
            of_else.or_else(|| Some(("case".to_owned(), false)))
        }
        Expr::Array(_) => strong("array"),
        Expr::Exists { .. } => strong("exists"),
        Expr::Trim { trim_where, .. } => strong(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        Expr::Substring { .. } => strong("substring"),
        Expr::Position { .. } => strong("position"),
        Expr::Extract { .. } => strong("extract"),
        Expr::AtTimeZone { .. } => strong("timezone"),
        Expr::Value(value) if matches!(value.value, sqlparser::ast::Value::Boolean(_)) => {
            Some(("bool".to_owned(), false))
        }
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => match select.projection.first()? {
                SelectItem::UnnamedExpr(inner) => named(inner),
                SelectItem::ExprWithAlias { alias, .. } => strong(&folded(alias)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The name of a type in `pg_type`.
fn type_label(name: &str) -> String {
    let ty = PgType::by_sql_name(name);
    let own = ty.and_then(PgType::entry).map(|entry| entry.name.to_owned());
    let of_array = || ty.and_then(PgType::element).and_then(PgType::entry).map(|entry| entry.name.to_owned());
    own.or_else(of_array).unwrap_or_else(|| name.to_lowercase())
}
