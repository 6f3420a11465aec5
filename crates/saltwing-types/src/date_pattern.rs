//! Date patterns of TO_CHAR, TO_DATE, TO_TIME and TO_TIMESTAMP: those of Java's `SimpleDateFormat`, which Phoenix uses.
//!
//! ```text
//! yyyy-MM-dd'T'HH:mm:ss.SSS
//! ```
//! A run of one letter is a field, and its length says how the field is written: `MM` is 05, `MMM` May. Text between quotes
//! and all characters but letters stand for themselves. Names are English. Fields of the week are refused, because the
//! first day of the week depends on the country.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use crate::calendar::DateField;
use crate::calendar_names::MONTHS;
use crate::error::shorten;
use crate::time_zone::TimeZone;
use crate::value::Timestamp;
use crate::{ValueError, datetime};

/// From Monday on, as [`DateField::DayOfWeek`] counts.
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HALVES: [&str; 2] = ["AM", "PM"];
/// Characters of a month's or weekday's short name.
const SHORT_CHARS: usize = 3;
const LETTERS: &str = "yMdDEuaHkKhmsSzZX";
const MS_PER_DAY: i64 = 86_400_000;

/// A pattern, ready to write and read instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatePattern {
    pattern: String,
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Text(String),
    Field(Field),
}

/// A letter of [`LETTERS`], and how often it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    letter: char,
    count: usize,
}

impl DatePattern {
    /// The pattern of TO_CHAR if there is none.
    pub const DEFAULT: &str = "yyyy-MM-dd HH:mm:ss.SSS";

    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for letters that are no fields, for patterns of `strftime`, and for an open quote.
    pub fn parse(pattern: &str) -> Result<Self, ValueError> {
        let refused = |why: &str| {
            let text = format!("'{}' is no date pattern such as yyyy-MM-dd HH:mm:ss.SSS: {why}", shorten(pattern));
            Err(ValueError::BadArgument(text))
        };
        let (mut items, mut is_quoted) = (Vec::new(), false);
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            let text = match c {
                '\'' if chars.next_if_eq(&'\'').is_some() => '\'',
                '\'' => {
                    is_quoted = !is_quoted;
                    continue;
                }
                c if is_quoted || !(c.is_ascii_alphabetic() || c == '%') => c,
                '%' => return refused("% stands in quotes"),
                letter if LETTERS.contains(letter) => {
                    let more = std::iter::from_fn(|| chars.next_if_eq(&letter)).count();
                    items.push(Item::Field(Field { letter, count: 1 + more }));
                    continue;
                }
                letter => return refused(&format!("{letter} is no field; other letters stand in quotes")),
            };
            match items.last_mut() {
                Some(Item::Text(last)) => last.push(text),
                _ => items.push(Item::Text(text.into())),
            }
        }
        if is_quoted {
            return refused("a quote is not closed");
        }
        Ok(Self { pattern: pattern.to_owned(), items })
    }

    /// The text of an instant, in UTC.
    pub fn format(&self, at: Timestamp) -> String {
        self.items.iter().fold(String::new(), |text, item| match item {
            Item::Text(own) => text + own,
            Item::Field(field) => text + &field.format(at),
        })
    }

    /// The instant that a text is, to the millisecond. Fields that the pattern leaves out are those of 1970-01-01 00:00.
    ///
    /// `zone` applies if the text names none.
    ///
    /// # Errors
    /// [`ValueError::NotByPattern`]; [`ValueError::DatetimeOverflow`] for an instant that cannot be written.
    pub fn read(&self, text: &str, zone: TimeZone) -> Result<i64, ValueError> {
        let refused = |why| ValueError::NotByPattern { text: shorten(text), pattern: shorten(&self.pattern), why };
        let mut found = Found::default();
        let mut rest = text;
        for (index, item) in self.items.iter().enumerate() {
            rest = match item {
                Item::Text(own) => {
                    rest.strip_prefix(own.as_str()).ok_or_else(|| refused(format!("'{own}' is missing")))?
                }
                Item::Field(field) => {
                    let is_apart = !matches!(self.items.get(index + 1), Some(Item::Field(next)) if next.is_number());
                    field.read(rest, is_apart, &mut found).map_err(refused)?
                }
            };
        }
        if !rest.is_empty() {
            return Err(refused(format!("'{}' is left over", shorten(rest))));
        }
        let local = found.local_ms().ok_or_else(|| refused("there is no such day".into()))?;
        let at = found.zone.unwrap_or(zone).instant_of(local)?;
        if datetime::has_text(at) {
            return Ok(at);
        }
        Err(ValueError::DatetimeOverflow { value: shorten(text), target: "the calendar".into() })
    }
}

