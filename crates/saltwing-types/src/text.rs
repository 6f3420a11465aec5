//! Values as text and back (`docs/contracts.md#text-of-values`).

use std::fmt::Write;

use crate::value::Timestamp;
use crate::{SqlType, Value, array_text, datetime};

pub use crate::array_text::push_quoted;
pub use crate::number::parse;

/// The text of a value, `None` for NULL.
///
/// Integers plain; DECIMAL(p,s) with s digits, bare DECIMAL without trailing
/// zeros; floats in the fewest digits that read back, always with `.` or `e`;
/// instants as [`datetime`] writes them; intervals as PostgreSQL does; binary in lower-case hex, a UUID in groups with hyphens; arrays as JSON arrays of these texts.
pub fn format(value: &Value, ty: SqlType) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => format_f32(*f),
        Value::Double(d) => format_f64(*d),
        Value::Decimal(d) => match ty {
            SqlType::Decimal(Some((_, scale))) => d.to_fixed(scale),
            _ => d.to_string(),
        },
        Value::Date(ms) => datetime::format_date(*ms),
        Value::Timestamp(at) => datetime::format_timestamp(*at),
        Value::Interval(length) => length.to_string(),
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) if ty == SqlType::Uuid => format_uuid(bytes),
        Value::Bytes(bytes) => hex(bytes),
        Value::Array(elements) => {
            let element = ty.element().unwrap_or(SqlType::Null);
            array_text::format(elements, |value| format(value, element))
        }
    })
}

/// A 64-bit float in the fewest digits that read back.
pub fn format_f64(value: f64) -> String {
    let (plain, exponent) = (format!("{value:?}"), format!("{value:e}"));
    with_point(plain, exponent, value.is_finite())
}

/// A 32-bit float in the fewest digits that read back.
pub fn format_f32(value: f32) -> String {
    let (plain, exponent) = (format!("{value:?}"), format!("{value:e}"));
    with_point(plain, exponent, value.is_finite())
}

fn with_point(debug: String, exponent: String, finite: bool) -> String {
    match (finite, debug.contains('e')) {
        (false, _) => match debug.as_str() {
            "inf" => "Infinity".into(),
            "-inf" => "-Infinity".into(),
            _ => debug,
        },
        (true, true) => exponent,
        (true, false) => debug,
    }
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The 16 bytes of a UUID as `01234567-89ab-cdef-0123-456789abcdef`.
pub fn format_uuid(bytes: &[u8]) -> String {
    let mut text = hex(bytes);
    for place in [20, 16, 12, 8] {
        if text.len() > place {
            text.insert(place, '-');
        }
    }
    text
}

/// Bytes from hex in either case; `None` when it is none.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16);
    digits.chunks(2).map(|pair| Some((digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?) as u8)).collect()
}

/// SQL text that reads back as the value.
pub fn literal(value: &Value, ty: SqlType) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match value {
        Value::Null => "NULL".into(),
        Value::Bool(b) => if *b { "TRUE" } else { "FALSE" }.into(),
        Value::Text(text) => quoted(text),
        Value::Bytes(bytes) if ty == SqlType::Uuid => format!("UUID '{}'", format_uuid(bytes)),
        Value::Bytes(bytes) => format!("X'{}'", hex(bytes)),
        Value::Date(ms) => {
            let word = if matches!(ty, SqlType::Time | SqlType::UnsignedTime) { "TIME" } else { "DATE" };
            format!("{word} {}", quoted(&datetime::format_date(*ms)))
        }
        Value::Timestamp(at) => format!("TIMESTAMP {}", quoted(&datetime::format_timestamp(*at))),
        Value::Interval(length) => format!("INTERVAL '{length}'"),
        Value::Array(elements) => {
            let element = ty.element().unwrap_or(SqlType::Null);
            let elements: Vec<String> = elements.iter().map(|value| literal(value, element)).collect();
            format!("ARRAY[{}]", elements.join(", "))
        }
        // Numbers have no literal for NaN and the infinities.
        number => {
            let text = format(number, ty).unwrap_or_default();
            let is_finite = match number {
                Value::Float(v) => v.is_finite(),
                Value::Double(v) => v.is_finite(),
                _ => true,
            };
            let ty = match (number, ty) {
                (Value::Float(_), SqlType::Null) => SqlType::Float,
                (_, SqlType::Null) => SqlType::Double,
                _ => ty,
            };
            if is_finite { text } else { format!("CAST('{text}' AS {ty})") }
        }
    }
}

