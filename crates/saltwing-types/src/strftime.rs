//! Patterns of C's `strftime`: instants as text, and back.
//!
//! # Laws
//! 1. What [`Strftime::format`] writes by a pattern of `%Y`, `%m`, `%d`, `%H`, `%M`, `%S` and `%f` with other characters between them,
//!    [`Strftime::read`] reads as the same instant, to the microsecond.
//! 2. No pattern and no text makes either of them panic.

use crate::calendar::{DateField, civil_of, days_in_month};
use crate::calendar_names::{DAYS, MONTHS};
use crate::datetime::parse;
use crate::error::shorten;
use crate::value::Timestamp;
use crate::{ValueError, datetime};

const MS_PER_DAY: i64 = 86_400_000;
const KNOWN: &str = "%Y %y %m %d %e %j %H %I %M %S %f %p %a %A %b %B %u %w %V %G %F %T %s and %%";

/// Whose `%f` it is: DuckDB's, which is six digits below the second, or SQLite's, which is seconds and three digits below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fraction {
    Microseconds,
    SecondsWithMillis,
}

/// A pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strftime<'p> {
    pattern: &'p str,
    fraction: Fraction,
}

impl<'p> Strftime<'p> {
    pub(crate) fn new(pattern: &'p str, fraction: Fraction) -> Self {
        Self { pattern, fraction }
    }

    fn refused(&self, c: Option<char>) -> ValueError {
        let directive = c.map_or_else(String::new, String::from);
        let pattern = shorten(self.pattern);
        ValueError::BadArgument(format!("'{pattern}': %{directive} is no directive of a date; there are {KNOWN}"))
    }

    /// The instant as text.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a directive that is none.
    pub(crate) fn format(&self, at: Timestamp) -> Result<String, ValueError> {
        let (mut text, mut rest) = (String::new(), self.pattern.chars());
        while let Some(c) = rest.next() {
            match c {
                '%' => text.push_str(&self.field(at, rest.next())?),
                c => text.push(c),
            }
        }
        Ok(text)
    }

    fn field(&self, at: Timestamp, directive: Option<char>) -> Result<String, ValueError> {
        let of = |field: DateField| field.of(at);
        let name = |names: &[&'static str], place: i64| {
            usize::try_from(place).ok().and_then(|place| names.get(place)).copied().unwrap_or_default()
        };
        let short = |name: &'static str| name.get(..3).unwrap_or(name).to_owned();
        let micros = at.ms.rem_euclid(1000) * 1000 + i64::from(at.nanos / 1000);
        let year = civil_of(at.ms).year;
        let hour_of_half = |hour: i64| (hour + 11) % 12 + 1;
        let two = |number: i64| format!("{number:02}");
        Ok(match directive {
            Some('Y') if year < 0 => format!("-{:04}", year.unsigned_abs()),
            Some('Y') => format!("{year:04}"),
            Some('y') => two(year.rem_euclid(100)),
            Some('m') => two(of(DateField::Month)),
            Some('d') => two(of(DateField::Day)),
            Some('e') => format!("{:2}", of(DateField::Day)),
            Some('j') => format!("{:03}", of(DateField::DayOfYear)),
            Some('H') => two(of(DateField::Hour)),
            Some('I') => two(hour_of_half(of(DateField::Hour))),
            Some('M') => two(of(DateField::Minute)),
            Some('S') => two(of(DateField::Second)),
            Some('f') if self.fraction == Fraction::SecondsWithMillis => {
                format!("{:02}.{:03}", of(DateField::Second), micros / 1000)
            }
            Some('f') => format!("{micros:06}"),
            Some('p') => if of(DateField::Hour) < 12 { "AM" } else { "PM" }.to_owned(),
            Some('A') => name(&DAYS, of(DateField::Dow)).to_owned(),
            Some('a') => short(name(&DAYS, of(DateField::Dow))),
            Some('B') => name(&MONTHS, of(DateField::Month) - 1).to_owned(),
            Some('b' | 'h') => short(name(&MONTHS, of(DateField::Month) - 1)),
            Some('u') => of(DateField::DayOfWeek).to_string(),
            Some('w') => of(DateField::Dow).to_string(),
            Some('V') => two(of(DateField::Week)),
            Some('G') => format!("{:04}", iso_year(at)),
            Some('F') => Strftime { pattern: "%Y-%m-%d", ..*self }.format(at)?,
            Some('T') => Strftime { pattern: "%H:%M:%S", ..*self }.format(at)?,
            Some('s') => at.ms.div_euclid(1000).to_string(),
            Some('%') => "%".to_owned(),
            other => return Err(self.refused(other)),
        })
    }

    /// The instant that a text is by the pattern; what the pattern does not say is that of 1900-01-01, as in DuckDB. `None` if the
    /// text is no such instant.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a directive that no text is read by.
    pub(crate) fn read(&self, text: &str) -> Result<Option<Timestamp>, ValueError> {
        let mut parts = Parts::default();
        let (mut rest, mut pattern) = (text.trim(), self.pattern.trim().chars());
        while let Some(c) = pattern.next() {
            let read = match c {
                '%' => match pattern.next() {
                    Some('F') => parts.all(&mut rest, "Y-m-d"),
                    Some('T') => parts.all(&mut rest, "H:M:S"),
                    Some('%') => strip(&mut rest, '%'),
                    Some(directive) if "YymdHIMSfpbBhaAj".contains(directive) => parts.read(&mut rest, directive),
                    other => return Err(self.refused(other)),
                },
                c if c.is_whitespace() => {
                    rest = rest.trim_start();
                    Some(())
                }
                c => strip(&mut rest, c),
            };
            if read.is_none() {
                return Ok(None);
            }
        }
        Ok(if rest.is_empty() { parts.instant() } else { None })
    }
}

