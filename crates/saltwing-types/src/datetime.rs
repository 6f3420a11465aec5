//! Instants as text and back. All are UTC; the calendar is proleptic Gregorian.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use crate::value::Timestamp;

const MS_PER_DAY: i64 = 86_400_000;

/// The first and the last millisecond that can be written: the years -262143 to 262142.
pub const CALENDAR_MS: RangeInclusive<i64> = -8_334_601_228_800_000..=8_210_266_876_799_999;

/// Whether an instant can be written as text. Computed, cast and stored instants must be.
pub fn has_text(ms: i64) -> bool {
    CALENDAR_MS.contains(&ms)
}

/// Reads `yyyy-MM-dd`, optionally with ` HH:mm[:ss[.f]]` (or `T` in the place
/// of the blank), optionally with `Z` or an offset such as `+02:00`.
///
/// Up to nine fraction digits count; more are dropped. `None` when the text is no such thing, or is
/// outside the years that can be written (-262143 to 262142).
pub fn parse(text: &str) -> Option<Timestamp> {
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
    let (ms, nanos) = if time.is_empty() { (0, 0) } else { parse_time(time.strip_prefix([' ', 'T', 't'])?)? };
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    Some(Timestamp { ms: days * MS_PER_DAY + ms, nanos }).filter(|at| has_text(at.ms))
}

/// Reads a time of day, `HH:mm[:ss[.f]]`, as the instant of 1970-01-01; an offset does not lead out of that day.
pub fn parse_clock(text: &str) -> Option<Timestamp> {
    let (ms, nanos) = parse_time(text.trim())?;
    Some(Timestamp { ms: ms.rem_euclid(MS_PER_DAY), nanos })
}

/// Names of the parts of an instant.
const DAY: &str = "day";
const TIME_OF_DAY: &str = "time of day";

/// The part that there is not of a text in the form of an instant or of a time of day; `None` of a text in another form.
pub(crate) fn missing_part(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let (day, clock) = match text.split_once([' ', 'T', 't']) {
        Some((day, clock)) => (Some(day), Some(clock)),
        None if text.contains(':') => (None, Some(text)),
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
    let clock = clock?;
    let clock = clock.split(|c: char| !(c.is_ascii_digit() || c == ':')).next().unwrap_or_default();
    let parts: Vec<u32> = clock.split(':').map(|part| digits(part, 1..=2)).collect::<Option<_>>()?;
    let is_clock = match parts.as_slice() {
        [hour, minute] => NaiveTime::from_hms_opt(*hour, *minute, 0).is_some(),
        [hour, minute, second] => NaiveTime::from_hms_opt(*hour, *minute, *second).is_some(),
        _ => return None,
    };
    (!is_clock).then_some(TIME_OF_DAY)
}

/// A number of so many digits.
fn digits(text: &str, count: RangeInclusive<usize>) -> Option<u32> {
    (count.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn two_digits(text: &str) -> Option<u32> {
    digits(text, 1..=2)
}

/// `HH:mm[:ss[.f]]` with an optional offset, as milliseconds of the UTC day
/// (which the offset may take below zero or beyond it) and nanoseconds below them.
fn parse_time(text: &str) -> Option<(i64, u32)> {
    let clock_end = text.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(text.len());
    let (clock, zone) = text.split_at(clock_end);
    let offset_minutes = parse_offset(zone.trim_start())?;
    let mut parts = clock.split(':');
    let hour = two_digits(parts.next()?)?;
    let minute = two_digits(parts.next()?)?;
    let (second, fraction) = match parts.next() {
        None => (0, ""),
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            (two_digits(whole)?, fraction)
        }
    };
    if parts.next().is_some() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
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
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_iso() {
        for (text, ms, nanos, date) in [
            ("1970-01-01", 0, 0, "1970-01-01"),
            ("2013-01-01 00:00:00.123456789", 1_356_998_400_123, 456_789, "2013-01-01 00:00:00.123"),
            ("2013-01-01T10:00:00Z", 1_357_034_400_000, 0, "2013-01-01 10:00:00"),
            ("2013-01-01T00:30:00+01:00", 1_356_996_600_000, 0, "2012-12-31 23:30:00"),
            ("1969-12-31 23:59:59.999", -1, 0, "1969-12-31 23:59:59.999"),
            ("0001-11-24", -62_107_344_000_000, 0, "0001-11-24"),
            ("2020-02-29 7:05", 1_582_959_900_000, 0, "2020-02-29 07:05:00"),
        ] {
            assert_eq!(parse(text), Some(Timestamp { ms, nanos }), "{text}");
            assert_eq!(format_date(ms), date);
        }
        assert_eq!(format_timestamp(Timestamp { ms: -1, nanos: 999_999 }), "1969-12-31 23:59:59.999999999");
        assert_eq!(format_timestamp(Timestamp { ms: 1, nanos: 1_000 }), "1970-01-01 00:00:00.001001");
    }

    #[test]
    fn the_calendar_ends_where_text_does() {
        for ms in [*CALENDAR_MS.start(), *CALENDAR_MS.end()] {
            assert_eq!(parse(&format_date(ms)), Some(Timestamp { ms, nanos: 0 }));
        }
        for ms in [CALENDAR_MS.start() - 1, CALENDAR_MS.end() + 1, i64::MIN, i64::MAX] {
            assert!(!has_text(ms) && civil(ms).is_none());
        }
        assert_eq!(parse("262142-12-31 23:00:00-02:00"), None);
    }

    #[test]
    fn says_which_part_there_is_not() {
        for (text, part) in [
            ("2024-02-30", Some(DAY)),
            ("2024-13-01 10:00:00", Some(DAY)),
            ("-0044-02-30", Some(DAY)),
            ("2024-02-29 24:00:00", Some(TIME_OF_DAY)),
            ("2024-02-29T10:61Z", Some(TIME_OF_DAY)),
            ("25:00", Some(TIME_OF_DAY)),
            ("10:00:60.5", Some(TIME_OF_DAY)),
            ("2024-02-29", None),
            ("10:00", None),
            ("24-02-30", None),
            ("30.02.2024", None),
            ("2024-02", None),
            ("10:00:00:00", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(missing_part(text), part, "{text}");
        }
    }

    #[test]
    fn refuses() {
        for bad in [
            "",
            "garbage",
            "2020-02-30",
            "20-01-01",
            "2020-1-",
            "2020-01-01 25:00:00",
            "2020-01-01 10",
            "10:11:12",
            "2020-01-01x",
            "2020-01-01 10:00:00+1",
            "é",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
