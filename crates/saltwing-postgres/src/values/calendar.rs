//! Days since 1970 as years, months and days, and back. The calendar is proleptic Gregorian.
//!
//! # Laws
//! 1. [`days_of`] of [`civil_of`] of a day is that day.
//! 2. The next day is the next date.

use std::ops::RangeInclusive;

/// The first and the last millisecond since 1970 that Saltwing has a text for: the years -262143 to 262142.
pub(super) const CALENDAR_MS: RangeInclusive<i64> = -8_334_601_228_800_000..=8_210_266_876_799_999;

/// 0000-03-01 in days since 1970. Years are counted from March on, so that the leap day is the last day of its year.
const FIRST_MARCH: i64 = -719_468;
/// The days of 400, 100 and 4 years, and of one.
const DAYS_PER_400_YEARS: i64 = 146_097;
const DAYS_PER_100_YEARS: i64 = 36_524;
const DAYS_PER_4_YEARS: i64 = 1_461;
const DAYS_PER_YEAR: i64 = 365;
/// The days of the five months from March to July, and again from August to December.
const DAYS_PER_5_MONTHS: i64 = 153;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Civil {
    /// The year; 0 is the year before the year 1.
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: i64,
    /// 1 to 31.
    pub(super) day: i64,
}

/// The date of a day, counted from 1970, which is within a billion years of it.
pub(super) fn civil_of(days: i64) -> Civil {
    let day = days - FIRST_MARCH;
    let (era, day) = (day.div_euclid(DAYS_PER_400_YEARS), day.rem_euclid(DAYS_PER_400_YEARS));
    // The last day of 400 years, and of 4, is a leap day, which would begin one part more.
    let century = (day / DAYS_PER_100_YEARS).min(3);
    let day = day - century * DAYS_PER_100_YEARS;
    let (olympiad, day) = (day / DAYS_PER_4_YEARS, day % DAYS_PER_4_YEARS);
    let year = (day / DAYS_PER_YEAR).min(3);
    let day = day - year * DAYS_PER_YEAR;
    let month = (5 * day + 2) / DAYS_PER_5_MONTHS;
    let year = era * 400 + century * 100 + olympiad * 4 + year;
    let day = day - days_before(month) + 1;
    // The months from March on are 0 to 9, and 10 and 11 belong to the next year.
    if month < 10 { Civil { year, month: month + 3, day } } else { Civil { year: year + 1, month: month - 9, day } }
}

/// The day, counted from 1970, of a date; `None` if there is no such date. Years lie within a billion of 1970.
pub(super) fn days_of(date: Civil) -> Option<i64> {
    let Civil { year, month, day } = date;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let days = year * DAYS_PER_YEAR + year / 4 - year / 100 + days_before(month) + day - 1;
    let days = era * DAYS_PER_400_YEARS + days + FIRST_MARCH;
    // A 30th of February is another day's date.
    (civil_of(days) == date).then_some(days)
}

/// The days of the year, which begins in March, before a month from 0 on.
fn days_before(month: i64) -> i64 {
    (month * DAYS_PER_5_MONTHS + 2) / 5
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing::{SqlType, Value, text};

    use super::*;

    const MS_PER_DAY: i64 = 86_400_000;

    /// The library's text for the same day.
    fn of_the_library(days: i64) -> String {
        text::format(&Value::Date(days * MS_PER_DAY), SqlType::Date).unwrap()
    }

    fn assert_is_the_library_s(days: i64) {
        let date = civil_of(days);
        let sign = if date.year < 0 { "-" } else { "" };
        let shown = format!("{sign}{:04}-{:02}-{:02}", date.year.abs(), date.month, date.day);
        assert_eq!(shown, of_the_library(days));
        assert_eq!(days_of(date), Some(days));
        assert!(civil_of(days + 1) > date);
    }

    proptest! {
        #[test]
        fn days_are_those_of_the_library(ms in CALENDAR_MS) {
            assert_is_the_library_s(ms.div_euclid(MS_PER_DAY));
        }

        #[test]
        fn a_date_is_one_of_a_day_or_none(year in -300_000i64..300_000, month in -1i64..14, day in -1i64..33) {
            let date = Civil { year, month, day };
            match days_of(date) {
                Some(days) => prop_assert_eq!(civil_of(days), date),
                None => prop_assert!(!(1..=12).contains(&month) || !(1..=28).contains(&day)),
            }
        }
    }

    #[test]
    fn every_day_of_800_years_and_the_ends() {
        (-400 * 366..400 * 366).for_each(assert_is_the_library_s);
        for ms in [*CALENDAR_MS.start(), *CALENDAR_MS.end()] {
            assert_is_the_library_s(ms.div_euclid(MS_PER_DAY));
        }
        // The library has no text for the days beyond.
        for ms in [*CALENDAR_MS.start() - 1, *CALENDAR_MS.end() + 1] {
            assert!(text::format(&Value::Date(ms), SqlType::Date).unwrap().ends_with(" ms"));
        }
    }
}
