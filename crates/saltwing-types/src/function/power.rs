//! Powers, roots and logarithms: of numbers as DOUBLE.

use super::signature::of_kind;
use super::{Args, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&CBRT, &EXP, &LN, &LOG, &LOG10, &POWER, &SQRT];

const DOUBLE: ResultType = ResultType::Is(SqlType::Double);
const OF_NUMBER: &[Signature] = &[Signature::new(&[of_kind("value", ParameterKind::Double)], DOUBLE)];

static CBRT: ScalarFunction = ScalarFunction::new("CBRT", OF_NUMBER, |args| Ok(Value::Double(args.double(0)?.cbrt())))
    .gives("The cube root.")
    .example("CBRT(-27)", "-3.0");

static EXP: ScalarFunction = ScalarFunction::new("EXP", OF_NUMBER, |args| finite(args, args.double(0)?.exp()))
    .gives("The number e to this power.")
    .example("EXP(0)", "1.0");

static LN: ScalarFunction = ScalarFunction::new("LN", OF_NUMBER, |args| logarithm(args, 0, f64::ln).map(Value::Double))
    .gives("The natural logarithm; of a number above 0.")
    .example("LN(1)", "0.0");

static LOG: ScalarFunction = ScalarFunction::new(
    "LOG",
    &[
        Signature::new(&[of_kind("value", ParameterKind::Double)], DOUBLE),
        Signature::new(&[of_kind("base", ParameterKind::Double), of_kind("value", ParameterKind::Double)], DOUBLE),
    ],
    |args| match args.values() {
        [_] => logarithm(args, 0, f64::log10).map(Value::Double),
        _ if args.double(0)? == 1.0 => Err(args.refused("1 is the base of no logarithm")),
        _ => Ok(Value::Double(logarithm(args, 1, f64::ln)? / logarithm(args, 0, f64::ln)?)),
    },
)
.gives("The logarithm to base 10, or of the second number to the base of the first; of numbers above 0.")
.example("LOG(2, 8)", "3.0");

static LOG10: ScalarFunction =
    ScalarFunction::new("LOG10", OF_NUMBER, |args| logarithm(args, 0, f64::log10).map(Value::Double))
        .gives("The logarithm to base 10; of a number above 0.")
        .example("LOG10(1000)", "3.0");

static POWER: ScalarFunction = ScalarFunction::new(
    "POWER",
    &[Signature::new(&[of_kind("base", ParameterKind::Double), of_kind("exponent", ParameterKind::Double)], DOUBLE)],
    |args| {
        let (base, exponent) = (args.double(0)?, args.double(1)?);
        if base == 0.0 && exponent < 0.0 {
            return Err(args.refused("zero has no negative powers"));
        }
        if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
            return Err(args.refused("a negative number has whole powers only"));
        }
        finite(args, base.powf(exponent))
    },
)
.aliases(&["POW"])
.gives("The base to the power of the exponent, as a DOUBLE.")
.example("POWER(2, 10)", "1024.0");

static SQRT: ScalarFunction = ScalarFunction::new("SQRT", OF_NUMBER, |args| match args.double(0)? {
    value if value < 0.0 => Err(args.refused("a negative number has no square root")),
    value => Ok(Value::Double(value.sqrt())),
})
// Of these functions the only one that is rounded correctly, and so never falls.
.key_property(KeyProperty::Increasing(0))
.gives("The square root; of a number that is not negative.")
.example("SQRT(2.25)", "1.5");

/// A logarithm of the argument at an index.
fn logarithm(args: &Args<'_>, index: usize, logarithm: fn(f64) -> f64) -> Result<f64, ValueError> {
    match args.double(index)? {
        value if value <= 0.0 => Err(args.refused("only numbers above zero have a logarithm")),
        value => Ok(logarithm(value)),
    }
}

/// A result that may have left the range of DOUBLE, which it may only with an argument that did.
fn finite(args: &Args<'_>, result: f64) -> Result<Value, ValueError> {
    let mut arguments = (0..args.values().len()).map(|index| args.double(index));
    if result.is_finite() || arguments.any(|argument| argument.is_ok_and(|argument| !argument.is_finite())) {
        return Ok(Value::Double(result));
    }
    Err(ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() })
}
