//! Expressions into steps.

use saltwing_types::like::LikePattern;
use saltwing_types::{CompareOp, Expr, SqlType, Value, eval};

use crate::arithmetic::{Arithmetic, SignChange};
use crate::choice::Case;
use crate::comparison::Comparison;
use crate::conversion::Cast;
use crate::kernels::Call;
use crate::logic::{Chain, IsNull, IsTruth, Not};
use crate::membership::{InConstants, RowInConstants};
use crate::pattern::Like;
use crate::row_wise::{RowWise, makes_large_values};
use crate::step::{Compute, Step};

/// Longest list of rows, or of items that are no constants, that becomes a chain of comparisons.
const CHAIN_PARTS_MAX: usize = 16;

/// Nodes of the largest expression that is compiled several times.
const SMALL_PARTS_MAX: usize = 16;

/// The step that computes `expr`.
pub(crate) fn compile(expr: &Expr) -> Step {
    let ty = expr.sql_type().unwrap_or(SqlType::Null);
    match expr {
        Expr::Literal(value, _) => return Step::constant(value.clone(), ty),
        Expr::Column(column) => return Step::column(column.index, ty),
        _ => {}
    }
    // A constant that fails is left to the rows: it may be that none gets to it.
    if expr.is_constant()
        && let Ok(value) = eval::eval(expr, &[])
    {
        return Step::constant(value, ty);
    }
    let row_wise = || finish(Box::new(RowWise::new(expr.clone())), expr, ty, true);
    if !is_logic(expr) && makes_large_values(expr) { row_wise() } else { shape(expr, ty).unwrap_or_else(row_wise) }
}

fn is_logic(expr: &Expr) -> bool {
    matches!(expr, Expr::And(_) | Expr::Or(_) | Expr::Not(_))
}

/// The step of a node that has one; `None` for a node that is computed row by row.
fn shape(expr: &Expr, ty: SqlType) -> Option<Step> {
    let step = |compute: Box<dyn Compute>, parts: &[bool]| Some(finish(compute, expr, ty, parts.contains(&true)));
    match expr {
        Expr::Compare(op, a, b) => {
            let comparison = comparison(*op, a, b);
            let parts = [comparison.a.selective, comparison.b.selective];
            step(Box::new(comparison), &parts)
        }
        Expr::RowCompare(op, a, b) => Some(compile(&unfolded(*op, a, b)?)),
        Expr::And(list) | Expr::Or(list) => {
            let parts: Vec<Step> = list.iter().map(compile).collect();
            let selective = parts.iter().any(|part| part.selective);
            step(Box::new(Chain { parts, decides: matches!(expr, Expr::Or(_)) }), &[selective])
        }
        Expr::Not(inner) => {
            let inner = compile(inner);
            let selective = inner.selective;
            step(Box::new(Not(inner)), &[selective])
        }
        Expr::IsNull(inner) => {
            let inner = compile(inner);
            let selective = inner.selective;
            step(Box::new(IsNull(inner)), &[selective])
        }
        Expr::IsTruth(inner, wanted) => {
            let inner = compile(inner);
            let selective = inner.selective;
            step(Box::new(IsTruth(inner, *wanted)), &[selective])
        }
        Expr::InList(value, list) => in_list(expr, value, list),
        Expr::RowInList(row, rows) => row_in_list(expr, row, rows),
        Expr::Like { text, pattern, escape, ignore_case } => {
            let Value::Text(pattern) = literal(pattern)? else { return None };
            let pattern = LikePattern::parse(&pattern, *escape, *ignore_case).ok()?;
            let text = compile(text);
            let selective = text.selective;
            step(Box::new(Like::new(text, &pattern)), &[selective])
        }
        Expr::Arith(op, a, b, ty) => {
            step(Box::new(Arithmetic { op: *op, a: compile(a), b: compile(b), ty: *ty }), &[true])
        }
        Expr::Negate(value, ty) => {
            step(Box::new(SignChange { value: compile(value), ty: *ty, negative_only: false }), &[true])
        }
        Expr::Cast(value, ty) => step(Box::new(Cast { value: compile(value), ty: *ty }), &[true]),
        Expr::Case { whens, otherwise, ty } => {
            let whens: Vec<_> = whens.iter().map(|(c, v)| (compile(c), compile(v))).collect();
            let otherwise = otherwise.as_ref().map(|e| compile(e));
            let fits = whens.iter().map(|(_, v)| v).chain(&otherwise).all(|v| v.gives(*ty));
            fits.then(|| finish(Box::new(Case { whens, otherwise, ty: *ty }), expr, *ty, true))
        }
        Expr::Call(function, args, ty) => {
            let call = Call { function: *function, args: args.iter().map(compile).collect(), ty: *ty };
            call.compiled().map(|compute| finish(compute, expr, *ty, true))
        }
        Expr::Literal(..) | Expr::Column(_) | Expr::Param(..) | Expr::Subquery(..) | Expr::Engine(_) => None,
    }
}

