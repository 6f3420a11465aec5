//! Arrays as text: JSON arrays, and back. PostgreSQL's `{1,2}`, and texts without quotes, are read too.

use crate::error::shorten;
use crate::sql_type::TypeFamily;
use crate::{SqlType, Value, ValueError};

/// `[1,2.5,"a",null]`: numbers and truth values as they are, all other elements, and NaN and the infinities, in quotes.
pub(crate) fn format(elements: &[Value], text_of: impl Fn(&Value) -> Option<String>) -> String {
    let mut out = String::from("[");
    for (index, value) in elements.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        match text_of(value) {
            None => out.push_str("null"),
            Some(text) if is_plain(value, &text) => out.push_str(&text),
            Some(text) => push_quoted(&mut out, &text),
        }
    }
    out.push(']');
    out
}

fn is_plain(value: &Value, text: &str) -> bool {
    match value.family() {
        TypeFamily::Number => text.ends_with(|last: char| last.is_ascii_digit()),
        family => family == TypeFamily::Boolean,
    }
}

/// Appends a text as JSON has it, in quotes.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads an array of type `ty`: `[1, "a", null]` or `{1, "a", NULL}`, with the escapes of JSON inside quotes.
///
/// # Errors
/// [`ValueError::BadText`] for any other form; what `parse` says of an element.
pub(crate) fn parse(
    text: &str,
    ty: SqlType,
    parse: impl Fn(&str) -> Result<Value, ValueError>,
) -> Result<Value, ValueError> {
    let bad = || ValueError::BadText { text: shorten(text), target: ty.to_string() };
    let inside = |open, close| text.trim().strip_prefix(open)?.strip_suffix(close);
    let mut rest = inside('[', ']').or_else(|| inside('{', '}')).ok_or_else(bad)?.trim_start();
    let mut elements = Vec::new();
    let parse = |text: &str, index| parse(text).map_err(|error| error.in_element(index));
    while !(rest.is_empty() && elements.is_empty()) {
        let after = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (unquoted, after) = unquoted(quoted).ok_or_else(bad)?;
                elements.push(parse(&unquoted, elements.len())?);
                after.trim_start()
            }
            None => {
                let (bare, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                match bare.trim() {
                    bare if bare.is_empty() || bare.contains(['"', '[', ']', '{', '}']) => return Err(bad()),
                    bare if bare.eq_ignore_ascii_case("null") => elements.push(Value::Null),
                    bare => elements.push(parse(bare, elements.len())?),
                }
                after
            }
        };
        if after.is_empty() {
            break;
        }
        rest = after.strip_prefix(',').ok_or_else(bad)?.trim_start();
        if rest.is_empty() {
            return Err(bad());
        }
    }
    Ok(Value::Array(elements))
}

/// The text up to the closing quote, its escapes resolved, and the rest after the quote.
pub(crate) fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.chars();
    loop {
        out.push(match chars.next()? {
            '"' => return Some((out, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => escaped_character(&mut chars)?,
                other => other,
            },
            other => other,
        });
    }
}

/// The character after `\u`; one beyond 16 bits is written as two such escapes.
fn escaped_character(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let unit = |chars: &mut std::str::Chars<'_>| {
        let (digits, rest) = chars.as_str().split_at_checked(4)?;
        *chars = rest.chars();
        u16::from_str_radix(digits, 16).ok()
    };
    let mut units = vec![unit(chars)?];
    if (0xd800..0xdc00).contains(units.first()?) {
        *chars = chars.as_str().strip_prefix("\\u")?.chars();
        units.push(unit(chars)?);
    }
    char::decode_utf16(units).next()?.ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text;

    fn of(element: SqlType) -> SqlType {
        SqlType::array(element).unwrap()
    }

    const TEXT: SqlType = SqlType::Varchar(None);

    proptest! {
        #[test]
        fn arrays_are_read_as_they_are_written(
            texts in prop::collection::vec(prop::option::of(any::<String>()), 0..5),
            numbers in prop::collection::vec(prop::option::of(any::<f64>()), 0..5),
        ) {
            let texts = Value::Array(texts.into_iter().map(Value::from).collect());
            let numbers = Value::Array(numbers.into_iter().map(Value::from).collect());
            for (array, element) in [(texts, TEXT), (numbers, SqlType::Double)] {
                let written = text::format(&array, of(element)).unwrap();
                prop_assert_eq!(text::parse(&written, of(element)).unwrap(), array, "{}", written);
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[{]?[a\"\\\\u0-9,\\]} ]{0,12}[\\]}]?") {
            let _ = text::parse(&text, of(TEXT));
        }
    }

    #[test]
    fn forms_of_others() {
        let texts = |texts: &[Option<&str>]| Value::Array(texts.iter().map(|text| Value::from(*text)).collect());
        for (written, expected) in [
            ("{}", texts(&[])),
            (" [ ] ", texts(&[])),
            ("{a,NULL, \"b,c\" ,d e}", texts(&[Some("a"), None, Some("b,c"), Some("d e")])),
            ("[\"null\", null]", texts(&[Some("null"), None])),
            (r#"["\u00e4\ud83d\ude00\"\\"]"#, texts(&[Some("ä😀\"\\")])),
        ] {
            assert_eq!(text::parse(written, of(TEXT)).unwrap(), expected, "{written}");
        }
        for bad in ["", "a", "[a", "{a]", "[a,]", "[,a]", "[\"a]", "[\"a\"b]", "[[1]]", r#"["\ud83d"]"#, r#"["\u00"]"#]
        {
            assert_eq!(text::parse(bad, of(TEXT)).unwrap_err().code().as_str(), "bad_text", "{bad}");
        }
        let error = text::parse("[1,x]", of(SqlType::Integer)).unwrap_err();
        assert_eq!(error.to_string(), "element 2: 'x' is not a valid INTEGER");
    }
}
