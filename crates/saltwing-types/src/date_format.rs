//! Date patterns of TO_CHAR: those of Java's `SimpleDateFormat`, as in Phoenix, or those of PostgreSQL's `to_char`.
//!
//! Both have the letters M, D, H, S and their kin, with other meanings: `MM/DD` is a month and a day of the year in Java, and a month
//! and a day of the month in PostgreSQL. A pattern that is one of both, and means two things, is
//!
//! 1. Java's with text in `'`, PostgreSQL's with text in `"`,
//! 2. Java's if its letters are of both cases, as `yyyy-MM-dd HH:mm`: PostgreSQL's fields of numbers mean the same in each case, so a
//!    pattern of PostgreSQL's has them in one; a field such as HH24 or Day is none of Java's,
//! 3. refused otherwise.

use crate::ValueError;
use crate::date_pattern::DatePattern;
use crate::error::shorten;
use crate::pg_date_pattern::PgDatePattern;
use crate::value::Timestamp;

/// A pattern, ready to write instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DateFormat {
    Java(DatePattern),
    Postgres(PgDatePattern),
}

/// 2024-05-15 13:04:06.789, 2023-01-01 00:30:00 and 2020-12-31 12:59:59.001: what is equal in all is equal.
const EXAMPLES: [i64; 3] = [1_715_778_246_789, 1_672_533_000_000, 1_609_419_599_001];

impl DateFormat {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a pattern that is none, and for one that means two things.
    pub(crate) fn parse(pattern: &str) -> Result<Self, ValueError> {
        let java = DatePattern::parse(pattern);
        let postgres = match PgDatePattern::parse(pattern) {
            Some(postgres) if java.is_err() => return Ok(Self::Postgres(postgres)),
            Some(postgres) if !pattern.contains('\'') => postgres,
            _ => return java.map(Self::Java),
        };
        let java = java?;
        let has = |of: fn(&char) -> bool| pattern.chars().any(|c| of(&c));
        let is_mixed = has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase);
        if is_mixed && !pattern.contains('"') && !postgres.has_field_of_its_own() {
            return Ok(Self::Java(java));
        }
        let at = |ms: i64| Timestamp { ms, nanos: 0 };
        match EXAMPLES.into_iter().map(at).find(|at| java.format(*at) != postgres.format(*at)) {
            None => Ok(Self::Java(java)),
            Some(_) if pattern.contains('"') => Ok(Self::Postgres(postgres)),
            Some(at) => Err(ValueError::BadArgument(format!(
                "the date pattern '{}' gives {} in Java's SimpleDateFormat and {} in PostgreSQL's to_char: text in '..' makes it \
                 Java's, text in \"..\", also \"\", PostgreSQL's",
                shorten(pattern),
                shorten(&java.format(at)),
                shorten(&postgres.format(at)),
            ))),
        }
    }

    /// The text of an instant, in UTC.
    pub(crate) fn format(&self, at: Timestamp) -> String {
        match self {
            Self::Java(pattern) => pattern.format(at),
            Self::Postgres(pattern) => pattern.format(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(pattern: &str) -> String {
        // 2024-05-05 15:04:06.007
        match DateFormat::parse(pattern) {
            Ok(format) => format.format(Timestamp { ms: 1_714_921_446_007, nanos: 0 }),
            Err(error) => error.code().as_str().to_owned(),
        }
    }

    #[test]
    fn patterns_of_two_languages() {
        for (pattern, expected) in [
            ("yyyy-MM-dd HH:mm:ss.SSS", "2024-05-05 15:04:06.007"),
            ("MM mm", "05 04"),
            ("dd.MM.yy", "05.05.24"),
            ("h:mm a", "3:04 PM"),
            ("yyyy", "2024"),
            ("YYYY-MM-DD HH24:MI:SS", "2024-05-05 15:04:06"),
            ("Dy, DD", "bad_argument"),
            ("HH24", "bad_argument"),
            ("HH24:mm", "bad_argument"),
            ("MM/DD", "bad_argument"),
            ("SS", "bad_argument"),
            ("MS", "bad_argument"),
            ("D", "bad_argument"),
            ("Day", "bad_argument"),
            ("yyyy-mm-dd", "bad_argument"),
            ("MM/DD\"\"", "05/05"),
            ("HH24\"h\"", "15h"),
            ("hh':'mm", "03:04"),
            ("o", "bad_argument"),
        ] {
            assert_eq!(written(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        /// A pattern without quotes that both read is Java's, or refused, if it means two things.
        #[test]
        fn nothing_is_read_in_silence(pattern in "[yMdDHhmsSa24:/-]{0,8}", ms in 0_i64..4_000_000_000_000) {
            let at = Timestamp { ms, nanos: 0 };
            let both = DatePattern::parse(&pattern).ok().zip(PgDatePattern::parse(&pattern));
            if let (Ok(format), Some((java, postgres))) = (DateFormat::parse(&pattern), both) {
                let shown = format.format(at);
                prop_assert_eq!(&shown, &java.format(at));
                let is_mixed = pattern.contains(char::is_uppercase) && pattern.contains(char::is_lowercase);
                prop_assert!(is_mixed || shown == postgres.format(at), "{}", pattern);
            }
        }
    }
}
