//! Functions of intervals.

use super::signature::{integer, of_kind};
use super::{Args, Evaluation, Parameter, ParameterKind, ResultType, Rewrite, ScalarFunction, Signature};
use crate::calendar::NANOS_PER_DAY;
use crate::{ArithOp, Decimal, Interval, SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] =
    &[&AGE, &DATE_ADD, &DATE_SUB, &INTERVAL_SECONDS, &JUSTIFY_DAYS, &JUSTIFY_HOURS, &JUSTIFY_INTERVAL, &MAKE_INTERVAL];

const INTERVAL: ResultType = ResultType::Is(SqlType::Interval);
const LENGTH: Parameter = of_kind("length", ParameterKind::Interval);
const AT: Parameter = of_kind("at", ParameterKind::InstantOrString);

pub(super) static AGE: ScalarFunction = ScalarFunction::new(
    "AGE",
    &[Signature::new(&[of_kind("to", ParameterKind::InstantOrString), of_kind("from", ParameterKind::InstantOrString)], INTERVAL)],
    |args| Interval::between(args.instant(1)?, args.instant(0)?).map(Value::Interval),
)
.gives("The years, months, days and time between two instants, the later one first; of one instant, up to today's midnight.")
.example("AGE(DATE '2001-04-10', DATE '1957-06-13')", "43 years 9 mons 27 days");

const MOVED: &[Signature] = &[Signature::new(&[AT, of_kind("length", ParameterKind::Any)], ResultType::InstantAt(0))];

static DATE_ADD: ScalarFunction =
    ScalarFunction::evaluated_by("DATE_ADD", MOVED, Evaluation::Rewritten(Rewrite::Moved(ArithOp::Add)))
        .gives("at + length, where the length is an interval or a number of days.")
        .example("DATE_ADD(DATE '2024-01-31', INTERVAL '1 month')", "2024-02-29");

static DATE_SUB: ScalarFunction =
    ScalarFunction::evaluated_by("DATE_SUB", MOVED, Evaluation::Rewritten(Rewrite::Moved(ArithOp::Sub)))
        .gives("at - length, where the length is an interval or a number of days.")
        .example("DATE_SUB(TIMESTAMP '2024-03-01 00:00:00', '12 hours')", "2024-02-29 12:00:00");

static INTERVAL_SECONDS: ScalarFunction = ScalarFunction::new(
    "INTERVAL_SECONDS",
    &[Signature::new(&[LENGTH], ResultType::Is(SqlType::Decimal(None)))],
    |args| args.interval(0)?.seconds().map(Value::Decimal),
)
.gives("The length by which intervals compare, in seconds: a month has 30 days, and a day 24 hours.")
.example("INTERVAL_SECONDS(INTERVAL '1 day 00:00:00.5')", "86400.5");

static JUSTIFY_DAYS: ScalarFunction =
    ScalarFunction::new("JUSTIFY_DAYS", &[Signature::new(&[LENGTH], INTERVAL)], |args| {
        args.interval(0)?.with_whole_months().map(Value::Interval)
    })
    .gives("The interval with 30 days and more as months.")
    .example("JUSTIFY_DAYS(INTERVAL '1 year 65 days')", "1 year 2 mons 5 days");

static JUSTIFY_HOURS: ScalarFunction =
    ScalarFunction::new("JUSTIFY_HOURS", &[Signature::new(&[LENGTH], INTERVAL)], |args| {
        args.interval(0)?.with_whole_days().map(Value::Interval)
    })
    .gives("The interval with 24 hours and more as days.")
    .example("JUSTIFY_HOURS(INTERVAL '50 hours 10 minutes')", "2 days 02:10:00");

static JUSTIFY_INTERVAL: ScalarFunction =
    ScalarFunction::new("JUSTIFY_INTERVAL", &[Signature::new(&[LENGTH], INTERVAL)], |args| {
        args.interval(0)?.justified().map(Value::Interval)
    })
    .gives("The interval of the same length with less than 30 days and less than 24 hours, all parts of one sign.")
    .example("JUSTIFY_INTERVAL(INTERVAL '1 mon -1 hour')", "29 days 23:00:00");

static MAKE_INTERVAL: ScalarFunction = ScalarFunction::new(
    "MAKE_INTERVAL",
    &[Signature::new(
        &[
            integer("years"),
            integer("months"),
            integer("weeks"),
            integer("days"),
            integer("hours"),
            integer("mins"),
            of_kind("secs", ParameterKind::Number),
        ],
        INTERVAL,
    )
    .optional(6)],
    make_interval,
)
.gives("The interval of these parts; those left out are 0, and parts can be named, as in MAKE_INTERVAL(days => 10).")
.example("MAKE_INTERVAL(0, 1, 2, 3, 4, 5, 6.7)", "1 mon 17 days 04:05:06.7");

fn make_interval(args: &Args<'_>) -> Result<Value, ValueError> {
    let part = |index| Ok::<i128, ValueError>(args.optional_int(index)?.unwrap_or(0).into());
    let seconds = if args.values().len() > 6 { args.decimal(6)? } else { Decimal::ZERO };
    let beyond = || ValueError::OutOfRange { value: args.shown(), target: SqlType::Interval.to_string() };
    let below_minutes = seconds.round(9)?.unscaled_at(9).ok_or_else(beyond)?;
    let hour = NANOS_PER_DAY / 24;
    let time = below_minutes.checked_add(part(4)? * hour + part(5)? * (hour / 60));
    Interval::new(part(0)? * 12 + part(1)?, part(2)? * 7 + part(3)?, time.ok_or_else(beyond)?)
        .map_err(|_| beyond())
        .map(Value::Interval)
}
