//! Functions that stand for what Phoenix's language means where ours reads the same text otherwise.

use std::borrow::Cow;

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, KeyPart, ParameterKind, ResultType, ScalarFunction, Signature, SizeBound};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[
    &EMPTY_AS_NULL,
    &PHOENIX_CONCAT,
    &ROWKEY_BYTES_STRING,
    &WRAPPING_ADD,
    &WRAPPING_DIVIDE,
    &WRAPPING_MULTIPLY,
    &WRAPPING_SUBTRACT,
];

static EMPTY_AS_NULL: ScalarFunction =
    ScalarFunction::new("EMPTY_AS_NULL", &[Signature::new(&[text("text")], VARCHAR)], |args| {
        Ok(not_empty(args.text(0)?.to_owned()))
    })
    .gives("The text; NULL if it is empty, as in Phoenix.")
    .example("EMPTY_AS_NULL('')", "NULL");

pub(super) static PHOENIX_CONCAT: ScalarFunction = ScalarFunction::new(
    "PHOENIX_CONCAT",
    &[Signature::new(&[of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated()],
    |args| Ok(not_empty(args.texts_from(0)?.concat())),
)
.with_own_nulls()
.key_part(KeyPart::Allowed)
.size(SizeBound { bytes: text_bytes, multiplies: false })
.gives("The values that are not NULL one behind the other, as a || b in Phoenix; NULL if no text is left.")
.example("PHOENIX_CONCAT('a', NULL, 1)", "a1");

/// Without an argument the parser gives it the row key.
static ROWKEY_BYTES_STRING: ScalarFunction = ScalarFunction::new(
    "ROWKEY_BYTES_STRING",
    &[Signature::new(&[of_kind("key", ParameterKind::Bytes)], VARCHAR)],
    |args| Ok(Value::Text(args.bytes(0)?.iter().map(byte_text).collect())),
)
.size(SizeBound { bytes: |args| Ok(args.bytes(0)?.len().saturating_mul(4)), multiplies: false })
.gives(
    "The bytes as HBase's shell writes them: visible ASCII as it is, other bytes as \\x and two digits. ROWKEY_BYTES_STRING() \
     is that of the row key.",
)
.example("ROWKEY_BYTES_STRING(X'8000000A6142')", "\\x80\\x00\\x00\\x0AaB");

fn byte_text(byte: &u8) -> Cow<'static, str> {
    match byte {
        b'\\' | 0..b' ' | 0x7f.. => Cow::Owned(format!("\\x{byte:02X}")),
        visible => Cow::Owned(char::from(*visible).to_string()),
    }
}

fn not_empty(text: String) -> Value {
    if text.is_empty() { Value::Null } else { Value::Text(text) }
}

fn text_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    Ok(args.texts_from(0)?.iter().map(|text| text.len()).fold(0, usize::saturating_add))
}

const OF_TWO: &[Signature] = &[Signature::new(&[integer("a"), integer("b")], ResultType::Is(SqlType::BigInt))];

pub(super) static WRAPPING_ADD: ScalarFunction =
    ScalarFunction::new("WRAPPING_ADD", OF_TWO, |args| Ok(Value::Int(args.int(0)?.wrapping_add(args.int(1)?))))
        .gives("a + b; a sum of integers beyond 64 bits wraps, as in Phoenix.")
        .example("WRAPPING_ADD(9223372036854775807, 1)", "-9223372036854775808");

pub(super) static WRAPPING_SUBTRACT: ScalarFunction =
    ScalarFunction::new("WRAPPING_SUBTRACT", OF_TWO, |args| Ok(Value::Int(args.int(0)?.wrapping_sub(args.int(1)?))))
        .gives("a - b; a difference of integers beyond 64 bits wraps, as in Phoenix.")
        .example("WRAPPING_SUBTRACT(-9223372036854775808, 1)", "9223372036854775807");

pub(super) static WRAPPING_DIVIDE: ScalarFunction =
    ScalarFunction::new("WRAPPING_DIVIDE", OF_TWO, |args| match args.int(1)? {
        0 => Err(ValueError::DivisionByZero),
        divisor => Ok(Value::Int(args.int(0)?.wrapping_div(divisor))),
    })
    .gives("a / b; a quotient of integers beyond 64 bits wraps, as in Phoenix.")
    .example("WRAPPING_DIVIDE(-9223372036854775808, -1)", "-9223372036854775808");

pub(super) static WRAPPING_MULTIPLY: ScalarFunction =
    ScalarFunction::new("WRAPPING_MULTIPLY", OF_TWO, |args| Ok(Value::Int(args.int(0)?.wrapping_mul(args.int(1)?))))
        .gives("a * b; a product of integers beyond 64 bits wraps, as in Phoenix.")
        .example("WRAPPING_MULTIPLY(4611686018427387904, 2)", "-9223372036854775808");
