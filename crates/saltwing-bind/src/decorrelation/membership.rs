//! `EXISTS`, `IN`, `x op ANY (..)` and `x op ALL (..)`.
//!
//! ANY is true if some comparison is, else unknown if some is, else false; ALL is false if some comparison is, else unknown if some
//! is, else true. `IN` is `= ANY`. As a condition, where unknown counts as false, each of them tells whether there is a row for which the
//! comparison decides:
//!
//! | condition | rows of the subquery that decide | the outer row comes |
//! |---|---|---|
//! | `ANY` | the comparison is true | if there is one |
//! | `NOT ANY` | it is not false | if there is none |
//! | `ALL` | it is not true | if there is none |
//! | `NOT ALL` | it is false | if there is one |

use saltwing_plan::Condition;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, Value, typing};

use super::keyed_groups::key_of;
use super::outer_rows::{OuterRows, Partners};
use crate::engine::EngineAggregate;
use crate::error::Result;
use crate::row_count::RowCount;
use crate::tree::{
    BoundQuery, CallColumn, ComputedColumn, GroupCall, JoinKind, Output, Relation, SubqueryColumn, SubqueryKind,
};

/// Values that are compared with each row of a subquery.
struct Comparison {
    values: Vec<Expr>,
    op: CompareOp,
    /// ALL, else ANY.
    all: bool,
    /// Whether values are equal if and only if their forms in Arrow are.
    has_equal_forms: bool,
}

impl Comparison {
    /// The comparison of a subquery; `None` of one that compares nothing.
    fn of(kind: SubqueryKind) -> Option<Self> {
        match kind {
            SubqueryKind::In { values } => Some(Self { values, op: CompareOp::Eq, all: false, has_equal_forms: true }),
            SubqueryKind::Quantified { values, op, all } => Some(Self { values, op, all, has_equal_forms: false }),
            SubqueryKind::Scalar | SubqueryKind::Exists => None,
        }
    }

    /// The comparison with a row.
    fn with(&self, row: &[Expr]) -> Result<Expr> {
        let pairs = self.values.iter().zip(row);
        let compared = pairs.map(|(value, member)| typing::compare(self.op, value.clone(), member.clone()));
        Ok(typing::and(compared.collect::<std::result::Result<_, _>>()?)?)
    }
}

