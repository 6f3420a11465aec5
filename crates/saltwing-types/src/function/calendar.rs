//! Days of the calendar: their names, and those after a day; patterns of C's `strftime`; instants of their parts.

use super::datetime::written_instant;
use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::calendar::{DateField, DateUnit, civil_of, days_in_month};
use crate::calendar_names::{DAYS, MONTHS};
use crate::error::shorten;
use crate::strftime::{Fraction, Strftime};
use crate::value::Timestamp;
use crate::{Interval, SqlType, Value, ValueError, datetime};

pub(super) static ALL: &[&ScalarFunction] = &[
    &DATEADD,
    &DAYNAME,
    &ISFINITE,
    &ISINF,
    &LAST_DAY,
    &MAKE_TIMESTAMP,
    &MONTHNAME,
    &NEXT_DAY,
    &OVERLAPS,
    &STRFTIME,
    &STRPTIME,
];

const MS_PER_DAY: i64 = 86_400_000;
const AT: Parameter = of_kind("at", ParameterKind::InstantOrString);
const OF_INSTANT: &[Signature] = &[Signature::new(&[AT], VARCHAR)];

pub(super) static DATEADD: ScalarFunction = ScalarFunction::new(
    "DATEADD",
    &[Signature::new(&[of_kind("unit", ParameterKind::Unit), integer("count"), AT], ResultType::InstantAt(2))],
    |args| {
        let (unit, count) = (DateUnit::by_name(args.text(0)?)?, i128::from(args.int(1)?));
        let (months, days, nanos) = unit.parts();
        let length = Interval::new(months * count, days * count, nanos * count)?;
        written_instant(args, length.after(args.instant(2)?)?)
    },
)
.aliases(&["TIMESTAMPADD"])
.gives("The instant so many units of time later, as in T-SQL and MySQL, where the unit is a word.")
.example("DATEADD(month, 1, DATE '2024-01-31')", "2024-02-29");

static DAYNAME: ScalarFunction =
    ScalarFunction::new("DAYNAME", OF_INSTANT, |args| name_of(&DAYS, DateField::Dow.of(args.instant(0)?)))
        .gives("The name of the day of the week.")
        .example("DAYNAME(DATE '2024-05-15')", "Wednesday");

static ISFINITE: ScalarFunction = ScalarFunction::new(
    "ISFINITE",
    &[
        Signature::new(&[of_kind("value", ParameterKind::Double)], ResultType::Is(SqlType::Boolean)),
        Signature::new(&[AT], ResultType::Is(SqlType::Boolean)),
        Signature::new(&[of_kind("length", ParameterKind::Interval)], ResultType::Is(SqlType::Boolean)),
    ],
    |args| match args.value(0)? {
        Value::Double(_) => Ok(Value::Bool(args.double(0)?.is_finite())),
        // There are no infinite instants and intervals.
        _ => Ok(Value::Bool(true)),
    },
)
.gives("Whether a number is neither infinite nor NaN; true of every instant and interval.")
.example("ISFINITE(DATE '2024-05-15')", "true");

static ISINF: ScalarFunction = ScalarFunction::new(
    "ISINF",
    &[Signature::new(&[of_kind("value", ParameterKind::Double)], ResultType::Is(SqlType::Boolean))],
    |args| Ok(Value::Bool(args.double(0)?.is_infinite())),
)
.gives("Whether a number is infinite.")
.example("ISINF('-Infinity'::DOUBLE)", "true");

static LAST_DAY: ScalarFunction =
    ScalarFunction::new("LAST_DAY", &[Signature::new(&[AT], ResultType::Is(SqlType::Date))], |args| {
        let day = start_of_day(args.instant(0)?);
        let date = civil_of(day);
        written_instant(args, in_days(day, days_in_month(date.year, date.month) - date.day))
    })
    .gives("The last day of the month that holds the instant.")
    .example("LAST_DAY(DATE '2024-02-10')", "2024-02-29");

