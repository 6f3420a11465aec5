//! Which blocks cannot have a row that meets a filter.

use saltwing_types::{ColumnRef, CompareOp, Expr, Value};

use crate::Table;
use crate::packed::{IntZone, Summary};

/// Conditions that a block's summary can rule out.
///
/// # Law
/// A block that is excluded has no row that meets the filter, and computing the filter over its rows is no error.
pub(crate) struct ZoneFilter {
    conditions: Vec<Condition>,
    /// Whether these are the whole filter.
    complete: bool,
}

struct Condition {
    family: u8,
    slot: u16,
    /// Smallest and largest value that meets it.
    wanted: (i64, i64),
}

impl ZoneFilter {
    /// The conditions among a filter's conjuncts; `None` when there are none.
    ///
    /// Only those in front of the first one that could fail: what comes behind an error is never reached.
    pub(crate) fn new(table: &Table, filter: &[Expr]) -> Option<Self> {
        let conjuncts = filter.iter().flat_map(|expr| match expr {
            Expr::And(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        });
        let mut complete = true;
        let conditions: Vec<Condition> = conjuncts
            .map_while(|expr| {
                let condition = condition(table, expr);
                complete &= condition.is_some();
                condition
            })
            .collect();
        (!conditions.is_empty()).then_some(Self { conditions, complete })
    }

    /// Whether no row of the block can meet the filter.
    pub(crate) fn excludes(&self, block: &Summary) -> bool {
        self.conditions.iter().any(|condition| {
            let zone =
                block.zones.iter().find(|(family, zone)| *family == condition.family && zone.slot == condition.slot);
            // NULL meets no comparison, but it is not false either: what follows is computed for it.
            zone.is_some_and(|(_, zone)| (self.complete || !zone.has_null) && !condition.may_hold(zone))
        })
    }
}

impl Condition {
    fn may_hold(&self, zone: &IntZone) -> bool {
        zone.bounds.is_some_and(|(min, max)| min <= self.wanted.1 && self.wanted.0 <= max)
    }
}

/// A comparison of a column of integers or milliseconds with a value of the same kind.
fn condition(table: &Table, expr: &Expr) -> Option<Condition> {
    let Expr::Compare(op, left, right) = expr else { return None };
    let (op, column, value) = match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(value, _)) => (*op, column, value),
        (Expr::Literal(value, _), Expr::Column(column)) => (op.swapped(), column, value),
        _ => return None,
    };
    let value = comparable(column, value)?;
    let def = table.def().columns.get(column.index)?;
    let family = u8::try_from(def.family?).ok()?;
    let wanted = match op {
        CompareOp::Eq => (value, value),
        CompareOp::Lt => (i64::MIN, value.checked_sub(1)?),
        CompareOp::LtEq => (i64::MIN, value),
        CompareOp::Gt => (value.checked_add(1)?, i64::MAX),
        CompareOp::GtEq => (value, i64::MAX),
        CompareOp::NotEq | CompareOp::Distinct | CompareOp::NotDistinct => return None,
    };
    Some(Condition { family, slot: def.slot, wanted })
}

fn comparable(column: &ColumnRef, value: &Value) -> Option<i64> {
    use saltwing_types::SqlType::*;
    match (column.ty, value) {
        (
            TinyInt | UnsignedTinyInt | SmallInt | UnsignedSmallInt | Integer | UnsignedInt | BigInt | UnsignedLong,
            Value::Int(value),
        ) => Some(*value),
        (Date | Time | UnsignedDate | UnsignedTime, Value::Date(ms)) => Some(*ms),
        _ => None,
    }
}
