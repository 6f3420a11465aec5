//! Regular expressions.

use super::array::{TEXTS, texts_bytes};
use super::signature::{VARCHAR, integer, text};
use super::{Args, KeyProperty, ResultType, ScalarFunction, Signature, SizeBound};
use crate::regexp::{Regexp, Replacement, ignores_case};
use crate::{SqlType, VALUE_BYTES_MAX, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] =
    &[&REGEXP_EXTRACT, &REGEXP_LIKE, &REGEXP_REPLACE, &REGEXP_SPLIT, &REGEXP_SUBSTR];

static REGEXP_EXTRACT: ScalarFunction = ScalarFunction::new(
    "REGEXP_EXTRACT",
    &[Signature::new(&[text("text"), text("pattern"), integer("group")], VARCHAR).optional(1)],
    |args| {
        let regexp = Regexp::cached(args.text(1)?, false)?;
        let group = args.optional_int(2)?.unwrap_or(0);
        let number = usize::try_from(group).ok().filter(|group| *group < regexp.groups());
        let number =
            number.ok_or_else(|| args.refused(format_args!("the regular expression has no group {group}")))?;
        Ok(Value::text(regexp.group_of(args.text(0)?, number).unwrap_or_default()))
    },
)
.checked_by(|literals| check_pattern(literals.get(..2).unwrap_or_default()))
.gives("The first part of the text that the regular expression matches, or this group of it; empty without a match, as in DuckDB.")
.example("REGEXP_EXTRACT('2024-05-15', '(\\d+)-(\\d+)', 2)", "05");

pub(super) static REGEXP_LIKE: ScalarFunction = ScalarFunction::new(
    "REGEXP_LIKE",
    &[Signature::new(&[text("text"), text("pattern"), text("flags")], ResultType::Is(SqlType::Boolean)).optional(1)],
    |args| {
        let ignore_case = ignores_case(args.optional_text(2)?.unwrap_or_default())?;
        Ok(Value::Bool(Regexp::cached(args.text(1)?, ignore_case)?.matches(args.text(0)?)))
    },
)
.checked_by(check_pattern)
.key_property(KeyProperty::Matches)
.gives("Whether the regular expression matches somewhere in the text, as text ~ pattern; the flag 'i' ignores case.")
.example("REGEXP_LIKE('Apple', '^a.+e$', 'i')", "true");

static REGEXP_REPLACE: ScalarFunction = ScalarFunction::new(
    "REGEXP_REPLACE",
    &[Signature::new(&[text("text"), text("pattern"), text("replacement"), text("flags")], VARCHAR).optional(2)],
    |args| {
        let (regexp, is_global) = replacing(args)?;
        let replacement = Replacement::parse(args.optional_text(2)?.unwrap_or_default(), &regexp)?;
        Ok(Value::Text(regexp.replace(args.text(0)?, &replacement, is_global)))
    },
)
.checked_by(|literals| check_pattern(literals.get(..2).unwrap_or_default()))
.size(SizeBound { bytes: replaced_bytes, multiplies: true })
.gives(
    "The text with every match of the regular expression replaced; $1 or \\1 is the first group. With flags only the first \
     match, unless one is 'g'; 'i' ignores case.",
)
.example("REGEXP_REPLACE('John Smith', '(\\w+) (\\w+)', '$2, $1')", "Smith, John");

static REGEXP_SPLIT: ScalarFunction =
    ScalarFunction::new("REGEXP_SPLIT", &[Signature::new(&[text("text"), text("pattern")], TEXTS)], |args| {
        Ok(Value::Array(Regexp::cached(args.text(1)?, false)?.split(args.text(0)?).map(Value::text).collect()))
    })
    .checked_by(check_pattern)
    .size(SizeBound {
        bytes: |args| Ok(texts_bytes(args.text(0)?, Regexp::cached(args.text(1)?, false)?.count(args.text(0)?) + 1)),
        multiplies: true,
    })
    .gives("The parts of the text between matches of the regular expression.")
    .example("REGEXP_SPLIT('a, b;c', '[,;] *')", "[\"a\",\"b\",\"c\"]");

static REGEXP_SUBSTR: ScalarFunction = ScalarFunction::new(
    "REGEXP_SUBSTR",
    &[Signature::new(&[text("text"), text("pattern"), integer("start")], VARCHAR).optional(1)],
    |args| {
        let (text, regexp) = (args.text(0)?, Regexp::cached(args.text(1)?, false)?);
        let start = start_of(text, args.optional_int(2)?.unwrap_or(1));
        Ok(start.and_then(|start| regexp.find(text, start)).map_or(Value::Null, Value::text))
    },
)
.checked_by(check_pattern)
.gives("The first part of the text that the regular expression matches, from a character on as in SUBSTR; NULL without a match.")
.example("REGEXP_SUBSTR('na1-appsrv35-sj35', '[^-]+', 5)", "appsrv35");

/// The regular expression of REGEXP_REPLACE, and whether it replaces every match.
fn replacing(args: &Args<'_>) -> Result<(Regexp, bool), ValueError> {
    let flags = args.optional_text(3)?;
    let (others, is_global) =
        flags.map_or((String::new(), true), |flags| (flags.replace('g', ""), flags.contains('g')));
    Ok((Regexp::cached(args.text(1)?, ignores_case(&others)?)?, is_global))
}

/// An upper bound; the matches are counted if there could be too many.
fn replaced_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    let (text, replacement) = (args.text(0)?, args.optional_text(2)?.unwrap_or_default());
    let (regexp, _) = replacing(args)?;
    let replacement = Replacement::parse(replacement, &regexp)?;
    let bound = replacement.bytes(text.len(), text.len() + 1);
    if bound <= VALUE_BYTES_MAX { Ok(bound) } else { Ok(replacement.bytes(text.len(), regexp.count(text))) }
}

/// The byte at which the character at a place begins: places count from 1, and from the end if negative; 0 is 1.
fn start_of(text: &str, place: i64) -> Option<usize> {
    let skipped = match place {
        place if place < 0 => i64::try_from(text.chars().count()).ok()?.checked_add(place)?,
        place => place.max(1) - 1,
    };
    let mut ends = text.char_indices().map(|(index, _)| index).chain([text.len()]);
    ends.nth(usize::try_from(skipped).ok()?)
}

fn check_pattern(literals: &[Option<&Value>]) -> Result<(), ValueError> {
    let text = |index: usize| match literals.get(index) {
        Some(Some(Value::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    let ignore_case = ignores_case(text(2).unwrap_or_default())?;
    text(1).map_or(Ok(()), |pattern| Regexp::parse(pattern, ignore_case).map(drop))
}