impl Field {
    /// Whether the field is written in digits.
    fn is_number(self) -> bool {
        match self.letter {
            'M' => self.count < SHORT_CHARS,
            letter => !"EazZX".contains(letter),
        }
    }

    fn format(self, at: Timestamp) -> String {
        let number = self.number_of(at);
        let name = |names: &[&str]| {
            let name = usize::try_from(number - 1).ok().and_then(|index| names.get(index)).copied().unwrap_or_default();
            let chars = if self.count > SHORT_CHARS { name.len() } else { SHORT_CHARS };
            name.chars().take(chars).collect()
        };
        match self.letter {
            'M' if !self.is_number() => name(&MONTHS),
            'E' => name(&WEEKDAYS),
            'a' => name(&HALVES),
            'z' => "UTC".into(),
            'Z' => "+0000".into(),
            'X' => "Z".into(),
            'y' if self.count == 2 => format!("{:02}", number.rem_euclid(100)),
            _ => {
                let sign = if number < 0 { "-" } else { "" };
                format!("{sign}{:0>width$}", number.unsigned_abs(), width = self.count)
            }
        }
    }

    /// The field of an instant, as it is counted.
    fn number_of(self, at: Timestamp) -> i64 {
        let hour = DateField::Hour.of(at);
        match self.letter {
            'y' => DateField::Year.of(at),
            'M' => DateField::Month.of(at),
            'd' => DateField::Day.of(at),
            'D' => DateField::DayOfYear.of(at),
            'E' | 'u' => DateField::DayOfWeek.of(at),
            'a' => hour / 12 + 1,
            'H' => hour,
            'k' => (hour + 23) % 24 + 1,
            'K' => hour % 12,
            'h' => (hour + 11) % 12 + 1,
            'm' => DateField::Minute.of(at),
            's' => DateField::Second.of(at),
            'S' => at.ms.rem_euclid(1000),
            _ => 0,
        }
    }

    /// The numbers that a text may have here.
    fn limits(self) -> RangeInclusive<i64> {
        match self.letter {
            'y' => -262_143..=262_142,
            'M' | 'h' => 1..=12,
            'd' => 1..=31,
            'D' => 1..=366,
            'u' => 1..=7,
            'H' => 0..=23,
            'k' => 1..=24,
            'K' => 0..=11,
            'S' => 0..=999,
            _ => 0..=59,
        }
    }

