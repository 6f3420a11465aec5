//! Queries around queries: what the dialect reads into SELECTs of its own.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, SetExpr, TableFactor, Values, visit_expressions};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;

/// The query that a text of ours is, without places: its fields are many, and the parser knows them. `None` of another text.
fn template(text: &str) -> Option<Box<Query>> {
    let dialect = GenericDialect {};
    // Names of ours stand nowhere: a place would be that of some other name in the statement.
    let tokens = Tokenizer::new(&dialect, text).tokenize().ok()?;
    Parser::new(&dialect).with_tokens(tokens).parse_query().ok()
}

/// `text` with an item of FROM in the place of its first one.
pub(crate) fn of_factor(text: &str, factor: TableFactor) -> Option<Box<Query>> {
    let mut query = template(text)?;
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    select.from.first_mut()?.relation = factor;
    Some(query)
}

/// `text` with a query in the place of its derived table, `SELECT .. FROM (SELECT 1) AS q (..)`.
pub(crate) fn around(text: &str, query: &Query) -> Option<Box<Query>> {
    let mut around = template(text)?;
    let SetExpr::Select(select) = around.body.as_mut() else { return None };
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else { return None };
    **subquery = query.clone();
    Some(around)
}

/// `SELECT name FROM (query) AS q (names)`.
pub(crate) fn column_of(query: &Query, name: &str, names: &[String]) -> Option<Box<Query>> {
    around(&format!("SELECT {name} FROM (SELECT 1) AS q ({})", names.join(", ")), query)
}

/// A query that gives nothing, to be replaced.
pub(crate) fn nothing() -> Query {
    let values = Values { explicit_row: false, value_keyword: false, rows: Vec::new() };
    Query {
        with: None,
        body: Box::new(SetExpr::Values(values)),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// Functions that give another value each time.
const RANDOM: [&str; 4] = ["GEN_RANDOM_UUID", "RAND", "RANDOM", "UUID"];

/// Whether two copies of a query could give different rows of the same data.
pub(crate) fn is_random(query: &Query) -> bool {
    let found = visit_expressions(query, |expr| match expr {
        Expr::Function(call) if RANDOM.iter().any(|name| call.name.to_string().eq_ignore_ascii_case(name)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}
