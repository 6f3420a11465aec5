//! `LIKE 'abc%'` and `STARTS_WITH(column, 'abc')`: the values that begin with a text.
//!
//! The text before the first wildcard bounds the column. A single `%` after it makes the span exact; any other rest
//! stays in the residual filter.

use saltwing_types::like::{LikePattern, Step};
use saltwing_types::{Expr, SqlType, Value};

use crate::cover::Cover;
use crate::domain::Domain;
use crate::predicates::constant::Constant;
use crate::predicates::prefix::{beginning_with, case_variants, equal_to};
use crate::predicates::{CoverBuilder, TruthSet};
use crate::value_set::ValueSet;

impl CoverBuilder<'_> {
    /// `test` is a LIKE.
    pub(super) fn like(&self, test: &Expr, want: TruthSet) -> Cover {
        let Expr::Like { text, pattern, escape, ignore_case } = test else { return Cover::unknown() };
        let (escape, ignore_case) = (*escape, *ignore_case);
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let (matching, exact) = match Constant::of(pattern) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(pattern), .. }) => {
                let Ok(parsed) = LikePattern::parse(&pattern, escape, ignore_case) else { return Cover::unknown() };
                matching(&parsed, domain)
            }
            // Taken for one that begins with plain text.
            Some(Constant::Open(_)) => return self.open_text_test(position, test.clone(), false, want),
            _ => return Cover::unknown(),
        };
        self.text_test(position, &matching, exact, want)
    }

    /// `test` is a call of STARTS_WITH with these arguments.
    pub(super) fn starts_with(&self, test: &Expr, args: &[Expr], want: TruthSet) -> Cover {
        let [text, prefix] = args else { return Cover::unknown() };
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let prefix = match Constant::of(prefix) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(prefix), .. }) => prefix,
            Some(Constant::Open(_)) => {
                let is_exact = matches!(domain.ty(), SqlType::Varchar(_));
                return self.open_text_test(position, test.clone(), is_exact, want);
            }
            _ => return Cover::unknown(),
        };
        let (set, exact) = beginning_with(&prefix, domain);
        self.text_test(position, &set, exact, want)
    }
}

/// The values that may match a pattern, and whether all of them do.
fn matching(pattern: &LikePattern, domain: &Domain) -> (ValueSet, bool) {
    let (prefix, rest) = pattern.prefix();
    if pattern.ignores_case() {
        let sets: Vec<ValueSet> = case_variants(&prefix).iter().map(|p| beginning_with(p, domain).0).collect();
        return (ValueSet::union(&sets, domain), false);
    }
    match rest {
        [] => equal_to(&prefix, domain),
        [Step::AnyText] => beginning_with(&prefix, domain),
        _ => (beginning_with(&prefix, domain).0, false),
    }
}
