//! The type of a column of texts: the first type that accepts all values and keeps all their information.
//!
//! A type that prints a value as another text loses information: a number loses leading zeros and a plus sign, DOUBLE loses digits of
//! long numbers. Such values stay texts, or become DECIMAL.

use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType, datetime};

/// Texts that mean "no value" in many files.
const NULL_TEXTS: [&str; 10] = ["NA", "N/A", "NULL", "NIL", "NONE", "\\N", "-", "?", ".", "NAN"];

/// The number of digits that DOUBLE keeps for every number.
const DOUBLE_DIGITS: usize = 15;
/// The most digits of a number that may be a DOUBLE printed in full.
const PRINTED_DIGITS_MAX: usize = 64;
/// The number of digits that DECIMAL keeps, on each side of the point.
const DECIMAL_DIGITS: usize = 38;

/// The length of the shortest text that is an instant; a shorter text may parse as an instant, but is meant as a number.
const INSTANT_LENGTH_MIN: usize = 8;
/// The longest text of a day without a time.
const DAY_LENGTH: usize = 10;
/// The number of fractional digits of seconds that TIMESTAMP keeps.
const FRACTION_DIGITS: usize = 9;
/// The most milliseconds before or after 1970 whose count of nanoseconds fits into 64 bits.
const TIMESTAMP_MS_MAX: u64 = i64::MAX as u64 / 1_000_000;

/// The types that fit all values of a column so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    boolean: bool,
    integer: bool,
    number: bool,
    /// Whether DOUBLE keeps all digits of all numbers.
    double: bool,
    /// Whether DOUBLE keeps all digits of all whole numbers.
    whole_double: bool,
    decimal: bool,
    /// Whether all instants are days without a time.
    day: bool,
    instant: bool,
    /// Whether DATE, which has milliseconds, keeps all instants.
    date: bool,
    /// Whether TIMESTAMP keeps all instants in results, which hold nanoseconds in 64 bits.
    timestamp: bool,
    /// Whether the values are lists or objects.
    nested: bool,
    any: bool,
}

impl Candidates {
    const ALL: Self = Self {
        boolean: true,
        integer: true,
        number: true,
        double: true,
        whole_double: true,
        decimal: true,
        day: true,
        instant: true,
        date: true,
        timestamp: true,
        nested: false,
        any: false,
    };

    fn take(&mut self, value: &str) {
        self.any = true;
        self.boolean &= is_boolean(value);
        self.integer &= is_integer(value);
        if self.number {
            let number = Number::of(value);
            self.number = number.is_some();
            let is_exact = number.as_ref().is_some_and(Number::is_kept_by_double);
            let is_whole = number.as_ref().is_some_and(|number| number.is_whole);
            // DOUBLE would show a long whole number with an exponent.
            self.double &= is_exact && !(is_whole && value.len() > DOUBLE_DIGITS);
            self.whole_double &= is_exact || !is_whole;
            self.decimal &= number.is_some_and(|number| number.is_kept_by_decimal());
        }
        if self.instant {
            let at = instant(value);
            self.instant = at.is_some();
            self.day &= value.len() <= DAY_LENGTH;
            self.date &= at.is_some_and(|at| at.nanos == 0);
            self.timestamp &= at.is_some_and(|at| at.ms.unsigned_abs() < TIMESTAMP_MS_MAX);
        }
    }

    fn ty(self) -> SqlType {
        let Self { boolean, integer, number, double, whole_double, decimal, .. } = self;
        let Self { day, instant, date, timestamp, nested, any, .. } = self;
        let found = [
            (!any, SqlType::Varchar(None)),
            (nested, SqlType::Json),
            (boolean, SqlType::Boolean),
            (integer, SqlType::BigInt),
            (number && double, SqlType::Double),
            (number && decimal, SqlType::Decimal(None)),
            // Measured values with more digits than any measurement has.
            (number && whole_double, SqlType::Double),
            (instant && day, SqlType::Date),
            (instant && timestamp, SqlType::Timestamp),
            (instant && date, SqlType::Date),
        ];
        found.into_iter().find(|(is, _)| *is).map_or(SqlType::Varchar(None), |(_, ty)| ty)
    }
}

/// What is known of the values of a column so far.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    all: Candidates,
    /// The candidates without the texts that mean "no value" in many files.
    others: Candidates,
    /// The first of these texts, and its line.
    null_text: Option<(String, u64)>,
}

impl Values {
    pub(crate) fn new() -> Self {
        Self { all: Candidates::ALL, others: Candidates::ALL, null_text: None }
    }

    /// Adds a value, which is not NULL.
    pub(crate) fn take(&mut self, value: &str, line: u64) {
        self.all.take(value);
        match is_null_text(value) {
            true => drop(self.null_text.get_or_insert_with(|| (value.to_owned(), line))),
            false => self.others.take(value),
        }
    }

