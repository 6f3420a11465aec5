//! Lengths of time: what [`Interval`] computes, and its text.
//!
//! As in PostgreSQL and in Arrow's MonthDayNano, an interval has three parts that do not turn into each other: months,
//! days and nanoseconds. A month has 28 to 31 days, and only an instant says how many.
//!
//! # Laws
//! 1. [`Interval::parse`] reads what the interval prints.
//! 2. Intervals compare by [`Interval::span`], which takes a month for 30 days and a day for 24 hours. So `1 day` and
//!    `24 hours` compare as equal; they are not the same value, and groups tell them apart.
//! 3. [`Interval::justified`] has the same span, and is the same for all intervals of one span.

use std::fmt;

use crate::calendar::{
    DateField, NANOS_PER_DAY, civil_of, days_in_month, instant_of, months_after, nanos_of, nanos_of_day,
};
use crate::value::{DAYS_PER_MONTH, Interval, Timestamp};
use crate::{Decimal, ValueError, datetime};

mod reading;

use reading::{NANOS_PER_HOUR, NANOS_PER_MINUTE, NANOS_PER_SECOND};

/// Places that multiples of months and days are computed to.
const SCALED_PLACES: i32 = 17;
impl Interval {
    /// Reads PostgreSQL's forms: `1 year 2 mons 3 days 04:05:06.7`, `3 weeks ago`, `1-2` (years and months), and ISO 8601,
    /// `P1Y2M3DT4H5M6.7S`.
    ///
    /// # Errors
    /// [`ValueError::BadInterval`] for another text, [`ValueError::OutOfRange`] for too long a time.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        reading::interval(text)
    }

    /// From parts of any size.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn new(months: i128, days: i128, nanos: i128) -> Result<Self, ValueError> {
        let fitting = || {
            Some(Self { months: months.try_into().ok()?, days: days.try_into().ok()?, nanos: nanos.try_into().ok()? })
        };
        fitting().ok_or_else(|| ValueError::OutOfRange {
            value: format!("{months} months, {days} days and {nanos} nanoseconds"),
            target: "INTERVAL".into(),
        })
    }

    /// Its length in seconds: [`Interval::span`] as a decimal.
    ///
    /// # Errors
    /// None that an interval could cause.
    pub fn seconds(self) -> Result<Decimal, ValueError> {
        Decimal::new(self.span(), 9)
    }

    /// Its length in nanoseconds as EXTRACT(EPOCH ..) of PostgreSQL counts it: a year of twelve months has 365.25 days, a month beside it 30.
    pub fn epoch_nanos(self) -> i128 {
        const NANOS_PER_YEAR: i128 = 31_557_600_000_000_000;
        let rest = Self { months: self.months % 12, ..self };
        i128::from(self.months / 12) * NANOS_PER_YEAR + rest.span()
    }

    /// The three parts, wide enough to compute with: months, days, nanoseconds.
    pub fn parts(self) -> [i128; 3] {
        [self.months.into(), self.days.into(), self.nanos.into()]
    }

    /// The sum of two intervals, part by part.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn plus(self, other: Self) -> Result<Self, ValueError> {
        let ([a, b, c], [x, y, z]) = (self.parts(), other.parts());
        Self::new(a + x, b + y, c + z)
    }

    /// The interval in the other direction.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] for the smallest parts.
    pub fn negated(self) -> Result<Self, ValueError> {
        let [months, days, nanos] = self.parts();
        Self::new(-months, -days, -nanos)
    }

    /// Each part multiplied, or divided. The fraction of a month becomes days, 30 for a month, and that of a day becomes
    /// time; nanoseconds are rounded.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`]; those of `scale`.
    pub fn scaled(self, scale: impl Fn(Decimal) -> Result<Decimal, ValueError>) -> Result<Self, ValueError> {
        Self::of_scaled(self.parts(), scale)
    }

    /// The average of `count` intervals, of which these are the sums of the parts.
    ///
    /// # Errors
    /// As [`Interval::scaled`].
    pub fn average(sums: [i128; 3], count: u64) -> Result<Self, ValueError> {
        let count = Decimal::new(count.into(), 0)?;
        Self::of_scaled(sums, |part| part.checked_div(count))
    }

    fn of_scaled(
        [months, days, nanos]: [i128; 3],
        scale: impl Fn(Decimal) -> Result<Decimal, ValueError>,
    ) -> Result<Self, ValueError> {
        // A third of a month is 10 days: the digits that a quotient lacks must not count.
        let scale = |part: i128| scale(Decimal::new(part, 0)?)?.round(SCALED_PLACES);
        let months = scale(months)?;
        let whole_months = months.truncate(0);
        let more_days =
            months.checked_sub(whole_months)?.checked_mul(DAYS_PER_MONTH.into())?.round(SCALED_PLACES - 2)?;
        let days = scale(days)?;
        let (whole_days, whole_more) = (days.truncate(0), more_days.truncate(0));
        let rest = days.checked_sub(whole_days)?.checked_add(more_days.checked_sub(whole_more)?)?;
        let time = scale(nanos)?.checked_add(rest.checked_mul(Decimal::new(NANOS_PER_DAY, 0)?)?)?;
        let whole = |number: Decimal| {
            let beyond = || ValueError::OutOfRange { value: number.to_string(), target: "INTERVAL".into() };
            number.unscaled_at(0).ok_or_else(beyond)
        };
        Self::new(whole(whole_months)?, whole(whole_days)? + whole(whole_more)?, whole(time.round(0)?)?)
    }

    /// Time of 24 hours and more as days: JUSTIFY_HOURS.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn with_whole_days(self) -> Result<Self, ValueError> {
        let [months, days, nanos] = self.parts();
        let (days, nanos) = of_one_sign((days + nanos / NANOS_PER_DAY, nanos % NANOS_PER_DAY), NANOS_PER_DAY);
        Self::new(months, days, nanos)
    }

    /// 30 days and more as months: JUSTIFY_DAYS.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn with_whole_months(self) -> Result<Self, ValueError> {
        let [months, days, nanos] = self.parts();
        let per_month = DAYS_PER_MONTH.into();
        let (months, days) = of_one_sign((months + days / per_month, days % per_month), per_month);
        Self::new(months, days, nanos)
    }

    /// The interval of the same span with parts of one sign, less than 24 hours and less than 30 days: JUSTIFY_INTERVAL.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn justified(self) -> Result<Self, ValueError> {
        let span = self.span();
        let (days, nanos) = (span / NANOS_PER_DAY, span % NANOS_PER_DAY);
        Self::new(days / i128::from(DAYS_PER_MONTH), days % i128::from(DAYS_PER_MONTH), nanos)
    }

    /// A field, as EXTRACT has it. A field counts what the fields above it leave, and has the sign of its part.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a field that an interval has not.
    pub fn field(self, field: DateField) -> Result<i64, ValueError> {
        let months = i64::from(self.months);
        Ok(match field {
            DateField::Millennium => months / 12_000,
            DateField::Century => months / 1_200,
            DateField::Decade => months / 120,
            DateField::Year => months / 12,
            DateField::Quarter => months % 12 / 3 + 1,
            DateField::Month => months % 12,
            DateField::Day => self.days.into(),
            DateField::Hour => self.nanos / NANOS_PER_HOUR,
            DateField::Minute => self.nanos / NANOS_PER_MINUTE % 60,
            DateField::Second => self.nanos / NANOS_PER_SECOND % 60,
            DateField::IsoYear | DateField::Week | DateField::DayOfYear | DateField::DayOfWeek | DateField::Dow => {
                let text =
                    format!("an INTERVAL has no {}: it has years, quarters, months, days and time", field.name());
                return Err(ValueError::BadArgument(text));
            }
        })
    }

    /// The instant this long after another: first months, which keep the day of the month or take its month's last one,
    /// then days, then time.
    ///
    /// # Errors
    /// [`ValueError::DatetimeOverflow`] where the calendar ends.
    pub fn after(self, at: Timestamp) -> Result<Timestamp, ValueError> {
        let [months, days, nanos] = self.parts();
        moved(at, months, days * NANOS_PER_DAY + nanos)
    }

    /// The instant this long before another.
    ///
    /// # Errors
    /// [`ValueError::DatetimeOverflow`] where the calendar ends.
    pub fn before(self, at: Timestamp) -> Result<Timestamp, ValueError> {
        let [months, days, nanos] = self.parts();
        moved(at, -months, -days * NANOS_PER_DAY - nanos)
    }

    /// The years, months, days and time from one instant to another, as a calendar counts them: AGE.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`].
    pub fn between(from: Timestamp, to: Timestamp) -> Result<Self, ValueError> {
        if to < from {
            return Self::between(to, from)?.negated();
        }
        let (earlier, later) = (civil_of(from.ms), civil_of(to.ms));
        let mut months = (later.year - earlier.year) * 12 + later.month - earlier.month;
        let mut days = later.day - earlier.day;
        let mut nanos = nanos_of_day(to) - nanos_of_day(from);
        if nanos < 0 {
            nanos += NANOS_PER_DAY;
            days -= 1;
        }
        if days < 0 {
            days += days_in_month(earlier.year, earlier.month);
            months -= 1;
        }
        Self::new(months.into(), days.into(), nanos)
    }
}

