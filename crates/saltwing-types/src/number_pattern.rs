//! Number patterns of TO_CHAR and TO_NUMBER: those of Java's `DecimalFormat`, which Phoenix uses.
//!
//! ```text
//! #,##0.00;(#)    prefix, digits, suffix [; prefix and suffix of negative numbers]
//! ```
//! `0` is a digit that is always written, `#` one that is written if it is there, `,` before the last group of digits gives
//! the size of all groups, `%` and `‰` multiply by 100 and 1000. Text between quotes stands for itself.

use crate::error::shorten;
use crate::{Decimal, ValueError};

/// Most digits that a pattern may ask for on either side of the point.
const PLACES_MAX: usize = 255;

/// A pattern, ready to write and read numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberPattern {
    positive: Affixes,
    negative: Affixes,
    places: Places,
    /// The factor between the number and its written form: 1, 100 for percents, 1000 for per mille.
    factor: i64,
}

/// The text around the digits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Affixes {
    prefix: String,
    suffix: String,
}

/// Which digits are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    integer_min: usize,
    fraction_min: usize,
    fraction_max: u8,
    /// Digits of a group; 0 without groups.
    group: usize,
}

impl NumberPattern {
    /// The pattern of TO_CHAR and TO_NUMBER if there is none.
    pub const DEFAULT: &str = "#,##0.###";

    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a text that is no pattern, and for exponents and currencies.
    pub fn parse(pattern: &str) -> Result<Self, ValueError> {
        let refused =
            |why: &str| ValueError::BadArgument(format!("'{}' is no number pattern: {why}", shorten(pattern)));
        let mut reader = Reader { rest: pattern, factor: 1 };
        let prefix = reader.affix().map_err(refused)?;
        let places = Places::parse(reader.digits()).map_err(refused)?;
        let positive = Affixes { prefix, suffix: reader.affix().map_err(refused)? };
        let factor = reader.factor;
        let negative = match reader.rest.strip_prefix(';') {
            None => Affixes { prefix: format!("-{}", positive.prefix), suffix: positive.suffix.clone() },
            Some(rest) => {
                reader.rest = rest;
                let prefix = reader.affix().map_err(refused)?;
                // Of the second form only the affixes count.
                reader.digits();
                Affixes { prefix, suffix: reader.affix().map_err(refused)? }
            }
        };
        match reader.rest {
            "" if positive != negative => Ok(Self { positive, negative, places, factor }),
            "" => Err(refused("negative numbers look like positive ones")),
            _ => Err(refused("the digits stand together")),
        }
    }

    /// The text of a number, rounded half to even.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] if the number of percents has too many digits.
    pub fn format(&self, number: Decimal) -> Result<String, ValueError> {
        let Places { integer_min, fraction_min, fraction_max, group } = self.places;
        let written = round_half_even(number.checked_mul(Decimal::from(self.factor))?, fraction_max.into())?;
        let magnitude = if written.is_negative() { written.negated() } else { written };
        let text = magnitude.to_fixed(fraction_max);
        let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let integer = format!("{:0>integer_min$}", integer.trim_start_matches('0'));
        let needed = fraction.trim_end_matches('0').len().max(fraction_min);
        let fraction = fraction.get(..needed).unwrap_or(fraction);
        let integer = if integer.is_empty() && fraction.is_empty() { "0".to_owned() } else { integer };
        let point = if fraction.is_empty() { "" } else { "." };
        let Affixes { prefix, suffix } = if number.is_negative() { &self.negative } else { &self.positive };
        Ok(format!("{prefix}{}{point}{fraction}{suffix}", grouped(&integer, group)))
    }

