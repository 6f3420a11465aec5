//! A limit on the copies of CTEs in a plan.
//!
//! Each use of a CTE is a copy of its query in the plan. With 24 CTEs, each using the previous one twice, the first has
//! 16 million copies. The copies are counted before they are made.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, Visitor};

use crate::error::{BindError, BindErrorKind, Result};
use crate::statement_query::StatementQuery;
use crate::uncorrelated::RootQuery;

/// Most tables, CTEs and subqueries of a plan, copies included.
const RELATIONS_MAX: u64 = 2000;
/// Most expressions that copies of CTEs add to a statement's own.
const COPIED_EXPRESSIONS_MAX: u64 = 100_000;
/// Most keys of one ORDER BY: planning takes time in their square.
const SORT_KEYS_MAX: usize = 1000;

/// Checks the plan that a query of a statement would have.
///
/// # Errors
/// 54000 with the limit that it goes beyond.
pub fn check_plan_budget(query: StatementQuery<'_>) -> Result<()> {
    let mut count = Count { frames: vec![Frame::default()], expressions: 0 };
    if let ControlFlow::Break(error) = query.visit(&mut count) {
        return Err(error);
    }
    let whole = count.frames.pop().map(|frame| frame.size).unwrap_or_default();
    if whole.relations > RELATIONS_MAX {
        let (what, relations) = ("tables, CTEs and subqueries", whole.relations);
        return Err(too_large(what, relations, RELATIONS_MAX, "each name of a CTE counts as all that the CTE reads"));
    }
    let copied = whole.expressions.saturating_sub(count.expressions);
    if copied > COPIED_EXPRESSIONS_MAX {
        let what = "expressions in copies of its CTEs";
        return Err(too_large(what, copied, COPIED_EXPRESSIONS_MAX, "name a CTE with many expressions less often"));
    }
    Ok(())
}

/// Checks the plan of a bound query, which has copies of the queries of views.
///
/// # Errors
/// As [`check_plan_budget`].
pub(crate) fn check_size(root: &RootQuery) -> Result<()> {
    let mut relations = 0;
    root.for_each(&mut |relation| relations += u64::from(relation.inputs().is_empty()));
    match relations > RELATIONS_MAX {
        true => {
            Err(too_large("tables", relations, RELATIONS_MAX, "each name of a view counts as all that the view reads"))
        }
        false => Ok(()),
    }
}

fn too_large(what: &str, count: u64, limit: u64, help: &str) -> BindError {
    let text = format!("the statement has {count} {what}, above the limit of {limit}");
    BindError::from(BindErrorKind::TooLarge(text)).help(help)
}

/// The size that a query adds to a plan.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    relations: u64,
    expressions: u64,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.relations = self.relations.saturating_add(other.relations);
        self.expressions = self.expressions.saturating_add(other.expressions);
    }
}

/// A query that is being visited.
#[derive(Default)]
struct Frame {
    /// The names of its CTEs. They are visited before all else of the query, in this order.
    names: Vec<String>,
    /// The sizes of those that were visited.
    ctes: Vec<Size>,
    /// Its own size, without CTEs that nobody names.
    size: Size,
}

struct Count {
    /// The queries that are being visited, the innermost last, in a frame of the whole.
    frames: Vec<Frame>,
    /// Expressions in the text.
    expressions: u64,
}

impl Count {
    fn add(&mut self, size: Size) {
        if let Some(frame) = self.frames.last_mut() {
            frame.size.add(size);
        }
    }

    /// The size of the CTE that a name stands for. One that names itself counts as a table there.
    fn cte(&self, name: &ObjectName) -> Option<Size> {
        let [part] = name.0.as_slice() else { return None };
        let name = part.as_ident()?.value.to_lowercase();
        self.frames.iter().rev().find_map(|frame| {
            let known = frame.names.iter().zip(&frame.ctes).rev();
            known.into_iter().find(|(known, _)| **known == name).map(|(_, size)| *size)
        })
    }
}

