//! Subqueries in expressions. Each becomes a column, which the relation below the expression gives.

use std::cell::RefCell;
use std::ops::ControlFlow;

use saltwing_sql::expr_span;
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ColumnRef, CompareOp, Expr, Span, SqlType, ValueError, typing};
use sqlparser::ast::{self, Query, visit_expressions};

use crate::call_names::names_only;
use crate::collector::Collector;
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lower, LowerError, Lowerer, Queries, comparison_operator};
use crate::query_binder::{Bound, CteScope, OuterAggregates, OuterScope, QueryBinder, Uncorrelated, unsupported};
use crate::returning_clause::merge_action;
use crate::scope::Scope;
use crate::session_word::session_word;
use crate::tree::{BoundQuery, ColumnIds, Output, Relation, SubqueryColumn, SubqueryKind};
use crate::uncorrelated::UncorrelatedSubquery;

/// Binds the subqueries in the expressions of one clause, or of several that stand at the same place of the tree.
pub(crate) struct SubqueryBinder<'a> {
    binder: &'a QueryBinder<'a>,
    /// The names that the expressions use.
    scope: &'a Scope,
    found: RefCell<Vec<Found>>,
}

/// A subquery that was met.
struct Found {
    /// How it is written: where it is written again, it is the same column.
    syntax: ast::Expr,
    /// The value of that.
    value: Expr,
    /// The column; `None` if the subquery runs before the statement.
    column: Option<SubqueryColumn>,
}

impl Found {
    fn id(&self) -> Option<usize> {
        self.column.as_ref().map(|subquery| subquery.column.index)
    }
}

impl<'a> SubqueryBinder<'a> {
    pub(crate) fn new(binder: &'a QueryBinder<'a>, scope: &'a Scope) -> Self {
        Self { binder, scope, found: RefCell::default() }
    }

