//! Beginnings of text: the values that begin with a text, and `LEFT(k, n)`, `SUBSTR(k, 1, n)`.
//!
//! A beginning goes up with the whole text, so a comparison of beginnings is a range:
//!
//! ```text
//! LEFT(k, 2) = 'ab'     ['ab' .. 'ac')
//! LEFT(k, 2) > 'ab'     ['ac' ..
//! LEFT(k, 2) = 'a'      ['a' .. 'a']         shorter than 2: the whole text
//! LEFT(k, 2) > 'abc'    ['ac' ..             longer than 2: no beginning is between 'ab' and 'abc'
//! ```

use saltwing_types::function::KeyProperty;
use saltwing_types::{CompareOp, Expr, SqlType, Value};

use crate::cover::Cover;
use crate::domain::Domain;
use crate::literal_position::LiteralPosition;
use crate::predicates::compare::satisfying;
use crate::predicates::{CoverBuilder, Outcomes, TruthSet};
use crate::span::Cut;
use crate::value_set::ValueSet;

/// The first characters of a text: so many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextPrefix(usize);

impl TextPrefix {
    /// The text and its beginning that an expression is; the inner `None`: a parameter says where that ends.
    pub(crate) fn of(expr: &Expr) -> Option<(&Expr, Option<Self>)> {
        let Expr::Call(function, args, _) = expr else { return None };
        let integer = |e: &Expr| if let Expr::Literal(Value::Int(n), _) = e { Some(*n) } else { None };
        let is_open = |e: &Expr| matches!(e, Expr::Param(..) | Expr::Subquery(..));
        let (text, count) = match (function.key_property, args.as_slice()) {
            (KeyProperty::Prefix, [text, count]) | (KeyProperty::Substring, [text, _, count]) => (text, count),
            _ => return None,
        };
        let from = if let [_, from, _] = args.as_slice() { Some(from) } else { None };
        if from.is_some_and(|from| !is_open(from) && !matches!(integer(from), Some(0 | 1))) {
            return None;
        }
        if is_open(count) || from.is_some_and(is_open) {
            return Some((text, None));
        }
        let count = if from.is_some() { integer(count)?.max(0) } else { integer(count)? };
        usize::try_from(count).ok().map(|chars| (text, Some(Self(chars))))
    }

    /// The position of a constant among the prefixes of a column's values.
    pub(super) fn locate(self, constant: &str, domain: &Domain) -> LiteralPosition {
        let cut: String = constant.chars().take(self.0).collect();
        let (is_longer, is_shorter) = (cut.len() < constant.len(), cut.chars().count() < self.0);
        if let SqlType::Char(width) = domain.ty() {
            return char_prefix_place(&cut, width as usize, is_longer, is_shorter);
        }
        let (lo, hi) = beginnings(&cut, domain);
        match (is_longer, is_shorter) {
            (true, _) => LiteralPosition::Gap(hi),
            (false, true) => {
                domain.locate(&Value::text(constant), false).unwrap_or(LiteralPosition::Approximate { lo, hi })
            }
            (false, false) => LiteralPosition::Within { lo, hi },
        }
    }
}

/// The place of a text among values of a CHAR column that are compared as they are, without their padding.
pub(super) fn char_place(text: &str, domain: &Domain) -> LiteralPosition {
    let SqlType::Char(width) = domain.ty() else { return LiteralPosition::Approximate { lo: Cut::Low, hi: Cut::High } };
    char_prefix_place(text, width as usize, false, true)
}

/// The position of a text among values of a column that equal it without trailing blanks: each is the text and blanks,
/// and therefore below the text with the character after the blank.
pub(super) fn trimmed_place(text: &str, domain: &Domain) -> LiteralPosition {
    let above = format!("{text}!");
    let (lo, hi) = match domain.ty() {
        SqlType::Char(width) if text.is_ascii() && text.len() < width as usize => {
            let width = width as usize;
            (Cut::Before(Value::Text(format!("{text:<width$}"))), before_filled(&above, width))
        }
        SqlType::Varchar(_) if !text.is_empty() => {
            (before_text(text, domain).unwrap_or(Cut::Low), before_text(&above, domain).unwrap_or(Cut::High))
        }
        _ => (Cut::Low, Cut::High),
    };
    LiteralPosition::Approximate { lo, hi }
}

/// CHAR(n) is padded in its order, but its prefixes are not: if the constant has blanks or control characters the
/// position is approximate, from the part before them.
fn char_prefix_place(cut: &str, width: usize, is_longer: bool, is_shorter: bool) -> LiteralPosition {
    let plain: String = cut.chars().take_while(|c| *c > ' ' && c.is_ascii()).collect();
    let plain: String = plain.chars().take(width).collect();
    let (lo, hi) = char_beginnings(&plain, width);
    match plain.len() == cut.len() && !is_shorter {
        true if is_longer => LiteralPosition::Gap(hi),
        true => LiteralPosition::Within { lo, hi },
        false => LiteralPosition::Approximate { lo, hi },
    }
}

impl CoverBuilder<'_> {
    pub(super) fn text_column(&self, text: &Expr) -> Option<usize> {
        let position = self.key_column(text)?;
        matches!(self.space.domain(position).ty(), SqlType::Varchar(_) | SqlType::Char(_)).then_some(position)
    }

    pub(super) fn text_test(&self, position: usize, matching: &ValueSet, exact: bool, want: TruthSet) -> Cover {
        let domain = self.space.domain(position);
        let missing = || match exact {
            true => matching.complement(domain).without_null(),
            false => ValueSet::not_null(),
        };
        let outcomes = Outcomes {
            yes: &|| matching.clone().into(),
            no: &|| missing().into(),
            unknown: &|| ValueSet::null(domain).into(),
            doubt: &|_| exact.then_some(ValueSet::EMPTY),
        };
        self.column_cover(position, want, outcomes)
    }
}

