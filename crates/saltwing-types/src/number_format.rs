//! Number patterns of TO_CHAR: those of Java's `DecimalFormat`, as in Phoenix, or those of PostgreSQL's `to_char`.
//!
//! A pattern that is Java's is Java's: `000`, `0.00`, and also `FM000`, which has a text before its digits there. Any other one is
//! PostgreSQL's if it has a 9 or a word such as MI, RN or V outside of double quotes. Java takes no 9 without quotes, so no pattern
//! is read in a second way.

use crate::error::shorten;
use crate::number_pattern::NumberPattern;
use crate::pg_number_pattern::PgNumberPattern;
use crate::{Decimal, ValueError};

/// A pattern, ready to write numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    Java(NumberPattern),
    Postgres(PgNumberPattern),
}

impl NumberFormat {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a pattern that is none.
    pub(crate) fn parse(pattern: &str) -> Result<Self, ValueError> {
        let error = match NumberPattern::parse(pattern) {
            Ok(java) => return Ok(Self::Java(java)),
            Err(error) => error,
        };
        match PgNumberPattern::parse(pattern) {
            Ok(Some(postgres)) => Ok(Self::Postgres(postgres)),
            Ok(None) => Err(error),
            Err(why) => Err(ValueError::BadArgument(format!("'{}' is no number pattern: {why}", shorten(pattern)))),
        }
    }

    /// The text of a number.
    ///
    /// # Errors
    /// [`ValueError::OutOfRange`] if the number of percents, or that before the V, has too many digits.
    pub(crate) fn format(&self, number: Decimal) -> Result<String, ValueError> {
        match self {
            Self::Java(pattern) => pattern.format(number),
            Self::Postgres(pattern) => pattern.format(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(pattern: &str) -> String {
        let number = "12.5".parse().unwrap();
        match NumberFormat::parse(pattern).and_then(|format| format.format(number)) {
            Ok(text) => text,
            Err(error) => error.code().as_str().to_owned(),
        }
    }

    #[test]
    fn patterns_of_two_languages() {
        for (pattern, expected) in [
            ("000", "012"),
            ("#,##0.00", "12.50"),
            ("'9'0", "912"),
            ("FM000", "FM012"),
            ("S000", "S012"),
            ("FM999", "13"),
            ("999", "  13"),
            ("S0999", "+0013"),
            ("0D0", " #.#"),
            ("RN", "           XIII"),
            ("\"9\"0", "bad_argument"),
            ("\"9\"9", "9 #"),
            ("0 0", "bad_argument"),
            ("0.0.0", "bad_argument"),
            ("#99", "bad_argument"),
            ("'x'99", "bad_argument"),
            ("99 x", "bad_argument"),
        ] {
            assert_eq!(written(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

        /// A pattern that is Java's gives what Java gives.
        #[test]
        fn patterns_of_java_stay_its_own(pattern in "[0#9.,SMIFDGVL'\"-]{0,8}", digits in any::<i64>(), scale in 0..6) {
            let number = Decimal::new(digits.into(), scale).unwrap();
            if let Ok(java) = NumberPattern::parse(&pattern) {
                prop_assert_eq!(NumberFormat::parse(&pattern), Ok(NumberFormat::Java(java)));
            } else if let Ok(format) = NumberFormat::parse(&pattern) {
                prop_assert!(format.format(number).is_ok() || pattern.contains('V'));
            }
        }
    }
}
