//! Subqueries of one value that hang on nothing around them.
//!
//! ```text
//! SELECT .. WHERE k <= (SELECT MAX(x) FROM u WHERE ..)
//!                      └── runs by itself, first: k <= 42
//! ```
//!
//! Both executors get the value, and a condition with it becomes ranges like one with a constant. A subquery is
//! uncorrelated if it can be planned on its own: names resolve in the innermost query first, so it then references
//! nothing outside, and its value does not depend on its position. `EXISTS` over a whole table is such a value, too
//! (`exists.rs`).

use std::ops::ControlFlow;

use saltwing_sql::statement::QueryStatement;
use saltwing_types::{SqlType, Value};
use sqlparser::ast::{self, Query, Spanned, Visit, VisitMut, Visitor, VisitorMut, With, visit_relations};

use crate::exists::first_of_all;

/// An uncorrelated scalar subquery.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// Its text in the statement, which may occur several times; of an EXISTS the query that stands for it.
    pub query: Box<Query>,
    /// The type of its value.
    pub ty: SqlType,
    /// The value; `None` before it has run.
    pub value: Option<Value>,
}

/// A scalar subquery that may be uncorrelated.
pub struct Candidate {
    /// As it stands in the statement, or the query that stands for an EXISTS.
    pub query: Box<Query>,
    /// As a statement of its own.
    pub statement: QueryStatement,
}

/// Maximum of subqueries of a statement that run first; further ones stay in the statement.
const CANDIDATES_MAX: usize = 64;

/// The subqueries of a statement that stand for one value, each once, inner ones before those around them.
pub fn candidates(statement: &QueryStatement) -> Vec<Candidate> {
    let mut look = Look::default();
    let _ = Visit::visit(&*statement.query, &mut look);
    if !look.has_subquery {
        return Vec::new();
    }
    // The WITH clause is visited first.
    let within_with = statement.query.with.as_ref().map_or(0, |with| OfOneValue::in_tree(with).len());
    let named = Named { with: statement.query.with.as_ref(), names: look.with_names };
    let mut found: Vec<Candidate> = Vec::new();
    for (place, query) in OfOneValue::in_tree(&*statement.query).into_iter().enumerate() {
        if found.len() == CANDIDATES_MAX || found.iter().any(|known| *known.query == query) {
            continue;
        }
        if let Some(alone) = named.alone(&query, place < within_with) {
            let statement = QueryStatement {
                query: Box::new(alone),
                items: Vec::new(),
                has_sequences: false,
                after: None,
                ..statement.clone()
            };
            found.push(Candidate { query: Box::new(query), statement });
        }
    }
    found
}

/// The statement with placeholders where these subqueries stand: see [`placed`].
pub fn with_placeholders(statement: &QueryStatement, subqueries: &[Subquery]) -> QueryStatement {
    let mut statement = statement.clone();
    let _ = VisitMut::visit(&mut *statement.query, &mut Replacer { subqueries, last: None });
    statement
}

/// The number of a placeholder of [`with_placeholders`]; `None` for the name of a parameter.
pub fn placed<'a>(name: &str, subqueries: &'a [Subquery]) -> Option<(usize, &'a Subquery)> {
    let number: usize = name.strip_prefix(PLACEHOLDER)?.parse().ok()?;
    Some((number, subqueries.get(number)?))
}

/// The prefix of placeholder names, which no parameter has.
const PLACEHOLDER: &str = "subquery ";

/// The properties of the whole statement needed before the search.
#[derive(Default)]
struct Look {
    has_subquery: bool,
    /// The names of WITH queries anywhere, in lower case; one that is there twice counts twice.
    with_names: Vec<String>,
}

impl Visitor for Look {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.with_names.extend(ctes.map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        self.has_subquery |= matches!(expr, ast::Expr::Subquery(_) | ast::Expr::Exists { .. });
        ControlFlow::Continue(())
    }
}

