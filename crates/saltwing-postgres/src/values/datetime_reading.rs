//! Instants from text, in the ISO forms that PostgreSQL writes and drivers send.
//!
//! ```text
//! 2024-05-01 12:30:00.123+02 BC
//! date       time        zone era
//! ```
//!
//! The time, its seconds, the zone and the era may be missing; a `T` may stand between date and time. As in PostgreSQL, a timestamp
//! without time zone drops the zone: the client means the clock on its wall, and gets it back as it was.

use saltwing::Timestamp;

use super::calendar::{CALENDAR_MS, Civil, days_of};
use super::datetime::MS_PER_DAY;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_MS: i64 = 1_000_000;
const NANOS_PER_DAY: i64 = MS_PER_DAY * NANOS_PER_MS;
/// The digits of a second that count; more are dropped.
const FRACTION_DIGITS: usize = 9;
/// PostgreSQL's limit of zones, in hours.
const ZONE_HOURS_END: i64 = 16;

/// Why a text is no instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has another form.
    Syntax,
    /// There is no such day or time of day, or it lies beyond the calendar.
    Range,
}

/// The parts of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The date in days since 1970.
    days: Option<i64>,
    /// The time of day in nanoseconds, up to 24:00.
    nanos: Option<i64>,
    /// The zone in seconds east of Greenwich.
    zone: Option<i64>,
}

impl Reading {
    /// The parts of a text: a date with or without a time, or a time.
    ///
    /// # Errors
    /// [`Fault`].
    pub(super) fn of(text: &str) -> Result<Self, Fault> {
        let text = text.trim_ascii();
        if ["infinity", "-infinity"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Err(Fault::Range);
        }
        let (body, is_before_christ) = without_era(text);
        let mut rest = Rest(body);
        let mut reading = Self::default();
        if !rest.begins_with_clock() {
            reading.days = Some(rest.date(is_before_christ)?);
            rest.skip_separator();
        }
        if rest.begins_with_clock() {
            reading.nanos = Some(rest.clock()?);
        }
        rest.0 = rest.0.trim_ascii_start();
        if !rest.0.is_empty() {
            reading.zone = Some(rest.zone()?);
        }
        if rest.0.is_empty() { Ok(reading) } else { Err(Fault::Syntax) }
    }

    /// The time on the clock, whatever the zone; a date alone is its midnight.
    ///
    /// # Errors
    /// [`Fault::Syntax`] without a date, [`Fault::Range`] beyond the calendar.
    pub(super) fn timestamp(self) -> Result<Timestamp, Fault> {
        self.instant(0)
    }

    /// The instant, which is in UTC unless there is a zone.
    ///
    /// # Errors
    /// As of [`Reading::timestamp`].
    pub(super) fn zoned_timestamp(self) -> Result<Timestamp, Fault> {
        self.instant(self.zone.unwrap_or(0))
    }

    /// The midnight of the date.
    ///
    /// # Errors
    /// As of [`Reading::timestamp`].
    pub(super) fn midnight(self) -> Result<Timestamp, Fault> {
        Self { nanos: None, ..self }.timestamp()
    }

    /// The time of day, on 1970-01-01.
    ///
    /// # Errors
    /// [`Fault::Syntax`] without a time.
    pub(super) fn time(self) -> Result<Timestamp, Fault> {
        self.nanos.ok_or(Fault::Syntax)?;
        Self { days: Some(0), ..self }.timestamp()
    }

    /// Whether there is a date.
    pub(super) fn has_date(self) -> bool {
        self.days.is_some()
    }

    fn instant(self, zone: i64) -> Result<Timestamp, Fault> {
        let days = self.days.ok_or(Fault::Syntax)?;
        let nanos = self.nanos.unwrap_or(0) - zone * NANOS_PER_SECOND;
        // Years have at most six digits, so there is room for days and zone.
        let ms = days * MS_PER_DAY + nanos.div_euclid(NANOS_PER_MS);
        let at = Timestamp { ms, nanos: nanos.rem_euclid(NANOS_PER_MS) as u32 };
        if CALENDAR_MS.contains(&ms) { Ok(at) } else { Err(Fault::Range) }
    }
}

