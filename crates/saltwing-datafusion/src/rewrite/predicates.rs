//! `IN` and `EXISTS` over subqueries as values.
//!
//! DataFusion makes joins of them in conditions alone, and there its join has no
//! unknown: `IN` is false where it should be NULL, which shows below NOT, IS and the
//! like. Among the items, and there, they become subqueries of one value, which count:
//! a value is in a list when it equals a member; else it is unknown when some comparison
//! is; else it is not.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, BinaryOperator, CaseWhen, Expr, Ident, LimitClause, Query, Select, SelectItem, SetExpr, TableAlias,
    TableAliasColumnDef, TableFactor, TableWithJoins, UnaryOperator, VisitMut, VisitorMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::Result;
use crate::RelationalError;
use crate::single_value::SINGLE_VALUE;

/// The derived table that the members are taken from, and its column.
const MEMBERS: &str = "\u{1}members";
const MEMBER: &str = "\u{1}member";

/// `= ANY (SELECT ..)` is `IN`, `<> ALL (SELECT ..)` is `NOT IN`: as such they are joins, and lookups.
pub(super) fn quantified_as_in(select: &mut Select) -> Result<()> {
    match select.visit(&mut Quantified) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Quantified;

impl VisitorMut for Quantified {
    type Break = RelationalError;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        let (left, right, negated) = match expr {
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => (left, right, false),
            Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => (left, right, true),
            _ => return ControlFlow::Continue(()),
        };
        if let Expr::Subquery(subquery) = right.as_ref() {
            let subquery = subquery.clone();
            let left = std::mem::replace(left.as_mut(), Expr::value(ast::Value::Null));
            *expr = Expr::InSubquery { expr: Box::new(left), subquery, negated };
        }
        ControlFlow::Continue(())
    }
}

/// Rewrites the items of one SELECT.
pub(super) fn as_values(select: &mut Select) -> Result<()> {
    let mut rewriter = Predicates { depth: 0, with_exists: true };
    for item in &mut select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        if let ControlFlow::Break(error) = expr.visit(&mut rewriter) {
            return Err(error);
        }
    }
    Ok(())
}

/// Rewrites those `IN`s of a condition whose being unknown makes a difference.
pub(super) fn unknown_as_values(condition: &mut Expr) -> Result<()> {
    match condition {
        Expr::Nested(inner) => unknown_as_values(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            unknown_as_values(left)?;
            unknown_as_values(right)
        }
        // As a condition of its own, NOT IN is a join that knows of NULL.
        Expr::InSubquery { .. } => Ok(()),
        other => below_or(other),
    }
}

/// The same below an OR: false and unknown are one as long as nothing negates them.
fn below_or(condition: &mut Expr) -> Result<()> {
    match condition {
        Expr::Nested(inner) => below_or(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
            below_or(left)?;
            below_or(right)
        }
        Expr::InSubquery { negated: false, .. } => Ok(()),
        other => match other.visit(&mut Predicates { depth: 0, with_exists: false }) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        },
    }
}

struct Predicates {
    /// How many subqueries deep: their own items are theirs.
    depth: usize,
    /// Whether EXISTS, which is never unknown, is meant too.
    with_exists: bool,
}

impl VisitorMut for Predicates {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<RelationalError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<RelationalError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        let meant = match expr {
            Expr::InSubquery { .. } => true,
            // DataFusion's join for EXISTS passes over OFFSET.
            Expr::Exists { subquery, .. } => self.with_exists || has_offset(subquery),
            _ => false,
        };
        if self.depth > 0 || !meant {
            return ControlFlow::Continue(());
        }
        let value = match std::mem::replace(expr, Expr::value(ast::Value::Null)) {
            Expr::InSubquery { expr, subquery, negated } if !matches!(*expr, Expr::Tuple(_)) => {
                over(subquery, is_member(*expr), true).map(|value| not(value, negated))
            }
            Expr::Exists { subquery, negated } => {
                let any = binary(count(Expr::value(number("1"))), BinaryOperator::Gt, Expr::value(number("0")));
                over(subquery, any, false).map(|value| not(value, negated))
            }
            other => Ok(other),
        };
        match value {
            Ok(value) => {
                *expr = value;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn has_offset(query: &Query) -> bool {
    match &query.limit_clause {
        Some(LimitClause::LimitOffset { offset, .. }) => offset.is_some(),
        Some(LimitClause::OffsetCommaLimit { .. }) => true,
        None => false,
    }
}

fn number(text: &str) -> ast::Value {
    ast::Value::Number(text.to_owned(), false)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn not(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) } } else { expr }
}

fn count(of: Expr) -> Expr {
    super::operations::function_call("count".to_owned(), vec![of])
}

fn case(whens: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let token = || ast::helpers::attached_token::AttachedToken::empty();
    Expr::Case {
        case_token: token(),
        end_token: token(),
        operand: None,
        conditions: whens.into_iter().map(|(condition, result)| CaseWhen { condition, result }).collect(),
        else_result: otherwise.map(Box::new),
    }
}

/// Whether a value is a member, by counts over the members.
fn is_member(value: Expr) -> Expr {
    let equals = || binary(Expr::Identifier(Ident::with_quote('"', MEMBER)), BinaryOperator::Eq, value.clone());
    let any = |condition| {
        let counted = count(case(vec![(condition, Expr::value(number("1")))], None));
        binary(counted, BinaryOperator::Gt, Expr::value(number("0")))
    };
    let truth = |truth| Expr::value(ast::Value::Boolean(truth));
    let unknown = any(Expr::IsNull(Box::new(equals())));
    let null = Expr::value(ast::Value::Null);
    case(vec![(any(equals()), truth(true)), (unknown, null)], Some(truth(false)))
}

/// The one value of a query with a limit.
pub(super) fn single(query: Box<Query>) -> Result<Expr> {
    let member = Expr::Identifier(Ident::with_quote('"', MEMBER));
    over(query, super::operations::function_call(SINGLE_VALUE.to_owned(), vec![member]), true)
}

/// `(SELECT item FROM (members) AS ..)`.
fn over(members: Box<Query>, item: Expr, named: bool) -> Result<Expr> {
    let mut query = template()?;
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(RelationalError::bug("no SELECT")) };
    let column = TableAliasColumnDef { name: Ident::with_quote('"', MEMBER), data_type: None };
    let alias = TableAlias {
        explicit: true,
        name: Ident::with_quote('"', MEMBERS),
        columns: if named { vec![column] } else { Vec::new() },
        at: None,
    };
    let relation = TableFactor::Derived { lateral: false, subquery: members, alias: Some(alias), sample: None };
    select.projection = vec![SelectItem::ExprWithAlias { expr: item, alias: Ident::with_quote('"', "\u{1}value") }];
    select.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    Ok(Expr::Subquery(query))
}

/// A SELECT to be filled in: its fields are many, and the parser knows them.
fn template() -> Result<Box<Query>> {
    let mut statements = Parser::parse_sql(&GenericDialect {}, "SELECT 1")
        .map_err(|error| RelationalError::bug(format!("SELECT 1: {error}")))?;
    match statements.pop() {
        Some(ast::Statement::Query(query)) => Ok(query),
        _ => Err(RelationalError::bug("SELECT 1 is no query")),
    }
}
