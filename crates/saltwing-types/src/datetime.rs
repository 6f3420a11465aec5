//! Instants as text and back. All are UTC; the calendar is proleptic Gregorian.
//!
//! Texts of days: `1999-01-08`, `19990108`, `January 8, 1999`, `8 January 1999`, `Jan-08-1999`, `08-Jan-1999`, `1999-Jan-08`. Texts
//! of times: `04:05`, `04:05:06.789`, `040506`, and each with AM or PM, or with an offset. Nothing else: a text is one instant.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use self::named_day::digits;
use crate::value::Timestamp;

mod named_day;

const MS_PER_DAY: i64 = 86_400_000;

/// The first and the last millisecond that can be written: the years -262143 to 262142.
pub const CALENDAR_MS: RangeInclusive<i64> = -8_334_601_228_800_000..=8_210_266_876_799_999;

/// Whether an instant can be written as text. Computed, cast and stored instants must be.
pub fn has_text(ms: i64) -> bool {
    CALENDAR_MS.contains(&ms)
}

/// Reads a day of one of the forms above, optionally with a time (after a blank or `T`), optionally with `Z` or an offset such as
/// `+02:00`.
///
/// Up to nine fraction digits count; more are dropped. `None` when the text is no such thing, or is
/// outside the years that can be written (-262143 to 262142).
pub fn parse(text: &str) -> Option<Timestamp> {
    parse_iso(text).or_else(|| {
        let (date, time) = named_day::named_day(text.trim())?;
        instant(date?, time)
    })
}

/// As [`parse`], of days such as `1999-01-08` alone.
pub fn parse_iso(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    // A leading minus sign belongs to the year.
    let body = text.strip_prefix('-').unwrap_or(text);
    let sign_bytes = text.len() - body.len();
    let year_end = body.find('-')?;
    let (year, rest) = (text.get(..sign_bytes + year_end)?, body.get(year_end + 1..)?);
    if body.get(..year_end)?.len() < 4 || !body.get(..year_end)?.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (month, rest) = rest.split_once('-')?;
    let day_end = rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let (day, time) = rest.split_at(day_end);
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, two_digits(month)?, two_digits(day)?)?;
    instant(date, time)
}

/// The instant of a day, and of nothing or a time after a blank or `T`.
fn instant(date: NaiveDate, time: &str) -> Option<Timestamp> {
    let (ms, nanos) = if time.is_empty() { (0, 0) } else { parse_time(time.strip_prefix([' ', 'T', 't'])?)? };
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    Some(Timestamp { ms: days * MS_PER_DAY + ms, nanos }).filter(|at| has_text(at.ms))
}

/// Reads a time of day, of one of the forms above, as the instant of 1970-01-01; an offset does not lead out of that day.
pub fn parse_clock(text: &str) -> Option<Timestamp> {
    let (ms, nanos) = parse_time(text.trim())?;
    Some(Timestamp { ms: ms.rem_euclid(MS_PER_DAY), nanos })
}

/// Names of the parts of an instant.
const DAY: &str = "day";
const TIME_OF_DAY: &str = "time of day";

/// Why a text that is no instant is not certain to be one; `None` of another text.
pub(crate) fn ambiguity(text: &str) -> Option<&'static str> {
    named_day::ambiguity(text)
}

/// The part that there is not of a text in the form of an instant, or of a time of day if `is_time`; `None` of a text in another
/// form.
pub(crate) fn missing_part(text: &str, is_time: bool) -> Option<&'static str> {
    let text = text.trim();
    if let Some((date, rest)) = named_day::named_day(text) {
        let is_whole = rest.is_empty() || rest.starts_with([' ', 'T', 't']);
        return match date {
            _ if !is_whole => None,
            None => Some(DAY),
            Some(_) => missing_clock(rest.trim_start_matches([' ', 'T', 't'])),
        };
    }
    let (day, clock) = match text.split_once([' ', 'T', 't']) {
        _ if is_time && missing_clock(text).is_some() => (None, Some(text)),
        Some((day, clock)) => (Some(day), Some(clock)),
        None => (Some(text), None),
    };
    if let Some(day) = day {
        let parts: Vec<&str> = day.strip_prefix('-').unwrap_or(day).split('-').collect();
        let [year, month, day] = parts.as_slice() else { return None };
        let (year, month, day) = (digits(year, 4..=6)?, digits(month, 1..=2)?, digits(day, 1..=2)?);
        if NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day).is_none() {
            return Some(DAY);
        }
    }
    missing_clock(clock?)
}

/// The same of a time of day alone.
fn missing_clock(text: &str) -> Option<&'static str> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ':')).unwrap_or(text.len());
    let (clock, rest) = text.split_at_checked(end)?;
    let (hour, minute, second) = clock_parts(clock)?;
    let hour =
        half_of_day(rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()), hour).map(|(hour, _)| hour);
    let is_clock = hour.is_some_and(|hour| NaiveTime::from_hms_opt(hour, minute, second).is_some());
    (!is_clock).then_some(TIME_OF_DAY)
}