/// A text without `BC` or `AD` at its end, and whether it was `BC`.
fn without_era(text: &str) -> (&str, bool) {
    match text.len().checked_sub(2).and_then(|place| text.split_at_checked(place)) {
        Some((body, era)) if era.eq_ignore_ascii_case("bc") => (body.trim_ascii_end(), true),
        Some((body, era)) if era.eq_ignore_ascii_case("ad") => (body.trim_ascii_end(), false),
        _ => (text, false),
    }
}

/// The part of a text that is not read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// Takes the digits at the beginning.
    fn digits(&mut self) -> &'a str {
        let end = self.0.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }

    /// Takes a number of so many digits.
    fn number(&mut self, digits_min: usize, digits_max: usize) -> Result<i64, Fault> {
        let digits = self.digits();
        if (digits_min..=digits_max).contains(&digits.len()) {
            digits.parse().map_err(|_| Fault::Syntax)
        } else {
            Err(Fault::Syntax)
        }
    }

    /// Takes a character if it comes next.
    fn take(&mut self, next: char) -> bool {
        match self.0.strip_prefix(next) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, next: char) -> Result<(), Fault> {
        if self.take(next) { Ok(()) } else { Err(Fault::Syntax) }
    }

    /// Whether an hour and a colon come next.
    fn begins_with_clock(&self) -> bool {
        let mut ahead = Rest(self.0);
        matches!(ahead.digits().len(), 1 | 2) && ahead.take(':')
    }

    /// Takes blanks, or a `T` before a time.
    fn skip_separator(&mut self) {
        self.0 = match self.0.strip_prefix(['T', 't']) {
            Some(time) if Rest(time).begins_with_clock() => time,
            _ => self.0.trim_ascii_start(),
        };
    }

    /// `2024-05-01`.
    fn date(&mut self, is_before_christ: bool) -> Result<i64, Fault> {
        let year = self.number(4, 6)?;
        self.expect('-')?;
        let month = self.number(1, 2)?;
        self.expect('-')?;
        let day = self.number(1, 2)?;
        if year == 0 {
            return Err(Fault::Range);
        }
        let year = if is_before_christ { 1 - year } else { year };
        days_of(Civil { year, month, day }).ok_or(Fault::Range)
    }

    /// `12:30[:15[.123]]`. A leap second is the second after, and 24:00 the midnight after.
    fn clock(&mut self) -> Result<i64, Fault> {
        let hour = self.number(1, 2)?;
        self.expect(':')?;
        let minute = self.number(1, 2)?;
        let (mut second, mut fraction) = (0, 0);
        if self.take(':') {
            second = self.number(1, 2)?;
            if self.take('.') {
                let digits = self.digits();
                let kept = digits.split_at_checked(FRACTION_DIGITS).map_or(digits, |(kept, _)| kept);
                fraction = format!("{kept:0<FRACTION_DIGITS$}").parse().map_err(|_| Fault::Syntax)?;
            }
        }
        if minute > 59 || second > 60 {
            return Err(Fault::Range);
        }
        let nanos = (hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + fraction;
        if nanos <= NANOS_PER_DAY { Ok(nanos) } else { Err(Fault::Range) }
    }

    /// `Z`, `UTC`, `+02`, `+0530`, `+05:30`, `+05:53:28`, in seconds east.
    fn zone(&mut self) -> Result<i64, Fault> {
        if let Some(word) = ["z", "utc", "gmt"].into_iter().find(|word| self.0.eq_ignore_ascii_case(word)) {
            self.0 = self.0.split_at(word.len()).1;
            return Ok(0);
        }
        let sign = match (self.take('+'), self.take('-')) {
            (true, false) => 1,
            (false, true) => -1,
            _ => return Err(Fault::Syntax),
        };
        let digits = self.digits();
        let hours_end = if digits.len() > 2 { digits.len() - 2 } else { digits.len() };
        let (hours, minutes) = digits.split_at(hours_end);
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| Fault::Syntax);
        let (hours, mut minutes, mut seconds) =
            (number(hours)?, if minutes.is_empty() { 0 } else { number(minutes)? }, 0);
        if digits.len() <= 2 && self.take(':') {
            minutes = self.number(2, 2)?;
            if self.take(':') {
                seconds = self.number(2, 2)?;
            }
        }
        if hours >= ZONE_HOURS_END || minutes > 59 || seconds > 59 {
            return Err(Fault::Range);
        }
        Ok(sign * (hours * 3600 + minutes * 60 + seconds))
    }
}

#[cfg(test)]
mod tests;
