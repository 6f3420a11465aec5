//! LIKE and regular expressions with a constant pattern.

use arrow::array::{Array, AsArray, BooleanArray};
use memchr::memmem::Finder;
use saltwing_types::Value;
use saltwing_types::like::{LikePattern, Step as PatternStep};
use saltwing_types::regexp::Regexp;

use crate::batch::{Batch, Columnwise, RowByRow};
use crate::bits::pack_bytes;
use crate::step::{Compute, Step, Truth, Vector};

#[derive(Debug)]
pub(crate) struct Like {
    text: Step,
    ignore_case: bool,
    matcher: Matcher,
}

impl Like {
    pub(crate) fn new(text: Step, pattern: &LikePattern) -> Self {
        Self { text, ignore_case: pattern.ignores_case(), matcher: Matcher::new(pattern) }
    }

    fn matches(&self, text: &str) -> bool {
        if !self.ignore_case {
            return self.matcher.matches(text);
        }
        // Character by character, as the pattern was: a final sigma is no special case.
        let lower: String = text.chars().flat_map(char::to_lowercase).collect();
        self.matcher.matches(&lower)
    }
}

impl Compute for Like {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        Ok(match self.text.compute(batch)? {
            Vector::Constant(Value::Text(text)) => Truth::Constant(Some(self.matches(&text))).into(),
            Vector::Constant(_) => Truth::Constant(None).into(),
            Vector::Array(array) => {
                let texts = array.as_string_opt::<i32>().ok_or(RowByRow)?;
                let mask = match &self.matcher {
                    _ if self.ignore_case => pack_bytes(texts, |text| self.matches(text)),
                    Matcher::Exact(whole) => pack_bytes(texts, |text| text == whole),
                    Matcher::Prefix(prefix) => pack_bytes(texts, |text| text.as_bytes().starts_with(prefix.as_bytes())),
                    matcher => pack_bytes(texts, |text| matcher.matches(text)),
                };
                Vector::of(BooleanArray::new(mask, array.nulls().cloned()))
            }
        })
    }
}

/// A constant regular expression.
#[derive(Debug)]
pub(crate) struct RegexpMatch {
    pub(crate) text: Step,
    pub(crate) regexp: Regexp,
}

impl Compute for RegexpMatch {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        Ok(match self.text.compute(batch)? {
            Vector::Constant(Value::Text(text)) => Truth::Constant(Some(self.regexp.matches(&text))).into(),
            Vector::Constant(_) => Truth::Constant(None).into(),
            Vector::Array(array) => {
                let texts = array.as_string_opt::<i32>().ok_or(RowByRow)?;
                let mask = pack_bytes(texts, |text| self.regexp.matches(text));
                Vector::of(BooleanArray::new(mask, array.nulls().cloned()))
            }
        })
    }
}

/// A pattern by its shape; all work on UTF-8, which never finds a text across characters.
#[derive(Debug)]
enum Matcher {
    /// No wildcard.
    Exact(String),
    /// `abc%`
    Prefix(String),
    /// `abc%def%ghi`, the first and the last part possibly empty: no `_`.
    Parts { first: String, middle: Vec<Finder<'static>>, last: String },
    /// With `_`.
    Steps(Vec<PatternStep>),
}

impl Matcher {
    fn new(pattern: &LikePattern) -> Self {
        let (first, rest) = pattern.prefix();
        if rest.is_empty() {
            return Matcher::Exact(first);
        }
        if rest == [PatternStep::AnyText] {
            return Matcher::Prefix(first);
        }
        if rest.contains(&PatternStep::AnyChar) {
            return Matcher::Steps(first.chars().map(PatternStep::Char).chain(rest.iter().copied()).collect());
        }
        let part = |steps: &[PatternStep]| {
            steps.iter().filter_map(|step| if let PatternStep::Char(c) = step { Some(*c) } else { None }).collect()
        };
        let mut parts: Vec<String> = rest.split(|step| *step == PatternStep::AnyText).map(part).collect();
        // `rest` begins with %, so its first part is empty and represents the prefix, which is stored separately.
        let last = parts.pop().unwrap_or_default();
        let middle = parts.iter().filter(|part| !part.is_empty()).map(|part| Finder::new(part).into_owned());
        Matcher::Parts { first, middle: middle.collect(), last }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Matcher::Exact(whole) => text == whole,
            Matcher::Prefix(prefix) => text.starts_with(prefix.as_str()),
            Matcher::Parts { first, middle, last } => {
                let text = text.as_bytes();
                let inner = text.strip_prefix(first.as_bytes()).and_then(|text| text.strip_suffix(last.as_bytes()));
                let Some(mut inner) = inner else { return false };
                // Taking each part where it first occurs leaves most for the others.
                for part in middle {
                    let Some(found) = part.find(inner) else { return false };
                    inner = inner.get(found + part.needle().len()..).unwrap_or_default();
                }
                true
            }
            Matcher::Steps(steps) => matches_steps(steps, text),
        }
    }
}

/// As [`LikePattern::matches`], without a copy of the text as characters.
fn matches_steps(steps: &[PatternStep], text: &str) -> bool {
    let (mut steps, mut rest) = (steps, text.chars());
    // The steps after the last % seen, and the text that its match may grow into.
    let mut retry: Option<(&[PatternStep], std::str::Chars<'_>)> = None;
    loop {
        let here = rest.clone();
        match (steps.split_first(), rest.next()) {
            (Some((PatternStep::AnyText, after)), _) => {
                rest = here;
                steps = after;
                retry = Some((after, rest.clone()));
            }
            (Some((PatternStep::AnyChar, after)), Some(_)) => steps = after,
            (Some((PatternStep::Char(c), after)), Some(t)) if *c == t => steps = after,
            (None, None) => return true,
            _ => {
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                steps = after;
                rest = from.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Shapes answer as the pattern itself does.
        #[test]
        fn shapes_match_as_patterns(pattern in "[ab%_é]{0,7}", text in "[abé]{0,8}") {
            let parsed = LikePattern::parse(&pattern, None, false).unwrap();
            prop_assert_eq!(Matcher::new(&parsed).matches(&text), parsed.matches(&text));
        }
    }
}
