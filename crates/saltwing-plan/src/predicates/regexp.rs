//! `k ~ '^abc'`: a regular expression that is anchored at the start and begins with plain text.
//!
//! That text bounds the column; what matches anything behind it makes the span exact, `^abc$` is an equality.

use saltwing_types::regexp::{self, RegexpRest};
use saltwing_types::{Expr, Value};

use crate::cover::Cover;
use crate::predicates::constant::Constant;
use crate::predicates::prefix::{beginning_with, equal_to};
use crate::predicates::{CoverBuilder, TruthSet};

impl CoverBuilder<'_> {
    pub(super) fn regexp(&self, args: &[Expr], want: TruthSet) -> Cover {
        let [text, pattern, flags @ ..] = args else { return Cover::unknown() };
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let flags = match flags.first().map(Constant::of) {
            None => String::new(),
            Some(Some(Constant::Value { value: Value::Text(flags), .. })) => flags,
            Some(_) => return Cover::unknown(),
        };
        let Ok(ignore_case) = regexp::ignores_case(&flags) else { return Cover::unknown() };
        let (set, exact, made_up) = match Constant::of(pattern) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(pattern), .. }) => {
                let Some(prefix) = regexp::prefix(&pattern, ignore_case) else { return Cover::unknown() };
                let (set, exact) = match prefix.rest {
                    RegexpRest::Nothing => equal_to(&prefix.text, domain),
                    RegexpRest::Any => beginning_with(&prefix.text, domain),
                    RegexpRest::Some => (beginning_with(&prefix.text, domain).0, false),
                };
                (set, exact, false)
            }
            // Taken for a plain text behind the anchor.
            Some(Constant::Parameter(index)) => match domain.sample(index) {
                Value::Text(prefix) => (beginning_with(&prefix, domain).0, false, true),
                _ => return Cover::unknown(),
            },
            _ => return Cover::unknown(),
        };
        self.text_test(position, &set, exact, made_up, want)
    }
}
