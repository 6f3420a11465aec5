//! The rewriting of the statement's tree for DataFusion's planner.
//!
//! * Names become lower case: DataFusion compares them exactly, we ignore case.
//! * Operations become calls ([`crate::expression::operation`]), and parameters become their values.
//! * An item without a name, or with the name of another item, gets an internal name. [`crate::rewrite::label`] restores the
//!   labels.
//! * Wildcards leave out hidden columns. Tables have hidden columns in the plan only if the statement names one of
//!   them.
//! * Clauses that DataFusion would ignore silently are refused, and so are functions that do not exist.

mod arguments;
mod clauses;
mod date_field;
mod families;
mod grouping;
mod items;
pub(crate) mod label;
mod lag_lead;
mod merging;
mod operations;
mod relations;
mod result_select;
mod rewriter;
mod rows;
mod similar;
mod tree;
mod unnest;
mod visit;
mod windows;
mod within_group;

use std::collections::HashSet;
use std::ops::ControlFlow;

use saltwing_sql::expr_span;
use saltwing_types::table::HIDDEN_COLUMNS;
use sqlparser::ast::{Expr, Query, Visit, VisitMut, Visitor};

use self::result_select::ResultSelect;
use self::rewriter::Rewriter;
use self::tree::{Result, visited};
use crate::expression::internal_name::is_internal;
use crate::expression::operation_function::Operations;
use crate::function::function_names::FunctionNames;
use crate::request::QueryRequest;
use crate::{RelationalError, RelationalErrorKind};

pub(crate) use self::rewriter::{Findings, Places, Renaming};

/// A statement ready to be planned.
pub(crate) struct Prepared {
    /// Its tree.
    pub(crate) query: Query,
    pub(crate) found: Findings,
}

/// Makes a statement ready.
///
/// # Errors
/// What cannot be supported, literals that are no values, parameters that are missing.
pub(crate) fn prepare(request: &QueryRequest, functions: &FunctionNames<'_>, renaming: Renaming) -> Result<Prepared> {
    let QueryRequest { query, items, subqueries, .. } = request;
    let catalog = &*request.catalog;
    let mut query = query.clone();
    let mut merged_items = None;
    if merging::has_merges(&query) {
        merged_items = Some(merging::merge_columns(&mut query, catalog, items)?);
    }
    let items = merged_items.as_deref().unwrap_or(items);
    let mut look = Look::default();
    visited(Visit::visit(&query, &mut look))?;
    let single_ctes = look.ctes.difference(&look.repeated_ctes).cloned().collect();
    let mut rewriter = Rewriter {
        params: request.params(),
        subqueries,
        functions,
        renaming,
        ctes: look.ctes,
        catalog,
        result: ResultSelect::of(&query),
        items,
        scopes: Vec::new(),
        found: Findings::new(Operations::new(functions.0.clone()), look.names_hidden),
    };
    visited(VisitMut::visit(&mut query, &mut rewriter))?;
    Ok(Prepared { query, found: Findings { single_ctes, ..rewriter.found } })
}

/// The properties of the whole statement needed before rewriting.
#[derive(Default)]
struct Look {
    names_hidden: bool,
    ctes: HashSet<String>,
    /// Those of `ctes` that several WITH queries have.
    repeated_ctes: HashSet<String>,
}

impl Visitor for Look {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<RelationalError> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = cte.alias.name.value.to_lowercase();
            if !self.ctes.insert(name.clone()) {
                self.repeated_ctes.insert(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<RelationalError> {
        let name = match expr {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(parts) => parts.last(),
            Expr::Function(call) => {
                let name = call.name.to_string();
                if is_internal(name.trim_matches('"')) {
                    let error = RelationalError::from(RelationalErrorKind::NoSuchFunction(name));
                    return ControlFlow::Break(error.at(expr_span(expr)));
                }
                None
            }
            _ => None,
        };
        self.names_hidden |= name.is_some_and(|name| is_hidden(&name.value));
        ControlFlow::Continue(())
    }
}

fn is_hidden(name: &str) -> bool {
    HIDDEN_COLUMNS.iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
}
