//! Units of time: what instants are cut to, binned by, and taken apart into.
//!
//! The calendar is proleptic Gregorian, in UTC, without end: years are counted for
//! every instant that a value can hold, far beyond those that can be written.
//!
//! # Laws
//! For instants `t` and `u`, in nanoseconds since 1970, and any [`Bins`]:
//! 1. `floor(t) <= t <= ceil(t)`, both are starts of bins, and no start lies between them;
//! 2. `t <= u` implies `floor(t) <= floor(u)`, and the same of `ceil` and `round`;
//! 3. The fields that [`DateField::grows`] names never fall as time goes on.

use crate::rounding::Rounding;
use crate::value::Timestamp;
use crate::{SqlType, Value, ValueError, text};

const NANOS_PER_MS: i128 = 1_000_000;
const MS_PER_DAY: i64 = 86_400_000;
/// Nanoseconds of a day.
pub(crate) const NANOS_PER_DAY: i128 = MS_PER_DAY as i128 * NANOS_PER_MS;
/// 1970-01-05, the first Monday, in days since 1970.
const FIRST_MONDAY: i128 = 4;

/// The Julian day of 1970-01-01, from midnight to midnight.
pub(crate) const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is its own word
pub enum DateUnit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    /// From Monday on.
    Week,
    Month,
    Quarter,
    Year,
    /// Ten years from one that ends with 0 on.
    Decade,
    /// From January of 1, 101, .. 2001 on.
    Century,
    /// From January of 1, 1001, 2001 on.
    Millennium,
}

impl DateUnit {
    /// The unit of this name, in any case, singular or plural.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`].
    pub fn by_name(name: &str) -> Result<Self, ValueError> {
        const NAMES: [(&str, DateUnit); 15] = [
            ("day", DateUnit::Day),
            ("hour", DateUnit::Hour),
            ("minute", DateUnit::Minute),
            ("month", DateUnit::Month),
            ("year", DateUnit::Year),
            ("week", DateUnit::Week),
            ("second", DateUnit::Second),
            ("quarter", DateUnit::Quarter),
            ("millisecond", DateUnit::Millisecond),
            ("microsecond", DateUnit::Microsecond),
            ("decade", DateUnit::Decade),
            ("century", DateUnit::Century),
            ("centurie", DateUnit::Century),
            ("millennium", DateUnit::Millennium),
            ("millennia", DateUnit::Millennium),
        ];
        let name = name.trim();
        let singular = name.strip_suffix(['s', 'S']).unwrap_or(name);
        let found = NAMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(singular));
        found.map(|(_, unit)| unit).ok_or_else(|| {
            ValueError::BadArgument(format!("'{name}' is no unit of time: year, quarter, month, week, day, hour, ..",))
        })
    }

    /// Its length in nanoseconds, where that is always the same.
    fn nanos(self) -> Option<i128> {
        Some(match self {
            Self::Microsecond => 1_000,
            Self::Millisecond => NANOS_PER_MS,
            Self::Second => 1_000 * NANOS_PER_MS,
            Self::Minute => 60_000 * NANOS_PER_MS,
            Self::Hour => 3_600_000 * NANOS_PER_MS,
            Self::Day => NANOS_PER_DAY,
            Self::Week => 7 * NANOS_PER_DAY,
            Self::Month | Self::Quarter | Self::Year | Self::Decade | Self::Century | Self::Millennium => return None,
        })
    }

    /// Its months, days and nanoseconds.
    pub(crate) fn parts(self) -> (i128, i128, i128) {
        match self {
            Self::Day => (0, 1, 0),
            Self::Week => (0, 7, 0),
            unit => match unit.nanos() {
                Some(nanos) => (0, 0, nanos),
                None => (unit.months().into(), 0, 0),
            },
        }
    }

    fn months(self) -> i64 {
        match self {
            Self::Quarter => 3,
            Self::Year => 12,
            Self::Decade => 120,
            Self::Century => 1_200,
            Self::Millennium => 12_000,
            _ => 1,
        }
    }

    /// The first month of a bin, counted from January of the year 0: there is no century of the year 0.
    fn first_month(self) -> i64 {
        if matches!(self, Self::Century | Self::Millennium) { 12 } else { 0 }
    }
}

