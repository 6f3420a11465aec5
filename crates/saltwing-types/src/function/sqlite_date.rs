//! SQLite's functions of dates: an instant, and modifiers that are applied to it from left to right.

use super::calendar::day_of;
use super::datetime::written_instant;
use super::signature::{of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::calendar::{DateField, civil_of, days_in_month, instant_of, months_after, nanos_of};
use crate::error::shorten;
use crate::value::Timestamp;
use crate::{Decimal, SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&DATE, &DATETIME, &JULIANDAY, &UNIXEPOCH];

const MS_PER_DAY: i64 = 86_400_000;
/// Days from the beginning of Julian days to 1970.
const JULIAN_DAYS_TO_1970: f64 = 2_440_587.5;

const OF_INSTANT: &[Parameter] = &[of_kind("at", ParameterKind::InstantOrString), text("modifier")];
const OF_NUMBER: &[Parameter] = &[of_kind("number", ParameterKind::Double), text("modifier")];

/// The signatures of a function that gives `ty`.
const fn forms(ty: SqlType) -> [Signature; 2] {
    let result = ResultType::Is(ty);
    [
        Signature::new(OF_INSTANT, result).repeated().optional(1),
        Signature::new(OF_NUMBER, result).repeated().optional(1),
    ]
}

pub(super) static DATE: ScalarFunction =
    ScalarFunction::new("DATE", const { &forms(SqlType::Date) }, |args| day_of(args, modified(args)?))
        .gives(
            "The day of an instant after modifiers such as '+1 month', 'start of month' and 'weekday 0', as in SQLite; a number is a \
             Julian day, or seconds since 1970 with 'unixepoch'.",
        )
        .example("DATE('2024-01-31', '+1 month')", "2024-03-02");

pub(super) static DATETIME: ScalarFunction =
    ScalarFunction::new("DATETIME", const { &forms(SqlType::Timestamp) }, |args| {
        written_instant(args, modified(args)?)
    })
    .gives("The instant after modifiers, as DATE.")
    .example("DATETIME('2024-05-15 12:00:00', '-36 hours')", "2024-05-14 00:00:00");

pub(super) static JULIANDAY: ScalarFunction =
    ScalarFunction::new("JULIANDAY", const { &forms(SqlType::Double) }, |args| {
        Ok(Value::Double(modified(args)?.ms as f64 / MS_PER_DAY as f64 + JULIAN_DAYS_TO_1970))
    })
    .gives("The Julian day of the instant after modifiers, as DATE.")
    .example("JULIANDAY('2024-05-15 12:00:00')", "2460446.0");

pub(super) static UNIXEPOCH: ScalarFunction =
    ScalarFunction::new("UNIXEPOCH", const { &forms(SqlType::BigInt) }, |args| {
        Ok(Value::Int(modified(args)?.ms.div_euclid(1000)))
    })
    .gives("The whole seconds from 1970 to the instant after modifiers, as DATE.")
    .example("UNIXEPOCH('1970-01-02', '+1 minute')", "86460");

/// The first argument after all modifiers.
fn modified(args: &Args<'_>) -> Result<Timestamp, ValueError> {
    let mut modifiers = args.texts_from(1)?;
    let mut at = match args.value(0)? {
        Value::Double(number) if modifiers.first().is_some_and(|first| first.eq_ignore_ascii_case("unixepoch")) => {
            modifiers.remove(0);
            from_ms(args, number * 1000.0)?
        }
        Value::Double(number) => from_ms(args, (number - JULIAN_DAYS_TO_1970) * MS_PER_DAY as f64)?,
        _ => args.instant(0)?,
    };
    for modifier in modifiers {
        at = after(at, modifier).ok_or_else(|| {
            args.refused(format_args!(
                "'{}' is no modifier such as '+1 month', 'start of year', 'weekday 0' or '-12 hours'",
                shorten(modifier)
            ))
        })?;
    }
    Ok(at)
}

fn from_ms(args: &Args<'_>, ms: f64) -> Result<Timestamp, ValueError> {
    let ms = ms.round();
    if !ms.is_finite() || ms.abs() > 8.3e15 {
        return Err(ValueError::DatetimeOverflow { value: args.shown(), target: args.ty().to_string() });
    }
    Ok(Timestamp { ms: ms as i64, nanos: 0 })
}

/// The instant after a modifier; `None` if it is none, or leads out of time.
fn after(mut at: Timestamp, modifier: &str) -> Option<Timestamp> {
    let modifier = modifier.trim().to_ascii_lowercase();
    let day = at.ms - at.ms.rem_euclid(MS_PER_DAY);
    let date = civil_of(at.ms);
    let midnight = |ms: i64| Some(Timestamp { ms, nanos: 0 });
    match modifier.as_str() {
        // All instants are UTC.
        "utc" | "localtime" => return Some(at),
        "start of day" => return midnight(day),
        "start of month" => return midnight(day - (date.day - 1) * MS_PER_DAY),
        "start of year" => return midnight(day - (DateField::DayOfYear.of(at) - 1) * MS_PER_DAY),
        _ => {}
    }
    if let Some(weekday) = modifier.strip_prefix("weekday ") {
        let weekday: i64 = weekday.trim().parse().ok().filter(|day| (0..=6).contains(day))?;
        let days = (weekday - DateField::Dow.of(at)).rem_euclid(7);
        return Some(Timestamp { ms: at.ms.checked_add(days * MS_PER_DAY)?, ..at });
    }
    let (number, unit) = modifier.split_once(char::is_whitespace)?;
    let unit = unit.trim().strip_suffix('s').unwrap_or(unit.trim());
    let mut number: Decimal = number.strip_prefix('+').unwrap_or(number).parse().ok()?;
    let nanos_per_unit: i64 = match unit {
        "day" => MS_PER_DAY * 1_000_000,
        "hour" => 3_600_000_000_000,
        "minute" => 60_000_000_000,
        "second" => 1_000_000_000,
        // SQLite's fractions of a month and of a year.
        "month" => 30 * MS_PER_DAY * 1_000_000,
        "year" => 365 * MS_PER_DAY * 1_000_000,
        _ => return None,
    };
    match unit {
        "month" => (at, number) = whole_months(at, number, 1)?,
        "year" => (at, number) = whole_months(at, number, 12)?,
        _ => {}
    }
    let nanos = number.checked_mul(Decimal::from(nanos_per_unit)).ok()?.truncate(0).unscaled_at(0)?;
    instant_of(nanos_of(at).checked_add(nanos)?).ok()
}

/// The whole part of a number of units of so many months later, and the rest of the number.
fn whole_months(at: Timestamp, number: Decimal, months: i64) -> Option<(Timestamp, Decimal)> {
    let whole = number.truncate(0);
    let rest = number.checked_sub(whole).ok()?;
    Some((months_later(at, whole.to_i64()?.checked_mul(months)?)?, rest))
}

/// So many months later; days beyond the end of the month are days of the next one, as SQLite counts.
fn months_later(at: Timestamp, months: i64) -> Option<Timestamp> {
    let day = civil_of(at.ms).day;
    let first = months_after(at.ms.checked_sub((day - 1) * MS_PER_DAY)?, months)?;
    // `months_after` of a first is a first, whatever the length of the months.
    debug_assert!(days_in_month(civil_of(first).year, civil_of(first).month) >= 28);
    Some(Timestamp { ms: first.checked_add((day - 1) * MS_PER_DAY)?, ..at })
}
