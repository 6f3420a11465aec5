//! How a number is written.

use super::{Item, Letters, PgNumberPattern, Sign};
use crate::{Decimal, ValueError};

/// The characters of a Roman number without FM: MMMDCCCLXXXVIII has 15.
const ROMAN_CHARS: usize = 15;
const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

impl PgNumberPattern {
    /// The text of a number, rounded half away from zero; `#` for each digit if there are more before the point than places.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] if the number before the V has too many digits.
    pub(crate) fn format(&self, number: Decimal) -> Result<String, ValueError> {
        if self.is_scientific {
            return self.scientific(number);
        }
        let places = i32::try_from(self.factor_zeros).unwrap_or_default();
        let number = if places == 0 { number } else { number.checked_mul(Decimal::new(1, -places)?)? };
        let fraction = u8::try_from(self.fraction).unwrap_or(u8::MAX);
        let number = number.round(fraction.into())?;
        let magnitude = if number.is_negative() { number.negated() } else { number };
        Ok(Writing::new(self, number, &magnitude.to_fixed(fraction)).write())
    }

    /// ` 1.23e+04`
    fn scientific(&self, number: Decimal) -> Result<String, ValueError> {
        let fraction = u8::try_from(self.fraction).unwrap_or(u8::MAX);
        let exponent = if number.precision() == 0 { 0 } else { number.integer_digits() - 1 };
        // Rounding may give a digit more: 9.96 is 1.0e+01.
        let rounded = number.round(i32::from(fraction) - exponent)?;
        let exponent = if rounded.precision() == 0 { 0 } else { rounded.integer_digits() - 1 };
        let mantissa = Decimal::new(rounded.digits(), rounded.scale() + exponent)?;
        let magnitude = if mantissa.is_negative() { mantissa.negated() } else { mantissa };
        let sign = if mantissa.is_negative() { '-' } else { ' ' };
        let of_ten = if exponent < 0 { '-' } else { '+' };
        Ok(format!("{sign}{}e{of_ten}{:02}", magnitude.to_fixed(fraction), exponent.unsigned_abs()))
    }
}

/// A number on its way into a pattern.
struct Writing<'p> {
    pattern: &'p PgNumberPattern,
    number: Decimal,
    is_overflow: bool,
    /// The digits of the places before the point.
    integer: Vec<Option<char>>,
    /// The digits of the places after the point.
    fraction: Vec<Option<char>>,
    /// The place of the first digit, or of the point after all places before it: the sign stands before it.
    first: usize,
    /// Whether the digit at the last place before the point is the 0 of 0.5.
    has_bare_zero: bool,
}

impl<'p> Writing<'p> {
    /// The digits at their places; `fixed` is the number without its sign.
    fn new(pattern: &'p PgNumberPattern, number: Decimal, fixed: &str) -> Self {
        let (integer, fraction) = fixed.split_once('.').unwrap_or((fixed, ""));
        let count = pattern.integer;
        if integer.len() > count {
            return Self {
                pattern,
                number,
                is_overflow: true,
                integer: vec![Some('#'); count],
                fraction: vec![Some('#'); pattern.fraction],
                first: 0,
                has_bare_zero: false,
            };
        }
        let kept = match pattern.is_plain {
            true => fraction.trim_end_matches('0').len().max(pattern.kept_fraction),
            false => fraction.len(),
        };
        let blanks = count - integer.len();
        let zeros = pattern.first_zero.unwrap_or(count);
        // Before a point no 0 is written that the pattern does not ask for, unless nothing else is.
        let is_zero = integer == "0" && pattern.first_zero.is_none() && pattern.fraction > 0;
        let is_hidden = is_zero && !(pattern.is_plain && kept == 0);
        let lead = (0..blanks).map(|place| (place >= zeros).then_some('0'));
        let digits = integer.chars().map(|digit| (!is_hidden).then_some(digit));
        Self {
            pattern,
            number,
            is_overflow: false,
            integer: lead.chain(digits).collect(),
            fraction: fraction.chars().enumerate().map(|(place, digit)| (place < kept).then_some(digit)).collect(),
            first: if is_hidden { count } else { blanks.min(zeros) },
            has_bare_zero: is_zero && !is_hidden,
        }
    }