/// Hour, minute and second of `HH:mm`, `HH:mm:ss` and `HHmmss`.
fn clock_parts(clock: &str) -> Option<(u32, u32, u32)> {
    if let Some(number) = digits(clock, 6..=6) {
        return Some((number / 10_000, number / 100 % 100, number % 100));
    }
    let mut parts = clock.split(':').map(two_digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    parts.next().is_none().then_some((hour, minute, second))
}

/// The hour of the day, and the text after AM or PM, if it begins with one of them; `None` if it does and the hour is beyond 12.
fn half_of_day(text: &str, hour: u32) -> Option<(u32, &str)> {
    let rest = text.trim_start();
    let of_day = match rest.get(..2) {
        Some(half) if half.eq_ignore_ascii_case("am") => hour % 12,
        Some(half) if half.eq_ignore_ascii_case("pm") => hour % 12 + 12,
        _ => return Some((hour, rest)),
    };
    (hour <= 12).then(|| Some((of_day, rest.get(2..)?.trim_start())))?
}

fn two_digits(text: &str) -> Option<u32> {
    digits(text, 1..=2)
}

/// `HH:mm[:ss[.f]]` or `HHmmss[.f]`, with an optional AM or PM, and an optional offset, as milliseconds of the UTC day
/// (which the offset may take below zero or beyond it) and nanoseconds below them.
fn parse_time(text: &str) -> Option<(i64, u32)> {
    let clock_end = text.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(text.len());
    let (clock, zone) = text.split_at(clock_end);
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, fraction)| (clock, Some(fraction)));
    let (hour, minute, second) = clock_parts(clock)?;
    let (hour, zone) = half_of_day(zone, hour)?;
    let offset_minutes = parse_offset(zone)?;
    // Only seconds have a fraction.
    let has_seconds = clock.len() == 6 && !clock.contains(':') || clock.matches(':').count() == 2;
    if fraction.is_some() && !has_seconds
        || !fraction.is_none_or(|fraction| fraction.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let nanos = format!("{:0<9}", fraction.get(..fraction.len().min(9))?).parse().ok()?;
    let time = NaiveTime::from_hms_nano_opt(hour, minute, second, nanos)?;
    let ms = i64::from(time.num_seconds_from_midnight()) * 1000 + i64::from(nanos / 1_000_000);
    Some((ms - offset_minutes * 60_000, nanos % 1_000_000))
}

/// Minutes east of Greenwich: nothing, `Z`, `+02:00`, `+0200`, `+02`.
pub(crate) fn parse_offset(text: &str) -> Option<i64> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (digits.as_str(), "0"),
        4 => digits.split_at_checked(2)?,
        _ => return None,
    };
    let (hours, minutes) = (i64::from(two_digits(hours)?), i64::from(two_digits(minutes)?));
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn civil(ms: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_millis(ms).map(|t| t.naive_utc())
}

/// `yyyy-MM-dd`, years beyond 9999 with more digits, before 0 with a sign.
fn format_day(at: NaiveDateTime) -> String {
    let sign = if at.year() < 0 { "-" } else { "" };
    format!("{sign}{:04}-{:02}-{:02}", at.year().unsigned_abs(), at.month(), at.day())
}

fn format_clock(at: NaiveDateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// A DATE or TIME as text: `yyyy-MM-dd`, and ` HH:mm:ss[.SSS]` when not midnight.
///
/// An instant no calendar year can be written for comes out as its milliseconds.
pub fn format_date(ms: i64) -> String {
    let Some(at) = civil(ms) else { return format!("{ms} ms") };
    let day = format_day(at);
    match (ms.rem_euclid(MS_PER_DAY), ms.rem_euclid(1000)) {
        (0, _) => day,
        (_, 0) => format!("{day} {}", format_clock(at)),
        (_, fraction) => format!("{day} {}.{fraction:03}", format_clock(at)),
    }
}

/// A TIMESTAMP as text: `yyyy-MM-dd HH:mm:ss` with 0, 3, 6 or 9 fraction digits.
pub fn format_timestamp(at: Timestamp) -> String {
    let Some(civil) = civil(at.ms) else { return format!("{} ms", at.ms) };
    let nanos = at.ms.rem_euclid(1000) as u32 * 1_000_000 + at.nanos;
    let text = format!("{} {}", format_day(civil), format_clock(civil));
    match nanos {
        0 => text,
        n if n % 1_000_000 == 0 => format!("{text}.{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{text}.{:06}", n / 1_000),
        n => format!("{text}.{n:09}"),
    }
}

#[cfg(test)]
mod tests;
