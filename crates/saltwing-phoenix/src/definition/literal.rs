//! Literals of SQL texts in the catalog.

use saltwing_types::{SqlType, Value, number};

/// The value of a literal of SQL, such as the catalog has it for a DEFAULT, in this type: a text in quotes, a number, TRUE, FALSE or NULL.
///
/// # Errors
/// A text that is no literal, or none of the type, as part of a sentence.
pub fn literal_value(text: &str, ty: SqlType) -> Result<Value, String> {
    match literal(text.trim()) {
        Some(literal) => number::assign(literal, ty).map_err(|error| error.to_string()),
        None => Err("it is not a literal".to_owned()),
    }
}

fn literal(text: &str) -> Option<Value> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let inner = quoted.strip_suffix('\'')?;
        let rest = inner.replace("''", "");
        return (!rest.contains(['\'', '\\'])).then(|| Value::Text(inner.replace("''", "'")));
    }
    match text.to_ascii_uppercase().as_str() {
        "NULL" => return Some(Value::Null),
        "TRUE" => return Some(Value::Bool(true)),
        "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let has_digit = text.chars().any(|c| c.is_ascii_digit());
    (has_digit && text.chars().all(is_number)).then(|| Value::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_understood() {
        for (text, ty, value) in [
            ("'dflt'", SqlType::Varchar(None), Value::text("dflt")),
            (" 'it''s' ", SqlType::Varchar(None), Value::text("it's")),
            ("42", SqlType::Integer, Value::Int(42)),
            ("-7", SqlType::BigInt, Value::Int(-7)),
            ("true", SqlType::Boolean, Value::Bool(true)),
            ("null", SqlType::Integer, Value::Null),
            ("1.50", SqlType::Double, Value::Double(1.5)),
        ] {
            assert_eq!(literal_value(text, ty), Ok(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_values() {
        for (text, ty) in [
            ("1 + 2", SqlType::Integer),
            ("CURRENT_DATE()", SqlType::Date),
            ("'a' || 'b'", SqlType::Varchar(None)),
            ("'a\\n'", SqlType::Varchar(None)),
            ("99999999999", SqlType::Integer),
            ("-", SqlType::Integer),
            ("'", SqlType::Varchar(None)),
            ("''", SqlType::Integer),
        ] {
            assert!(literal_value(text, ty).is_err(), "{text}");
        }
    }
}
