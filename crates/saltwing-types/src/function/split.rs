//! Texts cut into arrays.

use super::array::{TEXTS, texts_bytes};
use super::signature::text;
use super::{Args, ScalarFunction, Signature, SizeBound};
use crate::regexp::{Regexp, ignores_case};
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&REGEXP_SPLIT_TO_ARRAY, &STRING_SPLIT];

static REGEXP_SPLIT_TO_ARRAY: ScalarFunction = ScalarFunction::new(
    "REGEXP_SPLIT_TO_ARRAY",
    &[Signature::new(&[text("text"), text("pattern"), text("flags")], TEXTS).optional(1)],
    |args| {
        let (text, regexp) = (args.text(0)?, regexp(args)?);
        let (mut parts, mut start) = (Vec::new(), 0);
        for (from, to) in regexp.places(text) {
            // An empty match at the beginning, at the end or after another match splits nothing.
            if from == to && (from == start || from == text.len()) {
                continue;
            }
            parts.push(Value::text(text.get(start..from).unwrap_or_default()));
            start = to;
        }
        parts.push(Value::text(text.get(start..).unwrap_or_default()));
        Ok(Value::Array(parts))
    },
)
.size(SizeBound {
    bytes: |args| Ok(texts_bytes(args.text(0)?, regexp(args)?.count(args.text(0)?) + 1)),
    multiplies: true,
})
.gives("The parts of the text between matches of the regular expression, as in PostgreSQL; the flag 'i' ignores case.")
.example("REGEXP_SPLIT_TO_ARRAY('a, b;c', '[,;] *')", "[\"a\",\"b\",\"c\"]");

static STRING_SPLIT: ScalarFunction =
    ScalarFunction::new("STRING_SPLIT", &[Signature::new(&[text("text"), text("separator")], TEXTS)], |args| {
        match (args.text(0)?, args.text(1)?) {
            (text, "") => Ok(Value::Array(text.chars().map(Value::text).collect())),
            (text, separator) => Ok(Value::Array(text.split(separator).map(Value::text).collect())),
        }
    })
    .aliases(&["STR_SPLIT"])
    .size(SizeBound {
        bytes: |args| match (args.text(0)?, args.text(1)?) {
            (text, "") => Ok(texts_bytes(text, text.chars().count())),
            (text, separator) => Ok(texts_bytes(text, text.matches(separator).count() + 1)),
        },
        multiplies: true,
    })
    .gives("The parts of the text between separators, as in DuckDB; its characters if the separator is empty.")
    .example("STRING_SPLIT('a,b', ',')", "[\"a\",\"b\"]");

fn regexp(args: &Args<'_>) -> Result<Regexp, ValueError> {
    Regexp::cached(args.text(1)?, ignores_case(args.optional_text(2)?.unwrap_or_default())?)
}
