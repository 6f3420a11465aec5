//! GLOB: patterns of file names.

use super::signature::text;
use super::{ResultType, ScalarFunction, Signature};
use crate::regexp::Regexp;
use crate::{SqlType, Value};

pub(super) static ALL: &[&ScalarFunction] = &[&GLOB];

pub(super) static GLOB: ScalarFunction = ScalarFunction::new(
    "GLOB",
    &[Signature::new(&[text("pattern"), text("text")], ResultType::Is(SqlType::Boolean))],
    |args| match regexp_of(args.text(0)?) {
        Some(pattern) => Ok(Value::Bool(Regexp::cached(&pattern, false)?.matches(args.text(1)?))),
        None => Ok(Value::Bool(false)),
    },
)
.gives("Whether the text matches the pattern, as text GLOB pattern in SQLite: * any characters, ? one, [a-c] and [^a-c] one of a set.")
.example("GLOB('a*[0-9]', 'abc7')", "true");

/// The regular expression of a pattern; `None` of one that nothing matches, since a set in it has no end.
fn regexp_of(pattern: &str) -> Option<String> {
    let mut regexp = String::from("(?s)\\A");
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => regexp.push_str(".*"),
            '?' => regexp.push('.'),
            '[' => regexp.push_str(&set(&mut rest)?),
            c => regexp.push_str(&regex_syntax::escape(&c.to_string())),
        }
    }
    Some(regexp + "\\z")
}

/// The set of characters up to its bracket: a bracket at its beginning is one of them, and a hyphen at either end.
fn set(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut next = rest.next()?;
    let is_negated = next == '^';
    if is_negated {
        next = rest.next()?;
    }
    let mut members: Vec<char> = Vec::new();
    if next == ']' {
        members.push(next);
        next = rest.next()?;
    }
    while next != ']' {
        members.push(next);
        next = rest.next()?;
    }
    let escaped = |c: &char| format!("\\x{{{:x}}}", u32::from(*c));
    let (mut parts, mut left) = (String::new(), members.as_slice());
    while let Some((first, others)) = left.split_first() {
        left = match others {
            ['-', last, others @ ..] => {
                if first <= last {
                    parts.push_str(&format!("{}-{}", escaped(first), escaped(last)));
                }
                others
            }
            others => {
                parts.push_str(&escaped(first));
                others
            }
        };
    }
    Some(match (is_negated, parts.is_empty()) {
        (false, false) => format!("[{parts}]"),
        (true, false) => format!("[^{parts}]"),
        (false, true) => "[^\\x{0}-\\x{10ffff}]".to_owned(),
        (true, true) => ".".to_owned(),
    })
}
