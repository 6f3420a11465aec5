//! How a function's value moves as its key column's grows: the one table of it.
//!
//! | function of `k` | moves |
//! |---|---|
//! | `k + c`, `c + k`, `k - c`, `k * c` and `k / c` for `c > 0`, also of an instant and days, or the days since an instant | up |
//! | `-k`, `c - k`, `k * c` and `k / c` for `c < 0` | down |
//! | functions with [`KeyProperty::Increasing`], such as FLOOR, DATE_TRUNC and YEAR, of `k` and constants | up |
//! | casts among numbers, among instants, between whole milliseconds and instants, from BOOLEAN | up |
//! | functions with [`KeyProperty::Folded`], such as ABS | down below 0, up from there |
//! | LEFT(k, n), SUBSTR(k, 1, n) | up, see `predicates::prefix` |
//! | `k % c`, `c / k`, MONTH and the other date fields, everything else | in parts, or not at all |
//!
//! Up and down include standing still. Functions of functions follow: down of down is up. A parameter may stand in the place of
//! a constant: then only its value tells how the function moves.
//!
//! # Laws
//! 1. For two values of the column, NaN apart, for which the function gives values, those are in the
//!    order that the monotonicity says; the values for which it fails lie at the ends (floats that
//!    overflow are the exception, see [`Monotonicity::in_floats`]).
//! 2. Of a strict function those values differ, if both of the column's are below 0, or both are not.

use saltwing_types::function::KeyProperty;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ArithOp, ColumnRef, Decimal, Expr, SqlType, Value, eval, number};

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

impl Direction {
    fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// The moves of a function of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Monotonicity {
    /// Where the column is below 0.
    pub(crate) below: Direction,
    /// Where it is 0 or above.
    pub(crate) above: Direction,
    /// Whether floats are computed with: then it may fail between values for which it does not.
    pub(crate) in_floats: bool,
    /// Whether it never stands still.
    pub(crate) is_strict: bool,
}

/// How a function changes the direction of its argument.
enum Effect {
    Keeps,
    Reverses,
    /// Turns below 0 around.
    Folds,
    /// One that a value tells which is not known yet.
    Open,
}

/// The column that `expr` is a function of and the function's moves, if no value is needed for them that is not known yet;
/// `None` where the table says nothing.
pub(crate) fn monotonicity(expr: &Expr) -> Option<(&ColumnRef, Option<Monotonicity>)> {
    if let Expr::Column(column) = expr {
        let up = Monotonicity { below: Direction::Up, above: Direction::Up, in_floats: false, is_strict: true };
        return Some((column, Some(up)));
    }
    let (inner, effect) = effect(expr)?;
    let (column, monotonicity) = monotonicity(inner)?;
    let Some(Monotonicity { below, above, in_floats, is_strict }) = monotonicity else { return Some((column, None)) };
    let computes = matches!(expr, Expr::Arith(..)) && expr.sql_type().is_some_and(SqlType::is_float);
    let in_floats = in_floats || computes;
    let is_strict = is_strict && is_strict_step(expr, inner);
    let (below, above) = match effect {
        Effect::Open => return Some((column, None)),
        Effect::Keeps => (below, above),
        Effect::Reverses => (below.reversed(), above.reversed()),
        Effect::Folds if matches!(inner, Expr::Column(_)) => (Direction::Down, Direction::Up),
        Effect::Folds => return None,
    };
    Some((column, Some(Monotonicity { below, above, in_floats, is_strict })))
}

/// Whether a function of the table gives different values for different ones of `inner`: if nothing is rounded.
fn is_strict_step(expr: &Expr, inner: &Expr) -> bool {
    let is_whole = |e: &Expr| e.sql_type().is_some_and(SqlType::is_integer);
    let is_instant = |e: &Expr| e.sql_type().is_some_and(|ty| ty.family() == TypeFamily::Instant);
    let is_zero = |c: &Expr| eval::eval(c, &[]).is_ok_and(|c| c == Value::Int(0));
    let of_whole = is_whole(inner) && is_whole(expr);
    match expr {
        Expr::Negate(..) | Expr::Cast(..) => of_whole,
        Expr::Arith(ArithOp::Add | ArithOp::Sub, a, b, _) => {
            of_whole || is_instant(inner) && is_instant(expr) && (is_whole(a) || is_whole(b))
        }
        Expr::Arith(ArithOp::Mul, a, b, _) => of_whole && !is_zero(a) && !is_zero(b),
        Expr::Call(function, ..) => of_whole && function.key_property == KeyProperty::Folded,
        _ => false,
    }
}