    /// Lowers the expressions over the names.
    pub(crate) fn lowerer<'s>(&'s self, collector: Option<&'s Collector<'s>>) -> Lowerer<'s> {
        Lowerer { collector, queries: Some(self), ..Lowerer::new(self.scope, self.binder.params) }
    }

    /// Takes note of the columns that a wildcard shows; `parts` stand before it.
    pub(crate) fn note_wildcard(&self, parts: &[&str], columns: &[Output], span: Option<Span>) {
        self.binder.note_wildcard(self.scope, parts, columns, span);
    }

    /// Whether a column is that of a subquery.
    pub(crate) fn is_subquery(&self, column: &ColumnRef) -> bool {
        self.found.borrow().iter().any(|found| found.id() == Some(column.index))
    }

    /// Whether an expression names one of them.
    pub(crate) fn are_named_in(&self, expr: &Expr) -> bool {
        let ids = expr.columns();
        self.found.borrow().iter().filter_map(Found::id).any(|id| ids.contains(&id))
    }

    /// The subqueries met, those that others name before these.
    pub(crate) fn into_subqueries(self) -> Vec<SubqueryColumn> {
        self.found.into_inner().into_iter().filter_map(|found| found.column).collect()
    }

    fn bound(&self, e: &ast::Expr, parts: Parts<'_>, lowerer: &Lowerer<'_>) -> Lower {
        let values =
            parts.values.iter().map(|value| lowerer.lower(value)).collect::<std::result::Result<Vec<_>, _>>()?;
        let aggregates = lowerer.collector.map(|_| {
            let count = IDS_PER_CALL * self.calls_of_own_rows(parts.query);
            let first = self.binder.ids.take(count);
            OuterAggregates { lowerer, ids: first..first + count }
        });
        let first_own = self.binder.ids.next();
        let outer = OuterScope { scope: self.scope, aggregates, around: self.binder.outer };
        let mut query = QueryBinder { outer: Some(&outer), ..*self.binder }.query(parts.query, &[])?;
        if let Some(value) = self.before_statement(e, &parts, &query, first_own)? {
            self.found.borrow_mut().push(Found { syntax: e.clone(), value: value.clone(), column: None });
            return Ok(value);
        }
        let (kind, ty, nullable) = match parts.test {
            Test::Exists => (SubqueryKind::Exists, SqlType::Boolean, false),
            Test::Value => {
                check_width(&query, 1)?;
                let ty = query.output.first().map_or(SqlType::Null, |output| output.column.ty);
                (SubqueryKind::Scalar, ty, true)
            }
            Test::In => {
                check_width(&query, values.len())?;
                let mut pairs = values.iter().zip(&query.output);
                let kind = match pairs.all(|(value, member)| is_exact(value, &member.column)) {
                    true => SubqueryKind::In { values: self.in_one_form(values, &mut query)? },
                    false => quantified(values, CompareOp::Eq, false, &query)?,
                };
                (kind, SqlType::Boolean, true)
            }
            Test::Quantified(op, all) => {
                check_width(&query, values.len())?;
                if values.len() > 1 {
                    return unsupported("a row value before ANY or ALL");
                }
                (quantified(values, op, all, &query)?, SqlType::Boolean, true)
            }
        };
        let (index, name) = (self.binder.ids.take(1), kind.name().to_owned());
        let column = ColumnRef { index, name, ty, nullable, span: expr_span(e) };
        let found = SubqueryColumn { column: column.clone(), kind, query, first_own };
        let value = Expr::Column(column);
        let value = if parts.negated { typing::not(value)? } else { value };
        self.found.borrow_mut().push(Found { syntax: e.clone(), value: value.clone(), column: Some(found) });
        Ok(value)
    }

    /// How many calls of aggregate functions in a subquery may be of rows of this query.
    fn calls_of_own_rows(&self, query: &Query) -> usize {
        let mut count = 0;
        let _ = visit_expressions(query, |e| {
            if let ast::Expr::Function(call) = e
                && AggregateEntry::by_name(&call.name.to_string()).is_some()
                && names_only(call, |parts| self.scope.resolve(parts, None).is_ok() || self.is_outer_name(parts))
            {
                count += 1;
            }
            ControlFlow::<()>::Continue(())
        });
        count
    }

    /// The value of a subquery that runs before the statement; `None` if it must run with it.
    fn before_statement(
        &self,
        e: &ast::Expr,
        parts: &Parts<'_>,
        query: &BoundQuery,
        first_own: usize,
    ) -> Bound<Option<Expr>> {
        let query = match parts.test {
            Test::Value if query.is_uncorrelated(first_own) => {
                check_width(query, 1)?;
                Some(query.clone())
            }
            Test::Exists => query.first_of_all(self.binder.ids).filter(|first| first.is_uncorrelated(first_own)),
            Test::Value | Test::In | Test::Quantified(..) => None,
        };
        let Some(query) = query else { return Ok(None) };
        let ty = query.output.first().map_or(SqlType::Null, |output| output.column.ty);
        // Its values have no form outside of the relational engine.
        if ty == SqlType::Opaque {
            return Ok(None);
        }
        let mut known = self.binder.state.uncorrelated.borrow_mut();
        let ctes = self.binder.ctes.map(CteScope::id);
        let number = known.iter().position(|known| known.syntax == *e && known.ctes == ctes);
        let number = number.unwrap_or_else(|| {
            let text = if let ast::Expr::Subquery(query) = e { query.to_string() } else { e.to_string() };
            let subquery = UncorrelatedSubquery { text, query, ty, span: expr_span(e) };
            known.push(Uncorrelated { syntax: e.clone(), ctes, subquery });
            known.len() - 1
        });
        let value = Expr::Subquery(number, ty);
        Ok(Some(match (parts.test, parts.negated) {
            (Test::Exists, false) => typing::not(typing::is_null(value))?,
            (Test::Exists, true) => typing::is_null(value),
            _ => value,
        }))
    }

    /// The values before IN, which the columns of the query become comparable with in Arrow: see [`SubqueryKind::In`].
    fn in_one_form(&self, values: Vec<Expr>, query: &mut BoundQuery) -> std::result::Result<Vec<Expr>, LowerError> {
        let (mut forms, mut computed) = (Vec::with_capacity(values.len()), Vec::new());
        for (value, output) in values.into_iter().zip(&mut query.output) {
            let (value, member) = compared(CompareOp::Eq, value, output)?;
            let (value, member) = equality_forms(value, member)?;
            forms.push(value);
            let member = self.binder.ids.column_of(member, Expr::to_string);
            output.column = member.column.clone();
            computed.push(member);
        }
        let relation = std::mem::replace(&mut query.relation, Relation::one_row());
        query.relation = relation.projected(computed);
        Ok(forms)
    }
}

