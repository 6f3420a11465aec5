//! The parts of an index's key, from the text in which `information_schema.indexes` has them.

use saltwing::syntax::{Lexeme, lexemes};

use super::objects::IndexPart;

/// The texts between the commas of a list, outside of brackets, without blanks around them.
pub(super) fn elements(list: &str) -> Vec<&str> {
    let (mut elements, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (kind, place) in lexemes(list) {
        match (kind, list.get(place.clone())) {
            (Lexeme::Symbol, Some("(" | "[")) => depth = depth.saturating_add(1),
            (Lexeme::Symbol, Some(")" | "]")) => depth = depth.saturating_sub(1),
            (Lexeme::Symbol, Some(",")) if depth == 0 => {
                elements.extend(list.get(start..place.start));
                start = place.end;
            }
            _ => {}
        }
    }
    elements.extend(list.get(start..));
    elements.into_iter().map(str::trim).filter(|element| !element.is_empty()).collect()
}

/// The parts of a key such as `user_id, f.name DESC, LOWER(name)`.
pub(super) fn index_parts(key: &str) -> Vec<IndexPart> {
    elements(key).into_iter().map(index_part).collect()
}

fn index_part(text: &str) -> IndexPart {
    let (text, is_descending) = match text.strip_suffix(" DESC") {
        Some(text) => (text.trim_end(), true),
        None => (text, false),
    };
    match column_name(text) {
        Some(name) => IndexPart { text: name, is_column: true, is_descending },
        None => IndexPart { text: text.to_owned(), is_column: false, is_descending },
    }
}

/// The name of a column, if the text is one, without its family and without quotes.
pub(super) fn column_name(text: &str) -> Option<String> {
    let mut name = None;
    for (kind, place) in lexemes(text) {
        let word = text.get(place)?;
        match kind {
            Lexeme::Word | Lexeme::QuotedName if name.is_none() => name = Some(unquoted(word)),
            // What stands before the point is the family.
            Lexeme::Symbol if word == "." && name.is_some() => name = None,
            _ => return None,
        }
    }
    name
}

/// A name without its quotes.
pub(super) fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(name) => name.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_columns_or_expressions() {
        let parts = index_parts("user_id, f.name DESC, SUBSTR(MD5(a), 1, 3), \"a, b\" DESC, \"x\"\"y\"");
        let part = |text: &str, is_column, is_descending| IndexPart { text: text.into(), is_column, is_descending };
        let expected = [
            part("user_id", true, false),
            part("name", true, true),
            part("SUBSTR(MD5(a), 1, 3)", false, false),
            part("a, b", true, true),
            part("x\"y", true, false),
        ];
        assert_eq!(parts, expected);
        assert_eq!(index_parts(""), []);
    }
}
