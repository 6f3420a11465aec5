//! Functions of binary values: encodings, sizes, single bytes and bits.

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::signature::{VARCHAR, integer, of_kind, text};
use super::{Args, Parameter, ParameterKind, ResultType, Rewrite, ScalarFunction, Signature};
use crate::error::shorten;
use crate::text::{hex, unhex};
use crate::{SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[
    &BIT_LENGTH,
    &DECODE,
    &ENCODE,
    &FROM_BASE64,
    &GET_BIT,
    &GET_BYTE,
    &HEX,
    &OCTET_LENGTH,
    &SET_BIT,
    &SET_BYTE,
    &TO_BASE64,
    &UNHEX,
];

const BINARY: Parameter = of_kind("binary", ParameterKind::Bytes);
const INTEGER: ResultType = ResultType::Is(SqlType::Integer);
const VARBINARY: ResultType = ResultType::Is(SqlType::Varbinary);
const SIZES: &[Signature] = &[Signature::new(&[text("text")], INTEGER), Signature::new(&[BINARY], INTEGER)];

static BIT_LENGTH: ScalarFunction =
    ScalarFunction::new("BIT_LENGTH", SIZES, |args| Ok(Value::Int(args.bytes(0)?.len() as i64 * 8)))
        .gives("How many bits a text in UTF-8, or a binary value, has.")
        .example("BIT_LENGTH('Äpfel')", "48");

static OCTET_LENGTH: ScalarFunction =
    ScalarFunction::new("OCTET_LENGTH", SIZES, |args| Ok(Value::Int(args.bytes(0)?.len() as i64)))
        .gives("How many bytes a text in UTF-8, or a binary value, has.")
        .example("OCTET_LENGTH('Äpfel')", "6");

/// Writes the padding, and reads with it or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

static ENCODE: ScalarFunction = ScalarFunction::new(
    "ENCODE",
    &[
        Signature::new(&[text("text"), text("format")], VARCHAR),
        Signature::new(&[BINARY, text("format")], VARCHAR),
        Signature::new(&[integer("number"), text("format")], VARCHAR),
    ],
    |args| {
        let format = args.text(1)?.to_ascii_uppercase();
        Ok(Value::Text(match (args.value(0)?, format.as_str()) {
            (Value::Int(number), "BASE62") => base62(*number),
            (Value::Int(_), _) => return Err(args.refused(format!("a number is encoded as BASE62, not as '{format}'"))),
            (_, "HEX") => hex(args.bytes(0)?),
            (_, "BASE64") => BASE64.encode(args.bytes(0)?),
            _ => return Err(args.refused(format!("bytes are encoded as HEX or BASE64, not as '{}'", shorten(&format)))),
        }))
    },
)
.gives("The binary value or text as text in HEX or BASE64, or the number in BASE62.")
.example("ENCODE(1000000, 'BASE62')", "4C92");

static DECODE: ScalarFunction = ScalarFunction::new(
    "DECODE",
    &[
        Signature::new(&[text("text"), text("format")], VARBINARY),
        Signature::new(
            &[
                of_kind("value", ParameterKind::Any),
                of_kind("search", ParameterKind::Any),
                of_kind("result", ParameterKind::Any),
            ],
            ResultType::Common,
        )
        .repeated()
        .rewritten(Rewrite::Decode),
    ],
    decode,
)
.gives(
    "The bytes that a text in HEX or BASE64 stands for; with pairs the result behind the first search that is the value, NULL \
     being NULL, else the last argument if it has no pair.",
)
.example("DECODE('0aff', 'HEX')", "0aff");

fn decode(args: &Args<'_>) -> Result<Value, ValueError> {
    let (encoded, format) = (args.text(0)?, args.text(1)?);
    let decoded = match format.to_ascii_uppercase().as_str() {
        "HEX" => unhex(encoded),
        "BASE64" => BASE64.decode(encoded).ok(),
        _ => {
            return Err(args.refused(format!("text is decoded from HEX or BASE64, not from '{}'", shorten(format))));
        }
    };
    let refused = || args.refused(format!("'{}' is no {}", shorten(encoded), format.to_ascii_uppercase()));
    decoded.map(Value::Bytes).ok_or_else(refused)
}

const TEXT_OF_BYTES: &[Signature] = &[Signature::new(&[text("text")], VARCHAR), Signature::new(&[BINARY], VARCHAR)];
const BYTES_OF_TEXT: &[Signature] = &[Signature::new(&[text("text")], VARBINARY)];

static HEX: ScalarFunction = ScalarFunction::new("HEX", TEXT_OF_BYTES, |args| {
    Ok(Value::Text(hex(args.bytes(0)?).to_uppercase()))
})
.gives(
    "The bytes of a text in UTF-8, or of a binary value, in upper-case hexadecimal digits. Of a number it is TO_HEX.",
)
.example("HEX('ab')", "6162");

static UNHEX: ScalarFunction =
    ScalarFunction::new("UNHEX", BYTES_OF_TEXT, |args| Ok(unhex(args.text(0)?).map_or(Value::Null, Value::Bytes)))
        .gives("The bytes that hexadecimal digits stand for; NULL of any other text, as in SQLite.")
        .example("UNHEX('6162')", "6162");

static TO_BASE64: ScalarFunction =
    ScalarFunction::new("TO_BASE64", TEXT_OF_BYTES, |args| Ok(Value::Text(BASE64.encode(args.bytes(0)?))))
        .aliases(&["BASE64"])
        .gives("The bytes of a text in UTF-8, or of a binary value, in BASE64.")
        .example("TO_BASE64('abc')", "YWJj");

static FROM_BASE64: ScalarFunction = ScalarFunction::new("FROM_BASE64", BYTES_OF_TEXT, |args| {
    let text = args.text(0)?;
    let refused = |_| args.refused(format_args!("'{}' is no BASE64", shorten(text)));
    BASE64.decode(text).map(Value::Bytes).map_err(refused)
})
.gives("The bytes that a text in BASE64 stands for.")
.example("FROM_BASE64('YWJj')", "616263");

/// The digits and the sign of a number to base 62.
fn base62(number: i64) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let (mut rest, mut digits) = (number.unsigned_abs(), Vec::new());
    while rest > 0 || digits.is_empty() {
        digits.extend(DIGITS.get((rest % 62) as usize).map(|digit| char::from(*digit)));
        rest /= 62;
    }
    digits.extend((number < 0).then_some('-'));
    digits.into_iter().rev().collect()
}

