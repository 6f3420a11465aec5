//! `LIKE 'abc%'` and `STARTS_WITH(column, 'abc')`: the values that begin with a text.
//!
//! The text before the first wildcard bounds the column. A single `%` after it makes the span exact; any other rest
//! stays in the residual filter.

use saltwing_types::like::{LikePattern, Step};
use saltwing_types::{Expr, Value};

use crate::column_set::ColumnSet;
use crate::cover::Cover;
use crate::domain::Domain;
use crate::predicates::constant::Constant;
use crate::predicates::prefix::{beginning_with, case_variants, equal_to};
use crate::predicates::{CoverBuilder, TruthSet};

impl CoverBuilder<'_> {
    pub(super) fn like(
        &self,
        text: &Expr,
        pattern: &Expr,
        escape: Option<char>,
        ignore_case: bool,
        want: TruthSet,
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

    pub(super) fn starts_with(&self, args: &[Expr], want: TruthSet) -> Cover {
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
}

/// The values that may match a pattern, and whether all of them do.
fn matching(pattern: &LikePattern, domain: &Domain) -> (ColumnSet, bool) {
    let (prefix, rest) = pattern.prefix();
    if pattern.ignores_case() {
        let sets: Vec<ColumnSet> = case_variants(&prefix).iter().map(|p| beginning_with(p, domain).0).collect();
        return (ColumnSet::union(&sets, domain), false);
    }
    match rest {
        [] => equal_to(&prefix, domain),
        [Step::AnyText] => beginning_with(&prefix, domain),
        _ => (beginning_with(&prefix, domain).0, false),
    }
}
