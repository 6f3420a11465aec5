//! Regular expressions.

use super::signature::text;
use super::{KeyProperty, ResultType, ScalarFunction, Signature};
use crate::regexp::{Regexp, ignores_case};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&REGEXP_LIKE];

pub(super) static REGEXP_LIKE: ScalarFunction = ScalarFunction::new(
    "REGEXP_LIKE",
    &[Signature::new(&[text("text"), text("pattern"), text("flags")], ResultType::Is(SqlType::Boolean)).optional(1)],
    |args| {
        let ignore_case = ignores_case(args.optional_text(2)?.unwrap_or_default())?;
        Ok(Value::Bool(Regexp::parse(args.text(1)?, ignore_case)?.matches(args.text(0)?)))
    },
)
.checked_by(check_pattern)
.key_property(KeyProperty::Matches)
.gives("Whether the regular expression matches somewhere in the text, as text ~ pattern; the flag 'i' ignores case.")
.example("REGEXP_LIKE('Apple', '^a.+e$', 'i')", "true");

fn check_pattern(literals: &[Option<&Value>]) -> Result<(), ValueError> {
    let text = |index: usize| match literals.get(index) {
        Some(Some(Value::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    let ignore_case = ignores_case(text(2).unwrap_or_default())?;
    text(1).map_or(Ok(()), |pattern| Regexp::parse(pattern, ignore_case).map(drop))
}