    /// Adds a list or an object of JSON.
    pub(crate) fn take_nested(&mut self) {
        (self.all.nested, self.all.any) = (true, true);
    }

    /// Adds a string of JSON, which is never a number, even if it looks like one.
    pub(crate) fn take_text(&mut self, value: &str, line: u64) {
        for candidates in [&mut self.all, &mut self.others] {
            (candidates.integer, candidates.number, candidates.boolean) = (false, false, false);
        }
        self.take(value, line);
    }

    /// A copy with one more value.
    pub(crate) fn with(&self, value: &str) -> Self {
        let mut values = self.clone();
        values.take(value, 1);
        values
    }

    /// Whether there is any value.
    pub(crate) fn any(&self) -> bool {
        self.all.any
    }

    pub(crate) fn ty(&self) -> SqlType {
        self.all.ty()
    }

    pub(crate) fn is_text(&self) -> bool {
        self.ty() == SqlType::Varchar(None)
    }

    /// If only a "no value" text makes the column a text: that text, its line, and the type of the other values.
    pub(crate) fn spoilt_by(&self) -> Option<(&str, u64, SqlType)> {
        let (text, line) = self.null_text.as_ref()?;
        let ty = self.others.ty();
        (self.is_text() && ty != SqlType::Varchar(None)).then_some((text, *line, ty))
    }
}

/// Whether a type keeps all information of a text that it accepts.
pub(crate) fn is_kept(value: &str, ty: SqlType) -> bool {
    match ty {
        SqlType::Boolean => is_boolean(value),
        SqlType::BigInt => is_integer(value),
        SqlType::Double => Number::of(value).is_some_and(|number| !number.is_whole || number.is_kept_by_double()),
        SqlType::Decimal(_) => Number::of(value).is_some_and(|number| number.is_kept_by_decimal()),
        SqlType::Date => instant(value).is_some_and(|at| at.nanos == 0),
        SqlType::Timestamp => instant(value).is_some(),
        _ => true,
    }
}

/// Whether a text means "no value" in many files.
pub(crate) fn is_null_text(text: &str) -> bool {
    NULL_TEXTS.iter().any(|null| null.eq_ignore_ascii_case(text.trim()))
}

/// Whether a field looks like a value rather than a column name.
pub(crate) fn is_value(field: &str) -> bool {
    is_like_number(field) || instant(field).is_some()
}

/// Whether a field looks like a value of a type, even if the type would lose information: `01000` among numbers.
pub(crate) fn is_among(field: &str, ty: SqlType) -> bool {
    match ty {
        SqlType::BigInt | SqlType::Double | SqlType::Decimal(_) => is_like_number(field),
        SqlType::Date | SqlType::Timestamp => datetime::parse_iso(field).is_some(),
        _ => false,
    }
}

fn is_like_number(field: &str) -> bool {
    field.bytes().any(|byte| byte.is_ascii_digit()) && field.parse::<f64>().is_ok()
}

fn is_boolean(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

fn is_integer(value: &str) -> bool {
    !has_leading_zero(value) && value != "-0" && !value.starts_with('+') && value.parse::<i64>().is_ok()
}

/// The instant of a text, if TIMESTAMP keeps all its digits.
fn instant(value: &str) -> Option<Timestamp> {
    let fraction = value.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if value.len() < INSTANT_LENGTH_MIN || digits > FRACTION_DIGITS {
        return None;
    }
    // A type does not show `08-Jan-1999` as the file has it.
    datetime::parse_iso(value)
}

/// Whether a zero precedes another digit.
fn has_leading_zero(value: &str) -> bool {
    let unsigned = value.strip_prefix('-').unwrap_or(value).as_bytes();
    unsigned.first() == Some(&b'0') && unsigned.get(1).is_some_and(u8::is_ascii_digit)
}

/// A text that is a number, without a leading plus sign or zeros, which a number would not keep.
struct Number<'t> {
    whole: &'t str,
    fraction: &'t str,
    has_exponent: bool,
    /// Whether the number has neither a point nor an exponent.
    is_whole: bool,
    double: f64,
}

