//! `LIKE 'abc%'` and `STARTS_WITH(column, 'abc')`: the values that begin with a text.
//!
//! What stands before the first wildcard bounds the column. A lone `%` behind it makes the
//! span exact; any other rest stays in the residual filter.

use saltwing_types::like::{LikePattern, Step};
use saltwing_types::{Expr, SqlType, Value};

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::forms::compare::satisfying;
use crate::forms::constant::{Constant, marked};
use crate::forms::{Outcomes, Reader, Want};
use crate::key_box::Cover;
use crate::place::Place;
use crate::span::Cut;

impl Reader<'_> {
    pub(super) fn like(
        &self,
        text: &Expr,
        pattern: &Expr,
        escape: Option<char>,
        ignore_case: bool,
        want: Want,
    ) -> Cover {
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let (matching, exact, made_up) = match Constant::of(pattern) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(pattern), .. }) => {
                let Ok(parsed) = LikePattern::parse(&pattern, escape, ignore_case) else { return Cover::unknown() };
                let (set, exact) = matching(&parsed, domain);
                (set, exact, false)
            }
            // Taken for a text with a wildcard behind it.
            Some(Constant::Parameter(index)) => match domain.sample(index) {
                Value::Text(prefix) => (beginning_with(&prefix, domain).0, false, true),
                _ => return Cover::unknown(),
            },
            _ => return Cover::unknown(),
        };
        self.text_test(position, &matching, exact, made_up, want)
    }

    pub(super) fn starts_with(&self, args: &[Expr], want: Want) -> Cover {
        let [text, prefix] = args else { return Cover::unknown() };
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let (prefix, made_up) = match Constant::of(prefix) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(prefix), .. }) => (prefix, false),
            Some(Constant::Parameter(index)) => match domain.sample(index) {
                Value::Text(prefix) => (prefix, true),
                _ => return Cover::unknown(),
            },
            _ => return Cover::unknown(),
        };
        let (set, exact) = beginning_with(&prefix, domain);
        self.text_test(position, &set, exact, made_up, want)
    }

    fn text_column(&self, text: &Expr) -> Option<usize> {
        let position = self.key_column(text)?;
        matches!(self.space.domain(position).ty(), SqlType::Varchar(_) | SqlType::Char(_)).then_some(position)
    }

    fn text_test(&self, position: usize, matching: &ColumnSet, exact: bool, made_up: bool, want: Want) -> Cover {
        let domain = self.space.domain(position);
        let missing = || match exact {
            true => matching.complement(domain).without_null(),
            false => ColumnSet::not_null(),
        };
        let outcomes = Outcomes {
            yes: &|| marked(matching.clone(), made_up),
            no: &|| marked(missing(), made_up),
            unknown: &|| ColumnSet::null(domain),
            exact,
        };
        self.column_cover(position, want, outcomes)
    }
}

/// The values that may match a pattern, and whether all of them do.
fn matching(pattern: &LikePattern, domain: &Domain) -> (ColumnSet, bool) {
    let (prefix, rest) = pattern.prefix();
    if pattern.ignores_case() {
        let caseless: String = prefix.chars().take_while(|c| is_caseless(*c)).collect();
        return (beginning_with(&caseless, domain).0, false);
    }
    match rest {
        [] => equal_to(&prefix, domain),
        [Step::AnyText] => beginning_with(&prefix, domain),
        _ => (beginning_with(&prefix, domain).0, false),
    }
}

/// Characters that no other character becomes in lower case.
fn is_caseless(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphabetic()
}

/// LIKE without wildcards: CHAR values meet it without their padding, so a
/// pattern that ends in a blank equals none.
fn equal_to(text: &str, domain: &Domain) -> (ColumnSet, bool) {
    if matches!(domain.ty(), SqlType::Char(_)) && text.ends_with(' ') {
        return (ColumnSet::EMPTY, true);
    }
    let set = match domain.locate(&Value::text(text), false) {
        Some(place) => satisfying(saltwing_types::CompareOp::Eq, &place, domain),
        None => ColumnSet::not_null(),
    };
    (set, true)
}

/// The values that begin with a text, and whether the span holds no other value.
fn beginning_with(prefix: &str, domain: &Domain) -> (ColumnSet, bool) {
    match domain.ty() {
        _ if prefix.is_empty() => (ColumnSet::not_null(), true),
        SqlType::Char(width) => char_beginning_with(prefix, width as usize, domain),
        _ => {
            let cut = |text: &str| domain.locate(&Value::text(text), false).as_ref().map(Place::before);
            let lo = cut(prefix).unwrap_or(Cut::Low);
            let hi = successor(prefix, char::MAX).and_then(|end| cut(&end)).unwrap_or(Cut::High);
            (ColumnSet::between(lo, hi, domain), true)
        }
    }
}

/// In CHAR(n) the smallest value that begins with 'ab' goes on with NUL bytes,
/// and the padding belongs to no value: 'ab' does not begin with 'ab '.
fn char_beginning_with(prefix: &str, width: usize, domain: &Domain) -> (ColumnSet, bool) {
    if !prefix.is_ascii() || prefix.len() > width {
        return (ColumnSet::EMPTY, true);
    }
    let filled = |text: &str| Value::Text(format!("{text}{}", "\0".repeat(width.saturating_sub(text.len()))));
    let lo = Cut::Before(filled(prefix));
    let hi = successor(prefix, '\u{7f}').map_or(Cut::High, |end| Cut::Before(filled(&end)));
    (ColumnSet::between(lo, hi, domain), !prefix.ends_with(' '))
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