/// The table.
fn effect(expr: &Expr) -> Option<(&Expr, Effect)> {
    match expr {
        Expr::Negate(inner, _) => Some((inner, Effect::Reverses)),
        Expr::Arith(op, inner, c, _) if is_open(c) => (*op != ArithOp::Rem).then_some((&**inner, Effect::Open)),
        Expr::Arith(ArithOp::Add | ArithOp::Sub | ArithOp::Mul, c, inner, _) if is_open(c) => {
            Some((inner, Effect::Open))
        }
        Expr::Arith(op, a, b, _) if [a, b].iter().any(|e| e.sql_type() == Some(SqlType::Interval)) => {
            interval_effect(*op, a, b)
        }
        Expr::Arith(op, inner, c, ty) if is_known(c) => Some((inner, arith_effect(*op, c, *ty)?)),
        Expr::Arith(ArithOp::Add, c, inner, _) if is_known(c) => Some((inner, Effect::Keeps)),
        Expr::Arith(ArithOp::Sub, c, inner, _) if is_known(c) => Some((inner, Effect::Reverses)),
        Expr::Arith(ArithOp::Mul, c, inner, ty) if is_known(c) => Some((inner, arith_effect(ArithOp::Mul, c, *ty)?)),
        Expr::Cast(inner, ty) => keeps_order(inner.sql_type()?, *ty).then_some((inner, Effect::Keeps)),
        Expr::Call(function, args, _) => match function.key_property {
            KeyProperty::Folded => Some((args.first()?, Effect::Folds)),
            KeyProperty::Increasing(moving) => {
                let others = || args.iter().enumerate().filter(|(index, _)| *index != moving).map(|(_, other)| other);
                let is_fixed = others().all(|other| is_known(other) || is_open(other));
                let effect = if others().any(is_open) { Effect::Open } else { Effect::Keeps };
                if is_fixed { Some((args.get(moving)?, effect)) } else { None }
            }
            _ => None,
        },
        _ => None,
    }
}

/// An instant plus or minus an interval that is known. Months may turn the order round: of the last hour of January 30 and the
/// first one of January 31, the former is later in February, whose last day both get.
fn interval_effect<'e>(op: ArithOp, a: &'e Expr, b: &'e Expr) -> Option<(&'e Expr, Effect)> {
    let (instant, length) = match op {
        ArithOp::Add if is_known(a) => (b, a),
        ArithOp::Add | ArithOp::Sub if is_known(b) => (a, b),
        _ => return None,
    };
    match eval::eval(length, &[]).ok()? {
        Value::Interval(length) if length.months == 0 => Some((instant, Effect::Keeps)),
        _ => None,
    }
}

/// Whether an operand is the same value for all rows, which only execution knows.
fn is_open(e: &Expr) -> bool {
    let (mut has_column, mut is_open) = (false, false);
    e.walk(&mut |e| match e {
        Expr::Column(_) => has_column = true,
        Expr::Param(..) | Expr::Subquery(..) => is_open = true,
        _ => {}
    });
    is_open && !has_column
}

/// Whether an operand is the same value, not NULL, for all rows.
fn is_known(e: &Expr) -> bool {
    e.is_constant() && eval::eval(e, &[]).is_ok_and(|value| !value.is_null())
}

/// `inner op c`.
fn arith_effect(op: ArithOp, c: &Expr, ty: SqlType) -> Option<Effect> {
    match op {
        ArithOp::Add | ArithOp::Sub => Some(Effect::Keeps),
        ArithOp::Rem => None,
        ArithOp::Mul | ArithOp::Div => {
            let sign = match eval::eval(c, &[]).ok()? {
                Value::Int(i) => i.signum(),
                Value::Decimal(d) if d == Decimal::ZERO => 0,
                Value::Decimal(d) => {
                    if d.is_negative() {
                        -1
                    } else {
                        1
                    }
                }
                value @ (Value::Float(_) | Value::Double(_)) => {
                    let value = number::to_f64(&value);
                    // An infinity times 0 is no number; nor is NaN times anything.
                    if value.is_finite() && value != 0.0 { value.signum() as i64 } else { return None }
                }
                _ => return None,
            };
            match (sign, op) {
                (0, ArithOp::Div) => None,
                (0, _) if ty.is_float() => None,
                (-1, _) => Some(Effect::Reverses),
                _ => Some(Effect::Keeps),
            }
        }
    }
}

/// Whether a cast keeps the order of values, or makes some of them equal.
fn keeps_order(from: SqlType, to: SqlType) -> bool {
    use TypeFamily::{Boolean, Instant, Number};
    match (from.family(), to.family()) {
        (Number, Number) | (Instant, Instant | Number) | (Boolean, Number) => true,
        (Number, Instant) => from.is_integer(),
        _ => false,
    }
}
