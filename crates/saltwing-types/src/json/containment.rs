//! Whether a value holds another.

use std::collections::{HashMap, HashSet};

use super::shape::{Kind, kind};
use super::{elements, members, plain_text};
use crate::error::shorten;
use crate::{Decimal, ValueError, interrupt};

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

#[cfg(test)]
mod tests {
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
}