static MAKE_TIMESTAMP: ScalarFunction = ScalarFunction::new(
    "MAKE_TIMESTAMP",
    &[Signature::new(
        &[
            integer("year"),
            integer("month"),
            integer("day"),
            integer("hour"),
            integer("minute"),
            of_kind("second", ParameterKind::Decimal),
        ],
        ResultType::Is(SqlType::Timestamp),
    )],
    |args| {
        let beyond = || ValueError::DatetimeOverflow { value: args.shown(), target: args.ty().to_string() };
        let (year, month, day, hour, minute) = (args.int(0)?, args.int(1)?, args.int(2)?, args.int(3)?, args.int(4)?);
        let nanos = args.decimal(5)?.round(9)?.unscaled_at(9).and_then(|nanos| i64::try_from(nanos).ok());
        let nanos = nanos.filter(|nanos| (0..60_000_000_000).contains(nanos)).ok_or_else(beyond)?;
        if !(1..=9999).contains(&year) {
            return Err(beyond());
        }
        let date = datetime::parse(&format!("{year:04}-{month:02}-{day:02}")).ok_or_else(beyond)?;
        if !(0..24).contains(&hour) || !(0..60).contains(&minute) {
            return Err(beyond());
        }
        let ms = date.ms + (hour * 60 + minute) * 60_000 + nanos / 1_000_000;
        written_instant(args, Timestamp { ms, nanos: (nanos % 1_000_000) as u32 })
    },
)
.gives("The instant of these parts.")
.example("MAKE_TIMESTAMP(2024, 5, 15, 12, 34, 56.5)", "2024-05-15 12:34:56.500");

static MONTHNAME: ScalarFunction =
    ScalarFunction::new("MONTHNAME", OF_INSTANT, |args| name_of(&MONTHS, DateField::Month.of(args.instant(0)?) - 1))
        .gives("The name of the month.")
        .example("MONTHNAME(DATE '2024-05-15')", "May");

static NEXT_DAY: ScalarFunction =
    ScalarFunction::new("NEXT_DAY", &[Signature::new(&[AT, text("day")], ResultType::Is(SqlType::Date))], |args| {
        let (at, name) = (args.instant(0)?, args.text(1)?);
        let is_named = |day: &str| {
            [Some(day), day.get(..3), day.get(..2)].into_iter().flatten().any(|known| known.eq_ignore_ascii_case(name))
        };
        let refused = || args.refused(format_args!("'{}' is no day of the week", shorten(name)));
        let day = DAYS.iter().position(|day| is_named(day)).ok_or_else(refused)? as i64;
        let days = (day - DateField::Dow.of(at) + 6).rem_euclid(7) + 1;
        written_instant(args, in_days(start_of_day(at), days))
    })
    .gives("The first day of this name after the instant's day, as in Oracle and Spark.")
    .example("NEXT_DAY(DATE '2024-05-15', 'monday')", "2024-05-20");

pub(super) static OVERLAPS: ScalarFunction = ScalarFunction::new(
    "OVERLAPS",
    &[Signature::new(
        &[
            of_kind("start", ParameterKind::InstantOrString),
            of_kind("end", ParameterKind::InstantOrString),
            of_kind("other_start", ParameterKind::InstantOrString),
            of_kind("other_end", ParameterKind::InstantOrString),
        ],
        ResultType::Is(SqlType::Boolean),
    )],
    |args| {
        let at = |index| if args.value(index)?.is_null() { Ok(None) } else { args.instant(index).map(Some) };
        let span = |start, end| {
            Ok::<_, ValueError>(match (at(start)?, at(end)?) {
                (None, end) => (end, None),
                (Some(start), Some(end)) if start > end => (Some(end), Some(start)),
                known => known,
            })
        };
        let ((Some(start), end), (Some(other), other_end)) = (span(0, 1)?, span(2, 3)?) else { return Ok(Value::Null) };
        // The span that begins first tells, if it has an end.
        let ends_of = |first: Option<Timestamp>, later: Timestamp, end: Option<Timestamp>| match (first, end) {
            (Some(first), _) if later < first => Value::Bool(true),
            (Some(_), Some(_)) => Value::Bool(false),
            _ => Value::Null,
        };
        Ok(match start.cmp(&other) {
            std::cmp::Ordering::Less => ends_of(end, other, other_end),
            std::cmp::Ordering::Greater => ends_of(other_end, start, end),
            std::cmp::Ordering::Equal if end.is_some() && other_end.is_some() => Value::Bool(true),
            std::cmp::Ordering::Equal => Value::Null,
        })
    },
)
.with_own_nulls()
.gives("Whether two spans of time overlap, as (start, end) OVERLAPS (other_start, other_end); a span has its beginning, and not its end.")
.example("OVERLAPS(DATE '2024-01-01', DATE '2024-02-01', DATE '2024-01-15', DATE '2024-03-01')", "true");

