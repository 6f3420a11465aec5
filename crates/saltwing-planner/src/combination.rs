//! Reads of a table by several of its keys.
//!
//! ```text
//! a = 1 OR b = 2    index on a, index on b: union         rows with a = 1, then rows with b = 2 that do not have a = 1
//! a = 1 AND b = 2   index on a, index on b: intersection  rows that entries of both indexes name
//! ORDER BY a        index on a: union in order             rows with a IS NULL, then rows with a = '', then the others
//! ```
//! # Laws
//! 1. A union is read where no single key is bounded. Each alternative of one OR is planned with all other conditions (in a
//!    long statement only if it bounds a key without them); those of one key are read together, and must bound it. A part leaves out the rows of those before it, so that no row comes twice.
//! 2. A union in order is read if a single access gives no order: entries with NULL and '' have the same bytes, and a key may have
//!    NULLs at the other end than the statement. Its parts leave no row out and have none in common.
//! 3. An intersection makes the rows that are fetched fewer, never other ones: they are checked for all conditions that the
//!    ranges of the first index do not tell.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_plan::{AccessKind, Condition, OrderBy, OrderItem, OrderKind, RowLimit, Rule, Use, Verdict};
use saltwing_types::{ColumnRef, CompareOp, Expr, IndexDef, SortOrder, SqlType, Value, typing};

use crate::access::{AccessRequest, TableAccess, UsableIndex, advice, by_one_key};
use crate::error::Result;
use crate::fixed_column::fixed_column;
use crate::index_advice::IndexAdvice;

/// Most alternatives of an OR that are read by keys of their own.
const ALTERNATIVES_MAX: usize = 16;

/// Most conditions that are planned in search of an OR to read by several keys, each counted as often as it is planned. Beyond them
/// the alternatives of an OR are planned without the other conditions first: these count only if they are not needed to bound it.
const CONDITIONS_PLANNED_MAX: usize = 10_000;

/// How an OR is read.
pub(crate) enum Union {
    /// Each is bounded.
    Read(Box<TableAccess>),
    /// Some are not; these indexes would bound them.
    Unbounded(Vec<Arc<IndexAdvice>>),
}

/// The union of the alternatives of one OR; `None` if there is no OR whose alternatives all bound a key, or would by indexes.
pub(crate) fn union(request: &AccessRequest<'_>, indexes: &[UsableIndex]) -> Result<Option<Union>> {
    let (mut unbounded, mut planned) = (None, 0);
    for (place, condition) in request.conditions.iter().enumerate() {
        let Expr::Or(alternatives) = &condition.expr else { continue };
        if alternatives.len() > ALTERNATIVES_MAX || condition.expr.is_volatile() {
            continue;
        }
        planned += alternatives.len() * request.conditions.len();
        let is_short = planned <= CONDITIONS_PLANNED_MAX;
        let others = if is_short { others(request, place) } else { Vec::new() };
        match parts(request, indexes, others, alternatives)? {
            Some(Parts { accesses, missing }) if missing.is_empty() => {
                return match is_short {
                    true => read(request, accesses).map(Some),
                    false => Ok(union_at(request, indexes, place, alternatives)?.or(unbounded)),
                };
            }
            Some(Parts { missing, .. }) => unbounded = unbounded.or(Some(Union::Unbounded(missing))),
            None => {}
        }
    }
    Ok(unbounded)
}

/// The union of the alternatives of the condition at this place, if it can be read.
fn union_at(
    request: &AccessRequest<'_>,
    indexes: &[UsableIndex],
    place: usize,
    alternatives: &[Expr],
) -> Result<Option<Union>> {
    match parts(request, indexes, others(request, place), alternatives)? {
        Some(Parts { accesses, missing }) if missing.is_empty() => read(request, accesses).map(Some),
        _ => Ok(None),
    }
}

fn read(request: &AccessRequest<'_>, accesses: Vec<TableAccess>) -> Result<Union> {
    Ok(Union::Read(Box::new(of_parts(request, accesses)?)))
}

/// The conditions but for that at a place.
fn others(request: &AccessRequest<'_>, place: usize) -> Vec<Condition> {
    let others = request.conditions.iter().enumerate().filter(|(at, _)| *at != place);
    others.map(|(_, condition)| condition.clone()).collect()
}

