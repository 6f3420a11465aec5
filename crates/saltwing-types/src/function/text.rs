//! Functions that make a text of a text.

use super::signature::{VARCHAR, of_kind, text};
use super::{Args, Evaluation, KeyPart, KeyProperty, ParameterKind, ScalarFunction, Signature, SizeBound};
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&CONCAT, &LOWER, &LTRIM, &REVERSE, &RTRIM, &TRIM, &UPPER];

pub(super) const OF_TEXT: &[Signature] = &[Signature::new(&[text("text")], VARCHAR)];

pub(super) static CONCAT: ScalarFunction = ScalarFunction {
    name: "CONCAT",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated()],
    evaluation: Evaluation::Values(|args| Ok(Value::Text(args.texts_from(0)?.concat()))),
    key_part: KeyPart::Allowed,
    size: Some(SizeBound { bytes: text_bytes, multiplies: false }),
    description: "The values one behind the other, as a || b; NULL if one is NULL.",
    example: ("CONCAT('a', 1, 'b')", "a1b"),
    ..ScalarFunction::DEFAULT
};

static LOWER: ScalarFunction = ScalarFunction {
    name: "LOWER",
    signatures: OF_TEXT,
    evaluation: Evaluation::Values(|args| Ok(Value::Text(args.text(0)?.to_lowercase()))),
    key_part: KeyPart::AsWideAsArgument,
    description: "The text in lower case.",
    example: ("LOWER('Äpfel')", "äpfel"),
    ..ScalarFunction::DEFAULT
};

static UPPER: ScalarFunction = ScalarFunction {
    name: "UPPER",
    signatures: OF_TEXT,
    evaluation: Evaluation::Values(|args| Ok(Value::Text(args.text(0)?.to_uppercase()))),
    key_part: KeyPart::AsWideAsArgument,
    description: "The text in upper case.",
    example: ("UPPER('Äpfel')", "ÄPFEL"),
    ..ScalarFunction::DEFAULT
};

static REVERSE: ScalarFunction = ScalarFunction {
    name: "REVERSE",
    signatures: OF_TEXT,
    evaluation: Evaluation::Values(|args| Ok(Value::Text(args.text(0)?.chars().rev().collect()))),
    key_part: KeyPart::AsWideAsArgument,
    description: "The characters of the text from the last to the first.",
    example: ("REVERSE('abc')", "cba"),
    ..ScalarFunction::DEFAULT
};

const TRIMMED: &[Signature] = &[Signature::new(&[text("text"), text("characters")], VARCHAR).optional(1)];

pub(super) static LTRIM: ScalarFunction = ScalarFunction {
    name: "LTRIM",
    signatures: TRIMMED,
    evaluation: Evaluation::Values(|args| {
        let characters = args.optional_text(1)?.unwrap_or(" ");
        Ok(Value::text(args.text(0)?.trim_start_matches(|c| characters.contains(c))))
    }),
    description: "The text without the blanks, or any of the characters, that it begins with.",
    example: ("LTRIM('xxyabc', 'xy')", "abc"),
    ..ScalarFunction::DEFAULT
};

pub(super) static RTRIM: ScalarFunction = ScalarFunction {
    name: "RTRIM",
    signatures: TRIMMED,
    evaluation: Evaluation::Values(|args| {
        let characters = args.optional_text(1)?.unwrap_or(" ");
        Ok(Value::text(args.text(0)?.trim_end_matches(|c| characters.contains(c))))
    }),
    key_property: KeyProperty::TrimmedEnd,
    description: "The text without the blanks, or any of the characters, that it ends with.",
    example: ("RTRIM('abcxxy', 'xy')", "abc"),
    ..ScalarFunction::DEFAULT
};

pub(super) static TRIM: ScalarFunction = ScalarFunction {
    name: "TRIM",
    aliases: &["BTRIM"],
    signatures: TRIMMED,
    evaluation: Evaluation::Values(|args| {
        let characters = args.optional_text(1)?.unwrap_or(" ");
        Ok(Value::text(args.text(0)?.trim_matches(|c| characters.contains(c))))
    }),
    description: "The text without the blanks, or any of the characters, at both ends.",
    example: ("TRIM('  a b ')", "a b"),
    ..ScalarFunction::DEFAULT
};

/// The bytes of all texts together.
fn text_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    Ok(args.texts_from(0)?.iter().map(|text| text.len()).fold(0, usize::saturating_add))
}