    fn write(&self) -> String {
        let is_place = |item: &&Item| matches!(item, Item::Digit | Item::Point);
        let last = self.pattern.items.iter().filter(is_place).count();
        let (mut text, mut place, mut before_point, mut after_digit) = (String::new(), 0, 0, false);
        let mut fraction = self.fraction.iter();
        let mut is_fraction = false;
        for item in &self.pattern.items {
            if matches!(item, Item::Digit | Item::Point) {
                place += 1;
                if !is_fraction && before_point == self.first {
                    text.push_str(self.opening());
                }
            }
            match item {
                Item::Digit if is_fraction => {
                    let digit = fraction.next().copied().flatten();
                    text.extend(digit);
                    after_digit = digit.is_some();
                }
                Item::Digit => {
                    let digit = self.integer.get(before_point).copied().flatten();
                    text.extend(digit.or(self.blank()));
                    after_digit = digit.is_some() && !self.has_bare_zero;
                    before_point += 1;
                }
                Item::Point => {
                    // A point without places after it is not written.
                    text.extend((self.pattern.fraction > 0).then_some('.'));
                    (is_fraction, after_digit) = (true, false);
                }
                Item::Comma => text.extend(if after_digit { Some(',') } else { self.blank() }),
                Item::Text(c) => text.push(*c),
                Item::Currency => text.push(' '),
                Item::Minus => text.extend(if self.number.is_negative() { Some('-') } else { self.blank() }),
                Item::Plus => text.extend(if self.number.is_negative() { self.blank() } else { Some('+') }),
                Item::PlusOrMinus => text.push_str(self.sign()),
                Item::Ordinal(letters) => text.push_str(&self.ending(*letters)),
                Item::Roman(letters) => text.push_str(&self.roman(*letters)),
            }
            if place == last && matches!(item, Item::Digit | Item::Point) {
                text.push_str(self.closing());
            }
        }
        text
    }

    /// What stands at an empty place.
    fn blank(&self) -> Option<char> {
        (!self.pattern.is_plain).then_some(' ')
    }

    fn sign(&self) -> &'static str {
        if self.number.is_negative() { "-" } else { "+" }
    }

    /// The sign before the first digit.
    fn opening(&self) -> &'static str {
        match (self.pattern.sign, self.number.is_negative()) {
            (Sign::Before, _) => self.sign(),
            (Sign::MinusBefore, true) => "-",
            (Sign::Brackets, true) => "<",
            (Sign::MinusBefore | Sign::Brackets, false) if !self.pattern.is_plain => " ",
            _ => "",
        }
    }

    /// The sign after the last digit.
    fn closing(&self) -> &'static str {
        match (self.pattern.sign, self.number.is_negative()) {
            (Sign::After, _) => self.sign(),
            (Sign::Brackets, true) => ">",
            (Sign::Brackets, false) if !self.pattern.is_plain => " ",
            _ => "",
        }
    }

    /// `st`, `nd`, `rd` or `th`; nothing of fractions and of negative numbers.
    fn ending(&self, letters: Letters) -> String {
        if self.is_overflow || self.number.is_negative() || self.pattern.items.contains(&Item::Point) {
            return String::new();
        }
        let digit = |from_end: usize| self.integer.iter().rev().nth(from_end).copied().flatten();
        let ending = match (digit(1), digit(0)) {
            (Some('1'), _) => "th",
            (_, Some('1')) => "st",
            (_, Some('2')) => "nd",
            (_, Some('3')) => "rd",
            _ => "th",
        };
        in_letters(ending, letters)
    }

    /// The Roman number; `#` for one that there is not.
    fn roman(&self, letters: Letters) -> String {
        let number = self.number.round(0).ok().and_then(Decimal::to_i64).filter(|number| (1..4000).contains(number));
        let Some(mut rest) = number else { return "#".repeat(ROMAN_CHARS) };
        let mut text = String::new();
        for (value, digits) in ROMAN {
            while rest >= value {
                text.push_str(digits);
                rest -= value;
            }
        }
        let text = in_letters(&text, letters);
        if self.pattern.is_plain { text } else { format!("{text:>ROMAN_CHARS$}") }
    }
}

fn in_letters(text: &str, letters: Letters) -> String {
    match letters {
        Letters::Upper => text.to_uppercase(),
        Letters::Lower => text.to_lowercase(),
    }
}
