//! Powers, roots and logarithms: of numbers as DOUBLE.

use super::signature::of_kind;
use super::{Args, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&EXP, &LN, &LOG10, &POWER, &SQRT];

const DOUBLE: ResultType = ResultType::Is(SqlType::Double);
const OF_NUMBER: &[Signature] = &[Signature::new(&[of_kind("value", ParameterKind::Double)], DOUBLE)];

static EXP: ScalarFunction = ScalarFunction::new("EXP", OF_NUMBER, |args| finite(args, args.double(0)?.exp()))
    .gives("The number e to this power.")
    .example("EXP(0)", "1.0");

static LN: ScalarFunction = ScalarFunction::new("LN", OF_NUMBER, |args| logarithm(args, f64::ln))
    .gives("The natural logarithm; of a number above 0.")
    .example("LN(1)", "0.0");

static LOG10: ScalarFunction = ScalarFunction::new("LOG10", OF_NUMBER, |args| logarithm(args, f64::log10))
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

fn logarithm(args: &Args<'_>, logarithm: fn(f64) -> f64) -> Result<Value, ValueError> {
    match args.double(0)? {
        value if value <= 0.0 => Err(args.refused("only numbers above zero have a logarithm")),
        value => Ok(Value::Double(logarithm(value))),
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
