//! The parts of an index out of the text that `information_schema.indexes` has of its key: `f.v DESC, UPPER("W")`.

/// A column or an expression of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexPart {
    /// The name of the column without its family and without quotes, or the text of the expression.
    pub(crate) name: String,
    /// Whether it descends.
    pub(crate) descends: bool,
}

/// The parts, in their order.
pub(crate) fn index_parts(key: &str) -> Vec<IndexPart> {
    split_outside(key, ',')
        .into_iter()
        .map(|part| index_part(part.trim()))
        .filter(|part| !part.name.is_empty())
        .collect()
}

fn index_part(text: &str) -> IndexPart {
    let (text, descends) = match text.strip_suffix(" DESC") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let names: Vec<Option<String>> = split_outside(text, '.').into_iter().map(name).collect();
    let is_column = names.iter().all(Option::is_some);
    let column = names.into_iter().flatten().next_back().filter(|_| is_column);
    IndexPart { name: column.unwrap_or_else(|| text.to_owned()), descends }
}

/// A name with or without quotes; `None` of an expression.
fn name(text: &str) -> Option<String> {
    if let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        let inner = quoted.replace("\"\"", "");
        return (!inner.contains('"')).then(|| quoted.replace("\"\"", "\""));
    }
    let is_plain = !text.is_empty() && text.chars().all(|char| char.is_alphanumeric() || char == '_' || char == '$');
    is_plain.then(|| text.to_owned())
}

/// The pieces between separators that stand outside of quotes and parentheses.
fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut begin, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            // A doubled quote ends the text and begins it again.
            (Some(open), _) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(char),
            (None, '(' | '[') => depth = depth.saturating_add(1),
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, _) if char == separator && depth == 0 => {
                pieces.extend(text.get(begin..at));
                begin = at.saturating_add(char.len_utf8());
            }
            (None, _) => {}
        }
    }
    pieces.extend(text.get(begin..));
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::index_parts;

    fn parts(key: &str) -> Vec<(String, bool)> {
        index_parts(key).into_iter().map(|part| (part.name, part.descends)).collect()
    }

    #[test]
    fn columns_lose_family_and_quotes() {
        let expected = [("V1".to_owned(), true), ("a,\"b".to_owned(), false), ("W".to_owned(), false)];
        assert_eq!(parts("V1 DESC, \"a,\"\"b\", f.W"), expected);
        assert_eq!(parts("\"F\".\"x y\" DESC"), [("x y".to_owned(), true)]);
    }

    #[test]
    fn expressions_stay_as_they_are() {
        let expected =
            [("UPPER(v)".to_owned(), false), ("COALESCE(a, ',')".to_owned(), true), ("k + 1.5".to_owned(), false)];
        assert_eq!(parts("UPPER(v), COALESCE(a, ',') DESC, k + 1.5"), expected);
    }

    proptest! {
        #[test]
        fn quoted_names_come_back(names in proptest::collection::vec(("[a-z\", .()']{1,8}", any::<bool>()), 1..5)) {
            let quoted = |(name, descends): &(String, bool)| {
                format!("\"{}\"{}", name.replace('"', "\"\""), if *descends { " DESC" } else { "" })
            };
            let key = names.iter().map(quoted).collect::<Vec<_>>().join(", ");
            prop_assert_eq!(parts(&key), names);
        }

        #[test]
        fn any_text_has_parts(key in ".{0,40}") {
            let _ = index_parts(&key);
        }
    }
}