impl OuterRows<'_> {
    /// The rows for which a test holds, or does not hold (`negated`).
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn choose(&mut self, subquery: SubqueryColumn, negated: bool) -> Result<()> {
        self.test(subquery, negated, None).map(drop)
    }

    /// Whether a test holds, or does not hold (`negated`), as a condition: false if that is unknown.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn marked(&mut self, subquery: SubqueryColumn, negated: bool) -> Result<Expr> {
        let mark = self.ids.column(&subquery.column.name, SqlType::Boolean, false);
        let is_none = self.test(subquery, negated, Some(mark.index))?;
        let mark = Expr::Column(mark);
        Ok(if is_none { typing::not(mark)? } else { mark })
    }

    /// Adds the value of `EXISTS`, which is never unknown.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn add_existence(&mut self, subquery: SubqueryColumn) -> Result<()> {
        let mark = subquery.column.index;
        self.test(subquery, false, Some(mark)).map(drop)
    }

    /// Joins the rows that decide: those that have one come, or those that have none, or all with a mark (the id of its column). Whether
    /// the test holds for a row that has none.
    fn test(&mut self, subquery: SubqueryColumn, negated: bool, mark: Option<usize>) -> Result<bool> {
        let SubqueryColumn { column: ColumnRef { span, .. }, kind, query: BoundQuery { relation, output }, .. } =
            subquery;
        let Some(mut comparison) = Comparison::of(kind) else {
            let Partners { relation, same, conditions, .. } = self.partners(any_row(relation), false, span)?;
            self.join(kind_of(negated, mark), relation, same, conditions);
            return Ok(negated);
        };
        comparison.values = comparison.values.into_iter().map(|value| self.computed_once(value)).collect();
        let Partners { relation, same, mut conditions, values } = self.partners(relation, false, span)?;
        let row: Vec<Expr> = output.into_iter().map(|output| of_row(output, &values)).collect();
        let compared = comparison.with(&row)?;
        let truth = |value| typing::is_truth(compared.clone(), Some(value));
        let (decides, is_none) = match (comparison.all, negated) {
            (false, false) => (compared.clone(), false),
            (false, true) => (typing::not(truth(false)?)?, true),
            (true, false) => (typing::not(truth(true)?)?, true),
            (true, true) => (truth(false)?, false),
        };
        if let ([value], [member]) = (comparison.values.as_slice(), row.as_slice())
            && negated
            && mark.is_none()
            && same.is_empty()
            && conditions.is_empty()
            && is_known_apart(&comparison, value)
            && matches!(member, Expr::Column(_))
        {
            let is_known = is_never_null(value) && is_never_null(member);
            let kind = if is_known { JoinKind::Anti } else { JoinKind::NotIn };
            self.join(kind, relation, same, vec![Condition::new(compared)]);
            return Ok(is_none);
        }
        conditions.extend(decides.into_conjuncts().into_iter().map(Condition::new));
        self.join(kind_of(is_none, mark), relation, same, conditions);
        Ok(is_none)
    }

    /// Adds the value of `IN`, `ANY` or `ALL`, which may be unknown: by whether some comparison decides, and whether some is unknown.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn add_comparison(&mut self, subquery: SubqueryColumn) -> Result<()> {
        let SubqueryColumn { column, kind, query: BoundQuery { relation, output }, .. } = subquery;
        let Some(comparison) = Comparison::of(kind) else { return Ok(()) };
        let row: Vec<Expr> = output.into_iter().map(|output| Expr::Column(output.column)).collect();
        let expr = comparison.with(&row)?;
        let compared = self.ids.column(&column.name, SqlType::Boolean, true);
        let relation = relation.projected([ComputedColumn { column: compared.clone(), expr }]);
        let Partners { relation, same, .. } = self.keyed(relation, column.span)?;
        let (decides, unknown) = (self.ids.like(&compared), self.ids.like(&compared));
        let compared = Expr::Column(compared);
        let calls = vec![
            some(decides.clone(), typing::is_truth(compared.clone(), Some(!comparison.all))?),
            some(unknown.clone(), typing::is_null(compared)),
        ];
        let keys = same.iter().map(|(_, key)| key_of(key)).collect();
        let groups = Relation::Aggregate { input: Box::new(relation), keys, calls, sets: None };
        self.join(JoinKind::Left, groups, same, Vec::new());
        let holds = |column| typing::is_truth(Expr::Column(column), Some(true));
        let unknown_value = Expr::Literal(Value::Null, SqlType::Boolean);
        let whens = vec![(holds(decides)?, Expr::boolean(!comparison.all)), (holds(unknown)?, unknown_value)];
        let expr = typing::case(None, whens, Some(Expr::boolean(comparison.all)))?;
        self.compute([ComputedColumn { column, expr }]);
        Ok(())
    }

    /// A value that is another one each time, as a column: a join may compute its conditions more often than once for a row.
    fn computed_once(&mut self, value: Expr) -> Expr {
        if !value.is_volatile() {
            return value;
        }
        let ty = value.sql_type().unwrap_or(SqlType::Null);
        let column = self.ids.column(&value.to_string(), ty, value.is_nullable());
        self.compute([ComputedColumn { column: column.clone(), expr: value }]);
        Expr::Column(column)
    }
}

/// The join of rows that have a partner, or have none.
fn kind_of(is_none: bool, mark: Option<usize>) -> JoinKind {
    match (mark, is_none) {
        (Some(column), _) => JoinKind::Mark { column },
        (None, true) => JoinKind::Anti,
        (None, false) => JoinKind::Semi,
    }
}

/// A relation that has a row if this one has: without its order, and without a limit that leaves one.
fn any_row(relation: Relation) -> Relation {
    match relation {
        Relation::Sort { input, .. } => any_row(*input),
        Relation::Limit { input, limit: RowCount::Rows(1..), offset: RowCount::None | RowCount::Rows(0), .. } => {
            any_row(*input)
        }
        other => other,
    }
}

/// A column of a row of the subquery, or its expression.
fn of_row(output: Output, values: &[ComputedColumn]) -> Expr {
    let value = values.iter().find(|value| value.column.index == output.column.index);
    value.map_or(Expr::Column(output.column), |value| value.expr.clone())
}

/// Whether there is a join for `NOT IN` with this value on the left: it takes equal forms in Arrow, and a column in the value.
fn is_known_apart(comparison: &Comparison, value: &Expr) -> bool {
    comparison.has_equal_forms && !value.columns().is_empty()
}

/// Whether a value is sure not to be NULL; a number of another type is so if it is not.
fn is_never_null(value: &Expr) -> bool {
    match value {
        Expr::Cast(inner, ty) if ty.family() == TypeFamily::Number => {
            inner.sql_type().is_some_and(|ty| ty.family() == TypeFamily::Number) && is_never_null(inner)
        }
        other => !other.is_nullable(),
    }
}

/// Whether a condition holds for some row of a group.
fn some(column: ColumnRef, condition: Expr) -> CallColumn {
    let call = EngineAggregate {
        name: "bool_or".to_owned(),
        args: vec![condition],
        distinct: false,
        order_by: Vec::new(),
        filter: None,
        ignore_nulls: false,
        ty: SqlType::Boolean,
    };
    CallColumn { column, call: GroupCall::Engine(call) }
}
