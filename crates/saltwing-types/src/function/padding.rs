//! Functions that make long texts of short ones.

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, ParameterKind, ScalarFunction, Signature, SizeBound};
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&CONCAT_WS, &LPAD, &REPEAT, &REPLACE, &RPAD];

static CONCAT_WS: ScalarFunction = ScalarFunction::new(
    "CONCAT_WS",
    &[Signature::new(&[text("separator"), of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated()],
    |args| match args.value(0)? {
        Value::Null => Ok(Value::Null),
        _ => Ok(Value::Text(args.texts_from(1)?.join(args.text(0)?))),
    },
)
.with_own_nulls()
.size(SizeBound { bytes: joined_bytes, multiplies: false })
.gives("The values that are not NULL with the separator between them; NULL if that is NULL.")
.example("CONCAT_WS('-', 'a', NULL, 1)", "a-1");

const PADDING: &[Signature] = &[Signature::new(&[text("text"), integer("length"), text("fill")], VARCHAR).optional(1)];

static LPAD: ScalarFunction = ScalarFunction::new("LPAD", PADDING, |args| {
    let (kept, fill) = padded(args)?;
    Ok(Value::Text(fill + &kept))
})
.size(SizeBound { bytes: padded_bytes, multiplies: true })
.gives("The text made so many characters long: filled at the start, with blanks or the fill, or cut at the end.")
.example("LPAD('7', 3, '0')", "007");

static RPAD: ScalarFunction = ScalarFunction::new("RPAD", PADDING, |args| {
    let (kept, fill) = padded(args)?;
    Ok(Value::Text(kept + &fill))
})
.size(SizeBound { bytes: padded_bytes, multiplies: true })
.gives("The text made so many characters long: filled at the end, with blanks or the fill, or cut there.")
.example("RPAD('ab', 5, 'xyz')", "abxyz");

static REPEAT: ScalarFunction =
    ScalarFunction::new("REPEAT", &[Signature::new(&[text("text"), integer("count")], VARCHAR)], |args| {
        Ok(Value::Text(args.text(0)?.repeat(times(args.int(1)?))))
    })
    .size(SizeBound { bytes: |args| Ok(args.text(0)?.len().saturating_mul(times(args.int(1)?))), multiplies: true })
    .gives("The text repeated `count` times; empty if the count is below 1.")
    .example("REPEAT('ab', 3)", "ababab");

static REPLACE: ScalarFunction =
    ScalarFunction::new("REPLACE", &[Signature::new(&[text("text"), text("from"), text("to")], VARCHAR)], |args| {
        Ok(Value::Text(match args.text(1)? {
            "" => args.text(0)?.to_owned(),
            from => args.text(0)?.replace(from, args.text(2)?),
        }))
    })
    .size(SizeBound { bytes: replaced_bytes, multiplies: true })
    .gives("The text with each place of one text replaced by another; unchanged if the first is empty.")
    .example("REPLACE('a,b,c', ',', '; ')", "a; b; c");

/// A count; negative counts are 0.
fn times(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}

/// The part of the text that LPAD and RPAD keep, and the fill that they add.
fn padded(args: &Args<'_>) -> Result<(String, String), ValueError> {
    let (length, fill) = (times(args.int(1)?), args.optional_text(2)?.unwrap_or(" "));
    let kept: String = args.text(0)?.chars().take(length).collect();
    let missing = length - kept.chars().count();
    // An empty fill fills nothing: its cycle has no character.
    let added = fill.chars().cycle().take(missing).collect();
    Ok((kept, added))
}

fn padded_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    let (text, fill) = (args.text(0)?, args.optional_text(2)?.unwrap_or(" "));
    let char_bytes = if text.is_ascii() && fill.is_ascii() { 1 } else { 4 };
    let length = if fill.is_empty() { times(args.int(1)?).min(text.len()) } else { times(args.int(1)?) };
    Ok(length.saturating_mul(char_bytes))
}

fn replaced_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    let (text, from, to) = (args.text(0)?, args.text(1)?, args.text(2)?);
    if from.is_empty() || to.len() <= from.len() {
        return Ok(text.len());
    }
    let more = text.matches(from).count().saturating_mul(to.len() - from.len());
    Ok(text.len().saturating_add(more))
}

fn joined_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    if args.value(0)?.is_null() {
        return Ok(0);
    }
    let (separator, parts) = (args.text(0)?, args.texts_from(1)?);
    let separators = separator.len().saturating_mul(parts.len().saturating_sub(1));
    Ok(parts.iter().fold(separators, |bytes, part| bytes.saturating_add(part.len())))
}
