//! Comparisons of values, and what decides AND, OR and IN over them.

use std::cmp::Ordering;

use crate::{CompareOp, SqlType, Value, ValueError};

/// A comparison of two values: `None` is unknown.
pub fn compare(op: CompareOp, a: &Value, b: &Value, ty: SqlType) -> Option<bool> {
    match op {
        CompareOp::Distinct => Some(!not_distinct(a, b, ty)),
        CompareOp::NotDistinct => Some(not_distinct(a, b, ty)),
        _ => a.compare_as(b, ty).map(|ordering| op.holds(ordering)),
    }
}

fn not_distinct(a: &Value, b: &Value, ty: SqlType) -> bool {
    a.compare_as(b, ty).map_or(a.is_null() && b.is_null(), Ordering::is_eq)
}

/// AND (`decides` false), OR and IN (`decides` true): one deciding operand is enough, regardless of the others. An error
/// counts only if no operand before it decides.
pub(crate) fn decided(
    operands: impl Iterator<Item = Result<Option<bool>, ValueError>>,
    decides: bool,
) -> Result<Value, ValueError> {
    let mut unknown = false;
    for operand in operands {
        match operand? {
            Some(b) if b == decides => return Ok(Value::Bool(decides)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { Value::Null } else { Value::Bool(!decides) })
}
