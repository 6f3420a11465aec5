//! Patterns of JDBC for names.
//!
//! `%` is any text, `_` any character, and a backslash makes the next character itself. Case is ignored: no two names of one place differ in
//! case alone.

use crate::error::AvaticaError;

/// The most characters of a pattern.
const CHARS_MAX: usize = 1000;

/// A text of a request: an empty one is given if its flag is set, and others are.
pub(crate) fn given(text: &str, has: bool) -> Option<&str> {
    (has || !text.is_empty()).then_some(text)
}

/// A pattern; an absent one fits every name.
#[derive(Debug)]
pub(crate) struct Pattern(Option<Vec<Part>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Text,
    Character,
    Exactly(char),
}

impl Pattern {
    /// # Errors
    /// [`AvaticaError::PatternTooLong`].
    pub(crate) fn new(text: Option<&str>) -> Result<Self, AvaticaError> {
        let Some(text) = text else { return Ok(Self(None)) };
        if text.chars().nth(CHARS_MAX).is_some() {
            return Err(AvaticaError::PatternTooLong { max: CHARS_MAX });
        }
        let (mut parts, mut chars) = (Vec::new(), text.chars());
        while let Some(char) = chars.next() {
            match char {
                '%' if parts.last() == Some(&Part::Text) => {}
                '%' => parts.push(Part::Text),
                '_' => parts.push(Part::Character),
                '\\' => parts.extend(chars.next().unwrap_or('\\').to_lowercase().map(Part::Exactly)),
                char => parts.extend(char.to_lowercase().map(Part::Exactly)),
            }
        }
        Ok(Self(Some(parts)))
    }

    /// Whether a name fits.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let Some(parts) = &self.0 else { return true };
        let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        fits(parts, &name)
    }

    /// Whether a schema fits. The objects without one have the empty pattern, and `%`.
    pub(crate) fn fits_schema(&self, schema: Option<&str>) -> bool {
        match (&self.0, schema) {
            (None, _) => true,
            (Some(parts), None) => parts.is_empty() || *parts == [Part::Text],
            (Some(_), Some(schema)) => self.fits(schema),
        }
    }
}

/// Takes each `%` for as little as possible, and for one character more whenever what follows does not fit.
fn fits(parts: &[Part], name: &[char]) -> bool {
    let (mut part, mut at) = (0_usize, 0_usize);
    // Behind the last `%`: the part that follows it, and the place in the name up to which it reaches.
    let mut retry: Option<(usize, usize)> = None;
    while let Some(char) = name.get(at) {
        match parts.get(part) {
            Some(Part::Text) => {
                part = part.saturating_add(1);
                retry = Some((part, at));
                continue;
            }
            Some(Part::Character) => {}
            Some(Part::Exactly(exact)) if exact == char => {}
            Some(Part::Exactly(_)) | None => {
                let Some((after, reached)) = retry else { return false };
                let reached = reached.saturating_add(1);
                retry = Some((after, reached));
                (part, at) = (after, reached);
                continue;
            }
        }
        (part, at) = (part.saturating_add(1), at.saturating_add(1));
    }
    parts.get(part..).unwrap_or_default().iter().all(|part| *part == Part::Text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Part, Pattern, given};

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::new(Some(pattern)).unwrap().fits(name)
    }

    #[test]
    fn patterns_fit_names_in_any_case() {
        for (pattern, name) in
            [("T_ST", "test"), ("%", ""), ("a%b%", "AxxBB"), ("a\\_b", "A_B"), ("%%x", "x"), ("é%", "Édith")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a\\_b", "axb"), ("", "a"), ("_", ""), ("a%b", "abc"), ("a", "aa")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn the_empty_pattern_is_for_objects_without_a_schema() {
        let without = Pattern::new(Some("")).unwrap();
        assert!(without.fits_schema(None) && !without.fits_schema(Some("s")));
        assert!(Pattern::new(Some("%")).unwrap().fits_schema(None));
        assert!(!Pattern::new(Some("s%")).unwrap().fits_schema(None));
        assert!(Pattern::new(None).unwrap().fits_schema(None));
        assert_eq!((given("", false), given("", true), given("a", false)), (None, Some(""), Some("a")));
    }

    #[test]
    fn a_pattern_has_a_limit() {
        assert!(Pattern::new(Some(&"%".repeat(1000))).is_ok());
        assert!(Pattern::new(Some(&"%".repeat(1001))).is_err());
    }

    /// By the definition: a `%` is some beginning of the name.
    fn fits_by_definition(parts: &[Part], name: &[char]) -> bool {
        match parts.split_first() {
            None => name.is_empty(),
            Some((Part::Text, rest)) => (0..=name.len()).any(|taken| fits_by_definition(rest, &name[taken..])),
            Some((Part::Character, rest)) => !name.is_empty() && fits_by_definition(rest, &name[1..]),
            Some((Part::Exactly(char), rest)) => name.first() == Some(char) && fits_by_definition(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn patterns_fit_as_they_are_defined(pattern in "[ab%_]{0,8}", name in "[ab]{0,8}") {
            let compiled = Pattern::new(Some(&pattern)).unwrap();
            let expected = fits_by_definition(compiled.0.as_deref().unwrap(), &name.chars().collect::<Vec<_>>());
            prop_assert_eq!(compiled.fits(&name), expected);
        }
    }
}