/// The year of the ISO week that holds the instant.
fn iso_year(at: Timestamp) -> i64 {
    let weekday = DateField::DayOfWeek.of(at);
    civil_of(at.ms.saturating_add((4 - weekday) * MS_PER_DAY)).year
}

fn strip(rest: &mut &str, c: char) -> Option<()> {
    *rest = rest.strip_prefix(c)?;
    Some(())
}

/// The fields that a text has given.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    is_afternoon: Option<bool>,
}

impl Parts {
    fn all(&mut self, rest: &mut &str, directives: &str) -> Option<()> {
        directives.chars().try_for_each(|c| if c.is_alphabetic() { self.read(rest, c) } else { strip(rest, c) })
    }

    fn read(&mut self, rest: &mut &str, directive: char) -> Option<()> {
        match directive {
            'Y' => self.year = Some(digits(rest, 4)?),
            'y' => {
                let year = digits(rest, 2)?;
                self.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
            }
            'm' => self.month = Some(digits(rest, 2)?),
            'd' => self.day = Some(digits(rest, 2)?),
            'j' => self.day_of_year = Some(digits(rest, 3)?),
            'H' | 'I' => self.hour = digits(rest, 2)?,
            'M' => self.minute = digits(rest, 2)?,
            'S' => self.second = digits(rest, 2)?,
            'f' => {
                let length = rest.len();
                let number = digits(rest, 6)?;
                let read = u32::try_from(length - rest.len()).ok()?;
                self.micros = number * 10_i64.pow(6_u32.saturating_sub(read));
            }
            'p' => {
                let half = rest.get(..2)?.to_ascii_uppercase();
                self.is_afternoon = Some(half == "PM").filter(|_| half == "PM" || half == "AM");
                self.is_afternoon?;
                *rest = rest.get(2..)?;
            }
            'B' | 'b' | 'h' => self.month = Some(named(rest, &MONTHS)? + 1),
            _ => drop(named(rest, &DAYS)?),
        }
        Some(())
    }

    fn instant(self) -> Option<Timestamp> {
        let hour = match self.is_afternoon {
            Some(_) if !(1..=12).contains(&self.hour) => return None,
            Some(is_afternoon) => self.hour % 12 + if is_afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let (year, month) = (self.year.unwrap_or(1900), self.month.unwrap_or(1));
        let day = self.day.unwrap_or(1);
        let is_day = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !is_day || hour > 23 || self.minute > 59 || self.second > 59 {
            return None;
        }
        let mut at = match self.day_of_year {
            Some(day) if (1..=366).contains(&day) && self.month.is_none() && self.day.is_none() => {
                let first = parse(&format!("{year:04}-01-01"))?;
                let at = Timestamp { ms: first.ms + (day - 1) * MS_PER_DAY, ..first };
                Some(at).filter(|at| civil_of(at.ms).year == year)?
            }
            Some(_) => return None,
            None => parse(&format!("{year:04}-{month:02}-{day:02}"))?,
        };
        at.ms += ((hour * 60 + self.minute) * 60 + self.second) * 1000 + self.micros / 1000;
        at.nanos = u32::try_from(self.micros % 1000 * 1000).ok()?;
        Some(at).filter(|at| datetime::has_text(at.ms))
    }
}

/// One to `most` digits.
fn digits(rest: &mut &str, most: usize) -> Option<i64> {
    let end = rest.bytes().take(most).position(|b| !b.is_ascii_digit()).unwrap_or(rest.len().min(most));
    let (digits, after) = rest.split_at_checked(end)?;
    let number = digits.parse().ok()?;
    *rest = after;
    Some(number)
}

/// The place of the name, whole or its first three letters, that a text begins with.
fn named(rest: &mut &str, names: &[&str]) -> Option<i64> {
    let begins = |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let found = names.iter().enumerate().find_map(|(place, name)| {
        let name = [*name, name.get(..3)?].into_iter().find(|name| begins(name))?;
        Some((place, name.len()))
    });
    let (place, length) = found?;
    *rest = rest.get(length..)?;
    i64::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases))]

        #[test]
        fn reads_what_it_writes(ms in -2_208_988_800_000..253_402_300_799_999_i64, micros in 0..1000_u32) {
            let at = Timestamp { ms, nanos: micros * 1000 };
            let pattern = Strftime::new("%d.%m.%Y, %H:%M:%S.%f", Fraction::Microseconds);
            prop_assert_eq!(pattern.read(&pattern.format(at).unwrap()), Ok(Some(at)));
        }

        #[test]
        fn nothing_makes_it_panic(pattern in ".{0,12}|(%[a-zA-Z]){0,5}", text in "[ -~äé]{0,20}", ms in any::<i64>()) {
            for fraction in [Fraction::Microseconds, Fraction::SecondsWithMillis] {
                let pattern = Strftime::new(&pattern, fraction);
                let _ = pattern.read(&text);
                let _ = pattern.format(Timestamp { ms: ms / 2, nanos: 0 });
            }
        }
    }
}