/// Time cut into bins, one after the other without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bins {
    width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// So many nanoseconds, counted from an instant.
    Nanos { count: i128, origin: i128 },
    /// So many calendar months from a month on, which is counted from January of the year 0.
    Months { count: i64, origin: i64 },
}

impl Width {
    fn of_months(unit: DateUnit) -> Self {
        Self::Months { count: unit.months(), origin: unit.first_month() }
    }
}

impl Bins {
    /// The bins of one unit: `date_trunc('week', ..)`.
    pub fn of_unit(unit: DateUnit) -> Self {
        Self::of_units(unit, 1).unwrap_or(Self { width: Width::of_months(unit) })
    }

    /// Bins of `count` units from 1970 on (weeks from its first Monday): `FLOOR(.., 'MINUTE', 15)`.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a count below 1, and for several months or years.
    pub fn of_units(unit: DateUnit, count: i64) -> Result<Self, ValueError> {
        let origin = if unit == DateUnit::Week { FIRST_MONDAY * NANOS_PER_DAY } else { 0 };
        let width = match unit.nanos() {
            _ if count < 1 => Err(ValueError::BadArgument(format!("{count} units of time: at least 1 is needed")))?,
            Some(nanos) => Width::Nanos { count: nanos * i128::from(count), origin },
            None if count == 1 => Width::of_months(unit),
            None => {
                let text = "months, years and longer units are of no fixed length: one at a time is taken";
                Err(ValueError::BadArgument(text.into()))?
            }
        };
        Ok(Self { width })
    }

    /// The bins of `date_bin`: as long as a text such as '15 minutes' or '1 day 12 hours' says, from `origin` on.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for another text, and for months and years.
    pub fn of_stride(stride: &str, origin: Timestamp) -> Result<Self, ValueError> {
        let bad = || ValueError::BadArgument(format!("'{stride}' is no length of time such as '15 minutes'"));
        let mut words = stride.split_whitespace();
        let mut count = 0i128;
        while let Some(number) = words.next() {
            let number: i128 = number.parse::<u32>().map_err(|_| bad())?.into();
            let unit = DateUnit::by_name(words.next().ok_or_else(bad)?)?;
            count += number * unit.nanos().ok_or_else(bad)?;
        }
        if count == 0 {
            return Err(bad());
        }
        Ok(Self { width: Width::Nanos { count, origin: nanos_of(origin) } })
    }

    /// The number of the bin that holds an instant; it grows by one from bin to bin.
    pub fn index(self, at: i128) -> i128 {
        match self.width {
            Width::Nanos { count, origin } => (at - origin).div_euclid(count),
            Width::Months { count, origin } => {
                (month_of(at.div_euclid(NANOS_PER_DAY)) - origin).div_euclid(count).into()
            }
        }
    }

    /// The start of the bin that holds an instant.
    pub fn floor(self, at: i128) -> i128 {
        match self.width {
            Width::Nanos { count, origin } => at - (at - origin).rem_euclid(count),
            Width::Months { count, origin } => {
                let month = month_of(at.div_euclid(NANOS_PER_DAY));
                start_of_month(month - (month - origin).rem_euclid(count))
            }
        }
    }

    /// The start of the bin after the one that holds an instant.
    fn next(self, at: i128) -> i128 {
        match self.width {
            Width::Nanos { count, .. } => self.floor(at) + count,
            Width::Months { count, origin } => {
                let month = month_of(at.div_euclid(NANOS_PER_DAY));
                start_of_month(month - (month - origin).rem_euclid(count) + count)
            }
        }
    }

