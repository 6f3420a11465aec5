//! The names of types in DataFusion's texts, as SQL calls them.

use crate::internal_name::shown;

/// The first line of a text, with types as SQL calls them.
pub(crate) fn in_sql_types(text: &str) -> String {
    let line = first_line(text);
    let line = line.strip_prefix("Internal error: ").unwrap_or(&line);
    sql_types(line)
}

/// Arrow's names of types as SQL's, wherever they stand.
pub(crate) fn sql_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let (before, word) = rest.split_at(start);
        out.push_str(before);
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
        let (name, after) = word.split_at(end);
        match sql_type(name) {
            Some(name) => {
                out.push_str(name);
                rest = after_brackets(after);
            }
            None => {
                out.push_str(name);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The first line of a text, with the names of columns as they are shown.
pub(crate) fn first_line(text: &str) -> String {
    shown(text.lines().next().unwrap_or(text))
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

/// The rest of a text after its leading brackets, if it has any.
fn after_brackets(text: &str) -> &str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_in_sql() {
        let text = "coercion from Decimal256(76, 38), Timestamp(ns, \"+TZ\") to List(Int64), my_Int64";
        assert_eq!(sql_types(text), "coercion from DECIMAL, TIMESTAMP to ARRAY, my_Int64");
    }
}
