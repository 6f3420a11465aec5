//! Intervals from text.

use crate::ValueError;
use crate::calendar::NANOS_PER_DAY;
use crate::error::shorten;
use crate::value::Interval;

pub(super) const NANOS_PER_SECOND: i64 = 1_000_000_000;
pub(super) const NANOS_PER_MINUTE: i64 = 60 * NANOS_PER_SECOND;
pub(super) const NANOS_PER_HOUR: i64 = 60 * NANOS_PER_MINUTE;

/// Most digits of one number before its point: all parts of an interval are far smaller.
const DIGITS_MAX: usize = 18;
/// Quantities are counted in billionths.
const ONE: i128 = 1_000_000_000;

/// What a word in an interval means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A number of months.
    Months(i128),
    /// A number of days.
    Days(i128),
    /// A number of nanoseconds.
    Nanos(i128),
}

use Unit::{Days, Months, Nanos};

/// PostgreSQL's names for units, and `nanosecond`.
const UNITS: &[(&[&str], Unit)] = &[
    (&["day", "days", "d"], Days(1)),
    (&["hour", "hours", "hr", "hrs", "h"], Nanos(NANOS_PER_HOUR as i128)),
    (&["minute", "minutes", "min", "mins", "m"], Nanos(NANOS_PER_MINUTE as i128)),
    (&["second", "seconds", "sec", "secs", "s"], Nanos(NANOS_PER_SECOND as i128)),
    (&["month", "months", "mon", "mons"], Months(1)),
    (&["year", "years", "yr", "yrs", "y"], Months(12)),
    (&["week", "weeks", "w"], Days(7)),
    (&["quarter", "quarters", "qtr"], Months(3)),
    (&["millisecond", "milliseconds", "msec", "msecs", "ms"], Nanos(1_000_000)),
    (&["microsecond", "microseconds", "usec", "usecs", "us"], Nanos(1_000)),
    (&["nanosecond", "nanoseconds", "nsec", "ns"], Nanos(1)),
    (&["decade", "decades", "dec", "decs"], Months(120)),
    (&["century", "centuries", "cent", "c"], Months(1_200)),
    (&["millennium", "millennia", "mil", "mils"], Months(12_000)),
];

/// The interval that a text is.
pub(super) fn interval(text: &str) -> Result<Interval, ValueError> {
    let bad = || ValueError::BadInterval { text: shorten(text) };
    let trimmed = text.trim();
    let parts = match trimmed.strip_prefix(['P', 'p']) {
        Some(designated) => Parts::of_iso(designated),
        None => match trimmed.strip_prefix("-P").or_else(|| trimmed.strip_prefix("-p")) {
            Some(designated) => Parts::of_iso(designated).map(Parts::negated),
            None => Parts::of_words(trimmed),
        },
    };
    let Parts { months, days, nanos } = parts.ok_or_else(bad)?;
    Interval::new(months, days, nanos)
        .map_err(|_| ValueError::OutOfRange { value: format!("'{}'", shorten(text)), target: "INTERVAL".into() })
}

#[derive(Default)]
struct Parts {
    months: i128,
    days: i128,
    nanos: i128,
}

impl Parts {
    fn negated(self) -> Self {
        Self { months: -self.months, days: -self.days, nanos: -self.nanos }
    }

    /// Adds a quantity, in billionths of a unit. Of years and their multiples the fraction is rounded to months; that of a
    /// month becomes days, 30 for a month, and that of a day time.
    fn add(&mut self, quantity: i128, unit: Unit) -> Option<()> {
        match unit {
            Months(1) => {
                self.months += quantity / ONE;
                self.add(quantity % ONE * 30, Days(1))?;
            }
            Months(count) => {
                let months = quantity.checked_mul(count)?;
                self.months += (months + months.signum() * ONE / 2) / ONE;
            }
            Days(count) => {
                let days = quantity.checked_mul(count)?;
                self.days += days / ONE;
                self.add(days % ONE, Nanos(NANOS_PER_DAY))?;
            }
            Nanos(count) => {
                let nanos = quantity.checked_mul(count)?;
                self.nanos = self.nanos.checked_add((nanos + nanos.signum() * ONE / 2) / ONE)?;
            }
        }
        Some(())
    }