    /// The first start of a bin that is not before an instant.
    pub fn ceil(self, at: i128) -> i128 {
        let floor = self.floor(at);
        if floor == at { at } else { self.next(at) }
    }

    /// The nearest start of a bin, the later of two.
    pub fn round(self, at: i128) -> i128 {
        let (floor, next) = (self.floor(at), self.next(at));
        if at - floor < next - at { floor } else { next }
    }

    /// The start of a bin that CEIL, ROUND, and otherwise FLOOR, bring an instant to.
    pub fn cut(self, rounding: Rounding, at: i128) -> i128 {
        match rounding {
            Rounding::Ceil => self.ceil(at),
            Rounding::Round => self.round(at),
            Rounding::Floor | Rounding::Trunc => self.floor(at),
        }
    }
}

/// A part of an instant, counted as SQL counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is its own word
pub enum DateField {
    /// 1 is the years 1 to 1000; -1 comes before it, as there is no millennium 0.
    Millennium,
    /// 1 is the years 1 to 100; -1 comes before it.
    Century,
    /// The year divided by ten, and rounded down.
    Decade,
    Year,
    /// The year of the ISO week, which [`DateField::Week`] counts.
    IsoYear,
    Quarter,
    Month,
    /// ISO 8601.
    Week,
    /// Of the month.
    Day,
    DayOfYear,
    /// 1 is Monday, 7 Sunday: Phoenix's `DAYOFWEEK`, `isodow` elsewhere.
    DayOfWeek,
    /// 0 is Sunday, 6 Saturday: `EXTRACT(DOW ..)`.
    Dow,
    Hour,
    Minute,
    /// Whole ones.
    Second,
}

impl DateField {
    const ALL: [Self; 15] = [
        Self::Millennium,
        Self::Century,
        Self::Decade,
        Self::Year,
        Self::IsoYear,
        Self::Quarter,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::DayOfYear,
        Self::DayOfWeek,
        Self::Dow,
        Self::Hour,
        Self::Minute,
        Self::Second,
    ];

    /// The name of the function that takes this field.
    pub const fn function_name(self) -> &'static str {
        match self {
            Self::Millennium => "MILLENNIUM",
            Self::Century => "CENTURY",
            Self::Decade => "DECADE",
            Self::Year => "YEAR",
            Self::IsoYear => "ISOYEAR",
            Self::Quarter => "QUARTER",
            Self::Month => "MONTH",
            Self::Week => "WEEK",
            Self::Day => "DAYOFMONTH",
            Self::DayOfYear => "DAYOFYEAR",
            Self::DayOfWeek => "DAYOFWEEK",
            Self::Dow => "DOW",
            Self::Hour => "HOUR",
            Self::Minute => "MINUTE",
            Self::Second => "SECOND",
        }
    }

    /// The name in `EXTRACT(field FROM ..)`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::DayOfYear => "DOY",
            Self::DayOfWeek => "ISODOW",
            other => other.function_name(),
        }
    }

    /// The field of `EXTRACT(field FROM ..)` and `DATE_PART('field', ..)`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// Whether the field never falls as time goes on. Months, days and hours start again from their first value.
    pub const fn grows(self) -> bool {
        matches!(self, Self::Millennium | Self::Century | Self::Decade | Self::Year | Self::IsoYear)
    }

    /// The field of an instant.
    pub fn of(self, at: Timestamp) -> i64 {
        let days = at.ms.div_euclid(MS_PER_DAY);
        let second = at.ms.rem_euclid(MS_PER_DAY) / 1000;
        match self {
            Self::Millennium => counted_from_1(civil(days).year, 1_000),
            Self::Century => counted_from_1(civil(days).year, 100),
            Self::Decade => civil(days).year.div_euclid(10),
            Self::Year => civil(days).year,
            Self::IsoYear => civil(iso_thursday(days)).year,
            Self::Quarter => (civil(days).month - 1) / 3 + 1,
            Self::Month => civil(days).month,
            Self::Week => iso_week(days),
            Self::Day => civil(days).day,
            Self::DayOfYear => days - days_of(civil(days).year, 1) + 1,
            Self::DayOfWeek => iso_weekday(days),
            Self::Dow => iso_weekday(days) % 7,
            Self::Hour => second / 3600,
            Self::Minute => second / 60 % 60,
            Self::Second => second % 60,
        }
    }
}

