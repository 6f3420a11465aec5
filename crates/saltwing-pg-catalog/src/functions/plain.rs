//! Functions of their arguments alone.

use saltwing::{Error, Volatility, blocking};

use crate::name_path::name_parts;

/// Functions of their arguments alone.
pub(super) fn plain(connection: &blocking::Connection) -> Result<(), Error> {
    let start = std::time::SystemTime::now();
    connection.register_function("server_start", Volatility::Stable, move || start)?;
    connection.register_function("parse_ident", Volatility::Immutable, |text: String| {
        let parts = name_parts(&text).map(|parts| parts.join("\u{1f}"));
        parts.ok_or_else(|| format!("string is not a valid identifier: \"{text}\""))
    })?;
    connection.register_function("json_text", Volatility::Immutable, |text: String| json_text(&text))?;
    connection.register_function("index_property", Volatility::Immutable, |property: String| {
        match property.to_ascii_lowercase().as_str() {
            "can_order" | "can_unique" | "can_multi_col" | "can_include" | "index_scan" | "backward_scan" => Some(true),
            "can_exclude" | "clusterable" | "bitmap_scan" => Some(false),
            _ => None,
        }
    })?;
    connection.register_function("encoding_name", Volatility::Immutable, |number: i64| {
        if number == 6 { "UTF8".to_owned() } else { String::new() }
    })?;
    connection.register_function("encoding_number", Volatility::Immutable, |name: String| {
        if matches!(name.to_ascii_uppercase().as_str(), "UTF8" | "UTF-8" | "UNICODE") { 6_i32 } else { -1 }
    })?;
    connection.register_function("pg_substring", Volatility::Immutable, |text: String, from: i64| {
        substring(&text, from, i64::MAX)
    })?;
    connection.register_function(
        "pg_substring_for",
        Volatility::Immutable,
        |text: String, from: i64, count: i64| substring(&text, from, count),
    )?;
    Ok(())
}

/// The characters from a place on, at most so many; places before the first character count.
fn substring(text: &str, from: i64, count: i64) -> Result<String, &'static str> {
    if count < 0 {
        return Err("negative substring length not allowed");
    }
    let end = from.saturating_add(count);
    let places = 1_i64..;
    let inside = text.chars().zip(places).filter(|(_, place)| *place >= from && *place < end);
    Ok(inside.map(|(c, _)| c).collect())
}

/// A text as JSON.
fn json_text(text: &str) -> String {
    let mut json = String::with_capacity(text.len().saturating_add(2));
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if u32::from(c) < 0x20 => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_before_the_first_character_count() {
        assert_eq!(substring("TABLE(a)", 0, 6).as_deref(), Ok("TABLE"));
        assert_eq!(substring("äöü", 2, 1).as_deref(), Ok("ö"));
        assert_eq!(substring("ab", 5, 1).as_deref(), Ok(""));
        assert!(substring("ab", 1, -1).is_err());
    }

    #[test]
    fn texts_are_json() {
        assert_eq!(json_text("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }
}