    /// Takes the field from the start of a text, and gives back the rest.
    ///
    /// A number has as many digits as there are if it stands apart from a following number, else as many as the pattern has
    /// letters.
    fn read<'t>(self, text: &'t str, is_apart: bool, found: &mut Found) -> Result<&'t str, String> {
        let name = |names: &[&str], what: &str| {
            let place = names.iter().enumerate().find_map(|(index, name)| {
                let rest = after(text, name).or_else(|| after(text, name.get(..SHORT_CHARS)?))?;
                Some((index as i64 + 1, rest))
            });
            place.ok_or_else(|| format!("'{}' begins with no {what}", shorten(text)))
        };
        match self.letter {
            'M' if !self.is_number() => {
                let (month, rest) = name(&MONTHS, "month")?;
                found.month = month;
                Ok(rest)
            }
            // The date says the weekday.
            'E' => Ok(name(&WEEKDAYS, "weekday")?.1),
            'a' => {
                let (half, rest) = name(&HALVES, "AM or PM")?;
                found.is_afternoon = half == 2;
                Ok(rest)
            }
            'z' | 'Z' | 'X' => {
                let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-:".contains(c)));
                let (zone, rest) = text.split_at(end.unwrap_or(text.len()));
                found.zone = Some(TimeZone::by_name(zone).map_err(|error| error.to_string())?);
                Ok(rest)
            }
            _ => {
                let (number, rest) = self.read_number(text, is_apart)?;
                found.set(self.letter, number);
                Ok(rest)
            }
        }
    }

    fn read_number(self, text: &str, is_apart: bool) -> Result<(i64, &str), String> {
        let missing = || format!("a number is missing for {}", self.letter);
        let (sign, body) = match text.strip_prefix('-') {
            Some(body) if self.letter == 'y' => (-1, body),
            _ => (1, text),
        };
        let width = if is_apart { usize::MAX } else { self.count };
        let end = body.bytes().take(width).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = body.split_at_checked(end).ok_or_else(missing)?;
        let number = sign * digits.parse::<i64>().map_err(|_| missing())?;
        let number = match (self.letter, digits.len()) {
            // Two digits of a year are one of 1970 to 2069.
            ('y', 2) if self.count <= 2 => (number + 30).rem_euclid(100) + 1970,
            _ => number,
        };
        if self.limits().contains(&number) {
            return Ok((number, rest));
        }
        let (low, high) = self.limits().into_inner();
        Err(format!("{digits} for {} is not {low} to {high}", self.letter))
    }
}

/// The rest of a text after a word, in any case.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// The fields of a text.
#[derive(Debug)]
struct Found {
    year: i64,
    month: i64,
    day: i64,
    /// Takes precedence over month and day.
    day_of_year: Option<i64>,
    hour: i64,
    /// 0 to 11; takes precedence over `hour`.
    hour_of_half: Option<i64>,
    is_afternoon: bool,
    minute: i64,
    second: i64,
    ms: i64,
    zone: Option<TimeZone>,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            year: 1970,
            month: 1,
            day: 1,
            day_of_year: None,
            hour: 0,
            hour_of_half: None,
            is_afternoon: false,
            minute: 0,
            second: 0,
            ms: 0,
            zone: None,
        }
    }
}

impl Found {
    fn set(&mut self, letter: char, number: i64) {
        match letter {
            'y' => self.year = number,
            'M' => self.month = number,
            'd' => self.day = number,
            'D' => self.day_of_year = Some(number),
            'H' | 'k' => self.hour = number % 24,
            'h' | 'K' => self.hour_of_half = Some(number % 12),
            'm' => self.minute = number,
            's' => self.second = number,
            'S' => self.ms = number,
            // The date says the weekday.
            _ => {}
        }
    }

    /// Milliseconds since 1970 on the clocks of the zone; `None` for a day that the calendar does not have.
    fn local_ms(&self) -> Option<i64> {
        let year = i32::try_from(self.year).ok()?;
        let date = match self.day_of_year {
            Some(day) => NaiveDate::from_yo_opt(year, day.try_into().ok()?),
            None => NaiveDate::from_ymd_opt(year, self.month.try_into().ok()?, self.day.try_into().ok()?),
        };
        let days = date?.signed_duration_since(NaiveDate::default()).num_days();
        let hour = self.hour_of_half.map_or(self.hour, |hour| hour + if self.is_afternoon { 12 } else { 0 });
        Some(days * MS_PER_DAY + ((hour * 60 + self.minute) * 60 + self.second) * 1000 + self.ms)
    }
}

#[cfg(test)]
mod tests;
