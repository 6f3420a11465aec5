//! Scalar subqueries: the value of the only column in the only row, NULL without a row, an error for several rows.
//!
//! ```text
//! apply [(subquery):14 = scalar x:13]              project [(subquery):14 = COALESCE(n:17, 0) + 1]
//!   scan t [k:0]                                     left join on tk:7 = k:0
//!   project [x:13 = n:12 + 1]              ──►         scan t [k:0]
//!     aggregate [] [n:12 = COUNT(*)]                   aggregate [tk:7] [n:17 = COUNT(*)]
//!       filter tk:7 = k:0                                scan u [tk:7]
//!         scan u [tk:7]
//! ```
//!
//! What stands above an aggregate without groups is computed above the join, also for an outer row without a group.

use saltwing_plan::Condition;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ColumnRef, CompareOp, Expr, Span, SqlType, Value, typing};

use super::keyed_groups::{key_of, with_defaults};
use super::keys::Keyed;
use super::outer_rows::{OuterRows, Partners};
use super::pull::Pulled;
use super::refusal::not_supported;
use crate::engine::{EngineAggregate, SINGLE_VALUE};
use crate::error::Result;
use crate::row_count::RowCount;
use crate::tree::{BoundQuery, CallColumn, ComputedColumn, GroupCall, JoinKind, Relation, Rows, SubqueryColumn};

/// An aggregation without groups.
pub(super) struct Totals {
    pub(super) input: Relation,
    pub(super) calls: Vec<CallColumn>,
}

impl Totals {
    fn into_relation(self) -> Relation {
        Relation::Aggregate { input: Box::new(self.input), keys: Vec::new(), calls: self.calls, sets: None }
    }
}

impl OuterRows<'_> {
    /// Adds the value of a scalar subquery.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn add_scalar(&mut self, subquery: SubqueryColumn) -> Result<()> {
        let SubqueryColumn { column, query: BoundQuery { relation, output }, .. } = subquery;
        let Some(value) = output.into_iter().next().map(|output| output.column) else { return Ok(()) };
        let (relation, value) = self.one_row(relation, value);
        let expr = match relation.clone().into_rows() {
            Some(Rows { relation: Relation::Aggregate { input, keys, calls, sets: None }, conditions, computed })
                if keys.is_empty() =>
            {
                self.join_totals(Totals { input: *input, calls }, column.span)?;
                value_over(conditions, &computed, value)?
            }
            Some(Rows { relation, conditions, computed }) if relation.is_one_row() => {
                value_over(conditions, &computed, value)?
            }
            _ => self.join_row(relation, value, column.span)?,
        };
        self.compute([ComputedColumn { column, expr }]);
        Ok(())
    }

    /// A relation that gives one row at most, and fails for several, with the column of its value.
    fn one_row(&self, relation: Relation, value: ColumnRef) -> (Relation, ColumnRef) {
        match relation {
            Relation::Sort { input, .. } => self.one_row(*input, value),
            Relation::Limit {
                input, limit: RowCount::Rows(1..), offset: RowCount::None | RowCount::Rows(0), ..
            } if is_one_row(&input) => self.one_row(*input, value),
            one if is_one_row(&one) || matches!(one, Relation::Limit { limit: RowCount::Rows(..=1), .. }) => {
                (one, value)
            }
            several => {
                let single = ColumnRef { nullable: true, ..self.ids.like(&value) };
                let call = EngineAggregate {
                    name: SINGLE_VALUE.to_owned(),
                    ty: value.ty,
                    args: vec![Expr::Column(value)],
                    distinct: false,
                    order_by: Vec::new(),
                    filter: None,
                    ignore_nulls: false,
                };
                let calls = vec![CallColumn { column: single.clone(), call: GroupCall::Engine(call) }];
                (Relation::Aggregate { input: Box::new(several), keys: Vec::new(), calls, sets: None }, single)
            }
        }
    }

    /// Joins an aggregation without groups: after that its calls are columns of the rows, also of those without a group.
    ///
    /// # Errors
    /// As [`OuterRows::partners`].
    pub(super) fn join_totals(&mut self, totals: Totals, span: Option<Span>) -> Result<()> {
        let Groups { input, keys, calls, same, conditions } = match self.groups_of_equal(&totals)? {
            Some(groups) => groups,
            None => self.groups_of_keys(totals, span)?,
        };
        // Without keys there is one group, even of no rows.
        let (calls, defaults) = if keys.is_empty() { (calls, Vec::new()) } else { with_defaults(self.ids, calls)? };
        let groups = Relation::Aggregate { input: Box::new(input), keys, calls, sets: None };
        self.join(JoinKind::Left, groups, same, conditions);
        self.compute(defaults);
        Ok(())
    }

    /// The groups if the outer row is named in equalities alone, each with an expression over the rows: they are grouped by these. `None`
    /// otherwise.
    fn groups_of_equal(&self, totals: &Totals) -> Result<Option<Groups>> {
        let mut named = totals.calls.iter().flat_map(|it| it.call.exprs()).flat_map(Expr::columns);
        if named.any(|id| self.has_column(id)) {
            return Ok(None);
        }
        for pulled in self.pulled(&totals.input, true) {
            if let Some(groups) = self.grouped_by(pulled, &totals.calls)? {
                return Ok(Some(groups));
            }
        }
        Ok(None)
    }

    /// The groups by the inner sides of conditions, if all of these are such equalities.
    fn grouped_by(
        &self,
        Pulled { relation, conditions, values }: Pulled,
        calls: &[CallColumn],
    ) -> Result<Option<Groups>> {
        if !values.is_empty() {
            return Ok(None);
        }
        let (mut keys, mut on): (Vec<ComputedColumn>, Vec<Condition>) = (Vec::new(), Vec::new());
        for condition in conditions {
            let Expr::Compare(CompareOp::Eq, a, b) = condition.expr else { return Ok(None) };
            let is_inner = |side: &Expr| {
                let ids = side.columns();
                !ids.is_empty() && ids.iter().all(|id| relation.has_column(*id)) && !side.is_volatile()
            };
            let is_outer = |side: &Expr| !side.columns().iter().any(|id| relation.has_column(*id));
            let (inner, other) = match (*a, *b) {
                (a, b) if is_inner(&a) && is_outer(&b) => (a, b),
                (a, b) if is_inner(&b) && is_outer(&a) => (b, a),
                _ => return Ok(None),
            };
            if !is_of_one_group(&inner, &other) {
                return Ok(None);
            }
            let known = keys.iter().find(|key| key.expr == inner).map(|key| key.column.clone());
            let column = match (known, &inner) {
                (Some(column), _) => column,
                (None, Expr::Column(column)) => column.clone(),
                _ => self.ids.column(&inner.to_string(), inner.sql_type().unwrap_or(SqlType::Null), true),
            };
            on.push(Condition::new(typing::compare(CompareOp::Eq, Expr::Column(column.clone()), other)?));
            if !keys.iter().any(|key| key.column.index == column.index) {
                keys.push(ComputedColumn { column, expr: inner });
            }
        }
        Ok(Some(Groups { input: relation, keys, calls: calls.to_vec(), same: Vec::new(), conditions: on }))
    }

    /// The groups for each combination of values of the outer columns.
    fn groups_of_keys(&self, totals: Totals, span: Option<Span>) -> Result<Groups> {
        let totals = totals.into_relation();
        let outer = self.named_in(&totals);
        let Relation::Aggregate { input, calls, .. } = totals else { return Err(not_supported(span)) };
        let (Keyed { relation: input, keys }, calls) = self.keys(outer.clone(), span)?.grouped(*input, calls)?;
        let same = outer.into_iter().zip(keys.iter().cloned()).collect();
        Ok(Groups { input, keys: keys.iter().map(key_of).collect(), calls, same, conditions: Vec::new() })
    }

    /// Joins the only row of a relation; its value.
    fn join_row(&mut self, relation: Relation, value: ColumnRef, span: Option<Span>) -> Result<Expr> {
        let partners = self.partners(relation.clone(), true, span)?;
        // A row without a partner has NULL, and not the value of an expression over the outer row.
        let Partners { relation, same, conditions, .. } = match partners.values.is_empty() {
            true => partners,
            false => self.keyed(relation, span)?,
        };
        self.join(JoinKind::Left, relation, same, conditions);
        Ok(Expr::Column(ColumnRef { nullable: true, ..value }))
    }
}

