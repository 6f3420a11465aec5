//! Functions in FROM, as they are written.

use std::ops::ControlFlow;

use saltwing_sql::name_span;
use saltwing_types::Span;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, ObjectName, TableAlias, TableFactor, visit_expressions};

use crate::query_binder::{Bound, unsupported};

/// The function that gives the elements of arrays, and the name of its column if the statement gives it none.
pub(crate) const UNNEST: &str = "unnest";

/// The functions that give numbers or instants in a row.
const SERIES: [&str; 2] = ["generate_series", "range"];

/// A function in FROM.
pub(crate) struct TableCall<'a> {
    pub(crate) name: String,
    pub(crate) span: Option<Span>,
    pub(crate) args: Vec<&'a ast::Expr>,
    pub(crate) alias: Option<&'a TableAlias>,
    /// WITH ORDINALITY.
    pub(crate) has_places: bool,
}

impl<'a> TableCall<'a> {
    /// `None` if an item of FROM is no function.
    pub(crate) fn of(factor: &'a TableFactor) -> Option<Bound<Self>> {
        let of = |name: &ObjectName, args: &'a [FunctionArg], alias: &'a Option<TableAlias>, ordinality: bool| {
            let span = name_span(name);
            let arg = |arg: &'a FunctionArg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
                _ => None,
            };
            let name = name.to_string().replace('"', "").to_lowercase();
            match args.iter().map(arg).collect::<Option<Vec<_>>>() {
                None => unsupported(&format!("{name} with named arguments")),
                Some(args) => Ok(Self { name, span, args, alias: alias.as_ref(), has_places: ordinality }),
            }
        };
        match factor {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } => {
                Some(of(name, &args.args, alias, *with_ordinality))
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                Some(of(name, args, alias, *with_ordinality))
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality, .. } => {
                let (name, args) = (UNNEST.to_owned(), array_exprs.iter().collect());
                Some(Ok(Self { name, span: None, args, alias: alias.as_ref(), has_places: *with_ordinality }))
            }
            _ => None,
        }
    }

    pub(crate) fn is_unnest(&self) -> bool {
        self.name == UNNEST || json_columns(&self.name).is_some() || self.is_series_of_columns()
    }

    /// Whether the numbers that it gives depend on columns or queries: they are the elements of an array that the function makes for each row.
    pub(crate) fn is_series_of_columns(&self) -> bool {
        let names_column = |e: &ast::Expr| match e {
            ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) | ast::Expr::Subquery(_) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        SERIES.contains(&self.name.as_str())
            && self.args.iter().any(|arg| visit_expressions(*arg, names_column).is_break())
    }
}

/// A column of a function that gives the parts of a JSON value: the scalar function of the array of its values, the name of the
/// column, and whether the values are JSON.
pub(crate) type JsonColumn = (&'static str, &'static str, bool);

/// The columns of such a function; `None` of another one.
pub(crate) fn json_columns(name: &str) -> Option<&'static [JsonColumn]> {
    Some(match name {
        "json_array_elements" | "jsonb_array_elements" => &[("JSON_PARTS", "value", true)],
        "json_array_elements_text" | "jsonb_array_elements_text" => &[("JSON_PART_TEXTS", "value", false)],
        "json_each" | "jsonb_each" => &[("JSON_PART_NAMES", "key", false), ("JSON_PARTS", "value", true)],
        "json_each_text" | "jsonb_each_text" => {
            &[("JSON_PART_NAMES", "key", false), ("JSON_PART_TEXTS", "value", false)]
        }
        "json_object_keys" | "jsonb_object_keys" => &[("JSON_KEYS", "json_object_keys", false)],
        _ => return None,
    })
}

/// Whether an item of FROM is UNNEST, which may name the columns of the items before it.
pub(crate) fn is_unnest(factor: &TableFactor) -> bool {
    matches!(TableCall::of(factor), Some(Ok(call)) if call.is_unnest())
}