    /// The number that a text begins with; `None` if it begins with none of this pattern.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] for more digits than a DECIMAL has.
    pub fn read(&self, text: &str) -> Result<Option<Decimal>, ValueError> {
        for (affixes, sign) in [(&self.negative, -1), (&self.positive, 1)] {
            let Some(body) = text.strip_prefix(&affixes.prefix) else { continue };
            let mut has_point = false;
            let end = body.find(|c: char| match c {
                '.' => std::mem::replace(&mut has_point, true),
                ',' => has_point || self.places.group == 0,
                c => !c.is_ascii_digit(),
            });
            let (digits, rest) = body.split_at(end.unwrap_or(body.len()));
            if digits.contains(|c: char| c.is_ascii_digit()) && rest.starts_with(&affixes.suffix) {
                let number: Decimal = digits.replace(',', "").trim_end_matches('.').parse()?;
                return number.checked_div(Decimal::from(sign * self.factor)).map(Some);
            }
        }
        Ok(None)
    }
}

/// What is left of a pattern, and the factor found so far.
struct Reader<'a> {
    rest: &'a str,
    factor: i64,
}

impl<'a> Reader<'a> {
    /// The characters that stand for digits.
    fn digits(&mut self) -> &'a str {
        let end = self.rest.find(|c| !"#0,.".contains(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits
    }

    /// The text up to the digits, the second form, or the end.
    fn affix(&mut self) -> Result<String, &'static str> {
        let (mut text, mut is_quoted) = (String::new(), false);
        while let Some(c) = self.rest.chars().next() {
            if !is_quoted && "#0,.;".contains(c) {
                break;
            }
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '\'' if self.rest.starts_with('\'') => {
                    self.rest = self.rest.get(1..).unwrap_or_default();
                    text.push('\'');
                }
                '\'' => is_quoted = !is_quoted,
                _ if is_quoted => text.push(c),
                'E' => return Err("exponents are not supported; an E of the text stands in quotes"),
                '¤' => return Err("a currency depends on the country"),
                '1'..='9' => return Err("digits are 0 or #; others stand in quotes"),
                _ => {
                    text.push(c);
                    self.factor = match c {
                        '%' => 100,
                        '‰' => 1000,
                        _ => self.factor,
                    };
                }
            }
        }
        if is_quoted { Err("a quote is not closed") } else { Ok(text) }
    }
}

impl Places {
    fn parse(digits: &str) -> Result<Self, &'static str> {
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let group = integer.rsplit_once(',').map_or(0, |(_, last)| last.len());
        if integer.ends_with(',') || fraction.contains(',') {
            return Err("a comma stands between digits before the point");
        }
        let plain = integer.replace(',', "");
        let (zeros, optional) = (plain.trim_start_matches('#'), fraction.trim_start_matches('0'));
        if zeros.contains('#') || optional.contains(|c| c != '#') || plain.len() + fraction.len() == 0 {
            return Err("it needs digits such as #,##0.00");
        }
        if plain.len().max(fraction.len()) > PLACES_MAX {
            return Err("it has more than 255 digits");
        }
        let (mut integer_min, mut fraction_min) = (zeros.len(), fraction.len() - optional.len());
        // Without any 0 and with a point, Java writes one digit: before the point if the pattern has one there.
        if integer_min + fraction_min == 0 && digits.contains('.') {
            if plain.is_empty() { fraction_min = 1 } else { integer_min = 1 }
        }
        let fraction_max = u8::try_from(fraction.len()).map_err(|_| "it has more than 255 digits")?;
        Ok(Self { integer_min, fraction_min, fraction_max, group })
    }
}

/// The digits with a comma between groups, counted from the right.
fn grouped(digits: &str, group: usize) -> String {
    if group == 0 {
        return digits.to_owned();
    }
    let is_start = |index: usize| index > 0 && (digits.len() - index).is_multiple_of(group);
    digits.char_indices().fold(String::new(), |mut text, (index, digit)| {
        if is_start(index) {
            text.push(',');
        }
        text.push(digit);
        text
    })
}

/// The nearest number of so many places, of two the one whose last digit is even.
fn round_half_even(number: Decimal, places: i32) -> Result<Decimal, ValueError> {
    let cut = number.truncate(places);
    let rest = number.checked_sub(cut)?;
    let half = Decimal::new(if number.is_negative() { -5 } else { 5 }, places + 1)?;
    let is_even = cut.unscaled_at(places).is_some_and(|digits| digits % 2 == 0);
    if rest == half && is_even { Ok(cut) } else { number.round(places) }
}

#[cfg(test)]
mod tests;
