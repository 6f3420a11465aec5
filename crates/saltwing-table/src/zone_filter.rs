//! Which blocks cannot have a row that meets a filter.

use saltwing_types::{ColumnRef, CompareOp, Expr, SqlType, Value};

use crate::Table;
use crate::packed::{Summary, Zone, decimal_number, float_number, int_number, text_number, timestamp_number};

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
    /// Smallest and largest sort number of values that may meet it.
    wanted: (u128, u128),
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
            let zone = block.zone(condition.family, condition.slot);
            // NULL meets no comparison, but it is not false either: what follows is computed for it.
            zone.is_some_and(|zone| (self.complete || !zone.has_null) && !condition.may_hold(zone))
        })
    }
}

impl Condition {
    fn may_hold(&self, zone: Zone) -> bool {
        zone.bounds.is_some_and(|(min, max)| min <= self.wanted.1 && self.wanted.0 <= max)
    }
}

/// A comparison of a column with a value of the same kind.
fn condition(table: &Table, expr: &Expr) -> Option<Condition> {
    let Expr::Compare(op, left, right) = expr else { return None };
    let (op, column, value) = match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(value, ty)) if !matches!(ty, SqlType::Char(_)) => (*op, column, value),
        (Expr::Literal(value, ty), Expr::Column(column)) if !matches!(ty, SqlType::Char(_)) => {
            (op.swapped(), column, value)
        }
        _ => return None,
    };
    let (number, is_exact) = sort_number(column, value)?;
    let def = table.def().columns.get(column.index)?;
    let family = u8::try_from(def.family?).ok()?;
    let wanted = match op {
        CompareOp::Eq => (number, number),
        CompareOp::Lt if is_exact => (0, number.checked_sub(1)?),
        CompareOp::Lt | CompareOp::LtEq => (0, number),
        CompareOp::Gt if is_exact => (number.checked_add(1)?, u128::MAX),
        CompareOp::Gt | CompareOp::GtEq => (number, u128::MAX),
        CompareOp::NotEq | CompareOp::Distinct | CompareOp::NotDistinct => return None,
    };
    Some(Condition { family, slot: def.slot, wanted })
}

/// The sort number of a value among those of a column, and whether no other value has it.
fn sort_number(column: &ColumnRef, value: &Value) -> Option<(u128, bool)> {
    use saltwing_types::SqlType::*;
    Some(match (column.ty, value) {
        (
            TinyInt | UnsignedTinyInt | SmallInt | UnsignedSmallInt | Integer | UnsignedInt | BigInt | UnsignedLong,
            Value::Int(value),
        ) => (int_number(*value), true),
        (Date | Time | UnsignedDate | UnsignedTime, Value::Date(ms)) => (int_number(*ms), true),
        (Float | UnsignedFloat | Double | UnsignedDouble, Value::Float(value)) => (float_number((*value).into()), true),
        (Float | UnsignedFloat | Double | UnsignedDouble, Value::Double(value)) => (float_number(*value), true),
        (Timestamp | UnsignedTimestamp, Value::Timestamp(at)) => (timestamp_number(*at), true),
        (Decimal(Some((_, scale))), Value::Decimal(value)) => {
            let below = value.floor(scale.into()).ok()?;
            (decimal_number(below.unscaled_at(scale.into())?), below == *value)
        }
        (Varchar(_), Value::Text(text)) => (text_number(text.as_bytes()), false),
        (Binary(_) | Varbinary | VarbinaryEncoded, Value::Bytes(bytes)) => (text_number(bytes), false),
        _ => return None,
    })
}
