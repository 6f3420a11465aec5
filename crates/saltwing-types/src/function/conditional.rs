//! Functions that choose between values.

use std::cmp::Ordering;

use super::signature::{VARCHAR, of_kind};
use super::{Args, Evaluation, ParameterKind, ResultType, Rewrite, ScalarFunction, Signature};
use crate::Value;

pub(super) static ALL: &[&ScalarFunction] = &[&COALESCE, &GREATEST, &IIF, &INVERT, &LEAST, &NULLIF, &TYPEOF];

pub(super) static COALESCE: ScalarFunction = ScalarFunction::evaluated_by(
    "COALESCE",
    &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    Evaluation::FirstNotNull,
)
.aliases(&["IFNULL", "NVL"])
.with_own_nulls()
.gives("The first value that is not NULL; those behind it are not computed.")
.example("COALESCE(NULL, 1, 2)", "1");

static GREATEST: ScalarFunction = ScalarFunction::new(
    "GREATEST",
    &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    |args| Ok(extreme(args, Ordering::Greater)),
)
.with_own_nulls()
.gives("The greatest of the values; NULLs do not count unless there is nothing else.")
.example("GREATEST(1, NULL, 2.5)", "2.5");

static IIF: ScalarFunction = ScalarFunction::evaluated_by(
    "IIF",
    &[Signature::new(
        &[
            of_kind("condition", ParameterKind::Boolean),
            of_kind("value", ParameterKind::Common),
            of_kind("otherwise", ParameterKind::Common),
        ],
        ResultType::Common,
    )
    .optional(1)],
    Evaluation::Rewritten(Rewrite::If),
)
.aliases(&["IF"])
.with_own_nulls()
.gives("The first value if the condition holds, else the second, or NULL without one.")
.example("IIF(1 > 2, 'a', 'b')", "b");

static INVERT: ScalarFunction = ScalarFunction::new(
    "INVERT",
    &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common)],
    |args| args.value(0).cloned(),
)
.gives("The value itself: in Phoenix it inverts the bytes of a value for an index; here DESC says so of a key column.")
.example("INVERT(5)", "5");

static LEAST: ScalarFunction = ScalarFunction::new(
    "LEAST",
    &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    |args| Ok(extreme(args, Ordering::Less)),
)
.with_own_nulls()
.gives("The least of the values; NULLs do not count unless there is nothing else.")
.example("LEAST('b', NULL, 'a')", "a");

static NULLIF: ScalarFunction = ScalarFunction::evaluated_by(
    "NULLIF",
    &[Signature::new(
        &[of_kind("value", ParameterKind::Common), of_kind("other", ParameterKind::Common)],
        ResultType::Common,
    )],
    Evaluation::Rewritten(Rewrite::NullIf),
)
.with_own_nulls()
.gives("NULL if the two values are equal, else the first; of the first one's type.")
.example("NULLIF(53, 80.0)", "53");

static TYPEOF: ScalarFunction = ScalarFunction::evaluated_by(
    "TYPEOF",
    &[Signature::new(&[of_kind("value", ParameterKind::Any)], VARCHAR)],
    Evaluation::Rewritten(Rewrite::TypeName),
)
.aliases(&["PG_TYPEOF"])
.with_own_nulls()
.gives("The name of the type of the expression, as DESCRIBE writes it.")
.example("TYPEOF(1.5)", "DECIMAL");

/// The value that no other is above (`wanted` greater) or below; of equal ones the first.
fn extreme(args: &Args<'_>, wanted: Ordering) -> Value {
    let known = args.values().iter().filter(|value| !value.is_null());
    let better = |best, value: &Value| value.compare_as(best, args.ty()) == Some(wanted);
    let extreme = known.reduce(|best, value| if better(best, value) { value } else { best });
    extreme.cloned().unwrap_or(Value::Null)
}