/// The comparison of values with the rows of a subquery, of as many columns.
fn quantified(values: Vec<Expr>, op: CompareOp, all: bool, query: &BoundQuery) -> Result<SubqueryKind> {
    let pairs = values.into_iter().zip(&query.output);
    let values = pairs.map(|(value, member)| compared(op, value, member).map(|(value, _)| value));
    Ok(SubqueryKind::Quantified { values: values.collect::<Result<_>>()?, op, all })
}

/// A value and a column of a subquery, as sides of a comparison.
fn compared(op: CompareOp, value: Expr, member: &Output) -> Result<(Expr, Expr)> {
    let (span, member) = (value.span(), Expr::Column(member.column.clone()));
    match typing::compare(op, value, member).map_err(|error| BindError::from(error).at(span))? {
        Expr::Compare(_, value, member) => Ok((*value, *member)),
        other => Err(BindError::from(ValueError::Internal(format!("{other} is no comparison")))),
    }
}

impl Queries for SubqueryBinder<'_> {
    fn columns(&self) -> &ColumnIds<'_> {
        self.binder.ids
    }

    fn session_word(&self, word: &str) -> Option<Expr> {
        session_word(word, self.binder.catalog)
    }

    fn outer_column(&self, parts: &[&str], span: Option<Span>) -> Option<Result<ColumnRef>> {
        let found = self.binder.outer?.column(parts, span)?;
        Some(found.map(|(column, scope)| {
            self.binder.note_column(scope, parts, &column);
            column
        }))
    }

    fn note_column(&self, scope: &Scope, parts: &[&str], column: &ColumnRef) {
        self.binder.note_column(scope, parts, column);
    }

    fn outer_aggregate(&self, e: &ast::Expr, call: &ast::Function) -> std::result::Result<Option<Expr>, LowerError> {
        let mut level = self.binder.outer;
        // It is of the innermost query that has one of the columns.
        while let Some(outer) = level
            && names_only(call, |parts| outer.scope.resolve(parts, None).is_err())
        {
            level = outer.around;
        }
        let Some(OuterAggregates { lowerer, ids }) = level.and_then(|outer| outer.aggregates.as_ref()) else {
            return Ok(None);
        };
        let Some(collector) = lowerer.collector else { return Ok(None) };
        match collector.lending(collector.free(ids), || lowerer.aggregate(e, call)) {
            Some(found) => found,
            None => unsupported("an aggregate of an outer query in this place").map(Some),
        }
    }

    fn is_outer_name(&self, parts: &[&str]) -> bool {
        self.binder.outer.is_some_and(|outer| matches!(outer.column(parts, None), Some(Ok(_))))
    }

    fn merge_action(&self) -> Option<ColumnRef> {
        self.binder.merge_action.map(merge_action)
    }

    fn subquery(&self, e: &ast::Expr, lowerer: &Lowerer<'_>) -> Lower {
        let Some(parts) = Parts::of(e) else { return unsupported("this form of a subquery") };
        let known = |found: &Found| (found.syntax == *e).then(|| found.value.clone());
        // Nothing may borrow the list while the subquery is bound.
        let known = self.found.borrow().iter().find_map(known);
        match known {
            None => self.bound(e, parts, lowerer),
            Some(known) => {
                if self.binder.notes_names() {
                    // The names stand at each place, and the column is the same.
                    self.bound(e, parts, lowerer)?;
                    self.found.borrow_mut().pop();
                }
                Ok(known)
            }
        }
    }
}

/// Ids for each call of an aggregate function of an outer query: some are made of several.
const IDS_PER_CALL: usize = 3;

/// An expression with a subquery, in parts.
struct Parts<'e> {
    query: &'e Query,
    test: Test,
    negated: bool,
    /// The values that its rows are compared with.
    values: Vec<&'e ast::Expr>,
}

/// What a subquery is there for.
#[derive(Clone, Copy)]
enum Test {
    Value,
    Exists,
    In,
    /// ANY, or ALL.
    Quantified(CompareOp, bool),
}

impl<'e> Parts<'e> {
    fn of(e: &'e ast::Expr) -> Option<Self> {
        match e {
            ast::Expr::Subquery(query) => Some(Self { query, test: Test::Value, negated: false, values: Vec::new() }),
            ast::Expr::Exists { subquery, negated } => {
                Some(Self { query: subquery, test: Test::Exists, negated: *negated, values: Vec::new() })
            }
            ast::Expr::InSubquery { expr, subquery, negated } => {
                Some(Self { query: subquery, test: Test::In, negated: *negated, values: values_of(expr) })
            }
            ast::Expr::AnyOp { left, compare_op, right, .. } => Self::quantified(left, compare_op, right, false),
            ast::Expr::AllOp { left, compare_op, right } => Self::quantified(left, compare_op, right, true),
            _ => None,
        }
    }

