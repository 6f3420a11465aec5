//! Literals of intervals: `INTERVAL '1 day'`, `INTERVAL '3' MONTH`, `INTERVAL '1 02:03' DAY TO MINUTE`.
//!
//! The fields after the text mean what they mean in PostgreSQL: the last one is the unit of a number without one, and what is smaller than it
//! is cut off.

use saltwing_types::{Interval, ValueError};
use sqlparser::ast::{self, DateTimeField};

use crate::call::literal_text;

/// Nanoseconds of the fields of a time, from the largest.
const NANOS: [(DateTimeField, i64); 3] =
    [(DateTimeField::Hour, 3_600_000_000_000), (DateTimeField::Minute, 60_000_000_000), (DateTimeField::Second, 1)];

/// The value of a literal; `None` of an INTERVAL whose value is no literal, and of other fields.
///
/// # Errors
/// [`ValueError`] of a text that is no interval.
pub fn interval_of(interval: &ast::Interval) -> Option<Result<Interval, ValueError>> {
    use DateTimeField::{Day, Hour, Minute, Month, Second, Year};
    if interval.leading_precision.is_some() || interval.fractional_seconds_precision.is_some() {
        return None;
    }
    let text = literal_text(interval)?.trim();
    let Some(first) = &interval.leading_field else {
        return interval.last_field.is_none().then(|| Interval::parse(text));
    };
    let last = interval.last_field.as_ref().unwrap_or(first);
    let is_standard = match first {
        Year => matches!(last, Year | Month),
        Month => *last == Month,
        Day => matches!(last, Day | Hour | Minute | Second),
        Hour => matches!(last, Hour | Minute | Second),
        Minute => matches!(last, Minute | Second),
        Second => *last == Second,
        // A unit of PostgreSQL that is no field of the standard.
        _ => return interval.last_field.is_none().then(|| Interval::parse(&format!("{text} {first}"))),
    };
    is_standard.then(|| Interval::parse(&with_units(text, first, last)).map(|length| cut(length, last)))
}

/// The text with the units that the fields give to its numbers.
fn with_units(text: &str, first: &DateTimeField, last: &DateTimeField) -> String {
    let is_number = |text: &str| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    if is_number(text) {
        return format!("{text} {last}");
    }
    let (before, time) = text.rsplit_once(char::is_whitespace).unwrap_or(("", text));
    match (first, last) {
        // `1 02` is a day and two hours.
        (DateTimeField::Day, DateTimeField::Hour) if is_number(before.trim()) && is_number(time) => {
            format!("{before} {time}:00")
        }
        // `02:03` is two minutes.
        (DateTimeField::Minute, DateTimeField::Second) if time.matches(':').count() == 1 => {
            let (sign, time) = match time.strip_prefix('-') {
                Some(time) => ("-", time),
                None => ("", time),
            };
            format!("{before} {sign}0:{time}")
        }
        _ => text.to_owned(),
    }
}

/// The interval without what is smaller than a field.
fn cut(length: Interval, last: &DateTimeField) -> Interval {
    let Interval { months, days, nanos } = length;
    match last {
        DateTimeField::Year => Interval { months: months / 12 * 12, days: 0, nanos: 0 },
        DateTimeField::Month => Interval { months, days: 0, nanos: 0 },
        DateTimeField::Day => Interval { months, days, nanos: 0 },
        _ => {
            let unit = NANOS.iter().find(|(field, _)| field == last).map_or(1, |(_, unit)| *unit);
            Interval { months, days, nanos: nanos / unit * unit }
        }
    }
}
