//! Functions that choose between values.

use super::signature::of_kind;
use super::{Evaluation, NullRule, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::typing::{Typed, case, compare};
use crate::{CompareOp, Expr, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&COALESCE, &NULLIF];

pub(super) static COALESCE: ScalarFunction = ScalarFunction {
    name: "COALESCE",
    signatures: &[Signature::new(&[of_kind("value", ParameterKind::Common)], ResultType::Common).repeated()],
    nulls: NullRule::Own,
    evaluation: Evaluation::FirstNotNull,
    description: "The first value that is not NULL; those behind it are not computed.",
    example: ("COALESCE(NULL, 1, 2)", "1"),
    ..ScalarFunction::DEFAULT
};

static NULLIF: ScalarFunction = ScalarFunction {
    name: "NULLIF",
    signatures: &[Signature::new(
        &[of_kind("value", ParameterKind::Common), of_kind("other", ParameterKind::Common)],
        ResultType::Common,
    )],
    nulls: NullRule::Own,
    evaluation: Evaluation::Rewritten(null_if),
    description: "NULL if the two values are equal, else the first; of the first one's type.",
    example: ("NULLIF(53, 80.0)", "53"),
    ..ScalarFunction::DEFAULT
};

/// `CASE WHEN a = b THEN NULL ELSE a END`, so of a's type, and compared as `=` compares.
///
/// What has no type of its own (a parameter, NULL) takes b's, as a plain string does.
fn null_if(args: Vec<Expr>) -> Typed {
    let [a, b] = <[Expr; 2]>::try_from(args).map_err(|_| ValueError::NoSuchFunction(NULLIF.name.into()))?;
    let typed = match compare(CompareOp::Eq, a.clone(), b)? {
        Expr::Compare(op, met, b)
            if matches!(a, Expr::Param(_, None) | Expr::Literal(Value::Null | Value::Text(_), _)) =>
        {
            let a = (*met).clone();
            (Expr::Compare(op, met, b), a)
        }
        equal => (equal, a),
    };
    let (equal, a) = typed;
    case(None, vec![(equal, Expr::NULL)], Some(a))
}
