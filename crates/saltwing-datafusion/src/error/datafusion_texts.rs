//! Causes of errors that DataFusion tells apart by text alone.
//!
//! The binder knows almost all causes before DataFusion does. The rest is the table in this file. A text of no line gets the code of its variant
//! (`from_datafusion.rs`). If a new release of DataFusion words an error differently, `errors/engine.slt` of the suites fails, which has a statement
//! for each line.

use saltwing_types::ValueError;

use super::message::{first_line, in_sql_types, sql_types};
use super::{RelationalError, RelationalErrorKind};

/// The kinds of DataFusion's errors that have many causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// `DataFusionError::Plan`.
    Plan,
    /// `DataFusionError::Execution`, and what Arrow's kernels refuse.
    Execution,
}

/// A part of a text, and the error that it stands for.
struct Line {
    variant: Variant,
    part: &'static str,
    error: fn(&str) -> RelationalError,
}

const LINES: [Line; 9] = [
    // Signatures of native functions are checked against types that only the planner knows.
    line(Variant::Plan, "No function matches the given name and argument types '", wrong_arguments),
    line(Variant::Plan, "Arguments must be literals", no_literals),
    line(Variant::Plan, "Argument #", no_literals),
    line(Variant::Plan, "function with timestamps requires exactly 3 arguments", no_literals),
    line(Variant::Plan, "argument must be a timestamp or NULL", no_literals),
    // Native functions of regular expressions compile them while they run.
    line(Variant::Execution, "CompiledTooBig", regexp_too_large),
    // Native functions of numbers and dates have no variant for results beyond their type.
    line(Variant::Execution, "overflow", out_of_range),
    line(Variant::Execution, "Overflow", out_of_range),
    line(Variant::Execution, "out of range", out_of_range),
];

const fn line(variant: Variant, part: &'static str, error: fn(&str) -> RelationalError) -> Line {
    Line { variant, part, error }
}

/// The error that a text of DataFusion's stands for; `None` if its variant says all.
pub(crate) fn cause_in(variant: Variant, text: &str) -> Option<RelationalError> {
    let line = LINES.iter().find(|line| line.variant == variant && text.contains(line.part))?;
    Some((line.error)(text))
}

/// What a text of `DataFusionError::NotImplemented` says is missing, without saying that it is missing.
pub(crate) fn missing(text: &str) -> String {
    let line = first_line(text);
    let line = line.trim_end_matches('.');
    if line.contains("Conflicting ordering requirements in aggregate functions") {
        return "several orders of values for the aggregates of one SELECT".to_owned();
    }
    if let Some(types) = line.strip_prefix("Unsupported CAST ") {
        return format!("CAST {}", sql_types(types.trim_end_matches(" is not supported")));
    }
    let ends =
        [" is not supported yet", " is not supported", " are not supported", " not supported", " is not yet supported"];
    let what = ends.iter().find_map(|end| line.strip_suffix(end)).unwrap_or(line);
    what.to_owned()
}

/// DataFusion lists all signatures, in the names of Arrow's types. The call is the last word in quotes: `'power(Utf8, Utf8)'`.
fn wrong_arguments(text: &str) -> RelationalError {
    let call = text.split("argument types '").nth(1).and_then(|rest| rest.split("'.").next());
    let call = call.and_then(|call| call.strip_suffix(')')?.split_once('('));
    match call {
        Some((function, types)) => {
            let kind = RelationalErrorKind::WrongArguments { function: function.to_owned(), types: sql_types(types) };
            RelationalError::from(kind).help("CAST brings a value to another type")
        }
        None => type_mismatch(text),
    }
}

fn no_literals(_: &str) -> RelationalError {
    let text = "GENERATE_SERIES and RANGE take whole numbers, or two instants and an INTERVAL, as literals";
    RelationalErrorKind::Syntax(text.into()).into()
}

fn type_mismatch(text: &str) -> RelationalError {
    RelationalErrorKind::TypeMismatch(in_sql_types(text)).into()
}

fn regexp_too_large(_: &str) -> RelationalError {
    let text = "the regular expression is too large: it would take more than 10 MB".to_owned();
    RelationalError::from(ValueError::BadArgument(text)).help("repeat less: {1000} within {1000} is a million")
}

fn out_of_range(text: &str) -> RelationalError {
    RelationalErrorKind::OutOfRange(first_line(text)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_not_repeated() {
        for (text, expected) in [
            (
                "Conflicting ordering requirements in aggregate functions is not supported",
                "several orders of values for the aggregates of one SELECT",
            ),
            ("X is not supported", "X"),
        ] {
            assert_eq!(missing(text), expected);
        }
    }
}
