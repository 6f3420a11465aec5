//! What values are, and their text with a line for each part.

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    Text,
    Number,
    True,
    False,
    Null,
}

/// The kind of a value without blanks around it.
pub(crate) fn kind(json: &str) -> Kind {
    match json.bytes().next() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::Text,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

const INDENT: usize = 4;

/// The bytes of [`pretty`].
pub(crate) fn pretty_bytes(json: &str) -> usize {
    let mut bytes = 0_usize;
    each_piece(json, |_, indent| bytes = bytes.saturating_add(indent.map_or(0, |depth| depth * INDENT + 1)));
    bytes.saturating_add(json.len() * 2)
}

/// The value with a line for each member and element. Strings and numbers stay as they are.
pub(crate) fn pretty(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    each_piece(json, |piece, indent| {
        if let Some(depth) = indent {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', depth * INDENT));
        }
        text.push_str(piece);
    });
    text
}

/// The pieces of the pretty text in their order; of a piece on a line of its own how deep it stands.
fn each_piece(json: &str, mut put: impl FnMut(&str, Option<usize>)) {
    let (mut depth, mut rest, mut opened) = (0_usize, json, false);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string_bytes(rest),
            c if "{}[],: \t\r\n".contains(c) => 1,
            _ => rest.find(|c: char| "{}[],: \t\r\n\"".contains(c)).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        if piece.trim().is_empty() {
            continue;
        }
        let is_closing = matches!(c, '}' | ']');
        let line = (opened && !is_closing).then_some(depth);
        match c {
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                put(piece, (!opened).then_some(depth));
            }
            ':' => put(": ", None),
            ',' => put(",", None),
            _ => put(piece, line),
        }
        opened = matches!(c, '{' | '[') || (c == ',');
        depth += usize::from(matches!(c, '{' | '['));
    }
}

/// The bytes of the string that a text begins with, its quotes included.
fn string_bytes(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::containment::contains;
    use super::*;

    #[test]
    fn pretty_texts() {
        let text = "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b,\": []\n}";
        assert_eq!(pretty(r#"{"a":[1, { }],"b,":[]}"#), text);
        assert_eq!(pretty("1"), "1");
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof!["-?[1-9][0-9]{0,3}", "true|false|null", "\"[a-c \\\\\\\\,:]{0,3}\""]
            .prop_filter("JSON", |t| super::super::check(t).is_ok());
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(|parts| format!("[{}]", parts.join(", "))),
                prop::collection::vec(inner, 0..3).prop_map(|parts| {
                    let members: Vec<String> =
                        parts.iter().enumerate().map(|(place, part)| format!("\"m{place}\" : {part}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases))]

        #[test]
        fn pretty_keeps_the_value(json in json()) {
            let pretty = pretty(&json);
            prop_assert!(super::super::check(&pretty).is_ok());
            prop_assert!(pretty.len() <= pretty_bytes(&json));
            prop_assert!(contains(&json, &pretty).unwrap() && contains(&pretty, &json).unwrap());
        }
    }
}
