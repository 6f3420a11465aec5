//! Instants and lengths of time on their way to the client, and their binary forms.
//!
//! The protocol counts microseconds from 2000 on, and Saltwing milliseconds from 1970 on with nanoseconds below them. Digits below
//! the microsecond are cut, towards the past.

use std::fmt::{self, Write};

use bytes::{BufMut, BytesMut};
use saltwing::{Interval, Timestamp};

use super::calendar::{CALENDAR_MS, civil_of};
use super::digits::push_unsigned;
use super::error::WireError;
use super::pg_type::BaseType;

const NANOS_PER_MICRO: u32 = 1_000;
const MICROS_PER_MS: i64 = 1_000;
const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;
/// Milliseconds of a day.
pub(super) const MS_PER_DAY: i64 = 86_400_000;
/// 2000-01-01 in days since 1970.
const DAYS_TO_2000: i64 = 10_957;
/// 2000-01-01 in microseconds since 1970.
const MICROS_TO_2000: i64 = DAYS_TO_2000 * MICROS_PER_DAY;

/// Microseconds since 1970.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] beyond the calendar.
fn micros_of(at: Timestamp) -> Result<i64, WireError> {
    if !CALENDAR_MS.contains(&at.ms) {
        return Err(WireError::datetime_overflow(BaseType::Timestamp, &format!("{} ms since 1970", at.ms)));
    }
    // The calendar ends where 64 bits still have room for microseconds.
    Ok(at.ms * MICROS_PER_MS + i64::from(at.nanos / NANOS_PER_MICRO))
}

/// Appends an instant as text: `2024-05-01 12:30:00.123`, with ` BC` for years before 1.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] beyond the calendar.
pub(super) fn push_text(out: &mut BytesMut, at: Timestamp) -> Result<(), WireError> {
    let micros = micros_of(at)?;
    let date = civil_of(micros.div_euclid(MICROS_PER_DAY));
    // The year 0 is the first year before Christ.
    let is_before_christ = date.year <= 0;
    let year = if is_before_christ { 1 - date.year } else { date.year };
    push_unsigned(out, year.unsigned_abs(), 4);
    for part in [date.month, date.day] {
        out.put_u8(b'-');
        push_unsigned(out, part.unsigned_abs(), 2);
    }
    out.put_u8(b' ');
    push_clock(out, micros.rem_euclid(MICROS_PER_DAY));
    if is_before_christ {
        out.put_slice(b" BC");
    }
    Ok(())
}

/// Appends the microseconds of a day as text: `12:30:00.123`.
fn push_clock(out: &mut BytesMut, micros: i64) {
    let second = micros / MICROS_PER_SECOND;
    push_unsigned(out, (second / 3600).unsigned_abs(), 2);
    for part in [second / 60 % 60, second % 60] {
        out.put_u8(b':');
        push_unsigned(out, part.unsigned_abs(), 2);
    }
    push_fraction(out, micros % MICROS_PER_SECOND);
}

/// The microseconds of an instant since the midnight before it.
pub(super) fn time_of_day(at: Timestamp) -> i64 {
    at.ms.rem_euclid(MS_PER_DAY) * MICROS_PER_MS + i64::from(at.nanos / NANOS_PER_MICRO)
}

/// Appends the time of day of an instant as text.
pub(super) fn push_time_text(out: &mut BytesMut, at: Timestamp) {
    push_clock(out, time_of_day(at));
}

/// Appends the digits of microseconds after the point, without zeros at their end; nothing of 0.
fn push_fraction(out: &mut BytesMut, micros: i64) {
    if micros == 0 {
        return;
    }
    let (mut fraction, mut digits) = (micros, 6);
    while fraction % 10 == 0 {
        fraction /= 10;
        digits -= 1;
    }
    out.put_u8(b'.');
    push_unsigned(out, fraction.unsigned_abs(), digits);
}

/// Appends an instant as microseconds since 2000.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] beyond the calendar.
pub(super) fn push_binary(out: &mut BytesMut, at: Timestamp) -> Result<(), WireError> {
    // 2000 lies between the ends of the calendar and leaves room for both.
    out.put_i64(micros_of(at)? - MICROS_TO_2000);
    Ok(())
}

/// The instant of microseconds since 2000.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] beyond the calendar, which the two infinities are.
pub(super) fn timestamp_of_binary(micros: i64, ty: BaseType) -> Result<Timestamp, WireError> {
    let since_1970 = micros.checked_add(MICROS_TO_2000);
    let at = since_1970.map(|micros| Timestamp {
        ms: micros.div_euclid(MICROS_PER_MS),
        nanos: micros.rem_euclid(MICROS_PER_MS) as u32 * NANOS_PER_MICRO,
    });
    at.filter(|at| CALENDAR_MS.contains(&at.ms)).ok_or_else(|| {
        let shown = match micros {
            i64::MAX => "infinity".to_owned(),
            i64::MIN => "-infinity".to_owned(),
            micros => format!("{micros} microseconds since 2000"),
        };
        WireError::datetime_overflow(ty, &shown)
    })
}

/// The midnight of a day since 2000, in milliseconds since 1970.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] beyond the calendar, which the two infinities are.
pub(super) fn date_of_binary(days: i32) -> Result<i64, WireError> {
    let ms = (i64::from(days) + DAYS_TO_2000) * MS_PER_DAY;
    if CALENDAR_MS.contains(&ms) {
        return Ok(ms);
    }
    let shown = match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        days => format!("{days} days since 2000"),
    };
    Err(WireError::datetime_overflow(BaseType::Date, &shown))
}

/// The milliseconds of a time of day in microseconds, from 00:00 to 24:00; digits below the millisecond are cut, because TIME
/// has none.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] outside a day.
pub(super) fn time_of_binary(micros: i64) -> Result<i64, WireError> {
    if (0..=MICROS_PER_DAY).contains(&micros) {
        Ok(micros / MICROS_PER_MS)
    } else {
        Err(WireError::datetime_overflow(BaseType::Time, &format!("{micros} microseconds of a day")))
    }
}

/// Appends a length of time as text: `1 year 2 mons -3 days +04:05:06.7`.
///
/// # Errors
/// None that a length could cause.
pub(super) fn push_interval_text(out: &mut BytesMut, length: Interval) -> fmt::Result {
    let micro = i64::from(NANOS_PER_MICRO);
    let shown = Interval { nanos: length.nanos / micro * micro, ..length };
    write!(out, "{shown}")
}

/// Appends a length of time: microseconds, days, months.
pub(super) fn push_interval_binary(out: &mut BytesMut, length: Interval) {
    out.put_i64(length.nanos / i64::from(NANOS_PER_MICRO));
    out.put_i32(length.days);
    out.put_i32(length.months);
}

/// The length of time of microseconds, days and months.
///
/// # Errors
/// [`WireError::DatetimeOverflow`] for a time of more than 2,562,047 hours, which nanoseconds cannot count.
pub(super) fn interval_of_binary(micros: i64, days: i32, months: i32) -> Result<Interval, WireError> {
    let nanos = micros.checked_mul(NANOS_PER_MICRO.into());
    let overflow = || WireError::datetime_overflow(BaseType::Interval, &format!("{micros} microseconds"));
    nanos.map(|nanos| Interval { months, days, nanos }).ok_or_else(overflow)
}
