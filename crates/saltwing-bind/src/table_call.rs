//! Functions in FROM, as they are written.

use saltwing_sql::name_span;
use saltwing_types::Span;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, ObjectName, TableAlias, TableFactor};

use crate::query_binder::{Bound, unsupported};

/// The function that gives the elements of arrays, and the name of its column if the statement gives it none.
pub(crate) const UNNEST: &str = "unnest";

/// A function in FROM.
pub(crate) struct TableCall<'a> {
    pub(crate) name: String,
    pub(crate) span: Option<Span>,
    pub(crate) args: Vec<&'a ast::Expr>,
    pub(crate) alias: Option<&'a TableAlias>,
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
                _ if ordinality => unsupported("WITH ORDINALITY"),
                None => unsupported(&format!("{name} with named arguments")),
                Some(args) => Ok(Self { name, span, args, alias: alias.as_ref() }),
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
                Some(match with_ordinality {
                    true => unsupported("WITH ORDINALITY"),
                    false => Ok(Self { name, span: None, args, alias: alias.as_ref() }),
                })
            }
            _ => None,
        }
    }

    pub(crate) fn is_unnest(&self) -> bool {
        self.name == UNNEST
    }
}

/// Whether an item of FROM is UNNEST, which may name the columns of the items before it.
pub(crate) fn is_unnest(factor: &TableFactor) -> bool {
    matches!(TableCall::of(factor), Some(Ok(call)) if call.is_unnest())
}