fn finish(compute: Box<dyn Compute>, expr: &Expr, ty: SqlType, selective: bool) -> Step {
    Step::computed(compute, ty, expr.columns(), selective)
}

fn literal(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        e if e.is_constant() => eval::eval(e, &[]).ok(),
        _ => None,
    }
}

/// Whether an expression may be compiled several times. Without this limit, nested conditions that each repeat an operand would
/// take exponential time.
fn is_small(expr: &Expr) -> bool {
    !expr.has_more_parts_than(SMALL_PARTS_MAX)
}

fn is_char(expr: &Expr) -> bool {
    matches!(expr.sql_type(), Some(SqlType::Char(_)))
}

fn comparison(op: CompareOp, a: &Expr, b: &Expr) -> Comparison {
    Comparison { op, a: compile(a), b: compile(b), padded: is_char(a) || is_char(b) }
}

/// A comparison of rows in terms of comparisons of values: an equality is an AND,
/// its negation an OR, an order `a < x OR (a = x AND rest)`.
///
/// The same for every truth, unknown included. It may compute a value that the row comparison
/// does not get to; should that fail, the row comparison itself decides.
fn unfolded(op: CompareOp, a: &[Expr], b: &[Expr]) -> Option<Expr> {
    let compare = |op, a: &Expr, b: &Expr| Expr::Compare(op, Box::new(a.clone()), Box::new(b.clone()));
    let pairs = || a.iter().zip(b);
    match op {
        CompareOp::Eq => Some(Expr::And(pairs().map(|(a, b)| compare(op, a, b)).collect())),
        CompareOp::NotEq => Some(Expr::Or(pairs().map(|(a, b)| compare(op, a, b)).collect())),
        CompareOp::Distinct | CompareOp::NotDistinct => None,
        // The operands are repeated.
        _ if !a.iter().chain(b).all(is_small) => None,
        _ => {
            let mut reversed = pairs().rev();
            let last = reversed.next().map(|(a, b)| compare(op, a, b))?;
            Some(reversed.fold(last, |rest, (a, b)| {
                Expr::Or(vec![compare(op.strict(), a, b), Expr::And(vec![compare(CompareOp::Eq, a, b), rest])])
            }))
        }
    }
}

fn in_list(expr: &Expr, value: &Expr, list: &[Expr]) -> Option<Step> {
    let (first, rest) = list.split_first()?;
    let padded = is_char(value) || is_char(first);
    let one_kind = rest.iter().all(|item| is_char(value) || is_char(item) == padded);
    let constants: Option<Vec<Value>> =
        list.iter().map(|item| if let Expr::Literal(v, _) = item { Some(v.clone()) } else { None }).collect();
    if let (Some(constants), true) = (constants, one_kind) {
        let value = compile(value);
        let selective = value.selective;
        if let Some(set) = InConstants::new(value, constants, padded) {
            return Some(finish(Box::new(set), expr, SqlType::Boolean, selective));
        }
    }
    if list.len() > 1 && !is_small(value) {
        return None;
    }
    let equal = |item: &Expr| Expr::Compare(CompareOp::Eq, Box::new(value.clone()), Box::new(item.clone()));
    (list.len() <= CHAIN_PARTS_MAX).then(|| compile(&any(list.iter().map(equal).collect())))
}

/// Any of a list of at least one condition.
fn any(mut list: Vec<Expr>) -> Expr {
    if list.len() == 1 { list.swap_remove(0) } else { Expr::Or(list) }
}

fn row_in_list(expr: &Expr, row: &[Expr], rows: &[Vec<Expr>]) -> Option<Step> {
    if rows.is_empty() {
        return None;
    }
    if rows.len() <= CHAIN_PARTS_MAX && row.iter().all(is_small) {
        let equal = rows.iter().map(|other| unfolded(CompareOp::Eq, row, other)).collect::<Option<_>>()?;
        return Some(compile(&any(equal)));
    }
    let constants = rows.iter().map(|other| other.iter().map(literal).collect()).collect::<Option<Vec<Vec<_>>>>()?;
    let set = RowInConstants::new(row.iter().map(compile).collect(), constants)?;
    Some(finish(Box::new(set), expr, SqlType::Boolean, true))
}