/// The instant of a DATE or a TIMESTAMP value.
pub fn instant(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Date(ms) => Some(Timestamp { ms: *ms, nanos: 0 }),
        Value::Timestamp(at) => Some(*at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_the_contract_says() {
        let decimal = |t: &str| Value::Decimal(t.parse().unwrap());
        for (value, ty, text) in [
            (Value::Double(1.0), SqlType::Double, "1.0"),
            (Value::Double(1e300), SqlType::Double, "1e300"),
            (Value::Double(0.1), SqlType::Double, "0.1"),
            (Value::Float(0.1), SqlType::Float, "0.1"),
            (Value::Double(f64::INFINITY), SqlType::Double, "Infinity"),
            (decimal("1.5"), SqlType::Decimal(Some((5, 2))), "1.50"),
            (decimal("1.50"), SqlType::Decimal(None), "1.5"),
            (decimal("1e20"), SqlType::Decimal(None), "100000000000000000000"),
            (Value::Bytes(vec![0, 0xff]), SqlType::Varbinary, "00ff"),
            (Value::Bytes((1..17).collect()), SqlType::Uuid, "01020304-0506-0708-090a-0b0c0d0e0f10"),
            (Value::Bool(true), SqlType::Boolean, "true"),
        ] {
            assert_eq!(format(&value, ty).as_deref(), Some(text));
            assert_eq!(parse(text, ty).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn uuids_have_several_forms() {
        let id = Value::Bytes(vec![
            0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11,
        ]);
        for text in [
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            " A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd38-0a11}",
        ] {
            assert_eq!(parse(text, SqlType::Uuid).unwrap(), id, "{text}");
        }
        let shown = "UUID 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'";
        assert_eq!(literal(&id, SqlType::Uuid), shown);
        for text in [
            "",
            "{}",
            "a0eebc99",
            "-a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0e-ebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1100",
        ] {
            assert_eq!(parse(text, SqlType::Uuid).unwrap_err().code().as_str(), "bad_text", "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_with_an_instant() {
        let error = |text, ty| parse(text, ty).unwrap_err().to_string();
        let there_is_none = "'2024-02-30' is not a valid DATE: there is no such day";
        assert_eq!(error("2024-02-30", SqlType::Date), there_is_none);
        assert!(error("2024-02-28 24:00", SqlType::Timestamp).ends_with("TIMESTAMP: there is no such time of day"));
        assert!(error("25:00", SqlType::Time).ends_with("there is no such time of day"));
        assert!(error("25:00", SqlType::Date).contains("write yyyy-MM-dd"));
        assert!(error("noon", SqlType::Time).contains("write HH:mm:ss"));
    }

    #[test]
    fn refuses_text_of_another_type() {
        for (text, ty, code) in [
            ("abc", SqlType::Integer, "bad_text"),
            ("", SqlType::Integer, "bad_text"),
            ("1.5", SqlType::Integer, "out_of_range"),
            ("300", SqlType::TinyInt, "out_of_range"),
            ("-1", SqlType::UnsignedInt, "out_of_range"),
            ("2020-13-01", SqlType::Date, "bad_datetime"),
            ("xyz", SqlType::Varbinary, "bad_text"),
            ("\\x0", SqlType::Varbinary, "bad_text"),
            ("\\X00", SqlType::Varbinary, "bad_text"),
            ("toolong", SqlType::Varchar(Some(3)), "too_long"),
            ("maybe", SqlType::Boolean, "bad_text"),
            ("1e999", SqlType::Float, "out_of_range"),
            ("nanx", SqlType::Double, "bad_text"),
        ] {
            assert_eq!(parse(text, ty).unwrap_err().code().as_str(), code, "{text} {ty}");
        }
        let bytes = |text: &str| parse(text, SqlType::Varbinary).unwrap();
        for text in ["\\x00fF", " 00ff "] {
            assert_eq!(bytes(text), Value::Bytes(vec![0, 0xff]), "{text}");
        }
        assert_eq!(bytes("\\x"), Value::Bytes(Vec::new()));
    }
}
