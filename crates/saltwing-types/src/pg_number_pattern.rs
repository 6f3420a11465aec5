//! Number patterns of PostgreSQL's `to_char`: `9,999.99`, `FM0999`, `S99`, `9.99EEEE`, `RN`.
//!
//! # Laws
//! 1. No pattern and no number makes anything here panic.
//! 2. A pattern is one if it has a place for a digit, or is a Roman number, and has no letters outside of words and double quotes.
//! 3. Without FM all numbers of a pattern give texts of the same length, but with TH, EEEE and RN.

mod reading;
mod writing;

/// A pattern, ready to write numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PgNumberPattern {
    items: Vec<Item>,
    sign: Sign,
    /// FM: without the zeros and blanks that make it longer.
    is_plain: bool,
    /// EEEE: one digit, the fraction, and the power of ten.
    is_scientific: bool,
    /// Places before the point, those after V among them.
    integer: usize,
    /// Places after the point.
    fraction: usize,
    /// The place before the point from which on zeros are written.
    first_zero: Option<usize>,
    /// Places after the point up to the last 0: FM leaves them.
    kept_fraction: usize,
    /// V: the power of ten by which the number is multiplied.
    factor_zeros: usize,
}

/// What is written at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Text(char),
    Digit,
    Point,
    Comma,
    /// MI: a minus or a blank.
    Minus,
    /// PL: a plus or a blank.
    Plus,
    /// SG.
    PlusOrMinus,
    /// L: a blank, as there is no currency.
    Currency,
    /// TH: the ending of an ordinal number.
    Ordinal(Letters),
    /// RN.
    Roman(Letters),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letters {
    Upper,
    Lower,
}

/// Where the sign is, if not at a place of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// A minus or a blank before the first digit.
    MinusBefore,
    /// S: a plus or a minus there.
    Before,
    /// S after the places before the point: after the last digit.
    After,
    /// PR: negative numbers in `<>`.
    Brackets,
    /// MI and SG have it.
    Elsewhere,
}

#[cfg(test)]
mod tests;
