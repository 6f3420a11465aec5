//! `FROM unnest(list, ..)`.

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, TableAlias, TableAliasColumnDef, TableFactor,
};

use super::tree::Result;
use crate::RelationalError;

/// The name of the function, and of its column where nothing else is said.
const UNNEST: &str = "unnest";

fn is_unnest(name: &ObjectName) -> bool {
    let name = if let [only] = name.0.as_slice() { only.as_ident() } else { None };
    name.is_some_and(|name| name.value.eq_ignore_ascii_case(UNNEST))
}

/// The arguments, if none is named.
fn lists(args: &[FunctionArg]) -> Option<Vec<Expr>> {
    let list = |arg: &FunctionArg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(list)) => Some(list.clone()),
        _ => None,
    };
    args.iter().map(list).collect()
}

/// Makes a call of `unnest` in FROM what DataFusion plans as one; its column has the alias' name, as in Postgres.
pub(super) fn as_unnest(factor: &mut TableFactor) -> Result<()> {
    if let TableFactor::Table { name, args: Some(args), alias, with_ordinality, .. } = factor
        && is_unnest(name)
    {
        let Some(array_exprs) = lists(&args.args) else {
            return Err(RelationalError::not_supported("unnest with named arguments"));
        };
        let (alias, with_ordinality) = (alias.take(), *with_ordinality);
        *factor =
            TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_offset_alias: None, with_ordinality };
    }
    // LATERAL UNNEST(..), which UNNEST is anyway.
    if let TableFactor::Function { name, args, with_ordinality, alias, .. } = factor
        && is_unnest(name)
    {
        let Some(array_exprs) = lists(args) else {
            return Err(RelationalError::not_supported("unnest with named arguments"));
        };
        let (alias, with_ordinality) = (alias.take(), *with_ordinality);
        *factor =
            TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_offset_alias: None, with_ordinality };
    }
    if let TableFactor::UNNEST { alias, array_exprs, .. } = factor {
        let alias = alias.get_or_insert_with(|| TableAlias {
            explicit: true,
            name: Ident::with_quote('"', UNNEST),
            columns: Vec::new(),
            at: None,
        });
        if alias.columns.is_empty() {
            let name = |place: usize| match place {
                0 => alias.name.clone(),
                _ => Ident::with_quote('"', format!("{UNNEST}{}", place + 1)),
            };
            let columns =
                (0..array_exprs.len()).map(|place| TableAliasColumnDef { name: name(place), data_type: None });
            alias.columns = columns.collect();
        }
    }
    Ok(())
}