/// Subqueries that stand for one value, in the order in which they end.
#[derive(Default)]
struct OfOneValue {
    found: Vec<Query>,
}

impl OfOneValue {
    fn in_tree(tree: &impl Visit) -> Vec<Query> {
        let mut all = Self::default();
        let _ = tree.visit(&mut all);
        all.found
    }
}

impl Visitor for OfOneValue {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        match expr {
            ast::Expr::Subquery(query) => self.found.push(query.as_ref().clone()),
            ast::Expr::Exists { subquery, .. } => self.found.extend(first_of_all(subquery)),
            // The subquery behind ANY or ALL stands for a list. It is the last part of the expression, so it was found last.
            ast::Expr::AnyOp { right, .. } | ast::Expr::AllOp { right, .. }
                if matches!(right.as_ref(), ast::Expr::Subquery(_)) =>
            {
                self.found.pop();
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

struct Replacer<'a> {
    subqueries: &'a [Subquery],
    /// The subquery that was replaced last.
    last: Option<Box<Query>>,
}

impl VisitorMut for Replacer<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        let value = match &*expr {
            ast::Expr::Subquery(query) => self.placeholder(query, expr),
            ast::Expr::Exists { subquery, negated } => {
                let value = first_of_all(subquery).and_then(|first| self.placeholder(&first, expr)).map(Box::new);
                value.map(|value| if *negated { ast::Expr::IsNull(value) } else { ast::Expr::IsNotNull(value) })
            }
            _ => None,
        };
        if let Some(value) = value
            && let ast::Expr::Subquery(query) = std::mem::replace(expr, value)
        {
            self.last = Some(query);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        // The subquery behind ANY or ALL stands for a list, and goes back. It is the last part of the expression, so it
        // was replaced last.
        if let ast::Expr::AnyOp { right, .. } | ast::Expr::AllOp { right, .. } = expr
            && let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Placeholder(name), .. }) = right.as_ref()
            && placed(name, self.subqueries).is_some()
            && let Some(mut list) = self.last.take()
        {
            VisitMut::visit(&mut *list, self)?;
            **right = ast::Expr::Subquery(list);
        }
        ControlFlow::Continue(())
    }
}

impl Replacer<'_> {
    /// The placeholder of a query, if it is one of those that run first, in the place of an expression.
    fn placeholder(&self, query: &Query, replaced: &ast::Expr) -> Option<ast::Expr> {
        let number = self.subqueries.iter().position(|known| *known.query == *query)?;
        let (value, span) = (ast::Value::Placeholder(format!("{PLACEHOLDER}{number}")), Spanned::span(replaced));
        Some(ast::Expr::Value(ast::ValueWithSpan { value, span }))
    }
}

/// The WITH queries around subqueries.
struct Named<'a> {
    /// The outermost.
    with: Option<&'a With>,
    /// The names of all.
    names: Vec<String>,
}

impl Named<'_> {
    /// A subquery as a query of its own, with the queries that it names; `None` where it is not plain which these are.
    fn alone(&self, query: &Query, is_within_with: bool) -> Option<Query> {
        let mut alone = query.clone();
        let mut own = Look::default();
        let _ = Visit::visit(query, &mut own);
        if self.names_one(query, &own.with_names) {
            let with = self.with?;
            if is_within_with || !own.with_names.is_empty() || self.names.len() != with.cte_tables.len() {
                return None;
            }
            alone.with = Some(with.clone());
        }
        Some(alone)
    }

    /// Whether a query names a WITH query that may be another than its `own`.
    fn names_one(&self, query: &Query, own: &[String]) -> bool {
        let count = |names: &[String], wanted: &str| names.iter().filter(|name| *name == wanted).count();
        let found = visit_relations(query, |name| {
            let [name] = name.0.as_slice() else { return ControlFlow::Continue(()) };
            let name = name.as_ident().map(|name| name.value.to_lowercase()).unwrap_or_default();
            match count(&self.names, &name) > count(own, &name) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        found.is_break()
    }
}
