//! Which joins look up their inner table by key.
//!
//! The rule applies if the outer side has bounds, if an override allows it to be read as a whole, and if it is refused: then
//! the outer side alone is to blame. If the guard allows both ways, estimates choose: one lookup costs as much as
//! [`LOOKUP_WORTH`] rows read in sequence.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::{NullEquality, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use saltwing_access::Index;
use saltwing_plan::{Condition, Use, compared_column};
use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, typing};

use super::either_side::of_either_side;
use super::lookup_join::{LookupJoinExec, output_of, scans};
use super::lookup_key::{LookupKey, Outer};
use super::origin::origin;
use crate::expression::expr_function::{ExprFunction, text_of};
use crate::expression::sql_field::field_type;
use crate::scan::scan_path::Path;
use crate::scan::scan_statistics::SMALL_ROWS;
use crate::scan::table_scan::TableScanExec;

/// Rows that are read in the time that one takes which is looked up.
const LOOKUP_WORTH: u64 = 16;

/// The join with lookups, where they bound a side that nothing else bounds.
pub(crate) fn lookup_join(join: &HashJoinExec) -> Result<Option<LookupJoinExec>> {
    if join.null_aware || join.null_equality() != NullEquality::NullEqualsNothing {
        return Ok(None);
    }
    for reading in [OuterReading::Bounded, OuterReading::Permitted, OuterReading::Refused] {
        for side in [Outer::Left, Outer::Right] {
            let Some(lookup) = from_side(join, side, reading)? else { continue };
            // The statement is refused for its outer side. If the other way is possible, the refusal tells of both.
            if reading == OuterReading::Refused && from_side(join, side.other(), reading)?.is_some() {
                let (outer, inner) = side.of(join);
                return Ok(Some(lookup.with_outer(of_either_side(outer, inner)?)));
            }
            return Ok(Some(lookup));
        }
    }
    Ok(None)
}

/// The join with lookups for the rows of one side, if that is read so.
fn from_side(join: &HashJoinExec, side: Outer, reading: OuterReading) -> Result<Option<LookupJoinExec>> {
    let (outer, inner) = side.of(join);
    if output_of(*join.join_type(), side, join.filter().is_some()).is_none() || reading_of(outer)? != reading {
        return Ok(None);
    }
    let Some(inner) = Path::below_groups(inner) else { return Ok(None) };
    let Some(scan) = inner.scan() else { return Ok(None) };
    let request = scan.request();
    if request.limit.is_some() || request.ends.is_some() {
        return Ok(None);
    }
    let is_needed = is_refused(scan)?;
    let is_worth_it = match reading {
        OuterReading::Bounded => is_quicker(outer, scan)?.unwrap_or(is_needed) || (is_needed && !is_permitted(scan)?),
        // An override for the outer scan does not cover the inner one; a refusal names the outer scan alone.
        OuterReading::Permitted | OuterReading::Refused => is_needed && !is_permitted(scan)?,
    };
    if !is_worth_it {
        return Ok(None);
    }
    let table = scan.table_use().table.clone();
    let ready = table.indexes().iter().filter(|index| index.is_ready()).map(Index::key);
    for schema in std::iter::once(&table.def().key).chain(ready) {
        let keys = lookup_keys((join, side, outer), &inner, |index| schema.position(index).is_some());
        if let Some(planned) = planned_for(scan, &keys)?
            && !is_refused(&planned)?
            && (is_needed || uses_keys(&planned, keys.len())?)
        {
            let inner = inner.clone().with_scan(planned);
            return LookupJoinExec::new(join, outer.clone(), side, keys, inner).map(Some);
        }
    }
    Ok(None)
}

/// The scan with conditions that give values to these keys; `None` if there are no keys, or no such conditions.
pub(super) fn planned_for(scan: &TableScanExec, keys: &[LookupKey]) -> Result<Option<TableScanExec>> {
    let mut conditions = scan.request().conditions.clone();
    for key in keys {
        let Ok(equal) = typing::compare(CompareOp::Eq, key.part.clone(), Expr::Param(0, None)) else {
            return Ok(None);
        };
        conditions.push(Condition { text: key.to_string(), ..Condition::new(equal) });
    }
    if keys.is_empty() {
        return Ok(None);
    }
    let planned = scan.with_request(|request| {
        request.conditions = conditions;
        request.partitions = 1;
    })?;
    Ok(Some(planned))
}

pub(super) fn is_refused(scan: &TableScanExec) -> Result<bool> {
    Ok(scan.access()?.access().verdict.is_refused())
}

