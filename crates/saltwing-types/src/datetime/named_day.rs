//! Days with the month as a word, or of eight digits: `January 8, 1999`, `08-Jan-1999`, `1999-Jan-08`, `19990108`.
//!
//! A year has four digits at least, and the month is a word if the year does not come first, so that a text is one day in every
//! country.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use crate::calendar_names::MONTHS;

/// The day at the beginning of a text, `None` if the calendar has no such day, and the text after it; `None` of another form.
pub(super) fn named_day(text: &str) -> Option<(Option<NaiveDate>, &str)> {
    let (first, rest) = run(text)?;
    if let Some(number) = digits(first, 8..=8) {
        let year = i32::try_from(number / 10_000).ok()?;
        return Some((NaiveDate::from_ymd_opt(year, number / 100 % 100, number % 100), rest));
    }
    let (second, rest, has_hyphen) = next(rest)?;
    let (third, rest, has_hyphen_too) = next(rest)?;
    let (year, month, day) = match [first, second, third].map(month) {
        [Some(month), None, None] => (third, month, second),
        [None, Some(month), None] if first.len() > 2 => (first, month, third),
        [None, Some(month), None] => (third, month, first),
        _ => return None,
    };
    let (year, day) = (digits(year, 4..=6)?, digits(day, 1..=2)?);
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day);
    (has_hyphen == has_hyphen_too).then_some((date, rest))
}

/// Why a text of three numbers, or with a year of two digits, is no day; `None` of another text.
pub(super) fn ambiguity(text: &str) -> Option<&'static str> {
    let day = text.split_whitespace().next()?;
    let parts: Vec<&str> = day.split(['/', '-', '.']).collect();
    let [first, second, third] = parts.as_slice() else { return None };
    let is_number = |part: &&str| digits(part, 1..=4).is_some();
    let is_short = |part: &&str| digits(part, 1..=2).is_some();
    match (is_short(first), second, is_number(third)) {
        (true, second, true) if is_short(second) => Some("which number is the month is not certain"),
        (true, second, true) if month(second).is_some() && is_short(third) => Some("a year has four digits"),
        _ => None,
    }
}

/// The digits or letters that a text begins with, and the rest.
fn run(text: &str) -> Option<(&str, &str)> {
    let is_digit = text.starts_with(|c: char| c.is_ascii_digit());
    let is_of_run = |c: char| if is_digit { c.is_ascii_digit() } else { c.is_ascii_alphabetic() };
    let end = text.find(|c| !is_of_run(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at_checked(end))?
}

/// The same after a hyphen, or after blanks and a comma, and whether it is a hyphen.
fn next(text: &str) -> Option<(&str, &str, bool)> {
    if let Some(after) = text.strip_prefix('-') {
        return run(after).map(|(part, rest)| (part, rest, true));
    }
    let after = text.trim_start_matches([' ', ',']);
    let separator = text.get(..text.len() - after.len())?;
    let is_separator = !separator.is_empty() && separator.matches(',').count() < 2;
    run(after).filter(|_| is_separator).map(|(part, rest)| (part, rest, false))
}

/// The month of a name, or of its first three letters, in any case.
fn month(word: &str) -> Option<u32> {
    let is_named = |name: &&str| {
        name.eq_ignore_ascii_case(word) || name.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(word))
    };
    let place = MONTHS.iter().position(is_named)?;
    u32::try_from(place + 1).ok()
}

/// A number of so many digits.
pub(super) fn digits(text: &str, count: RangeInclusive<usize>) -> Option<u32> {
    (count.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}
