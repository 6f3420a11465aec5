//! Arithmetic on values.

use crate::calendar::nanos_of;
use crate::sql_type::TypeFamily;
use crate::value::Timestamp;
use crate::{ArithOp, Decimal, Interval, SqlType, Value, ValueError, datetime, number, text};

const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Arithmetic on two values, in the type that [`crate::typing::arith`] gave.
///
/// # Errors
/// [`ValueError::OutOfRange`] on overflow, [`ValueError::DivisionByZero`].
pub fn arith(op: ArithOp, a: &Value, b: &Value, ty: SqlType) -> Result<Value, ValueError> {
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    let overflow = || ValueError::OutOfRange {
        value: format!("{} {} {}", text::literal(a, SqlType::Null), op.as_str(), text::literal(b, SqlType::Null)),
        target: ty.to_string(),
    };
    match (ty.family(), a, b) {
        (TypeFamily::Instant, at, Value::Interval(length)) | (TypeFamily::Instant, Value::Interval(length), at) => {
            add_interval(op, at, *length, ty)
        }
        (TypeFamily::Interval, a, b) => interval_arith(op, a, b).map(Value::Interval),
        (TypeFamily::Instant, instant, days) if text::instant(instant).is_some() => add_days(op, instant, days, ty),
        (TypeFamily::Instant, days, instant) => add_days(op, instant, days, ty),
        (_, Value::Int(a), Value::Int(b)) => int_arith(op, *a, *b)?.map(Value::Int).ok_or_else(overflow),
        _ if ty.is_float() => {
            let (a, b) = (number::to_f64(a), number::to_f64(b));
            float_arith(op, a, b)?.map(Value::Double).ok_or_else(overflow)
        }
        _ => match (text::instant(a), text::instant(b)) {
            (Some(a), Some(b)) => days_between(b, a).map(Value::Decimal),
            _ => decimal_arith(op, number::to_decimal(a)?, number::to_decimal(b)?).map(Value::Decimal),
        },
    }
}

/// Days from one instant to another.
fn days_between(from: Timestamp, to: Timestamp) -> Result<Decimal, ValueError> {
    Decimal::new(nanos_of(to) - nanos_of(from), 0)?.checked_div(Decimal::from(NANOS_PER_DAY))
}

/// Integer arithmetic; `None` on overflow.
///
/// # Errors
/// [`ValueError::DivisionByZero`].
pub fn int_arith(op: ArithOp, a: i64, b: i64) -> Result<Option<i64>, ValueError> {
    Ok(match op {
        ArithOp::Add => a.checked_add(b),
        ArithOp::Sub => a.checked_sub(b),
        ArithOp::Mul => a.checked_mul(b),
        ArithOp::Div | ArithOp::Rem if b == 0 => return Err(ValueError::DivisionByZero),
        ArithOp::Div => a.checked_div(b),
        // The smallest integer modulo -1 is 0, not an overflow.
        ArithOp::Rem => Some(a.checked_rem(b).unwrap_or(0)),
    })
}

/// Float arithmetic; `None` where finite numbers would give an infinity.
///
/// # Errors
/// [`ValueError::DivisionByZero`].
pub fn float_arith(op: ArithOp, a: f64, b: f64) -> Result<Option<f64>, ValueError> {
    let result = match op {
        ArithOp::Add => a + b,
        ArithOp::Sub => a - b,
        ArithOp::Mul => a * b,
        ArithOp::Div | ArithOp::Rem if b == 0.0 => return Err(ValueError::DivisionByZero),
        ArithOp::Div => a / b,
        ArithOp::Rem => a % b,
    };
    Ok((result.is_finite() || !a.is_finite() || !b.is_finite()).then_some(result))
}

/// Decimal arithmetic to 38 digits.
///
/// # Errors
/// [`ValueError::DivisionByZero`], [`ValueError::OutOfRange`].
pub fn decimal_arith(op: ArithOp, a: Decimal, b: Decimal) -> Result<Decimal, ValueError> {
    match op {
        ArithOp::Add => a.checked_add(b),
        ArithOp::Sub => a.checked_sub(b),
        ArithOp::Mul => a.checked_mul(b),
        ArithOp::Div => a.checked_div(b),
        ArithOp::Rem => a.checked_rem(b),
    }
}

fn add_days(op: ArithOp, instant: &Value, days: &Value, ty: SqlType) -> Result<Value, ValueError> {
    let overflow = || ValueError::DatetimeOverflow {
        value: format!("{} {} {} days", text::literal(instant, ty), op.as_str(), text::literal(days, SqlType::Null)),
        target: ty.to_string(),
    };
    let at = text::instant(instant).ok_or_else(overflow)?;
    let nanos = number::to_decimal(days)?.checked_mul(Decimal::from(NANOS_PER_DAY))?.truncate(0);
    let nanos = if op == ArithOp::Sub { nanos.negated() } else { nanos };
    let total = nanos.unscaled_at(0).and_then(|n| n.checked_add(nanos_of(at)));
    let total = total.ok_or_else(overflow)?;
    let ms = i64::try_from(total.div_euclid(1_000_000)).ok().filter(|&ms| datetime::has_text(ms));
    let ms = ms.ok_or_else(overflow)?;
    let at = Timestamp { ms, nanos: total.rem_euclid(1_000_000) as u32 };
    Ok(if ty.is_timestamp() { Value::Timestamp(at) } else { Value::Date(at.ms) })
}

/// An instant plus or minus an interval; a DATE keeps milliseconds.
fn add_interval(op: ArithOp, at: &Value, length: Interval, ty: SqlType) -> Result<Value, ValueError> {
    let no_instant = || ValueError::Internal(format!("{} is no instant", text::literal(at, SqlType::Null)));
    let at = text::instant(at).ok_or_else(no_instant)?;
    let at = if op == ArithOp::Sub { length.before(at) } else { length.after(at) }?;
    Ok(if ty.is_timestamp() { Value::Timestamp(at) } else { Value::Date(at.ms) })
}

/// The sum and the difference of two intervals, an interval times a number, and divided by one.
fn interval_arith(op: ArithOp, a: &Value, b: &Value) -> Result<Interval, ValueError> {
    match (op, a, b) {
        (ArithOp::Add, Value::Interval(a), Value::Interval(b)) => a.plus(*b),
        (ArithOp::Sub, Value::Interval(a), Value::Interval(b)) => a.plus(b.negated()?),
        (ArithOp::Mul, Value::Interval(length), number) | (ArithOp::Mul, number, Value::Interval(length)) => {
            let number = number::to_decimal(number)?;
            length.scaled(|part| part.checked_mul(number))
        }
        (ArithOp::Div, Value::Interval(length), number) => {
            let number = number::to_decimal(number)?;
            length.scaled(|part| part.checked_div(number))
        }
        _ => Err(ValueError::Internal(format!(
            "{} {} {} is no INTERVAL",
            text::literal(a, SqlType::Null),
            op.as_str(),
            text::literal(b, SqlType::Null)
        ))),
    }
}

/// The negative of a number or an interval, in the type that [`crate::typing::negate`] gave.
///
/// # Errors
/// [`ValueError::OutOfRange`] for the smallest integer.
pub fn negate(value: Value, ty: SqlType) -> Result<Value, ValueError> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(i) => i
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(|| ValueError::OutOfRange { value: format!("-({i})"), target: ty.to_string() }),
        Value::Decimal(d) => Ok(Value::Decimal(d.negated())),
        Value::Interval(length) => length.negated().map(Value::Interval),
        other => Ok(Value::Double(-number::to_f64(&other))),
    }
}
