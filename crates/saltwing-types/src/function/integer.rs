//! Whole numbers: quotients, divisors and bits; and the digits of decimals.

use super::signature::{integer, of_kind};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{ArithOp, Decimal, SqlType, Value, ValueError, arithmetic, number};

pub(super) static ALL: &[&ScalarFunction] =
    &[&BIT_COUNT, &DIV, &GCD, &LCM, &MIN_SCALE, &SCALE, &TRIM_SCALE, &WIDTH_BUCKET];

const INTEGER: ResultType = ResultType::Is(SqlType::Integer);
const A: Parameter = of_kind("a", ParameterKind::Common);
const B: Parameter = of_kind("b", ParameterKind::Common);
const OF_DECIMAL: &[Parameter] = &[of_kind("value", ParameterKind::Decimal)];

static BIT_COUNT: ScalarFunction = ScalarFunction::new(
    "BIT_COUNT",
    &[
        Signature::new(&[integer("number")], ResultType::Is(SqlType::BigInt)),
        Signature::new(&[of_kind("binary", ParameterKind::Bytes)], ResultType::Is(SqlType::BigInt)),
    ],
    |args| {
        Ok(Value::Int(match args.value(0)? {
            Value::Int(number) => number.count_ones().into(),
            _ => args.bytes(0)?.iter().map(|byte| i64::from(byte.count_ones())).sum(),
        }))
    },
)
.gives("How many bits are set: of a number those of its 64 bits, as in DuckDB; of a binary value as in PostgreSQL.")
.example("BIT_COUNT(5)", "2");

static DIV: ScalarFunction =
    ScalarFunction::new("DIV", &[Signature::new(&[A, B], ResultType::Common)], |args| {
        match (args.value(0)?, args.value(1)?) {
            (a @ Value::Int(_), b @ Value::Int(_)) => arithmetic::arith(ArithOp::Div, a, b, SqlType::BigInt),
            _ => {
                let (a, b) = decimals(args)?;
                let rest = a.checked_rem(b)?;
                let quotient = a.checked_sub(rest)?.checked_div(b)?;
                Ok(Value::Decimal(quotient.truncate(0)))
            }
        }
    })
    .gives("The whole part of a quotient.")
    .example("DIV(9.5, 2)", "4");

static GCD: ScalarFunction =
    ScalarFunction::new("GCD", &[Signature::new(&[A, B], ResultType::Common)], |args| {
        match (args.value(0)?, args.value(1)?) {
            (Value::Int(a), Value::Int(b)) => whole(args, gcd(i128::from(*a), i128::from(*b))),
            _ => {
                let (digits, scale) = at_one_scale(args)?;
                Ok(Value::Decimal(Decimal::new(gcd(digits.0, digits.1), scale)?))
            }
        }
    })
    .gives("The greatest common divisor of two numbers; 0 of two zeros.")
    .example("GCD(1071, 462)", "21");

static LCM: ScalarFunction = ScalarFunction::new("LCM", &[Signature::new(&[A, B], ResultType::Common)], |args| {
    let multiple = |a: i128, b: i128| match gcd(a, b) {
        0 => Some(0),
        divisor => (a / divisor).checked_mul(b).map(i128::abs),
    };
    let beyond = || ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() };
    match (args.value(0)?, args.value(1)?) {
        (Value::Int(a), Value::Int(b)) => whole(args, multiple((*a).into(), (*b).into()).ok_or_else(beyond)?),
        _ => {
            let (digits, scale) = at_one_scale(args)?;
            let multiple = multiple(digits.0, digits.1).ok_or_else(beyond)?;
            Ok(Value::Decimal(Decimal::new(multiple, scale)?))
        }
    }
})
.gives("The least common multiple of two numbers; 0 if one is 0.")
.example("LCM(1071, 462)", "23562");

static MIN_SCALE: ScalarFunction = ScalarFunction::new("MIN_SCALE", &[Signature::new(OF_DECIMAL, INTEGER)], |args| {
    Ok(Value::Int(args.decimal(0)?.scale().max(0).into()))
})
.gives("How many decimal places the number needs.")
.example("MIN_SCALE(8.4100)", "2");

static SCALE: ScalarFunction =
    ScalarFunction::new("SCALE", &[Signature::new(&[of_kind("value", ParameterKind::Number)], INTEGER)], |args| {
        Ok(Value::Int(number::to_decimal(args.value(0)?)?.scale().max(0).into()))
    })
    .gives("How many decimal places the number has. A DECIMAL keeps no zeros at its end, so it is as MIN_SCALE.")
    .example("SCALE(8.41)", "2");

static TRIM_SCALE: ScalarFunction =
    ScalarFunction::new("TRIM_SCALE", &[Signature::new(OF_DECIMAL, ResultType::Is(SqlType::Decimal(None)))], |args| {
        args.decimal(0).map(Value::Decimal)
    })
    .gives("The number without the zeros at the end of its decimal places.")
    .example("TRIM_SCALE(8.4100)", "8.41");

static WIDTH_BUCKET: ScalarFunction = ScalarFunction::new(
    "WIDTH_BUCKET",
    &[Signature::new(
        &[
            of_kind("value", ParameterKind::Number),
            of_kind("low", ParameterKind::Number),
            of_kind("high", ParameterKind::Number),
            integer("count"),
        ],
        INTEGER,
    )],
    |args| {
        let count = args.int(3)?;
        if !(1..=i64::from(i32::MAX)).contains(&count) {
            return Err(args.refused(format_args!("{count} is no number of buckets")));
        }
        let number = |index| number::to_decimal(args.value(index)?);
        let (value, low, high) = (number(0)?, number(1)?, number(2)?);
        if low == high {
            return Err(args.refused("the lower bound is not the upper bound"));
        }
        // A range that falls is one that rises from the other end, with the value on its other side.
        let falls = low > high;
        let (is_below, is_beyond) = if falls { (value > low, value <= high) } else { (value < low, value >= high) };
        Ok(Value::Int(match (is_below, is_beyond) {
            (true, _) => 0,
            (_, true) => count + 1,
            _ => {
                let from_low = value.checked_sub(low)?.checked_mul(Decimal::from(count))?;
                let share = from_low.checked_div(high.checked_sub(low)?)?;
                share.truncate(0).to_i64().unwrap_or(count).clamp(0, count - 1) + 1
            }
        }))
    },
)
.gives("The number of the bucket that holds the value, from 1, if the range is cut into so many of one width; 0 below it, and one more than the count beyond it.")
.example("WIDTH_BUCKET(5.35, 0.024, 10.06, 5)", "3");

fn decimals(args: &Args<'_>) -> Result<(Decimal, Decimal), ValueError> {
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Decimal(_));
    if !args.values().iter().all(is_number) {
        return Err(args.refused("it takes integers and decimals"));
    }
    Ok((args.decimal(0)?, args.decimal(1)?))
}

/// The digits of both numbers at the longer of their scales.
fn at_one_scale(args: &Args<'_>) -> Result<((i128, i128), i32), ValueError> {
    let (a, b) = decimals(args)?;
    let scale = a.scale().max(b.scale());
    let beyond = || ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() };
    let digits = a.unscaled_at(scale).zip(b.unscaled_at(scale)).ok_or_else(beyond)?;
    Ok((digits, scale))
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Digits of decimals and 64-bit integers are far from the end of the type.
    a as i128
}

fn whole(args: &Args<'_>, value: i128) -> Result<Value, ValueError> {
    let beyond = |_| ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() };
    i64::try_from(value).map(Value::Int).map_err(beyond)
}