/// The access in the order of the statement that reads NULLs, empty values and all others one after the other; `None` if these
/// are not in order by themselves.
pub(crate) fn union_in_order(request: &AccessRequest<'_>, indexes: &[UsableIndex]) -> Result<Option<TableAccess>> {
    let fixed: Vec<usize> = request.conditions.iter().filter_map(|it| fixed_column(&it.expr)).collect();
    let column = |item: &OrderItem| if let OrderBy::Column(column) = item.by { Some(column) } else { None };
    let is_open = |item: &&OrderItem| column(item).is_none_or(|column| !fixed.contains(&column));
    let Some(item) = request.order.iter().find(is_open) else { return Ok(None) };
    let Some(column) = column(item).filter(|column| leads_entries(request.table, indexes, *column)) else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for condition in values_in_order(request.table, column, item)? {
        let conditions = request.conditions.iter().cloned().chain([Condition::new(condition)]).collect();
        let part = by_one_key(AccessRequest { conditions, nulls_apart: false, ..request.clone() }, indexes)?;
        if !part.is_ordered() || part.access.verdict.allowed != Some(true) {
            return Ok(None);
        }
        parts.push(part);
    }
    let mut whole = of_parts(request, parts)?;
    whole.access.order = OrderKind::Key;
    whole.access.limit = whole.union.first().and_then(|part| part.access.limit);
    Ok(Some(whole))
}

/// Whether a column that may be NULL is a part of an index.
fn leads_entries(table: &Table, indexes: &[UsableIndex], column: usize) -> bool {
    let has_part = |usable: &UsableIndex| {
        let index = table.indexes().get(usable.place);
        index.is_some_and(|index| index.def().parts.iter().any(|part| IndexDef::part_column(part) == Some(column)))
    };
    table.def().columns.get(column).is_some_and(|column| column.nullable) && indexes.iter().any(has_part)
}

/// Conditions that divide the rows by a column in the order of an item: NULL, the empty value if there is one, and all others.
fn values_in_order(table: &Table, column: usize, item: &OrderItem) -> Result<Vec<Expr>> {
    let ty = table.column_type(column);
    let name = table.schema().field(column).name().clone();
    let of_column = || Expr::Column(ColumnRef { index: column, name: name.clone(), ty, nullable: true, span: None });
    let empty = match ty {
        SqlType::Varchar(_) => Some(Value::Text(String::new())),
        SqlType::VarbinaryEncoded => Some(Value::Bytes(Vec::new())),
        _ => None,
    };
    let mut values = match empty {
        Some(empty) => {
            let compared = |op| typing::compare(op, of_column(), Expr::Literal(empty.clone(), ty));
            vec![compared(CompareOp::Eq)?, compared(CompareOp::Gt)?]
        }
        None => vec![typing::not(typing::is_null(of_column()))?],
    };
    if item.order == SortOrder::Desc {
        values.reverse();
    }
    values.insert(if item.nulls_first { 0 } else { values.len() }, typing::is_null(of_column()));
    Ok(values)
}

/// The access that reads these, one after the other.
fn of_parts(request: &AccessRequest<'_>, parts: Vec<TableAccess>) -> Result<TableAccess> {
    let unordered = AccessRequest { order: &[], limit: limit_of_parts(request), min_max: None, ..request.clone() };
    let mut whole = by_one_key(unordered, &[])?;
    let plan = &mut whole.access;
    (plan.kind, plan.order) = (AccessKind::Union, OrderKind::None);
    plan.exact = parts.iter().all(|part| part.access.exact);
    plan.covering = parts.iter().all(|part| part.access.covering);
    plan.verdict = Verdict { allowed: Some(true), rule: Rule::Index, warn: false, refusal: None };
    whole.union = parts;
    Ok(whole)
}

/// Rows that a union without an order puts out.
fn limit_of_parts(request: &AccessRequest<'_>) -> RowLimit {
    if request.order.is_empty() { request.limit } else { RowLimit::None }
}

/// The alternatives of an OR.
struct Parts {
    /// An access for the alternatives of each key.
    accesses: Vec<TableAccess>,
    /// The indexes that would bound those that are not bounded.
    missing: Vec<Arc<IndexAdvice>>,
}

