//! Regular expressions: `text ~ pattern`.
//!
//! Syntax and meaning are the `regex` crate's: Perl's without back references and
//! look-around, matched in time linear in the text. A pattern may match anywhere unless it says `^` or `$`.

use std::cell::RefCell;

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
            Err(regex::Error::CompiledTooBig(limit)) => {
                let text = format!("the regular expression is too large: it would take more than {} MB", limit >> 20);
                Err(ValueError::BadArgument(text))
            }
            Err(error) => {
                let text = error.to_string();
                // The crate prints the pattern over several lines, and the reason on the last.
                let last = text.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last);
                Err(ValueError::BadArgument(format!("'{}' is no regular expression: {reason}", shorten(pattern))))
            }
        }
    }

    /// As [`Self::parse`]; the last pattern of the thread is kept, because a function meets the same one row after row.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(crate) fn cached(pattern: &str, ignore_case: bool) -> Result<Self, ValueError> {
        thread_local! {
            static LAST: RefCell<Option<(String, bool, Regexp)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some((known, case, regexp)) if known == pattern && *case == ignore_case => Ok(regexp.clone()),
            _ => {
                let regexp = Self::parse(pattern, ignore_case)?;
                *last = Some((pattern.to_owned(), ignore_case, regexp.clone()));
                Ok(regexp)
            }
        })
    }

    /// Whether it matches anywhere in a text.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The first match that begins at this byte, the start of a character, or after it.
    pub(crate) fn find<'t>(&self, text: &'t str, start: usize) -> Option<&'t str> {
        self.regex.find_at(text, start).map(|found| found.as_str())
    }

    /// How many groups there are, the whole match among them.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len()
    }

    /// A group of the first match; `None` without a match, and of a group that has no part in it.
    pub(crate) fn group_of<'t>(&self, text: &'t str, group: usize) -> Option<&'t str> {
        self.regex.captures(text)?.get(group).map(|found| found.as_str())
    }

    /// The bytes at which the matches begin and end.
    pub(crate) fn places(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        self.regex.find_iter(text).map(|found| (found.start(), found.end()))
    }

    /// How many parts of a text match.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.regex.find_iter(text).count()
    }

    /// The parts of a text between matches.
    pub(crate) fn split<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex.split(text)
    }

    /// A text with its matches replaced: all of them, or the first alone.
    pub(crate) fn replace(&self, text: &str, replacement: &Replacement, is_global: bool) -> String {
        let limit = if is_global { 0 } else { 1 };
        self.regex.replacen(text, limit, replacement.template.as_str()).into_owned()
    }
}

/// The text that replaces a match, with the groups that it repeats.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    /// As the `regex` crate expands it: `${1}` is a group, `$$` a dollar.
    template: String,
    groups: usize,
}

impl Replacement {
    /// Reads a replacement: `$1`, `${1}` and `\1` are groups, a backslash before another character gives this character.
    ///
    /// # Errors
    /// [`ValueError::BadArgument`] for a group that the pattern does not have.
    pub(crate) fn parse(text: &str, regexp: &Regexp) -> Result<Self, ValueError> {
        let (mut template, mut groups) = (String::new(), 0);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            let group = if c == '$' || c == '\\' { group(rest, c == '$') } else { None };
            let literal = match group {
                Some((number, _)) if number >= regexp.regex.captures_len() => {
                    let text = format!("the regular expression has no group {number}, which '{}' names", shorten(text));
                    return Err(ValueError::BadArgument(text));
                }
                Some((number, after)) => {
                    template.push_str(&format!("${{{number}}}"));
                    groups += 1;
                    rest = after;
                    continue;
                }
                None if c == '\\' => {
                    let escaped = rest.chars().next().unwrap_or(c);
                    rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
                    escaped
                }
                None => c,
            };
            template.push_str(if literal == '$' { "$" } else { "" });
            template.push(literal);
        }
        Ok(Self { template, groups })
    }

    /// An upper bound of the bytes of a text of so many bytes after so many replacements.
    pub(crate) fn bytes(&self, text_bytes: usize, matches: usize) -> usize {
        // All matches of a group together are no longer than the text.
        let repeated = text_bytes.saturating_mul(self.groups.saturating_add(1));
        repeated.saturating_add(matches.saturating_mul(self.template.len()))
    }
}

/// The number of the group that a text begins with, with or without braces, and the text after it.
///
/// Without braces a group has one digit.
fn group(text: &str, may_have_braces: bool) -> Option<(usize, &str)> {
    let (digits, rest) = match text.strip_prefix('{') {
        Some(braced) if may_have_braces => braced.split_once('}')?,
        _ => text.split_at_checked(1)?,
    };
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, rest))
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
        for bad in ["(", "a{1,", "[z-a]", r"(a)\1"] {
            let error = Regexp::parse(bad, false).unwrap_err();
            assert!(error.to_string().contains("is no regular expression"), "{error}");
        }
        let error = Regexp::parse("a{1000}{1000}", false).unwrap_err();
        assert!(error.to_string().contains("too large: it would take more than 1 MB"), "{error}");
        assert!(Regexp::parse("^É", true).unwrap().matches("éa"));
    }

    #[test]
    fn replacements_repeat_groups() {
        let regexp = Regexp::parse("(a)(b)?", false).unwrap();
        let replaced = |text: &str, replacement: &str| {
            let replacement = Replacement::parse(replacement, &regexp)?;
            let replaced = regexp.replace(text, &replacement, true);
            assert!(replaced.len() <= replacement.bytes(text.len(), regexp.count(text)), "{text} {replaced}");
            Ok::<_, ValueError>(replaced)
        };
        for (replacement, result) in [
            ("x", "x.x"),
            ("", "."),
            ("$1x", "ax.ax"),
            ("<$0>", "<ab>.<a>"),
            ("${2}1", "b1.1"),
            (r"\2\1", "ba.a"),
            (r"\$1 \\ $", r"$1 \ $.$1 \ $"),
            ("$x ${y", "$x ${y.$x ${y"),
            (r"\", r"\.\"),
        ] {
            assert_eq!(replaced("ab.a", replacement).as_deref(), Ok(result), "{replacement}");
        }
        for bad in ["$3", r"\9", "${10}"] {
            assert!(replaced("ab", bad).unwrap_err().to_string().contains("has no group"), "{bad}");
        }
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