const OF_PLACE: &[Signature] = &[Signature::new(&[BINARY, integer("place")], INTEGER)];

static GET_BYTE: ScalarFunction = ScalarFunction::new("GET_BYTE", OF_PLACE, |args| {
    let bytes = args.bytes(0)?;
    let byte = place(args, bytes.len())?.and_then(|place| bytes.get(place));
    // As in Phoenix, a byte has a sign.
    Ok(byte.map_or(Value::Null, |byte| Value::Int(i64::from(*byte as i8))))
})
.gives("The byte at a place, -128 to 127. Places count from 0 and go around: -1 is the last.")
.example("GET_BYTE(X'0A0B', -1)", "11");

static GET_BIT: ScalarFunction = ScalarFunction::new("GET_BIT", OF_PLACE, |args| {
    let bytes = args.bytes(0)?;
    let place = place(args, bytes.len().saturating_mul(8))?;
    let bit = place.and_then(|place| Some(bytes.get(place / 8)? >> (place % 8) & 1));
    Ok(bit.map_or(Value::Null, |bit| Value::Int(bit.into())))
})
.gives("The bit at a place, 0 or 1. Places count from 0, in each byte from its lowest bit, and go around.")
.example("GET_BIT(X'02', 1)", "1");

const SETTING: &[Signature] = &[Signature::new(&[BINARY, integer("place"), integer("value")], VARBINARY)];

static SET_BYTE: ScalarFunction = ScalarFunction::new("SET_BYTE", SETTING, |args| {
    let (mut bytes, value) = (args.bytes(0)?.to_vec(), args.int(2)? as u8);
    let Some(byte) = place(args, bytes.len())?.and_then(|place| bytes.get_mut(place)) else { return Ok(Value::Null) };
    *byte = value;
    Ok(Value::Bytes(bytes))
})
.gives("The binary value with the lowest eight bits of a number as the byte at a place, which is as in GET_BYTE.")
.example("SET_BYTE(X'0A0B', 0, 255)", "ff0b");

static SET_BIT: ScalarFunction = ScalarFunction::new("SET_BIT", SETTING, |args| {
    let (mut bytes, value) = (args.bytes(0)?.to_vec(), args.int(2)? as u8 & 1);
    let Some(place) = place(args, bytes.len().saturating_mul(8))? else { return Ok(Value::Null) };
    if let Some(byte) = bytes.get_mut(place / 8) {
        *byte = *byte & !(1 << (place % 8)) | value << (place % 8);
    }
    Ok(Value::Bytes(bytes))
})
.gives("The binary value with the lowest bit of a number as the bit at a place, which is as in GET_BIT.")
.example("SET_BIT(X'00', 1, 1)", "02");

/// The second argument as one of `count` places in a circle; `None` if there are none.
fn place(args: &Args<'_>, count: usize) -> Result<Option<usize>, ValueError> {
    Ok(args.int(1)?.checked_rem_euclid(count as i64).map(|place| place as usize))
}
