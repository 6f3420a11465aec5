//! DEFAULTs: Phoenix keeps them as SQL text.

use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{Expr, SqlType, Value, number};

/// The DEFAULT of a column.
///
/// # Errors
/// A text that is no literal, or none of the type, as part of a sentence.
pub(super) fn default_value(text: &str, ty: SqlType) -> Result<DefaultDef, String> {
    let unknown = |reason: &dyn std::fmt::Display| format!("its DEFAULT {text} is not understood: {reason}");
    let value = match literal(text) {
        Some(literal) => number::assign(literal, ty).map_err(|error| unknown(&error))?,
        None => return Err(unknown(&"it is not a literal")),
    };
    let expr = Expr::Literal(value, ty);
    Ok(DefaultDef { text: text.to_owned(), expr, kind: DefaultKind::Constant })
}

/// The value of a literal: a text in quotes, a number, TRUE, FALSE or NULL.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim();
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
        let value = |text: &str, ty| match default_value(text, ty).map(|default| default.expr) {
            Ok(Expr::Literal(value, _)) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(value("'dflt'", SqlType::Varchar(None)), Value::text("dflt"));
        assert_eq!(value(" 'it''s' ", SqlType::Varchar(None)), Value::text("it's"));
        assert_eq!(value("42", SqlType::Integer), Value::Int(42));
        assert_eq!(value("-7", SqlType::BigInt), Value::Int(-7));
        assert_eq!(value("true", SqlType::Boolean), Value::Bool(true));
        assert_eq!(value("null", SqlType::Integer), Value::Null);
        assert_eq!(value("1.50", SqlType::Double), Value::Double(1.5));
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
            ("''", SqlType::Integer),
        ] {
            assert!(default_value(text, ty).unwrap_err().contains(text), "{text}");
        }
    }
}
