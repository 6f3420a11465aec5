//! Functions of numbers, and the roundings, which take instants too.

use super::datetime::rounded_instant;
use super::signature::{integer, of_kind};
use super::{Args, Evaluation, KeyProperty, ParameterKind, ResultType, Rewrite, ScalarFunction, Signature};
use crate::calendar::{Bins, DateUnit};
use crate::rounding::{Rounding, round_number};
use crate::{SqlType, Value, ValueError, arithmetic, text};

pub(super) static ALL: &[&ScalarFunction] = &[&ABS, &CEIL, &FLOOR, &MOD, &ROUND, &SIGN, &TRUNC];

static ABS: ScalarFunction = ScalarFunction::new(
    "ABS",
    &[Signature::new(&[of_kind("value", ParameterKind::Number)], ResultType::Arithmetic)],
    |args| match args.value(0)? {
        Value::Int(i) if *i < 0 => arithmetic::negate(Value::Int(*i), args.ty()),
        Value::Decimal(d) if d.is_negative() => Ok(Value::Decimal(d.negated())),
        Value::Float(f) => Ok(Value::Double(f64::from(*f).abs())),
        Value::Double(d) => Ok(Value::Double(d.abs())),
        other => Ok(other.clone()),
    },
)
.key_property(KeyProperty::Folded)
.gives("The number without its sign.")
.example("ABS(-1.5)", "1.5");

const ROUNDINGS: &[Signature] = &[
    Signature::new(&[of_kind("value", ParameterKind::Number), integer("places")], ResultType::Arithmetic).optional(1),
    Signature::new(
        &[of_kind("at", ParameterKind::Instant), of_kind("unit", ParameterKind::Unit), integer("count")],
        ResultType::InstantAt(0),
    )
    .optional(1),
];

static CEIL: ScalarFunction = ScalarFunction::new("CEIL", ROUNDINGS, |args| rounded(args, Rounding::Ceil))
    .aliases(&["CEILING"])
    .key_property(KeyProperty::Increasing(0))
    .gives("The number rounded up to so many decimal places, or the instant to a unit of time.")
    .example("CEIL(2.41, 1)", "2.5");

static FLOOR: ScalarFunction = ScalarFunction::new("FLOOR", ROUNDINGS, |args| rounded(args, Rounding::Floor))
    .key_property(KeyProperty::Increasing(0))
    .gives("The number rounded down to so many decimal places, or the instant to so many units of time.")
    .example("FLOOR(TIMESTAMP '2024-05-15 12:34:56', 'minute', 15)", "2024-05-15 12:30:00");

static ROUND: ScalarFunction = ScalarFunction::new("ROUND", ROUNDINGS, |args| rounded(args, Rounding::Round))
    .key_property(KeyProperty::Increasing(0))
    .gives(
        "The nearest number of so many decimal places, halves away from zero, or the nearest start of a unit of time.",
    )
    .example("ROUND(-2.55, 1)", "-2.6");

static TRUNC: ScalarFunction = ScalarFunction::new("TRUNC", ROUNDINGS, |args| rounded(args, Rounding::Trunc))
    .key_property(KeyProperty::Increasing(0))
    .gives("The number cut to so many decimal places, or the instant to a unit of time.")
    .example("TRUNC(-2.59, 1)", "-2.5");

static MOD: ScalarFunction = ScalarFunction::evaluated_by(
    "MOD",
    &[Signature::new(
        &[of_kind("value", ParameterKind::Number), of_kind("divisor", ParameterKind::Number)],
        ResultType::Arithmetic,
    )],
    Evaluation::Rewritten(Rewrite::Remainder),
)
.gives("The rest of a division, with the sign of the value, as value % divisor.")
.example("MOD(7.5, 2)", "1.5");

static SIGN: ScalarFunction = ScalarFunction::evaluated_by(
    "SIGN",
    &[Signature::new(&[of_kind("value", ParameterKind::Number)], ResultType::Is(SqlType::Integer))],
    Evaluation::Rewritten(Rewrite::Sign),
)
.gives("-1, 0 or 1, as the number is below, at or above 0.")
.example("SIGN(-2.5)", "-1");

/// FLOOR and its kin: of a number to decimal places, of an instant to a unit of time.
fn rounded(args: &Args<'_>, rounding: Rounding) -> Result<Value, ValueError> {
    let value = args.value(0)?;
    match text::instant(value) {
        Some(at) => {
            let unit = DateUnit::by_name(args.text(1)?)?;
            rounded_instant(args, rounding, at, Bins::of_units(unit, args.optional_int(2)?.unwrap_or(1))?)
        }
        None => round_number(rounding, value, args.optional_int(1)?.unwrap_or(0)),
    }
}