/// Whether the statement may read all of the table all the same.
pub(super) fn is_permitted(scan: &TableScanExec) -> Result<bool> {
    let access = scan.access()?.clone().with_overrides(&scan.table_use().reading.guard);
    Ok(access.access().verdict.allowed == Some(true))
}

/// Whether rows are looked up for the outer ones sooner than the scan reads its own; `None` if that is not known, or there
/// are few of either.
fn is_quicker(outer: &Arc<dyn ExecutionPlan>, inner: &TableScanExec) -> Result<Option<bool>> {
    let outer = StatisticsContext::new().compute(outer.as_ref(), &StatisticsArgs::new())?;
    let (Some(&outer), Some(inner)) = (outer.num_rows.get_value(), inner.rows()) else { return Ok(None) };
    let (outer, inner) = ((outer as u64).max(SMALL_ROWS), inner.max(SMALL_ROWS));
    Ok((outer.max(inner) > SMALL_ROWS).then_some(outer.saturating_mul(LOOKUP_WORTH) < inner))
}

/// Whether one of the conditions that come last makes ranges.
fn uses_keys(scan: &TableScanExec, keys: usize) -> Result<bool> {
    let predicates = &scan.access()?.access().predicates;
    Ok(predicates.iter().rev().take(keys).any(|predicate| predicate.use_ != Use::Residual))
}

/// How the guard judges what the outer rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OuterReading {
    /// Every scan is allowed by itself.
    Bounded,
    /// A full scan among them is allowed by an override.
    Permitted,
    /// A full scan among them is refused.
    Refused,
}

pub(super) fn reading_of(plan: &Arc<dyn ExecutionPlan>) -> Result<OuterReading> {
    let mut worst = OuterReading::Bounded;
    for node in scans(plan)? {
        let Some(scan) = node.downcast_ref::<TableScanExec>() else { continue };
        let reading = match scan.access()?.access().verdict.allowed {
            Some(true) => OuterReading::Bounded,
            _ if is_permitted(scan)? => OuterReading::Permitted,
            _ => OuterReading::Refused,
        };
        worst = worst.max(reading);
    }
    Ok(worst)
}

/// The parts of the inner table's columns, among those wanted, that the join's equalities give values to: of each column the one that bounds
/// it best.
pub(super) fn lookup_keys(
    (join, side, outer): (&HashJoinExec, Outer, &Arc<dyn ExecutionPlan>),
    inner: &Path,
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<LookupKey> {
    let mut keys: BTreeMap<usize, LookupKey> = BTreeMap::new();
    for (left, right) in join.on() {
        let (value, part) = match side {
            Outer::Left => (left, right),
            Outer::Right => (right, left),
        };
        let Some((index, casts)) = inner.cast_column(part) else { continue };
        let is_better = keys.get(&index).is_none_or(|known| !matches!(known.part, Expr::Column(_)));
        if is_wanted(index)
            && is_better
            && let Some(key) = lookup_key((value, outer), inner, index, casts)
        {
            keys.insert(index, key);
        }
    }
    keys.into_values().collect()
}

/// The equality of a column of the inner table, under casts, and a value of the outer rows; `None` if it bounds nothing.
fn lookup_key(
    (value, outer): (&Arc<dyn PhysicalExpr>, &Arc<dyn ExecutionPlan>),
    inner: &Path,
    index: usize,
    casts: Vec<SqlType>,
) -> Option<LookupKey> {
    let table = &inner.scan()?.table_use().table;
    let own = table.column_type(index);
    let field = value.return_field(&outer.schema()).ok()?;
    let ty = field_type(&field)?;
    // A double stands for all numbers that round to it.
    if ty.is_float() && !own.is_float() {
        return None;
    }
    let field = table.schema().field(index);
    let column = ColumnRef { index, name: field.name().clone(), ty: own, nullable: field.is_nullable(), span: None };
    let source = uncast(value).and_then(|column| origin(outer, column.index()));
    let text = source.unwrap_or_else(|| text_of(value));
    Some(LookupKey { part: part_of(column, casts)?, value: value.clone(), ty, text })
}

/// A column under casts; the column alone where these change no comparison. A cast that rounds has one value for several of the
/// column's.
fn part_of(column: ColumnRef, casts: Vec<SqlType>) -> Option<Expr> {
    let cast = casts.into_iter().try_fold(Expr::Column(column), typing::cast).ok()?;
    Some(compared_column(&cast).cloned().map_or(cast, Expr::Column))
}

/// The column that an expression is, or casts: that is what a join does to bring its sides to one type.
fn uncast(expr: &Arc<dyn PhysicalExpr>) -> Option<&Column> {
    expr.downcast_ref::<Column>().or_else(|| ExprFunction::column_cast(expr).map(|(_, column)| column))
}
