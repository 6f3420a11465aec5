//! The keys of a subquery, carried up through what it reads.
//!
//! The keys are the distinct values of the outer columns that the subquery names. They are joined to the first relation from below that names
//! none of these, and every relation above works within each key. So the subquery gives, beside its own columns, the key of each row.
//!
//! ```text
//! limit 1                                     filter n:16 > 0, n:16 <= 1
//!   sort v:10                                   window [n:16 = ROW_NUMBER() over (partition by k:15 order by v:10)]
//!     filter tk:7 = k:0             ──►           filter tk:7 = k:15
//!       scan u [tk:7, v:10]                         inner join
//!                                                     scan u [tk:7, v:10]
//!                                                     distinct [k:15]
//!                                                       scan t [k:15]
//! ```
//!
//! Invariant: for every key, the relation gives exactly the rows that the subquery has for these values of the outer columns. The join to the
//! outer rows relies on it; a missing row is a lost outer row.

use saltwing_plan::Condition;
use saltwing_types::function::window::WindowFunction;
use saltwing_types::{ColumnRef, CompareOp, Expr, SortOrder, Span, SqlType, Value, typing};

use super::ids::FreshIds;
use super::refusal::not_supported;
use crate::error::Result;
use crate::row_count::RowCount;
use crate::tree::{ComputedColumn, JoinKind, Relation, SetInput, SetOperator, SortItem, WindowColumn};
use crate::window_call::{Frame, SortKey, WindowCall};

/// The keys of one subquery.
pub(super) struct Keys<'a> {
    pub(super) ids: &'a FreshIds,
    /// The relation that gives the outer columns. A superset would do: further keys find no outer row.
    pub(super) outer: &'a Relation,
    /// The outer columns.
    pub(super) columns: Vec<ColumnRef>,
    /// Where the subquery stands.
    pub(super) span: Option<Span>,
}

/// A relation with the keys beside its own columns.
pub(super) struct Keyed {
    pub(super) relation: Relation,
    /// The keys there, in the order of the outer columns.
    pub(super) keys: Vec<ColumnRef>,
}

