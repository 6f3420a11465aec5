//! Instants as numbers since 1970, and back.

use super::datetime::written_instant;
use super::signature::{integer, of_kind};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::calendar::{instant_of, nanos_of};
use crate::value::Timestamp;
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&EPOCH, &EPOCH_MS, &EPOCH_NS, &EPOCH_US];

const AT: Parameter = of_kind("at", ParameterKind::InstantOrString);
const BIGINT: ResultType = ResultType::Is(SqlType::BigInt);
const DOUBLE: ResultType = ResultType::Is(SqlType::Double);
const NANOS_PER_SECOND: f64 = 1e9;

pub(super) static EPOCH: ScalarFunction = ScalarFunction::new(
    "EPOCH",
    &[Signature::new(&[AT], DOUBLE), Signature::new(&[of_kind("length", ParameterKind::Interval)], DOUBLE)],
    |args| {
        let nanos = match args.value(0)? {
            Value::Interval(length) => length.epoch_nanos(),
            _ => nanos_of(args.instant(0)?),
        };
        Ok(Value::Double(nanos as f64 / NANOS_PER_SECOND))
    },
)
.gives("The seconds from 1970 to the instant, or of the interval, whose years have 365.25 days and other months 30, as in DuckDB.")
.example("EPOCH(TIMESTAMP '2024-05-15 12:34:56.5')", "1715776496.5");

static EPOCH_MS: ScalarFunction = ScalarFunction::new(
    "EPOCH_MS",
    &[
        Signature::new(&[of_kind("at", ParameterKind::Instant)], BIGINT),
        Signature::new(&[integer("milliseconds")], ResultType::Is(SqlType::Timestamp)),
    ],
    |args| match args.value(0)? {
        Value::Int(ms) => written_instant(args, Timestamp { ms: *ms, nanos: 0 }),
        _ => Ok(Value::Int(args.instant(0)?.ms)),
    },
)
.gives("The whole milliseconds from 1970 to the instant, or the TIMESTAMP of such a number, as in DuckDB.")
.example("EPOCH_MS(TIMESTAMP '1970-01-01 00:00:01.5')", "1500");

static EPOCH_NS: ScalarFunction =
    ScalarFunction::new("EPOCH_NS", &[Signature::new(&[AT], BIGINT)], |args| since(args, 1))
        .gives("The nanoseconds from 1970 to the instant.")
        .example("EPOCH_NS(TIMESTAMP '1970-01-01 00:00:01.5')", "1500000000");

static EPOCH_US: ScalarFunction =
    ScalarFunction::new("EPOCH_US", &[Signature::new(&[AT], BIGINT)], |args| since(args, 1_000))
        .gives("The whole microseconds from 1970 to the instant.")
        .example("EPOCH_US(TIMESTAMP '1970-01-01 00:00:01.5')", "1500000");

/// Units of so many nanoseconds from 1970 to the instant.
fn since(args: &Args<'_>, nanos: i128) -> Result<Value, ValueError> {
    let beyond = |_| ValueError::OutOfRange { value: args.shown(), target: args.ty().to_string() };
    i64::try_from(nanos_of(args.instant(0)?).div_euclid(nanos)).map(Value::Int).map_err(beyond)
}

/// The instant of so many seconds since 1970, to the microsecond.
pub(super) fn from_seconds(args: &Args<'_>, seconds: f64) -> Result<Value, ValueError> {
    let micros = (seconds * 1e6).round_ties_even();
    let beyond = || ValueError::DatetimeOverflow { value: args.shown(), target: args.ty().to_string() };
    // Beyond this there are no years that can be written, and an i128 holds it.
    if !micros.is_finite() || micros.abs() > 1e23 {
        return Err(beyond());
    }
    written_instant(args, instant_of(micros as i128 * 1_000).map_err(|_| beyond())?)
}
