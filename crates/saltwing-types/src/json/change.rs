//! Changes of parts: the text around a part stays as it was written.

use super::{Step, elements, members, part, spliced};
use crate::ValueError;
use crate::array_text::push_quoted;

/// Which changes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// A part that is there gets another value.
    pub(crate) replaces: bool,
    /// A member that is missing is added, and an element right after the last one, with the objects and arrays of the steps inside.
    pub(crate) adds: bool,
}

/// A JSON value with `new` at the path; as it is if the path leads nowhere or the change is not made.
///
/// # Errors
/// As [`part`].
pub(crate) fn changed(json: &str, path: &[Step], new: &str, change: Change) -> Result<String, ValueError> {
    if let Some(old) = part(json, path)? {
        return if change.replaces { spliced(json, old, &[new]) } else { Ok(json.to_owned()) };
    }
    if !change.adds {
        return Ok(json.to_owned());
    }
    // The longest beginning of the path that leads somewhere, and the step after it.
    let (mut parent, mut steps) = (part(json, &[])?.unwrap_or(json), path.iter());
    let missing = loop {
        let Some(step) = steps.next() else { return Ok(json.to_owned()) };
        match part(parent, std::slice::from_ref(step))? {
            Some(inner) => parent = inner,
            None => break step,
        }
    };
    let Some(new) = wrapped(steps.as_slice(), new) else { return Ok(json.to_owned()) };
    added(json, parent, missing, &new)
}

/// The value inside the objects and arrays that these steps lead through; `None` of an element that is not the first.
fn wrapped(steps: &[Step], value: &str) -> Option<String> {
    let mut open = String::new();
    let mut close = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Member(name) | Step::Either(name) => {
                open.push('{');
                push_quoted(&mut open, name);
                open.push(':');
                close.push('}');
            }
            Step::Element(0) => {
                open.push('[');
                close.push(']');
            }
            Step::Element(_) => return None,
        }
    }
    Some(open + value + &close.into_iter().rev().collect::<String>())
}

/// The value with a new last member or element in its part `parent`; as it is if that takes none of this step.
fn added(json: &str, parent: &str, step: &Step, new: &str) -> Result<String, ValueError> {
    let (open, close, name) = match step {
        Step::Member(name) if parent.starts_with('{') => ('{', '}', Some(name)),
        Step::Element(index) if elements(parent)?.is_some_and(|known| known.len() as i64 == *index) => ('[', ']', None),
        _ => return Ok(json.to_owned()),
    };
    let Some(inside) = parent.strip_prefix(open).and_then(|inside| inside.strip_suffix(close)) else {
        return Ok(json.to_owned());
    };
    let mut added = String::from(if inside.trim().is_empty() { "" } else { ", " });
    if let Some(name) = name {
        push_quoted(&mut added, name);
        added.push_str(": ");
    }
    let end = inside.trim_end().len();
    spliced(json, inside.get(end..end).unwrap_or_default(), &[&added, new])
}

/// A JSON value without the part at the path; as it is if there is none, and `None` without the whole.
///
/// # Errors
/// As [`part`].
pub(crate) fn without_part(json: &str, path: &[Step]) -> Result<Option<String>, ValueError> {
    let Some((last, parents)) = path.split_last() else { return Ok(None) };
    let (Some(removed), Some(parent)) = (part(json, path)?, part(json, parents)?) else {
        return Ok(Some(json.to_owned()));
    };
    let rest = match last {
        Step::Element(_) => {
            let elements = elements(parent)?.unwrap_or_default();
            let kept: Vec<&str> = elements.into_iter().filter(|element| !std::ptr::eq(*element, removed)).collect();
            format!("[{}]", kept.join(","))
        }
        Step::Member(name) | Step::Either(name) => {
            let mut object = String::from("{");
            for (member, value) in members(parent)?.unwrap_or_default() {
                if member != *name {
                    object.push_str(if object.len() > 1 { "," } else { "" });
                    push_quoted(&mut object, &member);
                    object.extend([":", value]);
                }
            }
            object + "}"
        }
    };
    spliced(json, parent, &[&rest]).map(Some)
}