impl Keys<'_> {
    /// A relation for each of the keys.
    ///
    /// # Errors
    /// A relation that works within no key.
    pub(super) fn through(&self, relation: Relation) -> Result<Keyed> {
        if !self.are_named_in(&relation) {
            return self.beside(relation);
        }
        match relation {
            // Only a limit above would depend on the order.
            Relation::Sort { input, .. } => self.through(*input),
            Relation::Limit { input, limit, offset, .. } => self.limited(*input, limit, offset),
            Relation::Distinct { input, mut columns } => {
                let Keyed { relation, keys } = self.through(*input)?;
                columns.extend_from_slice(&keys);
                Ok(Keyed { relation: Relation::Distinct { input: Box::new(relation), columns }, keys })
            }
            Relation::DistinctOn { input, on, order, mut columns } => {
                let Keyed { relation, keys } = self.through(*input)?;
                let first = keys.iter().cloned();
                let first = first.map(|column| SortItem { column, order: SortOrder::Asc, nulls_first: true });
                let order = first.chain(order).collect();
                let on = keys.iter().cloned().chain(on).collect();
                columns.extend_from_slice(&keys);
                let input = Box::new(relation);
                Ok(Keyed { relation: Relation::DistinctOn { input, on, order, columns }, keys })
            }
            Relation::Aggregate { input, keys, calls, sets: None } if keys.is_empty() => self.totals(*input, calls),
            Relation::Aggregate { input, keys, calls, sets } => self.groups(*input, keys, calls, sets),
            Relation::Join { kind, left, right, lateral: false, same, conditions } => {
                self.joined(kind, (*left, *right), same, conditions)
            }
            Relation::SetOperation { operator, inputs, columns } => self.united(operator, inputs, columns),
            Relation::Values { rows, columns } => self.values(rows, columns),
            Relation::Filter { .. } | Relation::Project { .. } | Relation::Unnest { .. } | Relation::Window { .. } => {
                self.row_by_row(relation)
            }
            _ => Err(not_supported(self.span)),
        }
    }

    fn are_named_in(&self, relation: &Relation) -> bool {
        let mut found = false;
        relation.for_each(&mut |relation| relation.for_each_column(&mut |column| found |= self.has(column)));
        found
    }

    fn has(&self, column: &ColumnRef) -> bool {
        self.columns.iter().any(|outer| outer.index == column.index)
    }

    /// The keys as a relation.
    pub(super) fn fresh(&self) -> Result<Keyed> {
        let (copy, new_ids) = self.ids.copy(self.outer)?;
        let key = |column: &ColumnRef| {
            let index = new_ids.get(&column.index).copied().ok_or_else(|| not_supported(self.span))?;
            Ok(ColumnRef { index, ..column.clone() })
        };
        let keys: Vec<ColumnRef> = self.columns.iter().map(key).collect::<Result<_>>()?;
        Ok(Keyed { relation: Relation::Distinct { input: Box::new(copy), columns: keys.clone() }, keys })
    }

    /// A relation that names none of the outer columns, its rows for each of the keys.
    fn beside(&self, relation: Relation) -> Result<Keyed> {
        if self.columns.is_empty() {
            return Ok(Keyed { relation, keys: Vec::new() });
        }
        let Keyed { relation: of_keys, keys } = self.fresh()?;
        let relation = match relation.is_one_row() {
            true => of_keys,
            false => joined(JoinKind::Inner, relation, of_keys, Vec::new(), Vec::new()),
        };
        Ok(Keyed { relation, keys })
    }

    /// A relation with one input that gives rows for each row of it, or within partitions.
    fn row_by_row(&self, mut relation: Relation) -> Result<Keyed> {
        let mut keys = Vec::new();
        for input in relation.inputs_mut() {
            let keyed = self.through(std::mem::replace(input, Relation::one_row()))?;
            (*input, keys) = (keyed.relation, keyed.keys);
        }
        relation.for_each_own_expr_mut(&mut |expr| self.put_keys(expr, &keys));
        if let Relation::Window { calls, .. } = &mut relation {
            let partitions = calls.iter_mut().map(|it| &mut it.call.partition_by);
            partitions.for_each(|partition| partition.extend(keys.iter().cloned().map(Expr::Column)));
        }
        Ok(Keyed { relation, keys })
    }

    /// The first rows of each key: those of the lowest numbers in the order that the limit follows.
    fn limited(&self, input: Relation, limit: RowCount, offset: RowCount) -> Result<Keyed> {
        if limit.is_open() || offset.is_open() {
            return self.through(input);
        }
        let order = sort_below(&input);
        let Keyed { relation, keys } = self.through(input)?;
        let mut order_by: Vec<SortKey> = order.into_iter().map(sort_key).collect();
        // No order is requested, but a window needs one.
        if order_by.is_empty() {
            let first = keys.first().cloned();
            order_by
                .extend(first.map(|column| sort_key(SortItem { column, order: SortOrder::Asc, nulls_first: true })));
        }
        let number = self.ids.column("ROW_NUMBER()", SqlType::BigInt, false);
        let call = WindowCall {
            function: WindowFunction::RowNumber,
            arguments: Vec::new(),
            distinct: false,
            filter: None,
            ignore_nulls: false,
            partition_by: keys.iter().cloned().map(Expr::Column).collect(),
            order_by,
            frame: Frame::TO_PEERS,
            ty: SqlType::BigInt,
        };
        let numbered = relation.windowed(vec![WindowColumn { column: number.clone(), call }]);
        let compared = |op, rows: u64| {
            let rows = Expr::Literal(Value::Int(i64::try_from(rows).unwrap_or(i64::MAX)), SqlType::BigInt);
            typing::compare(op, Expr::Column(number.clone()), rows).map(Condition::new)
        };
        let before = offset.rows().unwrap_or(0);
        let mut wanted = vec![compared(CompareOp::Gt, before)?];
        if let Some(rows) = limit.rows() {
            wanted.push(compared(CompareOp::LtEq, before.saturating_add(rows))?);
        }
        Ok(Keyed { relation: numbered.filtered(wanted), keys })
    }

    fn joined(
        &self,
        kind: JoinKind,
        (left, right): (Relation, Relation),
        mut same: Vec<(ColumnRef, ColumnRef)>,
        mut conditions: Vec<Condition>,
    ) -> Result<Keyed> {
        let (left_names, right_names) = (self.are_named_in(&left), self.are_named_in(&right));
        let (in_left, in_right) = match kind {
            JoinKind::Inner => (left_names || !right_names, right_names),
            JoinKind::Right => (left_names, true),
            JoinKind::Full => (true, true),
            _ => (true, right_names),
        };
        let side = |relation, is_keyed| match is_keyed {
            true => self.through(relation),
            false => Ok(Keyed { relation, keys: Vec::new() }),
        };
        let (left, right) = (side(left, in_left)?, side(right, in_right)?);
        let keys = if in_left { &left.keys } else { &right.keys };
        for condition in &mut conditions {
            self.put_keys(&mut condition.expr, keys);
        }
        let mut kind = kind;
        if in_left && in_right {
            same.extend(left.keys.iter().cloned().zip(right.keys.iter().cloned()));
            if kind == JoinKind::NotIn {
                (kind, conditions) = (JoinKind::Anti, not_false(conditions)?);
            }
        }
        let keys = if kind == JoinKind::Right { right.keys.clone() } else { keys.clone() };
        let relation = joined(kind, left.relation, right.relation, same, conditions);
        if kind != JoinKind::Full {
            return Ok(Keyed { relation, keys });
        }
        // Rows of a full join have their key on either side.
        let mut merged = Vec::with_capacity(keys.len());
        for (left, right) in left.keys.into_iter().zip(right.keys) {
            let column = self.ids.like(&left);
            let sides = [left, right].map(|key| Expr::Column(ColumnRef { nullable: true, ..key }));
            merged.push(ComputedColumn { column, expr: typing::call_named("COALESCE", sides.to_vec())? });
        }
        let keys = merged.iter().map(|key| key.column.clone()).collect();
        Ok(Keyed { relation: relation.projected(merged), keys })
    }

    fn united(&self, operator: SetOperator, inputs: Vec<SetInput>, mut columns: Vec<ColumnRef>) -> Result<Keyed> {
        let keys: Vec<ColumnRef> = self.columns.iter().map(|column| self.ids.like(column)).collect();
        let keyed = |SetInput { relation, mut columns }| {
            let Keyed { relation, keys } = self.through(relation)?;
            columns.extend(keys);
            Ok(SetInput { relation, columns })
        };
        let inputs = inputs.into_iter().map(keyed).collect::<Result<_>>()?;
        columns.extend_from_slice(&keys);
        Ok(Keyed { relation: Relation::SetOperation { operator, inputs, columns }, keys })
    }

    /// Rows of expressions: each of them for each key.
    fn values(&self, rows: Vec<Vec<Expr>>, columns: Vec<ColumnRef>) -> Result<Keyed> {
        let row = |(row, columns): (Vec<Expr>, Vec<ColumnRef>)| {
            let computed = columns.into_iter().zip(row).map(|(column, expr)| ComputedColumn { column, expr });
            Relation::Project { input: Box::new(Relation::one_row()), columns: computed.collect() }
        };
        match <[Vec<Expr>; 1]>::try_from(rows) {
            Ok([only]) => self.through(row((only, columns))),
            Err(rows) => {
                let input = |values: Vec<Expr>| {
                    let own: Vec<ColumnRef> = columns.iter().map(|column| self.ids.like(column)).collect();
                    SetInput { relation: row((values, own.clone())), columns: own }
                };
                let inputs = rows.into_iter().map(input).collect();
                self.united(SetOperator::Union, inputs, columns)
            }
        }
    }

    /// Puts the keys in the places of the outer columns.
    pub(super) fn put_keys(&self, expr: &mut Expr, keys: &[ColumnRef]) {
        expr.map_columns(&mut |column| {
            let mut pairs = self.columns.iter().zip(keys);
            if let Some((_, key)) = pairs.find(|(outer, _)| outer.index == column.index) {
                column.index = key.index;
            }
        });
    }
}

/// Conditions that are none of them false.
fn not_false(conditions: Vec<Condition>) -> Result<Vec<Condition>> {
    let not_false = |Condition { expr, .. }| Ok(Condition::new(typing::not(typing::is_truth(expr, Some(false))?)?));
    conditions.into_iter().map(not_false).collect()
}

/// Two relations joined.
pub(super) fn joined(
    kind: JoinKind,
    left: Relation,
    right: Relation,
    same: Vec<(ColumnRef, ColumnRef)>,
    conditions: Vec<Condition>,
) -> Relation {
    Relation::Join { kind, left: Box::new(left), right: Box::new(right), lateral: false, same, conditions }
}

/// The order of a relation's rows.
fn sort_below(relation: &Relation) -> Vec<SortItem> {
    match relation {
        Relation::Sort { items, .. } => items.clone(),
        Relation::Project { input, .. } => sort_below(input),
        _ => Vec::new(),
    }
}

fn sort_key(SortItem { column, order, nulls_first }: SortItem) -> SortKey {
    SortKey { expr: Expr::Column(column), order, nulls_first }
}
