//! Dynamic columns after a table, in the tree: `FROM t (extra VARCHAR, f.n INTEGER)`.
//!
//! sqlparser's tree has no place for the list, so it is the last part of the table's name there: a [part with arguments](ObjectNamePartFunction),
//! each of them a name that is cast to its type. No text reads as such a part: its own name has the quotes `[` and `]`, which no name
//! of ours has.
//!
//! # Law
//! A list that [`set_dynamic_columns`] puts after a table, or that the parser reads there (`dynamic_list.rs`), is what [`dynamic_columns`] gives,
//! places aside.

use std::fmt;

use saltwing_types::SqlType;
use sqlparser::ast::{
    CastKind, DataType, Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, ObjectNamePart, ObjectNamePartFunction,
};
use sqlparser::tokenizer::Span as TokenSpan;

use crate::cast_type::cast_type;
use crate::error::SqlError;
use crate::name::{ColumnName, Name, table_name_parts};
use crate::place;

/// The quote of the name of a part that is a list.
pub(crate) const LIST_QUOTE: char = '[';

/// A column that a statement declares for rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicColumn {
    /// Its name, with a family if it was given one.
    pub column: ColumnName,
    /// Its type.
    pub ty: SqlType,
}

impl fmt::Display for DynamicColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.column, self.ty)
    }
}

/// The dynamic columns that are declared after the name of a table, in their order; none without a list.
///
/// # Errors
/// A list that [`set_dynamic_columns`] and the parser do not make.
pub fn dynamic_columns(name: &ObjectName) -> Result<Vec<DynamicColumn>, SqlError> {
    let Some(ObjectNamePart::Function(list)) = name.0.last() else { return Ok(Vec::new()) };
    let columns: Option<Vec<DynamicColumn>> = list.args.iter().map(declared).collect();
    debug_assert!(columns.is_some(), "{list} is a list of dynamic columns");
    columns.ok_or_else(|| {
        let span = place::span_of(list.name.span).unwrap_or_else(place::origin);
        SqlError::syntax("expected a list of dynamic columns", span)
    })
}

fn declared(arg: &FunctionArg) -> Option<DynamicColumn> {
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Cast { expr, data_type, .. })) = arg else { return None };
    let name = |ident: &Ident| Name {
        text: ident.value.clone(),
        quoted: ident.quote_style.is_some(),
        span: place::span_of(ident.span).unwrap_or_else(place::origin),
    };
    let column = match expr.as_ref() {
        Expr::Identifier(column) => ColumnName { family: None, name: name(column) },
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [family, column] => ColumnName { family: Some(name(family)), name: name(column) },
            _ => return None,
        },
        _ => return None,
    };
    Some(DynamicColumn { column, ty: cast_type(data_type)? })
}

/// Declares these dynamic columns after the name of a table, in the place of those that stand there.
pub fn set_dynamic_columns(name: &mut ObjectName, columns: &[DynamicColumn]) {
    let mut parts = table_name_parts(name).to_vec();
    if !columns.is_empty() {
        let span = parts.last().and_then(|part| part.as_ident()).map_or_else(TokenSpan::empty, |last| last.span);
        let args = columns.iter().map(argument).collect();
        parts.push(ObjectNamePart::Function(ObjectNamePartFunction { name: list_name(span), args }));
    }
    *name = ObjectName(parts);
}

/// The name of the part that is a list.
pub(crate) fn list_name(span: TokenSpan) -> Ident {
    Ident { value: "dynamic columns".to_owned(), quote_style: Some(LIST_QUOTE), span }
}

fn argument(DynamicColumn { column, ty }: &DynamicColumn) -> FunctionArg {
    let ident = |name: &Name| Ident {
        value: name.text.clone(),
        quote_style: name.quoted.then_some('"'),
        span: place::token_span(name.span),
    };
    let expr = Box::new(match &column.family {
        Some(family) => Expr::CompoundIdentifier(vec![ident(family), ident(&column.name)]),
        None => Expr::Identifier(ident(&column.name)),
    });
    let data_type = DataType::Custom(ObjectName::from(Ident::new(ty.to_string())), Vec::new());
    let cast = Expr::Cast { kind: CastKind::DoubleColon, expr, data_type, array: false, format: None };
    FunctionArg::Unnamed(FunctionArgExpr::Expr(cast))
}
