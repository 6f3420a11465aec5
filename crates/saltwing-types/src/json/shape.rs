//! What values are, whether one holds another, and their text with a line for each part.

use std::collections::{HashMap, HashSet};

use super::{elements, members, plain_text};
use crate::error::shorten;
use crate::{Decimal, ValueError, interrupt};

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

/// Objects and arrays inside each other that are compared.
const DEPTH_MAX: usize = 100;

/// Whether a value holds another, as `@>` of PostgreSQL's jsonb has it: an array also holds a string, number or truth value that is
/// one of its elements.
///
/// # Errors
/// [`ValueError::BadText`] at the first place that is no JSON; [`ValueError::BadArgument`] for values of more than 100 levels.
pub(crate) fn contains(json: &str, other: &str) -> Result<bool, ValueError> {
    let (json, other) = (json.trim(), other.trim());
    let is_element = kind(json) == Kind::Array && !matches!(kind(other), Kind::Object | Kind::Array);
    if is_element {
        return any(elements(json)?.unwrap_or_default(), |element| holds(element, other, DEPTH_MAX));
    }
    holds(json, other, DEPTH_MAX)
}

fn holds(json: &str, other: &str, depth: usize) -> Result<bool, ValueError> {
    let Some(depth) = depth.checked_sub(1) else {
        let text = format!("{}: only {DEPTH_MAX} levels of JSON are compared", shorten(json));
        return Err(ValueError::BadArgument(text));
    };
    match (kind(json), kind(other)) {
        (Kind::Object, Kind::Object) => {
            // Of several members of one name the last counts.
            let known: HashMap<String, &str> = members(json)?.unwrap_or_default().into_iter().collect();
            all(members(other)?.unwrap_or_default(), |(name, value)| match known.get(&name) {
                Some(part) => holds(part, value, depth),
                None => Ok(false),
            })
        }
        (Kind::Array, Kind::Array) => {
            // Arrays may be long: their plain values are looked up, and only objects and arrays compared one by one.
            let (mut plain, mut nested) = (HashSet::new(), Vec::new());
            for element in elements(json)?.unwrap_or_default() {
                match Plain::of(element)? {
                    Some(value) => _ = plain.insert(value),
                    None => nested.push(element),
                }
            }
            all(elements(other)?.unwrap_or_default(), |value| match Plain::of(value)? {
                Some(value) => Ok(plain.contains(&value)),
                None => any(nested.iter().copied(), |element| {
                    interrupt::spend(1).map_err(ValueError::Interrupted)?;
                    Ok(kind(element) == kind(value) && holds(element, value, depth)?)
                }),
            })
        }
        _ => Ok(match (Plain::of(json)?, Plain::of(other)?) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }),
    }
}

/// A value that has no parts, equal to each other text of it.
#[derive(PartialEq, Eq, Hash)]
enum Plain<'a> {
    Text(Option<String>),
    Number(Decimal),
    /// A number that is no DECIMAL, as it is written.
    Other(&'a str),
    True,
    False,
    Null,
}

impl<'a> Plain<'a> {
    /// `None` of an object and of an array.
    fn of(json: &'a str) -> Result<Option<Self>, ValueError> {
        Ok(Some(match kind(json) {
            Kind::Object | Kind::Array => return Ok(None),
            Kind::Text => Self::Text(plain_text(json)?),
            Kind::Number => json.parse().map_or(Self::Other(json), Self::Number),
            Kind::True => Self::True,
            Kind::False => Self::False,
            Kind::Null => Self::Null,
        }))
    }
}

fn any<T>(
    parts: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, ValueError>,
) -> Result<bool, ValueError> {
    for part in parts {
        if holds(part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn all<T>(
    parts: impl IntoIterator<Item = T>,
    mut holds: impl FnMut(T) -> Result<bool, ValueError>,
) -> Result<bool, ValueError> {
    Ok(!any(parts, |part| holds(part).map(|holds| !holds))?)
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

    use super::*;

    #[test]
    fn holds_as_jsonb_does() {
        for (json, other, expected) in [
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, true),
            (r#"{"a":1}"#, r#"{"b":2}"#, false),
            ("[1,2,3]", "[3,1,1]", true),
            ("[1,2,[1,3]]", "[1,3]", false),
            ("[1,2,[1,3]]", "[[1,3]]", true),
            (r#"{"foo":{"bar":"baz"}}"#, r#"{"bar":"baz"}"#, false),
            (r#"["foo","bar"]"#, r#""bar""#, true),
            (r#""bar""#, r#"["bar"]"#, false),
            ("1.0", "1", true),
            ("[]", "[]", true),
            ("null", "null", true),
            (r#""\u0061""#, r#""a""#, true),
        ] {
            assert_eq!(contains(json, other), Ok(expected), "{json} @> {other}");
        }
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        assert_eq!(contains(&deep, &deep).unwrap_err().code().as_str(), "bad_argument");
    }

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