impl<'t> Number<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let mantissa = unsigned.split(['e', 'E']).next()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || has_leading_zero(text) {
            return None;
        }
        // The parser refuses texts without digits, and malformed exponents.
        let double = text.parse::<f64>().ok().filter(|double| double.is_finite())?;
        let has_exponent = mantissa.len() < unsigned.len();
        Some(Self { whole, fraction, has_exponent, is_whole: !has_exponent && !mantissa.contains('.'), double })
    }

    /// Whether DOUBLE, printed with as many digits, gives the same digits.
    fn is_kept_by_double(&self) -> bool {
        if self.whole.len() + self.fraction.len() <= DOUBLE_DIGITS {
            return true;
        }
        let digits = format!("{}{}", self.whole, self.fraction);
        let digits = digits.trim_start_matches('0');
        match digits.len() {
            0..=DOUBLE_DIGITS => true,
            count @ ..=PRINTED_DIGITS_MAX => {
                let written = format!("{:.*e}", count - 1, self.double.abs());
                let mantissa = written.split('e').next().unwrap_or_default();
                mantissa.bytes().filter(u8::is_ascii_digit).eq(digits.bytes())
            }
            _ => false,
        }
    }

    fn is_kept_by_decimal(&self) -> bool {
        !self.has_exponent && self.whole.len() + self.fraction.len() <= DECIMAL_DIGITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(values: &[&str]) -> String {
        let mut found = Values::new();
        values.iter().for_each(|value| found.take(value, 1));
        for value in values {
            assert!(is_kept(value, found.ty()), "{value} as {}", found.ty());
        }
        found.ty().to_string()
    }

    #[test]
    fn a_type_keeps_all_that_the_texts_say() {
        for whole in [&["0", "-1", "9223372036854775807"][..], &["-9223372036854775808"]] {
            assert_eq!(ty(whole), "BIGINT");
        }
        for text in [&["01000", "94107"][..], &["+4930"], &["00"], &["-01"], &["01.5"], &["+1.5"], &["1", "007"]] {
            assert_eq!(ty(text), "VARCHAR", "{text:?}");
        }
        for text in [["1e999", "1"], ["nan", "1"], ["inf", "1"], ["1_000", "1"], ["e5", "1"], ["-", "1"], [".", "1"]] {
            assert_eq!(ty(&text), "VARCHAR", "{text:?}");
        }
        for text in [&["12345678901234567890", "1"][..], &["9223372036854775808"], &["10000000000000000000000", "0.5"]]
        {
            assert_eq!(ty(text), "DECIMAL", "{text:?}");
        }
        assert_eq!(ty(&["12345678901234567", "0.5"]), "DECIMAL");
        assert_eq!(ty(&["123456789012345678901234567890123456789"]), "VARCHAR");
    }

    #[test]
    fn numbers_that_were_printed_are_double() {
        for text in [
            &["0.5", ".5", "5.", "-0", "1e5", "1E-5", "1.50"][..],
            &["0.1", "0.10000000000000001", "0.30000000000000004", "1.7976931348623157e308"],
            &["0.1000000000000000055511151231257827"],
            &["3.141592653589793", "2.718281828459045", "1e-300"],
            &["123456789012345.67"],
        ] {
            assert_eq!(ty(text), "DOUBLE", "{text:?}");
        }
        assert_eq!(ty(&["999999999999999.99"]), "DECIMAL");
        // No type keeps both; neither has meaningful digits.
        assert_eq!(ty(&["0.12345678901234567899", "1e-300"]), "DOUBLE");
        assert_eq!(ty(&["12345678901234567899", "1e-300"]), "VARCHAR");
    }

    #[test]
    fn instants_are_kept() {
        assert_eq!(ty(&["2024-05-01", "9999-12-31"]), "DATE");
        assert_eq!(ty(&["2024-05-01", "2024-05-01 10:11:12.123456789"]), "TIMESTAMP");
        // TIMESTAMP values in results end in 2262.
        assert_eq!(ty(&["2024-05-01 10:11:12.013", "9999-12-31 23:59:59"]), "DATE");
        assert_eq!(ty(&["2024-05-01 10:11:12.000001", "9999-12-31 23:59:59"]), "VARCHAR");
        assert_eq!(ty(&["2024-05-01 10:11:12.1234567891"]), "VARCHAR");
    }

    #[test]
    fn a_text_for_no_value_is_found() {
        let mut values = Values::new();
        values.take("1", 2);
        assert_eq!(values.spoilt_by(), None);
        values.take("NA", 3);
        values.take("n/a", 4);
        assert_eq!(values.spoilt_by(), Some(("NA", 3, SqlType::BigInt)));
        values.take("Rome", 5);
        assert_eq!(values.spoilt_by(), None);
    }

    #[test]
    fn a_later_value_is_kept_or_refused() {
        for (value, ty, kept) in [
            ("01000", SqlType::BigInt, false),
            ("1", SqlType::Boolean, false),
            ("TRUE", SqlType::Boolean, true),
            ("12345678901234567", SqlType::Double, false),
            ("0.12345678901234567899", SqlType::Double, true),
            ("2024-05-01 10:11:12", SqlType::Date, true),
            ("2024-05-01 10:11:12.000001", SqlType::Date, false),
            ("2024-05-01 10:11:12.1234567891", SqlType::Timestamp, false),
            ("01000", SqlType::Varchar(None), true),
        ] {
            assert_eq!(is_kept(value, ty), kept, "{value} as {ty}");
        }
    }
}