/// Groups of rows, and which of them belong to an outer row.
struct Groups {
    input: Relation,
    keys: Vec<ComputedColumn>,
    calls: Vec<CallColumn>,
    same: Vec<(ColumnRef, ColumnRef)>,
    conditions: Vec<Condition>,
}

/// The value of a column over a row that must meet conditions; NULL otherwise.
fn value_over(conditions: Vec<Condition>, computed: &[ComputedColumn], value: ColumnRef) -> Result<Expr> {
    let known = computed.iter().find(|known| known.column.index == value.index);
    let value = known.map_or_else(|| Expr::Column(value), |known| known.expr.clone());
    if conditions.is_empty() {
        return Ok(value);
    }
    let holds = typing::and(conditions.into_iter().map(|condition| condition.expr).collect())?;
    let ty = value.sql_type().unwrap_or(SqlType::Null);
    Ok(typing::case(None, vec![(holds, value)], Some(Expr::Literal(Value::Null, ty)))?)
}

/// Whether a relation gives one row at most: the row of an aggregate without groups, or one without a table.
fn is_one_row(relation: &Relation) -> bool {
    match relation {
        Relation::Aggregate { keys, sets, .. } => keys.is_empty() && sets.is_none(),
        Relation::Project { input, .. } | Relation::Filter { input, .. } | Relation::Sort { input, .. } => {
            is_one_row(input)
        }
        other => other.is_one_row(),
    }
}

/// Whether an outer value is equal to the rows of one group at most, if rows are grouped by the inner one: values that are equal to one
/// another, as texts with and without blanks at the end are to a CHAR, would be several groups.
fn is_of_one_group(inner: &Expr, outer: &Expr) -> bool {
    let (Some(a), Some(b)) = (inner.sql_type(), outer.sql_type()) else { return false };
    let is_char = |ty| matches!(ty, SqlType::Char(_));
    let is_text = |ty| matches!(ty, SqlType::Char(_) | SqlType::Varchar(_));
    match (a.family(), b.family()) {
        (TypeFamily::Number, TypeFamily::Number) => a == b || !a.is_float() && !b.is_float(),
        (TypeFamily::Text, TypeFamily::Text) => a == b || is_text(a) && is_text(b) && is_char(a) == is_char(b),
        _ => a == b && a != SqlType::Interval && a != SqlType::Opaque && a.element().is_none(),
    }
}
