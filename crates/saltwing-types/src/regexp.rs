//! Regular expressions: `text ~ pattern`.
//!
//! Syntax and meaning are the `regex` crate's: Perl's without back references and
//! look-around, matched in time linear in the text. A pattern may match anywhere unless it says `^` or `$`.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look};

use crate::ValueError;
use crate::error::shorten;

/// Largest compiled pattern, in bytes: a small text may ask for a large program.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// A pattern, ready to match.
#[derive(Clone, Debug)]
pub struct Regexp {
    regex: Regex,
}

/// The prefix of all matching texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexpPrefix {
    /// The text.
    pub text: String,
    /// Which texts match.
    pub rest: RegexpRest,
}

/// Which texts match, of those that begin with the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexpRest {
    /// All of them.
    Any,
    /// The prefix itself alone.
    Nothing,
    /// Only the pattern tells.
    Some,
}

impl Regexp {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for an invalid or too large pattern.
    pub fn parse(pattern: &str, ignore_case: bool) -> Result<Self, ValueError> {
        let regex = RegexBuilder::new(pattern).case_insensitive(ignore_case).size_limit(COMPILED_BYTES_MAX).build();
        match regex {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => {
                let text = error.to_string();
                // The crate prints the pattern over several lines, and the reason on the last.
                let last = text.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last);
                Err(ValueError::BadArgument(format!("'{}' is no regular expression: {reason}", shorten(pattern))))
            }
        }
    }

    /// Whether it matches anywhere in a text.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Whether the flags of REGEXP_LIKE say that case does not count: `i` does, `c` does not.
///
/// # Errors
/// [`ValueError::BadArgument`] for other flags.
pub fn ignores_case(flags: &str) -> Result<bool, ValueError> {
    match flags {
        "" | "c" => Ok(false),
        "i" => Ok(true),
        other => Err(ValueError::BadArgument(format!("'{other}': 'i' and 'c' are the flags of a regular expression"))),
    }
}

/// The prefix of every matching text; `None` if the pattern has none.
///
/// # Law
/// A text that matches begins with `text`. With [`RegexpRest::Any`] every such text matches, with
/// [`RegexpRest::Nothing`] the prefix itself and no other.
pub fn prefix(pattern: &str, ignore_case: bool) -> Option<RegexpPrefix> {
    let hir = ParserBuilder::new().case_insensitive(ignore_case).build().parse(pattern).ok()?;
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(&hir),
    };
    let [start, rest @ ..] = parts else { return None };
    if *start.kind() != HirKind::Look(Look::Start) {
        return None;
    }
    let (text, rest) = match rest {
        [first, rest @ ..] => match first.kind() {
            HirKind::Literal(literal) => (std::str::from_utf8(&literal.0).ok()?.to_owned(), rest),
            _ => (String::new(), parts.get(1..)?),
        },
        [] => (String::new(), rest),
    };
    let rest = match rest {
        [end] if *end.kind() == HirKind::Look(Look::End) => RegexpRest::Nothing,
        // A search without `$` is content with matching nothing more.
        rest if rest.iter().all(matches_nothing) => RegexpRest::Any,
        _ => RegexpRest::Some,
    };
    Some(RegexpPrefix { text, rest })
}

/// Whether the empty text matches at any place.
fn matches_nothing(part: &Hir) -> bool {
    part.properties().minimum_len() == Some(0) && part.properties().look_set().is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_prefix_is_what_stands_before_the_first_choice() {
        let of = |pattern: &str| prefix(pattern, false).map(|found| (found.text, found.rest));
        let text = |text: &str, rest| Some((text.to_owned(), rest));
        assert_eq!(of("^abc"), text("abc", RegexpRest::Any));
        assert_eq!(of("^abc.*"), text("abc", RegexpRest::Any));
        assert_eq!(of("^abc$"), text("abc", RegexpRest::Nothing));
        assert_eq!(of("^abc?d"), text("ab", RegexpRest::Some));
        assert_eq!(of(r"^a\.b[0-9]+"), text("a.b", RegexpRest::Some));
        assert_eq!(of("^"), text("", RegexpRest::Any));
        assert_eq!(of("^a.*b$"), text("a", RegexpRest::Some));
        assert_eq!(of(r"^abc\b"), text("abc", RegexpRest::Some));
        assert_eq!(of(r"\Aé漢"), text("é漢", RegexpRest::Any));
        assert_eq!(of("abc"), None);
        assert_eq!(of("(?m)^abc"), None);
        assert_eq!(of("^abc|^abd"), text("", RegexpRest::Some));
        assert_eq!(of("^abc|xyz"), None);
        assert_eq!(of("("), None);
        assert_eq!(prefix("^abc", true).map(|found| found.text), Some(String::new()));
    }

    #[test]
    fn refuses_what_is_none() {
        for bad in ["(", "a{1,", "[z-a]", r"(a)\1", "a{1000}{1000}"] {
            let error = Regexp::parse(bad, false).unwrap_err();
            assert!(error.to_string().contains("is no regular expression"), "{error}");
        }
        assert!(Regexp::parse("^É", true).unwrap().matches("éa"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 8))]

        #[test]
        fn what_matches_begins_with_the_prefix(
            pattern in r"\^[ab]{0,2}([a.]|\\\.|a\*|b\?|a\+|\(a\|b\)|a\{2\}|\$|\|a|\[ab\]|\\b){0,3}",
            text in "[ab.\n]{0,5}",
        ) {
            let Ok(regexp) = Regexp::parse(&pattern, false) else { return Ok(()) };
            let Some(found) = prefix(&pattern, false) else { return Ok(()) };
            let (matches, begins) = (regexp.matches(&text), text.starts_with(&found.text));
            prop_assert!(!matches || begins);
            match found.rest {
                RegexpRest::Any => prop_assert_eq!(matches, begins),
                RegexpRest::Nothing => prop_assert_eq!(matches, text == found.text),
                RegexpRest::Some => {}
            }
        }
    }
}
