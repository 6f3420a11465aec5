//! Functions that make a text of a text.

use super::signature::{VARCHAR, of_kind, text};
use super::{Args, KeyPart, KeyProperty, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::{Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&CONCAT, &LOWER, &LTRIM, &REVERSE, &RTRIM, &TRIM, &UPPER];

pub(super) const OF_TEXT: &[Signature] = &[Signature::new(&[text("text")], VARCHAR)];

pub(super) static CONCAT: ScalarFunction = ScalarFunction::new(
    "CONCAT",
    &[Signature::new(&[of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated()],
    |args| Ok(Value::Text(args.texts_from(0)?.concat())),
)
.key_part(KeyPart::Allowed)
.size(SizeBound { bytes: text_bytes, multiplies: false })
.gives("The values one behind the other, as a || b; NULL if one is NULL.")
.example("CONCAT('a', 1, 'b')", "a1b");

static LOWER: ScalarFunction =
    ScalarFunction::new("LOWER", OF_TEXT, |args| Ok(Value::Text(args.text(0)?.to_lowercase())))
        .key_part(KeyPart::AsWideAsArgument)
        .gives("The text in lower case.")
        .example("LOWER('Äpfel')", "äpfel");

static UPPER: ScalarFunction =
    ScalarFunction::new("UPPER", OF_TEXT, |args| Ok(Value::Text(args.text(0)?.to_uppercase())))
        .key_part(KeyPart::AsWideAsArgument)
        .gives("The text in upper case.")
        .example("UPPER('Äpfel')", "ÄPFEL");

static REVERSE: ScalarFunction = ScalarFunction::new(
    "REVERSE",
    &[
        Signature::new(&[text("text")], VARCHAR),
        Signature::new(&[of_kind("array", ParameterKind::Array)], ResultType::Array),
    ],
    |args| match args.value(0)? {
        Value::Array(elements) => Ok(Value::Array(elements.iter().rev().cloned().collect())),
        _ => Ok(Value::Text(args.text(0)?.chars().rev().collect())),
    },
)
.key_part(KeyPart::AsWideAsArgument)
.gives("The characters of the text, or the elements of the array, from the last to the first.")
.example("REVERSE('abc')", "cba");

const TRIMMED: &[Signature] = &[Signature::new(&[text("text"), text("characters")], VARCHAR).optional(1)];

pub(super) static LTRIM: ScalarFunction = ScalarFunction::new("LTRIM", TRIMMED, |args| {
    let characters = args.optional_text(1)?.unwrap_or(" ");
    Ok(Value::text(args.text(0)?.trim_start_matches(|c| characters.contains(c))))
})
.gives("The text without the blanks, or any of the characters, that it begins with.")
.example("LTRIM('xxyabc', 'xy')", "abc");

pub(super) static RTRIM: ScalarFunction = ScalarFunction::new("RTRIM", TRIMMED, |args| {
    let characters = args.optional_text(1)?.unwrap_or(" ");
    Ok(Value::text(args.text(0)?.trim_end_matches(|c| characters.contains(c))))
})
.key_property(KeyProperty::TrimmedEnd)
.gives("The text without the blanks, or any of the characters, that it ends with.")
.example("RTRIM('abcxxy', 'xy')", "abc");

pub(super) static TRIM: ScalarFunction = ScalarFunction::new("TRIM", TRIMMED, |args| {
    let characters = args.optional_text(1)?.unwrap_or(" ");
    Ok(Value::text(args.text(0)?.trim_matches(|c| characters.contains(c))))
})
.aliases(&["BTRIM"])
.gives("The text without the blanks, or any of the characters, at both ends.")
.example("TRIM('  a b ')", "a b");

/// The bytes of all texts together.
fn text_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    Ok(args.texts_from(0)?.iter().map(|text| text.len()).fold(0, usize::saturating_add))
}