impl Visitor for Count {
    type Break = BindError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<BindError> {
        if let Some(sqlparser::ast::OrderByKind::Expressions(keys)) = query.order_by.as_ref().map(|order| &order.kind)
            && keys.len() > SORT_KEYS_MAX
        {
            let (count, limit) = (keys.len() as u64, SORT_KEYS_MAX as u64);
            return ControlFlow::Break(too_large("keys in an ORDER BY", count, limit, "sort by fewer expressions"));
        }
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        let names = ctes.map(|cte| cte.alias.name.value.to_lowercase()).collect();
        let size = Size { relations: 1, expressions: 0 };
        self.frames.push(Frame { names, ctes: Vec::new(), size });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<BindError> {
        let size = self.frames.pop().map(|frame| frame.size).unwrap_or_default();
        match self.frames.last_mut() {
            Some(outer) if outer.ctes.len() < outer.names.len() => outer.ctes.push(size),
            _ => self.add(size),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<BindError> {
        let size = self.cte(name).unwrap_or(Size { relations: 1, expressions: 0 });
        self.add(size);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<BindError> {
        self.expressions += 1;
        self.add(Size { relations: 0, expressions: 1 });
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use saltwing_sql::statement::QueryStatement;
    use saltwing_types::Span;

    use super::*;

    fn checked(sql: &str) -> Result<()> {
        let dialect = sqlparser::dialect::GenericDialect {};
        match sqlparser::parser::Parser::parse_sql(&dialect, sql).unwrap().remove(0) {
            sqlparser::ast::Statement::Query(query) => {
                let (hints, items, span) = (Vec::new(), Vec::new(), Span::on_line(1, 1, 1));
                check_plan_budget((&QueryStatement { query, hints, items, after: None, span }).into())
            }
            other => panic!("{other}"),
        }
    }

    fn doubling(count: usize, body: impl Fn(usize) -> String) -> String {
        let ctes: Vec<String> = (1..count).map(|i| format!("c{i} AS ({})", body(i - 1))).collect();
        format!("WITH c0 AS (SELECT 1 AS x), {} SELECT * FROM c{}", ctes.join(", "), count - 1)
    }

    #[test]
    fn copies_of_ctes_are_counted() {
        let union = |count| doubling(count, |i| format!("SELECT x FROM c{i} UNION ALL SELECT x FROM c{i}"));
        let join = |count| doubling(count, |i| format!("SELECT a.x FROM c{i} a, C{i} b"));
        let nested = |count| doubling(count, |i| format!("SELECT x FROM c{i} WHERE x IN (SELECT x FROM c{i})"));
        for sql in [union(9), join(9), nested(9)] {
            assert!(checked(&sql).is_ok(), "{sql}");
        }
        for sql in [union(24), join(24), nested(24), union(60)] {
            assert_eq!(checked(&sql).unwrap_err().code().sqlstate(), "54000", "{sql}");
        }
        // A chain copies nothing.
        assert!(checked(&doubling(500, |i| format!("SELECT x FROM c{i}"))).is_ok());
    }

    #[test]
    fn an_inner_cte_hides_an_outer_one() {
        let big = doubling(10, |i| format!("SELECT x FROM c{i} UNION ALL SELECT x FROM c{i}"));
        let uses = |name: &str| vec![format!("SELECT x FROM {name}"); 5].join(" UNION ALL ");
        let around = |body: String| big.replace("SELECT * FROM c9", &body);
        assert!(checked(&around(uses("c9"))).is_err());
        assert!(checked(&around(format!("SELECT * FROM (WITH c9 AS (SELECT 1 AS x) {}) y", uses("c9")))).is_ok());
    }

    #[test]
    fn expressions_count_once_where_they_stand_once() {
        let many = vec!["x + 1"; 3000].join(", ");
        assert!(checked(&format!("SELECT {many} FROM t")).is_ok());
        let uses = |count| vec!["SELECT * FROM c"; count].join(" UNION ALL ");
        assert!(checked(&format!("WITH c AS (SELECT {many} FROM t) {}", uses(2))).is_ok());
        assert!(checked(&format!("WITH c AS (SELECT {many} FROM t) {}", uses(20))).is_err());
        let keys = vec!["x"; 1001].join(", ");
        assert!(checked(&format!("SELECT x FROM t ORDER BY {keys}")).is_err());
    }
}
