//! Functions that choose between values.

use std::cmp::Ordering;

use super::signature::of_kind;
use super::{Args, Evaluation, NullRule, ParameterKind, ResultType, Rewrite, ScalarFunction, Signature};
use crate::Value;

pub(super) static ALL: &[&ScalarFunction] = &[&COALESCE, &GREATEST, &LEAST, &NULLIF];

pub(super) static COALESCE: ScalarFunction = ScalarFunction {
    name: "COALESCE",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    nulls: NullRule::Own,
    evaluation: Evaluation::FirstNotNull,
    description: "The first value that is not NULL; those behind it are not computed.",
    example: ("COALESCE(NULL, 1, 2)", "1"),
    ..ScalarFunction::DEFAULT
};

static GREATEST: ScalarFunction = ScalarFunction {
    name: "GREATEST",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    nulls: NullRule::Own,
    evaluation: Evaluation::Values(|args| Ok(extreme(args, Ordering::Greater))),
    description: "The greatest of the values; NULLs do not count unless there is nothing else.",
    example: ("GREATEST(1, NULL, 2.5)", "2.5"),
    ..ScalarFunction::DEFAULT
};

static LEAST: ScalarFunction = ScalarFunction {
    name: "LEAST",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    nulls: NullRule::Own,
    evaluation: Evaluation::Values(|args| Ok(extreme(args, Ordering::Less))),
    description: "The least of the values; NULLs do not count unless there is nothing else.",
    example: ("LEAST('b', NULL, 'a')", "a"),
    ..ScalarFunction::DEFAULT
};

static NULLIF: ScalarFunction = ScalarFunction {
    name: "NULLIF",
    signatures: &[Signature::new(
        &[of_kind("value", ParameterKind::Common), of_kind("other", ParameterKind::Common)],
        ResultType::Common,
    )],
    nulls: NullRule::Own,
    evaluation: Evaluation::Rewritten(Rewrite::NullIf),
    description: "NULL if the two values are equal, else the first; of the first one's type.",
    example: ("NULLIF(53, 80.0)", "53"),
    ..ScalarFunction::DEFAULT
};

/// The value that no other is above (`wanted` greater) or below; of equal ones the first.
fn extreme(args: &Args<'_>, wanted: Ordering) -> Value {
    let known = args.values().iter().filter(|value| !value.is_null());
    let better = |best, value: &Value| value.compare_as(best, args.ty()) == Some(wanted);
    let extreme = known.reduce(|best, value| if better(best, value) { value } else { best });
    extreme.cloned().unwrap_or(Value::Null)
}
