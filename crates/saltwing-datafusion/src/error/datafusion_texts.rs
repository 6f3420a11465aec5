//! Causes of errors that DataFusion tells apart by text alone.
//!
//! Where this crate can know a cause before DataFusion does, it raises an error of its own: for functions that do not
//! exist, for tables, for operands and types of our operations, for subqueries that no join can stand for. The rest is
//! the table in this file. A text of no line gets the code of its variant (`from_datafusion.rs`). When a new release of
//! DataFusion words an error differently, a test of this file fails, and the code of that error is about to change.

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
    /// Arrow's errors of texts that are no values.
    Parse,
    /// Errors of other libraries.
    Other,
}

/// A part of a text, and the error that it stands for.
struct Line {
    variant: Variant,
    part: &'static str,
    error: fn(&str) -> RelationalError,
}

const LINES: [Line; 17] = [
    // Signatures of native functions are checked against types that only the planner knows.
    line(Variant::Plan, "No function matches the given name and argument types '", wrong_arguments),
    // A condition may be a column, and its type is known to the planner alone.
    line(Variant::Plan, "non-boolean predicate", no_condition),
    // AND and OR stay DataFusion's, as do comparisons of INTERSECT.
    line(Variant::Plan, "for logical boolean operation ", no_conditions),
    line(Variant::Plan, "Cannot infer common argument type", type_mismatch),
    // Lists and intervals have no types of ours: DataFusion compares, chooses and adds them.
    line(Variant::Plan, "Cannot automatically convert", type_mismatch),
    line(Variant::Plan, "Failed to coerce", type_mismatch),
    line(Variant::Plan, "common type to coerce", type_mismatch),
    line(Variant::Plan, "Arguments must be literals", no_literals),
    line(Variant::Plan, "Argument #", no_literals),
    line(Variant::Plan, "function with timestamps requires exactly 3 arguments", no_literals),
    line(Variant::Plan, "argument must be a timestamp or NULL", no_literals),
    // Native functions of regular expressions compile them while they run.
    line(Variant::Execution, "CompiledTooBig", regexp_too_large),
    line(Variant::Other, "regex exceeds size limit", regexp_too_large),
    // Native functions of numbers and dates have no variant for results beyond their type.
    line(Variant::Execution, "overflow", out_of_range),
    line(Variant::Execution, "Overflow", out_of_range),
    line(Variant::Execution, "out of range", out_of_range),
    // An INTERVAL, as a literal or a cast, is read by Arrow.
    line(Variant::Parse, "Invalid input syntax for type interval", bad_interval),
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
    let known = [
        (
            "Conflicting ordering requirements in aggregate functions",
            "several orders of values for the aggregates of one SELECT",
        ),
        ("UNNEST with ordinality", "unnest(..) WITH ORDINALITY"),
        ("Unsupported SQL unary operator BitwiseNot", "the operator ~ in front of a number"),
    ];
    if let Some((_, named)) = known.iter().find(|(part, _)| line.contains(part)) {
        return (*named).to_owned();
    }
    if let Some(ty) = line.strip_prefix("Unsupported SQL type ") {
        return format!("the type {ty}");
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

/// `Cannot create filter with non-boolean predicate 't.a' returning Int64`.
fn no_condition(text: &str) -> RelationalError {
    let text = in_sql_types(text);
    let value = text.split('\'').nth(1).unwrap_or("a value");
    let ty = text.split(" returning ").nth(1).unwrap_or("of another type");
    RelationalErrorKind::TypeMismatch(format!("a condition is expected, and {value} is {ty}")).into()
}

/// `.. for logical boolean operation Int64 AND Boolean`.
fn no_conditions(text: &str) -> RelationalError {
    let text = in_sql_types(text);
    let mut words = text.rsplit(' ');
    let (right, op, left) = (words.next(), words.next().unwrap_or("AND"), words.next());
    let other = [left, right].into_iter().flatten().find(|ty| *ty != "Boolean").unwrap_or("a value");
    RelationalErrorKind::TypeMismatch(format!("{op} takes conditions, and {other} is none")).into()
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

fn bad_interval(text: &str) -> RelationalError {
    let written = text.split('"').nth(1).unwrap_or(text);
    let error = RelationalError::from(ValueError::BadArgument(format!("'{written}' is no INTERVAL")));
    error.help("write INTERVAL '1 day', '2 hours 30 minutes' or '1 year 6 months'")
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;

    /// Of each line, a statement that DataFusion refuses with its text, and the message that becomes of it.
    const EXAMPLES: [(&str, &str); LINES.len()] = [
        ("SELECT power([1], 'b')", "power does not take (ARRAY, VARCHAR)"),
        ("SELECT 1 FROM (SELECT 1 AS a) t WHERE a", "a condition is expected, and t.a is BIGINT"),
        ("SELECT a AND a FROM (VALUES (1)) t (a)", "AND takes conditions, and BIGINT is none"),
        ("SELECT [1] = true", "Cannot infer common argument type for comparison operation ARRAY = Boolean"),
        ("SELECT CASE WHEN [1] THEN 1 END", "Cannot automatically convert ARRAY to Boolean"),
        (
            "SELECT CASE WHEN true THEN [1] ELSE 2 END",
            "Failed to coerce then (ARRAY) and else (BIGINT) to common types in CASE WHEN expression",
        ),
        ("SELECT [1] LIKE 'x'", "There isn't a common type to coerce ARRAY and VARCHAR in LIKE expression"),
        (
            "SELECT * FROM generate_series(1 + random())",
            "GENERATE_SERIES and RANGE take whole numbers, or two instants and an INTERVAL, as literals",
        ),
        (
            "SELECT * FROM generate_series(1, 1 + random())",
            "GENERATE_SERIES and RANGE take whole numbers, or two instants and an INTERVAL, as literals",
        ),
        (
            "SELECT * FROM generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02')",
            "GENERATE_SERIES and RANGE take whole numbers, or two instants and an INTERVAL, as literals",
        ),
        (
            "SELECT * FROM generate_series(TIMESTAMP '2024-01-01', 5, INTERVAL '1 day')",
            "GENERATE_SERIES and RANGE take whole numbers, or two instants and an INTERVAL, as literals",
        ),
        (
            "SELECT regexp_match(a, '(a{1000}){1000}') FROM (VALUES ('a')) v (a)",
            "the regular expression is too large: it would take more than 10 MB",
        ),
        (
            "SELECT regexp_replace(a, '(a{1000}){1000}', 'x') FROM (VALUES ('a')) v (a)",
            "the regular expression is too large: it would take more than 10 MB",
        ),
        (
            "SELECT lcm(9223372036854775807, a) FROM (VALUES (2)) v (a)",
            "Signed integer overflow in LCM(9223372036854775807, 2)",
        ),
        ("SELECT factorial(a) FROM (VALUES (51)) v (a)", "Overflow happened on FACTORIAL(51)"),
        ("SELECT make_date(2020, a, 1) FROM (VALUES (13)) v (a)", "Month value '13' is out of range"),
        ("SELECT INTERVAL '1 dya'", "'1 dya' is no INTERVAL"),
    ];

    #[test]
    fn what_is_missing_is_said_once() {
        for (text, said) in [
            (
                "Conflicting ordering requirements in aggregate functions is not supported",
                "several orders of values for the aggregates of one SELECT",
            ),
            ("UNNEST with ordinality is not supported yet", "unnest(..) WITH ORDINALITY"),
            ("Unsupported SQL type HUGEINT", "the type HUGEINT"),
            ("X is not supported", "X"),
        ] {
            assert_eq!(missing(text), said);
        }
    }

    #[tokio::test]
    async fn datafusion_words_its_errors_as_the_table_says() {
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        for (line, (sql, message)) in LINES.iter().zip(EXAMPLES) {
            let result = match session.sql(sql).await {
                Ok(plan) => plan.collect().await,
                Err(error) => Err(error),
            };
            let error = result.expect_err(sql);
            let text = error.to_string();
            assert!(text.contains(line.part), "{sql}\n{text}");
            assert_eq!(RelationalError::from(error).to_string(), message, "{sql}\n{text}");
        }
    }
}