/// Nanoseconds since 1970 of any instant.
pub fn nanos_of(at: Timestamp) -> i128 {
    i128::from(at.ms) * NANOS_PER_MS + i128::from(at.nanos)
}

/// The instant `nanos` nanoseconds after 1970.
///
/// # Errors
/// [`ValueError::DatetimeOverflow`] where milliseconds do not fit 64 bits.
pub fn instant_of(nanos: i128) -> Result<Timestamp, ValueError> {
    let below = nanos.rem_euclid(NANOS_PER_MS);
    match i64::try_from(nanos.div_euclid(NANOS_PER_MS)) {
        Ok(ms) => Ok(Timestamp { ms, nanos: below as u32 }),
        Err(_) => {
            let value = format!("{nanos} nanoseconds after {}", text::literal(&Value::Date(0), SqlType::Date));
            Err(ValueError::DatetimeOverflow { value, target: "TIMESTAMP".into() })
        }
    }
}

/// A date of the calendar.
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
}

/// The date of an instant, in milliseconds since 1970.
pub(crate) fn civil_of(ms: i64) -> Civil {
    civil(ms.div_euclid(MS_PER_DAY))
}

/// Nanoseconds from midnight on.
pub(crate) fn nanos_of_day(at: Timestamp) -> i128 {
    nanos_of(at).rem_euclid(NANOS_PER_DAY)
}

/// Days of a month.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_of(next_year, next_month) - days_of(year, month)
}

/// The instant `months` months later, at the same time of the same day of the month, or of the month's last day if the month
/// is shorter; `None` if the milliseconds do not fit 64 bits.
pub(crate) fn months_after(ms: i64, months: i64) -> Option<i64> {
    let date = civil_of(ms);
    let month = (date.year * 12 + date.month - 1).checked_add(months)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = days_of(year, month) + date.day.min(days_in_month(year, month)) - 1;
    day.checked_mul(MS_PER_DAY)?.checked_add(ms.rem_euclid(MS_PER_DAY))
}

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from March 1 of the year 0 to 1970: years that start in March have the leap day last.
const DAYS_TO_1970: i64 = 719_468;

/// The date of a day since 1970.
fn civil(days: i64) -> Civil {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    Civil {
        year: era * 400 + year_of_era + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
    }
}

/// The day since 1970 of the first of a month.
fn days_of(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5;
    era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - DAYS_TO_1970
}

/// The month of a day since 1970, counted from January of the year 0.
fn month_of(days: i128) -> i64 {
    // Instants have 64 bits of milliseconds, so their days fit by far.
    let date = civil(i64::try_from(days).unwrap_or_default());
    date.year * 12 + date.month - 1
}

fn start_of_month(month: i64) -> i128 {
    i128::from(days_of(month.div_euclid(12), month.rem_euclid(12) + 1)) * NANOS_PER_DAY
}

fn iso_weekday(days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (days + 3).rem_euclid(7) + 1
}

/// The Thursday of the day's week, whose year is that of the week.
fn iso_thursday(days: i64) -> i64 {
    days + 4 - iso_weekday(days)
}

/// The number of the span of `length` years that holds a year: 1 begins with the year 1, and -1 comes before it.
fn counted_from_1(year: i64, length: i64) -> i64 {
    let index = (year - 1).div_euclid(length);
    if index < 0 { index } else { index + 1 }
}

/// The week of a day, counted in the year of its Thursday.
fn iso_week(days: i64) -> i64 {
    let thursday = iso_thursday(days);
    (thursday - days_of(civil(thursday).year, 1)) / 7 + 1
}

#[cfg(test)]
mod tests;