    fn quantified(left: &'e ast::Expr, op: &ast::BinaryOperator, right: &'e ast::Expr, all: bool) -> Option<Self> {
        let ast::Expr::Subquery(query) = right else { return None };
        // `= ANY` is IN, and `<> ALL` is NOT IN.
        let (test, negated) = match (comparison_operator(op)?, all) {
            (CompareOp::Eq, false) => (Test::In, false),
            (CompareOp::NotEq, true) => (Test::In, true),
            (op, all) => (Test::Quantified(op, all), false),
        };
        Some(Self { query, test, negated, values: values_of(left) })
    }
}

/// The parts of a row value, or the one value.
fn values_of(e: &ast::Expr) -> Vec<&ast::Expr> {
    match e {
        ast::Expr::Tuple(values) => values.iter().collect(),
        ast::Expr::Nested(inner) if matches!(**inner, ast::Expr::Tuple(_) | ast::Expr::Nested(_)) => values_of(inner),
        other => vec![other],
    }
}

fn check_width(query: &BoundQuery, width: usize) -> Result<()> {
    let columns = query.output.len();
    if columns == width {
        return Ok(());
    }
    let text = match width {
        1 => format!("a subquery in an expression has one column, and this one has {columns}"),
        _ => format!("row values of {width} and {columns} columns do not compare"),
    };
    Err(BindErrorKind::Syntax(text).into())
}

/// Whether values that are equal are so in the type to which Arrow brings both sides: not a float and a number of another kind, if the
/// float does not hold all values of that, and not instants of different units.
fn is_exact(value: &Expr, member: &ColumnRef) -> bool {
    let ty = value.sql_type().unwrap_or(SqlType::Null);
    let holds = |float: SqlType, other: SqlType| {
        let digits = if float.is_single_float() { 24 } else { 53 };
        other.is_float() || other.integer_range().is_some_and(|(_, most)| most < 1 << digits)
    };
    let is_literal = matches!(value, Expr::Literal(..));
    match (ty.family(), member.ty.family()) {
        (TypeFamily::Number, TypeFamily::Number) if ty.is_float() && !is_literal => holds(ty, member.ty),
        (TypeFamily::Number, TypeFamily::Number) if member.ty.is_float() => holds(member.ty, ty),
        // Nanoseconds do not reach as far as milliseconds.
        (TypeFamily::Instant, TypeFamily::Instant) => is_literal || ty.is_timestamp() == member.ty.is_timestamp(),
        _ => true,
    }
}

/// Two sides of an equality in forms that are equal in Arrow where the sides are equal to us, as far as there are such. CHAR is
/// compared with other texts without regard to blanks at the end, and is stored without these; intervals are compared by their length;
/// numbers of different types in the type that both have in common.
fn equality_forms(a: Expr, b: Expr) -> std::result::Result<(Expr, Expr), ValueError> {
    let is_char = |e: &Expr| matches!(e.sql_type(), Some(SqlType::Char(_)));
    let is_interval = |e: &Expr| e.sql_type() == Some(SqlType::Interval);
    let form: fn(Expr) -> std::result::Result<Expr, ValueError> = match (is_char(&a), is_char(&b)) {
        (true, false) | (false, true) => |e| typing::call_named("RTRIM", vec![e]),
        _ if is_interval(&a) && is_interval(&b) => |e| typing::call_named("INTERVAL_SECONDS", vec![e]),
        _ => match common_number(&a, &b) {
            Some(ty) => return Ok((typing::as_type(a, ty)?, typing::as_type(b, ty)?)),
            None => return Ok((a, b)),
        },
    };
    Ok((form(a)?, form(b)?))
}

/// The type of numbers of two types; `None` if they are of one, or no numbers.
fn common_number(a: &Expr, b: &Expr) -> Option<SqlType> {
    let (a, b) = a.sql_type().zip(b.sql_type())?;
    let are_numbers = a != b && [a, b].iter().all(|ty| ty.family() == TypeFamily::Number);
    are_numbers.then(|| match (a.is_integer() && b.is_integer(), a.is_float() || b.is_float()) {
        (true, _) => SqlType::BigInt,
        (_, true) => SqlType::Double,
        _ => SqlType::Decimal(None),
    })
}