const FORMATTED: SizeBound = SizeBound {
    // No directive gives more than 20 characters.
    bytes: |args| {
        Ok(args.values().iter().map(|value| value.as_text().map_or(0, str::len)).sum::<usize>().saturating_mul(20))
    },
    multiplies: true,
};

static STRFTIME: ScalarFunction = ScalarFunction::new(
    "STRFTIME",
    &[
        Signature::new(&[of_kind("at", ParameterKind::Instant), text("pattern")], VARCHAR),
        Signature::new(&[text("pattern"), AT], VARCHAR),
    ],
    |args| {
        let (pattern, at) = match args.value(0)? {
            Value::Text(pattern) => (Strftime::new(pattern, Fraction::SecondsWithMillis), args.instant(1)?),
            _ => (Strftime::new(args.text(1)?, Fraction::Microseconds), args.instant(0)?),
        };
        pattern.format(at).map(Value::Text)
    },
)
.size(FORMATTED)
.gives(
    "The instant as text by a pattern of C's strftime: %Y %m %d %H %M %S and the like. %f is microseconds, as in DuckDB, but after \
     a pattern that stands first it is seconds with milliseconds, as in SQLite.",
)
.example("STRFTIME(TIMESTAMP '2024-05-15 12:34:56', '%a %d %b %Y, %I:%M %p')", "Wed 15 May 2024, 12:34 PM");

static STRPTIME: ScalarFunction = ScalarFunction::new(
    "STRPTIME",
    &[Signature::new(&[text("text"), text("pattern")], ResultType::Is(SqlType::Timestamp))],
    |args| {
        let (text, pattern) = (args.text(0)?, args.text(1)?);
        let at = Strftime::new(pattern, Fraction::Microseconds).read(text)?;
        let refused =
            || args.refused(format_args!("'{}' is no instant of the pattern '{}'", shorten(text), shorten(pattern)));
        written_instant(args, at.ok_or_else(refused)?)
    },
)
.gives("The TIMESTAMP that a text is by a pattern of C's strftime, as in DuckDB.")
.example("STRPTIME('15.5.2024 7:08', '%d.%m.%Y %H:%M')", "2024-05-15 07:08:00");

fn name_of(names: &[&str], place: i64) -> Result<Value, ValueError> {
    let name = usize::try_from(place).ok().and_then(|place| names.get(place));
    name.map(|name| Value::text(*name))
        .ok_or_else(|| ValueError::Internal(format!("{place} has no name in the calendar")))
}

fn start_of_day(at: Timestamp) -> i64 {
    at.ms - at.ms.rem_euclid(MS_PER_DAY)
}

fn in_days(day: i64, days: i64) -> Timestamp {
    Timestamp { ms: day.saturating_add(days * MS_PER_DAY), nanos: 0 }
}

/// The milliseconds of a day.
pub(super) fn day_of(args: &Args<'_>, at: Timestamp) -> Result<Value, ValueError> {
    written_instant(args, Timestamp { ms: start_of_day(at), nanos: 0 })
}