/// Maximum of case variants of a prefix for ILIKE.
const VARIANTS_MAX: usize = 64;

/// Prefixes, one of which every text has that matches this lower-case prefix regardless of case.
///
/// ASCII letters are spelled out, as many as keep the spellings few; the beginning ends at the first
/// other letter.
pub(super) fn case_variants(lower: &str) -> Vec<String> {
    let mut variants = vec![String::new()];
    for c in lower.chars() {
        // The Kelvin sign and the dotted capital I become ASCII letters in lower case; no other character does.
        let spellings: &[char] = match c {
            'k' => &['K', 'k', '\u{212a}'],
            'i' => &['I', 'i', '\u{130}'],
            _ if c.is_ascii_lowercase() => &[c.to_ascii_uppercase(), c],
            _ if c.is_ascii() => &[c],
            _ => break,
        };
        if variants.len() * spellings.len() > VARIANTS_MAX {
            break;
        }
        variants = variants.iter().flat_map(|head| spellings.iter().map(move |c| format!("{head}{c}"))).collect();
        // Its lower case is two characters, and the second may match the pattern's next one.
        if c == 'i' {
            break;
        }
    }
    variants
}

/// LIKE without wildcards: CHAR values meet it without their padding, so a
/// pattern that ends in a blank equals none.
pub(super) fn equal_to(text: &str, domain: &Domain) -> (ValueSet, bool) {
    if matches!(domain.ty(), SqlType::Char(_)) && text.ends_with(' ') {
        return (ValueSet::EMPTY, true);
    }
    let set = match domain.locate(&Value::text(text), false) {
        Some(place) => satisfying(CompareOp::Eq, &place, domain),
        None => ValueSet::not_null(),
    };
    (set, true)
}

/// The values that begin with a text, and whether the span holds no other value.
pub(super) fn beginning_with(prefix: &str, domain: &Domain) -> (ValueSet, bool) {
    match domain.ty() {
        _ if prefix.is_empty() => (ValueSet::not_null(), true),
        SqlType::Char(width) => char_beginning_with(prefix, width as usize, domain),
        _ => {
            let (lo, hi) = beginnings(prefix, domain);
            (ValueSet::between(lo, hi, domain), true)
        }
    }
}

/// Around the values of a VARCHAR column that begin with a text.
fn beginnings(prefix: &str, domain: &Domain) -> (Cut, Cut) {
    let lo = if prefix.is_empty() { Cut::Low } else { before_text(prefix, domain).unwrap_or(Cut::Low) };
    let hi = successor(prefix, char::MAX).and_then(|end| before_text(&end, domain)).unwrap_or(Cut::High);
    (lo, hi)
}

/// Below the values of a VARCHAR column that are not below a text.
fn before_text(text: &str, domain: &Domain) -> Option<Cut> {
    domain.locate(&Value::text(text), false).as_ref().map(LiteralPosition::before)
}

/// In CHAR(n) the smallest value that begins with 'ab' goes on with NUL bytes,
/// and the padding belongs to no value: 'ab' does not begin with 'ab '.
fn char_beginning_with(prefix: &str, width: usize, domain: &Domain) -> (ValueSet, bool) {
    if !prefix.is_ascii() || prefix.len() > width {
        return (ValueSet::EMPTY, true);
    }
    let (lo, hi) = char_beginnings(prefix, width);
    (ValueSet::between(lo, hi, domain), !prefix.ends_with(' '))
}

/// Around the values of a CHAR column that begin with an ASCII text of at most its width.
fn char_beginnings(prefix: &str, width: usize) -> (Cut, Cut) {
    let lo = if prefix.is_empty() { Cut::Low } else { before_filled(prefix, width) };
    let hi = successor(prefix, '\u{7f}').map_or(Cut::High, |end| before_filled(&end, width));
    (lo, hi)
}

/// Below the smallest value of a CHAR column that begins with an ASCII text: it goes on with NUL bytes.
fn before_filled(text: &str, width: usize) -> Cut {
    Cut::Before(Value::Text(format!("{text:\0<width$}")))
}

/// The smallest text above all that begin with `prefix`, of characters up to `last`.
fn successor(prefix: &str, last: char) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(c) = chars.pop() {
        // The surrogates are no characters: after U+D7FF comes U+E000.
        let next = (u32::from(c) + 1..=u32::from(last)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The premise of [`case_variants`].
    #[test]
    fn two_characters_become_ascii_letters() {
        let foreign: Vec<char> =
            ('\u{80}'..=char::MAX).filter(|c| c.to_lowercase().next().is_some_and(|lower| lower.is_ascii())).collect();
        assert_eq!(foreign, ['\u{130}', '\u{212a}']);
    }

    #[test]
    fn spellings_are_few() {
        assert_eq!(case_variants("ab"), ["AB", "Ab", "aB", "ab"]);
        assert_eq!(case_variants("1é"), ["1"]);
        assert_eq!(case_variants("abcdefghij").len(), 64);
        assert!(case_variants("ab1").iter().all(|variant| variant.ends_with('1')));
        assert_eq!(case_variants("ix").len(), 3);
    }
}
