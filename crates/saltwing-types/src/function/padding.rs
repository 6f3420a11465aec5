//! Functions that make long texts of short ones.

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, Evaluation, NullRule, ParameterKind, ScalarFunction, Signature, SizeBound};
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&CONCAT_WS, &LPAD, &REPEAT, &REPLACE, &RPAD];

static CONCAT_WS: ScalarFunction = ScalarFunction {
    name: "CONCAT_WS",
    signatures: &[Signature::new(&[text("separator"), of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated()],
    nulls: NullRule::Own,
    evaluation: Evaluation::Values(|args| match args.value(0)? {
        Value::Null => Ok(Value::Null),
        _ => Ok(Value::Text(args.texts_from(1)?.join(args.text(0)?))),
    }),
    size: Some(SizeBound { bytes: joined_bytes, multiplies: false }),
    description: "The values that are not NULL with the separator between them; NULL if that is NULL.",
    example: ("CONCAT_WS('-', 'a', NULL, 1)", "a-1"),
    ..ScalarFunction::DEFAULT
};

const PADDING: &[Signature] = &[Signature::new(&[text("text"), integer("length"), text("fill")], VARCHAR).optional(1)];

static LPAD: ScalarFunction = ScalarFunction {
    name: "LPAD",
    signatures: PADDING,
    evaluation: Evaluation::Values(|args| {
        let (kept, fill) = padded(args)?;
        Ok(Value::Text(fill + &kept))
    }),
    size: Some(SizeBound { bytes: padded_bytes, multiplies: true }),
    description: "The text made so many characters long: filled at the start, with blanks or the fill, or cut at the end.",
    example: ("LPAD('7', 3, '0')", "007"),
    ..ScalarFunction::DEFAULT
};

static RPAD: ScalarFunction = ScalarFunction {
    name: "RPAD",
    signatures: PADDING,
    evaluation: Evaluation::Values(|args| {
        let (kept, fill) = padded(args)?;
        Ok(Value::Text(kept + &fill))
    }),
    size: Some(SizeBound { bytes: padded_bytes, multiplies: true }),
    description: "The text made so many characters long: filled at the end, with blanks or the fill, or cut there.",
    example: ("RPAD('ab', 5, 'xyz')", "abxyz"),
    ..ScalarFunction::DEFAULT
};

static REPEAT: ScalarFunction = ScalarFunction {
    name: "REPEAT",
    signatures: &[Signature::new(&[text("text"), integer("count")], VARCHAR)],
    evaluation: Evaluation::Values(|args| Ok(Value::Text(args.text(0)?.repeat(times(args.int(1)?))))),
    size: Some(SizeBound {
        bytes: |args| Ok(args.text(0)?.len().saturating_mul(times(args.int(1)?))),
        multiplies: true,
    }),
    description: "The text so many times; no character if the count is below 1.",
    example: ("REPEAT('ab', 3)", "ababab"),
    ..ScalarFunction::DEFAULT
};

static REPLACE: ScalarFunction = ScalarFunction {
    name: "REPLACE",
    signatures: &[Signature::new(&[text("text"), text("from"), text("to")], VARCHAR)],
    evaluation: Evaluation::Values(|args| {
        Ok(Value::Text(match args.text(1)? {
            "" => args.text(0)?.to_owned(),
            from => args.text(0)?.replace(from, args.text(2)?),
        }))
    }),
    size: Some(SizeBound { bytes: replaced_bytes, multiplies: true }),
    description: "The text with each place of one text replaced by another; unchanged if the first is empty.",
    example: ("REPLACE('a,b,c', ',', '; ')", "a; b; c"),
    ..ScalarFunction::DEFAULT
};

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
