//! `k ~ '^abc'`: a regular expression that is anchored at the start and begins with plain text.
//!
//! That text bounds the column. If the rest of the pattern matches anything, the span is exact; `^abc$` is an equality.

use saltwing_types::regexp::{self, RegexpRest};
use saltwing_types::{Expr, Value};

use crate::cover::Cover;
use crate::predicates::constant::Constant;
use crate::predicates::prefix::{beginning_with, equal_to};
use crate::predicates::{CoverBuilder, TruthSet};

impl CoverBuilder<'_> {
    /// `test` is a call of a regular expression with these arguments.
    pub(super) fn regexp(&self, test: &Expr, args: &[Expr], want: TruthSet) -> Cover {
        let [text, pattern, flags @ ..] = args else { return Cover::unknown() };
        let Some(position) = self.text_column(text) else { return Cover::unknown() };
        let domain = self.space.domain(position);
        let flags = match flags.first().map(Constant::of) {
            None => String::new(),
            Some(Some(Constant::Value { value: Value::Text(flags), .. })) => flags,
            Some(_) => return Cover::unknown(),
        };
        let Ok(ignore_case) = regexp::ignores_case(&flags) else { return Cover::unknown() };
        let (set, exact) = match Constant::of(pattern) {
            Some(Constant::Null) => return if want.unknown { Cover::everything() } else { Cover::nothing() },
            Some(Constant::Value { value: Value::Text(pattern), .. }) => {
                let Some(prefix) = regexp::prefix(&pattern, ignore_case) else { return Cover::unknown() };
                match prefix.rest {
                    RegexpRest::Nothing => equal_to(&prefix.text, domain),
                    RegexpRest::Any => beginning_with(&prefix.text, domain),
                    RegexpRest::Some => (beginning_with(&prefix.text, domain).0, false),
                }
            }
            // It is taken for a pattern with plain text after the anchor.
            Some(Constant::Open(_)) => return self.open_text_test(position, test.clone(), false, want),
            _ => return Cover::unknown(),
        };
        self.text_test(position, &set, exact, want)
    }
}
