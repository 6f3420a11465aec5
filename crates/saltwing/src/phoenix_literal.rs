//! Values and types in the SQL of Apache Phoenix.

use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType, Value, datetime, text};

/// The first instant of the Gregorian calendar: Phoenix reads dates before it by the Julian one.
const GREGORIAN_FROM_MS: i64 = -12_219_292_800_000;

/// A value in Phoenix's SQL, and a note about information that is lost.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PhoenixLiteral {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

/// The Phoenix type for the values of a type, with a note if the two differ.
pub(crate) fn phoenix_type(ty: SqlType) -> (String, Option<&'static str>) {
    match ty {
        SqlType::Json => ("VARCHAR".into(), Some("a VARCHAR in Phoenix")),
        SqlType::Interval => ("VARCHAR".into(), Some("its text in Phoenix, which has no such type")),
        SqlType::Uuid => ("BINARY(16)".into(), Some("its bytes in Phoenix, which has no such type")),
        // Phoenix's DECIMAL has up to 38 digits, like ours.
        SqlType::Array(element, _)
            if !matches!(element.sql_type(), SqlType::Json | SqlType::Interval | SqlType::Uuid) =>
        {
            (ty.to_string(), None)
        }
        SqlType::Array(element, _) => {
            let (element, note) = phoenix_type(element.sql_type());
            (format!("{element} ARRAY"), note)
        }
        ty => (ty.to_string(), None),
    }
}

/// The literal of a value of this type.
pub(crate) fn phoenix_literal(value: &Value, ty: SqlType) -> PhoenixLiteral {
    let plain = |text: String| PhoenixLiteral { text, notes: Vec::new() };
    let noted = |text: String, note: &str| PhoenixLiteral { text, notes: vec![note.to_owned()] };
    match value {
        Value::Null => plain("NULL".into()),
        Value::Bool(truth) => plain(if *truth { "TRUE" } else { "FALSE" }.into()),
        Value::Text(text) if text.is_empty() => noted("NULL".into(), "'' is NULL in Phoenix"),
        Value::Text(text) => plain(quoted(text)),
        Value::Bytes(bytes) if bytes.is_empty() => noted("NULL".into(), "X'' is NULL in Phoenix"),
        Value::Bytes(bytes) => plain(format!("X'{}'", text::hex(bytes))),
        Value::Interval(length) => plain(quoted(&length.to_string())),
        Value::Date(ms) => {
            let function = if matches!(ty, SqlType::Time | SqlType::UnsignedTime) { "TO_TIME" } else { "TO_DATE" };
            instant(Timestamp { ms: *ms, nanos: 0 }, |text| format!("{function}('{text}', '{PATTERN}')"))
        }
        Value::Timestamp(at) if at.nanos == 0 => instant(*at, |text| format!("TO_TIMESTAMP('{text}', '{PATTERN}')")),
        Value::Timestamp(at) => {
            let nanos = format!("{:06}", at.nanos);
            instant(*at, |text| format!("TIMESTAMP '{text}{nanos}'"))
        }
        Value::Array(elements) => {
            let element = ty.element().unwrap_or(SqlType::Null);
            let mut array = PhoenixLiteral::default();
            let mut texts = Vec::with_capacity(elements.len());
            for value in elements {
                let literal = phoenix_literal(value, element);
                if literal.text == "NULL" && element.fixed_key_bytes().is_some() {
                    array.notes.push("an element that is NULL is 0 in Phoenix's arrays of numbers".into());
                }
                array.notes.extend(literal.notes);
                texts.push(literal.text);
            }
            array.text = format!("ARRAY[{}]", texts.join(", "));
            array
        }
        number => match text::format(number, ty) {
            Some(text) if text.ends_with(|c: char| c.is_ascii_digit()) => plain(text.replace('e', "E")),
            Some(text) => noted("NULL".into(), &format!("{text} has no literal in Phoenix")),
            None => plain("NULL".into()),
        },
    }
}

/// The pattern of the instants that are written, in GMT.
const PATTERN: &str = "yyyy-MM-dd HH:mm:ss.SSS";

fn instant(at: Timestamp, write: impl Fn(&str) -> String) -> PhoenixLiteral {
    let full = datetime::format_timestamp(Timestamp { nanos: 0, ..at });
    let text = if full.contains('.') { full } else { format!("{full}.000") };
    let is_julian = at.ms < GREGORIAN_FROM_MS;
    let note = || format!("{text} is read by the Julian calendar in Phoenix");
    PhoenixLiteral { text: write(&text), notes: is_julian.then(note).into_iter().collect() }
}

/// A string with Phoenix's escapes: of quotes, backslashes and line ends.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_phoenix_reads_them() {
        let written = |value: Value, ty| phoenix_literal(&value, ty).text;
        assert_eq!(
            written(Value::text("it's a \\ and\na line"), SqlType::Varchar(None)),
            "'it''s a \\\\ and\\na line'"
        );
        assert_eq!(written(Value::Bytes(vec![0, 255]), SqlType::Varbinary), "X'00ff'");
        assert_eq!(written(Value::Double(1e30), SqlType::Double), "1E30");
        assert_eq!(written(Value::Double(1.5), SqlType::Double), "1.5");
        assert_eq!(written(Value::Double(f64::NAN), SqlType::Double), "NULL");
        assert_eq!(
            written(Value::Date(0), SqlType::Date),
            "TO_DATE('1970-01-01 00:00:00.000', 'yyyy-MM-dd HH:mm:ss.SSS')"
        );
        let at = Timestamp { ms: 1, nanos: 2 };
        assert_eq!(written(Value::Timestamp(at), SqlType::Timestamp), "TIMESTAMP '1970-01-01 00:00:00.001000002'");
        let ty = SqlType::array(SqlType::Varchar(None)).unwrap();
        let array = phoenix_literal(&Value::Array(vec![Value::text("a'b"), Value::text("")]), ty);
        assert_eq!((array.text.as_str(), array.notes.len()), ("ARRAY['a''b', NULL]", 1));
        assert_eq!(phoenix_literal(&Value::Date(-99_999_999_999_999), SqlType::Date).notes.len(), 1);
    }
}