    /// `1 year 2 mons -3 days 04:05:06.7 [ago]`, `1-2`, `2h30m`.
    fn of_words(text: &str) -> Option<Self> {
        let mut parts = Self::default();
        let mut rest = text.strip_prefix('@').unwrap_or(text).trim_start();
        if rest.is_empty() {
            return None;
        }
        let (mut has_length, mut is_ago) = (false, false);
        while !rest.is_empty() {
            if is_ago {
                return None;
            }
            let (number, after) = rest.split_at(number_end(rest));
            let after_blanks = after.trim_start();
            let word_end = after_blanks.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after_blanks.len());
            let (word, after_word) = after_blanks.split_at(word_end);
            rest = after_word.trim_start();
            if number.is_empty() {
                is_ago = has_length && word.eq_ignore_ascii_case("ago");
                is_ago.then_some(())?;
            } else if number.contains(':') {
                parts.nanos = parts.nanos.checked_add(clock(number)?)?;
                rest = after_blanks;
            } else if let Some(months) = years_and_months(number) {
                parts.months += months?;
                rest = after_blanks;
            } else if !word.is_empty() && !word.eq_ignore_ascii_case("ago") {
                parts.add(quantity(number)?, unit(word)?)?;
            } else {
                // A number before a time of day counts days, and the last one seconds.
                let counts_days = rest.get(..number_end(rest)).is_some_and(|next| next.contains(':'));
                let is_last = after_blanks.is_empty() || !word.is_empty();
                parts.add(quantity(number)?, if counts_days { Days(1) } else { Nanos(NANOS_PER_SECOND.into()) })?;
                (counts_days || is_last).then_some(())?;
                rest = after_blanks;
            }
            has_length = true;
        }
        Some(if is_ago { parts.negated() } else { parts })
    }

    /// The text after the P: `1Y2M3W4DT5H6M7.8S`.
    fn of_iso(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't']) {
            Some((_, "")) => return None,
            Some((date, time)) => (date, time),
            None => (text, ""),
        };
        let mut parts = Self::default();
        for (mut rest, units) in [
            (date, [('Y', Months(12)), ('M', Months(1)), ('W', Days(7)), ('D', Days(1))]),
            (
                time,
                [
                    ('H', Nanos(NANOS_PER_HOUR.into())),
                    ('M', Nanos(NANOS_PER_MINUTE.into())),
                    ('S', Nanos(NANOS_PER_SECOND.into())),
                    ('S', Nanos(NANOS_PER_SECOND.into())),
                ],
            ),
        ] {
            while !rest.is_empty() {
                let (number, after) = rest.split_at(number_end(rest));
                let designator = after.chars().next()?;
                let (_, unit) = units.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&designator))?;
                parts.add(quantity(number)?, unit)?;
                rest = after.get(1..)?;
            }
        }
        (!text.is_empty()).then_some(parts)
    }
}

fn unit(word: &str) -> Option<Unit> {
    let is = |names: &&[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    UNITS.iter().find(|(names, _)| is(names)).map(|(_, unit)| *unit)
}

/// Where a number, a time or `years-months` ends: a sign, and digits with points, colons and inner hyphens.
fn number_end(text: &str) -> usize {
    let sign = usize::from(text.starts_with(['+', '-']));
    let mut end = sign;
    for (at, c) in text.char_indices().skip(sign) {
        if !(c.is_ascii_digit() || c == '.' || c == ':' || c == '-' && at > sign) {
            break;
        }
        end = at + 1;
    }
    if end == sign { 0 } else { end }
}

fn without_sign(text: &str) -> (i128, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn digits(text: &str) -> Option<i128> {
    let is_number = (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// A number in billionths; further digits are dropped.
fn quantity(text: &str) -> Option<i128> {
    let (sign, text) = without_sign(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = if whole.is_empty() && !fraction.is_empty() { 0 } else { digits(whole)? };
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let below = digits(&format!("{:0<9}", fraction.get(..fraction.len().min(9))?))?;
    Some(sign * (whole * ONE + below))
}

/// `hours:minutes[:seconds[.fraction]]` in nanoseconds.
fn clock(text: &str) -> Option<i128> {
    let (sign, text) = without_sign(text);
    let mut parts = text.split(':');
    let (hours, minutes) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let seconds = parts.next().map_or(Some(0), quantity)?;
    let is_time = minutes < 60 && (0..60 * ONE).contains(&seconds) && parts.next().is_none();
    let nanos = hours.checked_mul(NANOS_PER_HOUR.into())? + minutes * i128::from(NANOS_PER_MINUTE) + seconds;
    is_time.then_some(sign * nanos)
}

/// `years-months` in months; `None` of a text without a hyphen inside.
fn years_and_months(text: &str) -> Option<Option<i128>> {
    let (sign, text) = without_sign(text);
    let (years, months) = text.split_once('-')?;
    let count = || Some((digits(years)?, digits(months).filter(|months| *months < 12)?));
    Some(count().map(|(years, months)| sign * (years * 12 + months)))
}
