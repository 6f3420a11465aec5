//! Texts of DataFusion's errors in SQL's words.

use saltwing_types::ValueError;

use crate::error::first_line;
use crate::{RelationalError, RelationalErrorKind};

/// A call whose arguments have types that the function does not take, if a text is about one.
///
/// DataFusion lists all signatures, in the names of Arrow's types. The call is the last word in quotes: `'power(Utf8, Utf8)'`.
pub(crate) fn wrong_arguments(text: &str) -> Option<RelationalError> {
    let call = text.split("argument types '").nth(1)?.split("'.").next()?;
    let (function, types) = call.strip_suffix(')')?.split_once('(')?;
    let kind = RelationalErrorKind::WrongArguments { function: function.to_owned(), types: sql_types(types) };
    Some(RelationalError::from(kind).help("CAST brings a value to another type"))
}

/// The first line of a text, with types as SQL calls them.
pub(crate) fn in_sql_types(text: &str) -> String {
    let line = first_line(text);
    let line = line.strip_prefix("Internal error: ").unwrap_or(&line);
    sql_types(line)
}

/// Arrow's names of types as SQL's, wherever they stand.
fn sql_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let (before, word) = rest.split_at(start);
        out.push_str(before);
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
        let (name, behind) = word.split_at(end);
        match sql_type(name) {
            Some(name) => {
                out.push_str(name);
                rest = behind_brackets(behind);
            }
            None => {
                out.push_str(name);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

fn sql_type(arrow: &str) -> Option<&'static str> {
    Some(match arrow {
        "Int8" => "TINYINT",
        "Int16" => "SMALLINT",
        "Int32" => "INTEGER",
        "Int64" => "BIGINT",
        "UInt8" => "UNSIGNED_TINYINT",
        "UInt16" => "UNSIGNED_SMALLINT",
        "UInt32" => "UNSIGNED_INT",
        "UInt64" => "UNSIGNED_LONG",
        "Float16" | "Float32" => "FLOAT",
        "Float64" => "DOUBLE",
        "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" => "DECIMAL",
        "Utf8" | "LargeUtf8" | "Utf8View" => "VARCHAR",
        "Binary" | "LargeBinary" | "BinaryView" | "FixedSizeBinary" => "VARBINARY",
        "Date32" | "Date64" => "DATE",
        "Time32" | "Time64" => "TIME",
        "Timestamp" => "TIMESTAMP",
        "Interval" | "Duration" => "INTERVAL",
        "List" | "LargeList" | "FixedSizeList" | "ListView" => "ARRAY",
        "Struct" => "STRUCT",
        _ => return None,
    })
}

/// What stands behind the brackets that a text begins with, if it does.
fn behind_brackets(text: &str) -> &str {
    if !text.starts_with('(') {
        return text;
    }
    let mut depth = 0;
    for (place, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(place + 1..).unwrap_or_default();
        }
    }
    text
}

/// The first qualified column that a text names: `t.v`.
pub(crate) fn first_column(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_.$".contains(c)));
    let is_column = |word: &&str| match word.split_once('.') {
        Some((table, column)) => table.starts_with(char::is_alphabetic) && column.starts_with(char::is_alphabetic),
        None => false,
    };
    words.into_iter().find(is_column)
}

/// Whether a text says that a regular expression takes too much memory.
pub(crate) fn is_of_regexp_size(text: &str) -> bool {
    text.contains("CompiledTooBig") || text.contains("regex exceeds size limit")
}

pub(crate) fn regexp_too_large() -> RelationalError {
    let text = "the regular expression is too large: it would take more than 10 MB".to_owned();
    RelationalError::from(ValueError::BadArgument(text)).help("repeat less: {1000} within {1000} is a million")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_in_sql() {
        let text = "coercion from Decimal256(76, 38), Timestamp(ns, \"+TZ\") to List(Int64), my_Int64";
        assert_eq!(sql_types(text), "coercion from DECIMAL, TIMESTAMP to ARRAY, my_Int64");
    }

    #[test]
    fn a_call_is_found() {
        let text = "Failed. No function matches the given name and argument types 'power(Utf8, Int64)'. You might";
        assert_eq!(wrong_arguments(text).unwrap().to_string(), "power does not take (VARCHAR, BIGINT)");
    }

    #[test]
    fn columns_are_found() {
        assert_eq!(first_column("HAVING clause references: 1(n.v, Int64(1)) must"), Some("n.v"));
    }
}