/// The instant that is this number of months and of nanoseconds after another one.
fn moved(at: Timestamp, months: i128, nanos: i128) -> Result<Timestamp, ValueError> {
    let day = i64::try_from(months).ok().and_then(|months| months_after(at.ms, months));
    let shifted = day.map(|ms| Timestamp { ms, ..at });
    let moved = shifted.map(|at| instant_of(nanos_of(at) + nanos)).transpose()?;
    moved.filter(|at| datetime::has_text(at.ms)).ok_or_else(|| ValueError::DatetimeOverflow {
        value: format!("{}, {months} months and {nanos} nanoseconds later,", datetime::format_timestamp(at)),
        target: "the calendar".into(),
    })
}

/// A count of units and a rest below one unit, brought to one sign.
fn of_one_sign((count, rest): (i128, i128), unit: i128) -> (i128, i128) {
    match (count.signum(), rest.signum()) {
        (1, -1) => (count - 1, rest + unit),
        (-1, 1) => (count + 1, rest - unit),
        _ => (count, rest),
    }
}

impl fmt::Display for Interval {
    /// As PostgreSQL writes it: `1 year 2 mons 3 days 04:05:06.7`. After a negative part a positive one has a plus.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut is_first, mut is_after_minus) = (true, false);
        for (count, unit) in [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")] {
            if count != 0 {
                let (blank, plus) =
                    (if is_first { "" } else { " " }, if is_after_minus && count > 0 { "+" } else { "" });
                write!(f, "{blank}{plus}{count} {unit}{}", if count == 1 { "" } else { "s" })?;
                (is_first, is_after_minus) = (false, count < 0);
            }
        }
        if self.nanos == 0 && !is_first {
            return Ok(());
        }
        let sign = match (self.nanos < 0, is_after_minus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let nanos = self.nanos.unsigned_abs();
        let (second, below) = (nanos / NANOS_PER_SECOND as u64, nanos % NANOS_PER_SECOND as u64);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{}{sign}{hour:02}:{minute:02}:{second:02}", if is_first { "" } else { " " })?;
        match below {
            0 => Ok(()),
            _ => write!(f, ".{}", format!("{below:09}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests;