/// Alternatives, each with these conditions; `None` if no index would bound one of them, or if one key has them all: then it
/// does not bound them together.
fn parts(
    request: &AccessRequest<'_>,
    indexes: &[UsableIndex],
    mut conditions: Vec<Condition>,
    alternatives: &[Expr],
) -> Result<Option<Parts>> {
    let mut missing: Vec<Arc<IndexAdvice>> = Vec::new();
    let mut by_key: Vec<(Option<usize>, Vec<Expr>)> = Vec::new();
    for alternative in alternatives {
        let of_part = part_request(request, alternative, &conditions);
        let part = by_one_key(of_part.clone(), indexes)?;
        if part.access.verdict.allowed == Some(true) {
            match by_key.iter_mut().find(|(index, _)| *index == part.index) {
                Some((_, list)) => list.push(alternative.clone()),
                None => by_key.push((part.index, vec![alternative.clone()])),
            }
            continue;
        }
        let Some(index) = advice(&part, &of_part).pop() else { return Ok(None) };
        if missing.iter().all(|known| known.statement != index.statement) {
            missing.push(index);
        }
    }
    if by_key.len() + missing.len() < 2 {
        return Ok(None);
    }
    let mut accesses = Vec::new();
    for (_, alternatives) in by_key {
        let together = typing::or(alternatives)?;
        let part = by_one_key(part_request(request, &together, &conditions), indexes)?;
        if part.access.verdict.allowed != Some(true) {
            return Ok(None);
        }
        accesses.push(part);
        conditions.push(Condition::new(typing::not(typing::is_truth(together, Some(true))?)?));
    }
    Ok(Some(Parts { accesses, missing }))
}

/// The request for the rows that meet an alternative and some other conditions.
fn part_request<'a>(request: &AccessRequest<'a>, alternative: &Expr, others: &[Condition]) -> AccessRequest<'a> {
    let own = alternative.clone().into_conjuncts().into_iter().map(Condition::new);
    AccessRequest {
        order: &[],
        nulls_apart: false,
        limit: limit_of_parts(request),
        min_max: None,
        ..request.with_conditions(own.chain(others.iter().cloned()).collect())
    }
}

/// Accesses by other indexes, whose entries bound conditions that the ranges of `first` do not. None where entries of `first`
/// have all columns, or name few rows.
pub(crate) fn intersected(
    request: &AccessRequest<'_>,
    first: &TableAccess,
    indexes: &[UsableIndex],
) -> Result<Vec<TableAccess>> {
    let plan = &first.access;
    let is_range = |kind: AccessKind| matches!(kind, AccessKind::Range | AccessKind::SkipScan);
    if first.index().is_none() || plan.covering || !is_range(plan.kind) || plan.limit.is_some() {
        return Ok(Vec::new());
    }
    let residual = plan.predicates.iter().enumerate().filter(|(_, predicate)| predicate.use_ == Use::Residual);
    let mut open: Vec<usize> = residual.map(|(place, _)| place).collect();
    let mut found = Vec::new();
    for usable in indexes {
        let bounds_one = |place: &usize| {
            let condition = request.conditions.get(*place);
            condition.is_some_and(|condition| names_first_part(first.table(), usable.place, &condition.expr))
        };
        if Some(usable.place) == first.index || !open.iter().any(bounds_one) {
            continue;
        }
        let alone = AccessRequest { order: &[], limit: RowLimit::None, min_max: None, ..request.clone() };
        let other = by_one_key(alone, std::slice::from_ref(usable))?;
        let is_bounded = |place: &usize| {
            other.access.predicates.get(*place).is_some_and(|predicate| predicate.use_ != Use::Residual)
        };
        if other.index().is_some() && is_range(other.access.kind) && open.iter().any(is_bounded) {
            open.retain(|place| !is_bounded(place));
            found.push(other);
        }
    }
    Ok(found)
}

/// Whether a condition is about what the key of an index begins with.
fn names_first_part(table: &Table, index: usize, condition: &Expr) -> bool {
    let first = table.indexes().get(index).and_then(|index| index.def().parts.first());
    first.is_some_and(|part| part.expr.columns().iter().any(|column| condition.columns().contains(column)))
}

#[cfg(test)]
mod tests;
