//! The translation of DataFusion's expressions into ours.

use datafusion::logical_expr::{BinaryExpr, Expr as PlanExpr, Operator};
use saltwing_types::{Expr, ValueError, typing};

use crate::RelationalError;
use crate::expression::expr_function::ExprFunction;
use crate::expression::literal::to_literal;
use crate::expression::operator::compare_op;

/// Where a translation gets the parts that are no operations of ours.
pub(crate) trait Leaves {
    /// A part as a column, or as the expression that it replaces; `None` if SQL has no type for it.
    fn leaf(&mut self, expr: &PlanExpr) -> Result<Option<Expr>, RelationalError>;
}

/// The expression as one of ours, typed by our rules; `None` where SQL has no type for it.
///
/// # Errors
/// Errors of the typing rules, at the first wrong operation.
pub(crate) fn translate(expr: &PlanExpr, leaves: &mut dyn Leaves) -> Result<Option<Expr>, RelationalError> {
    let one = |e: &PlanExpr, leaves: &mut dyn Leaves, build: fn(Expr) -> Result<Expr, ValueError>| {
        Ok(translate(e, leaves)?.map(build).transpose()?)
    };
    match expr {
        PlanExpr::Alias(alias) => translate(&alias.expr, leaves),
        PlanExpr::Literal(scalar, _) => match to_literal(scalar) {
            Some(literal) => Ok(Some(literal)),
            None => leaves.leaf(expr),
        },
        PlanExpr::Not(e) => one(e, leaves, typing::not),
        PlanExpr::IsNull(e) => one(e, leaves, |e| Ok(typing::is_null(e))),
        PlanExpr::IsNotNull(e) => one(e, leaves, |e| typing::not(typing::is_null(e))),
        PlanExpr::IsTrue(e) => one(e, leaves, |e| typing::is_truth(e, Some(true))),
        PlanExpr::IsFalse(e) => one(e, leaves, |e| typing::is_truth(e, Some(false))),
        PlanExpr::IsUnknown(e) => one(e, leaves, |e| typing::is_truth(e, None)),
        PlanExpr::IsNotTrue(e) => one(e, leaves, |e| typing::not(typing::is_truth(e, Some(true))?)),
        PlanExpr::IsNotFalse(e) => one(e, leaves, |e| typing::not(typing::is_truth(e, Some(false))?)),
        PlanExpr::IsNotUnknown(e) => one(e, leaves, |e| typing::not(typing::is_truth(e, None)?)),
        PlanExpr::BinaryExpr(binary) => translate_binary(expr, binary, leaves),
        PlanExpr::ScalarFunction(call) => match ExprFunction::of(call) {
            Some(own) => translate_call(own, &call.args, leaves),
            None => leaves.leaf(expr),
        },
        _ => leaves.leaf(expr),
    }
}

fn translate_binary(
    expr: &PlanExpr,
    binary: &BinaryExpr,
    leaves: &mut dyn Leaves,
) -> Result<Option<Expr>, RelationalError> {
    match binary.op {
        Operator::And | Operator::Or => {
            let parts = chain(expr, binary.op);
            let parts: Option<Vec<Expr>> = parts.into_iter().map(|e| translate(e, leaves)).collect::<Result<_, _>>()?;
            let build = if binary.op == Operator::And { typing::and } else { typing::or };
            Ok(parts.map(build).transpose()?)
        }
        op => match compare_op(op) {
            Some(op) => {
                let (left, right) = (translate(&binary.left, leaves)?, translate(&binary.right, leaves)?);
                Ok(left.zip(right).map(|(left, right)| typing::compare(op, left, right)).transpose()?)
            }
            None => leaves.leaf(expr),
        },
    }
}

/// A call of one of our expressions: its arguments in the place of its columns.
fn translate_call(own: &Expr, args: &[PlanExpr], leaves: &mut dyn Leaves) -> Result<Option<Expr>, RelationalError> {
    let args: Option<Vec<Expr>> = args.iter().map(|e| translate(e, leaves)).collect::<Result<_, _>>()?;
    Ok(args.map(|args| {
        let mut expr = own.clone();
        put_in(&mut expr, &args);
        expr
    }))
}

fn put_in(expr: &mut Expr, args: &[Expr]) {
    match expr {
        Expr::Column(column) => {
            if let Some(arg) = args.get(column.index) {
                *expr = arg.clone();
            }
        }
        other => other.for_each_child_mut(&mut |child| put_in(child, args)),
    }
}

/// The parts of a chain of ANDs or ORs, however it is nested.
pub(crate) fn chain(expr: &PlanExpr, op: Operator) -> Vec<&PlanExpr> {
    let (mut parts, mut stack) = (Vec::new(), vec![expr]);
    while let Some(next) = stack.pop() {
        match next {
            PlanExpr::BinaryExpr(binary) if binary.op == op => {
                stack.push(&binary.right);
                stack.push(&binary.left);
            }
            part => parts.push(part),
        }
    }
    parts
}

/// Joins parts by AND or OR, nested no deeper than need be; `None` for no part.
pub(crate) fn balanced(mut parts: Vec<PlanExpr>, op: Operator) -> Option<PlanExpr> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop()
}
