//! Computes an expression for one row.

use std::cmp::Ordering;

use crate::arithmetic::{arith, negate};
use crate::comparison::decided;
use crate::function::Evaluation;
use crate::like::LikePattern;
use crate::{ArithOp, CompareOp, Decimal, Expr, SqlType, Value, ValueError};

pub use crate::comparison::compare;
pub use crate::number::cast;

type Computed = Result<Value, ValueError>;

/// The value of `expr` for `row`, which [`crate::ColumnRef::index`] counts in.
///
/// # Errors
/// [`ValueError`] for what SQL refuses: overflow, division by zero, text that is
/// no value of a cast's type. A parameter without a value, or a column beyond the row, is an error too.
pub fn eval(expr: &Expr, row: &[Value]) -> Computed {
    match expr {
        Expr::Literal(value, _) => Ok(value.clone()),
        Expr::Column(column) => row
            .get(column.index)
            .cloned()
            .ok_or_else(|| ValueError::BadArgument(format!("column {} is not in the row", column.name))),
        Expr::Param(index, _) => Err(ValueError::BadArgument(format!("parameter {} has no value", index + 1))),
        Expr::Subquery(index, _) => Err(ValueError::BadArgument(format!("subquery {} has no value", index + 1))),
        Expr::Compare(op, a, b) => Ok(truth(compare(*op, &operand(a, row)?, &operand(b, row)?, char_type(a, b)))),
        Expr::RowCompare(op, a, b) => Ok(truth(compare_rows(*op, (a, &mut Vec::new()), b, row)?)),
        Expr::And(list) => decided(list.iter().map(|e| Ok(known(&eval(e, row)?))), false),
        Expr::Or(list) => decided(list.iter().map(|e| Ok(known(&eval(e, row)?))), true),
        Expr::Not(e) => Ok(truth(known(&eval(e, row)?).map(|b| !b))),
        Expr::IsNull(e) => Ok(Value::Bool(eval(e, row)?.is_null())),
        Expr::IsTruth(e, wanted) => Ok(Value::Bool(known(&eval(e, row)?) == *wanted)),
        Expr::InList(e, list) => {
            let value = operand(e, row)?;
            let is = |item| Ok(compare(CompareOp::Eq, &value, &operand(item, row)?, char_type(e, item)));
            decided(list.iter().map(is), true)
        }
        Expr::RowInList(left, rows) => {
            let mut values = Vec::new();
            decided(rows.iter().map(|right| compare_rows(CompareOp::Eq, (left, &mut values), right, row)), true)
        }
        Expr::Like { text, pattern, escape, ignore_case } => match (eval(text, row)?, eval(pattern, row)?) {
            (Value::Text(text), Value::Text(pattern)) => {
                Ok(Value::Bool(LikePattern::parse(&pattern, *escape, *ignore_case)?.matches(&text)))
            }
            _ => Ok(Value::Null),
        },
        Expr::Arith(op, a, b, ty) => arith(*op, &eval(a, row)?, &eval(b, row)?, *ty),
        Expr::Negate(e, ty) => negate(eval(e, row)?, *ty),
        Expr::Cast(e, ty) => cast(eval(e, row)?, e.sql_type().unwrap_or(SqlType::Null), *ty),
        Expr::Case { whens, otherwise, .. } => {
            for (condition, result) in whens {
                if known(&eval(condition, row)?) == Some(true) {
                    return eval(result, row);
                }
            }
            otherwise.as_ref().map_or(Ok(Value::Null), |e| eval(e, row))
        }
        Expr::Call(function, args, _) if matches!(function.evaluation, Evaluation::FirstNotNull) => {
            for arg in args {
                match eval(arg, row)? {
                    Value::Null => {}
                    value => return Ok(value),
                }
            }
            Ok(Value::Null)
        }
        Expr::Call(function, args, ty) => {
            let values = args.iter().map(|e| eval(e, row)).collect::<Result<Vec<_>, _>>()?;
            function.evaluate(&values, *ty)
        }
        Expr::Engine(call) => Err(ValueError::Internal(format!("{call} is computed by the relational engine alone"))),
    }
}

/// Whether a condition holds for a row: unknown counts as not.
///
/// # Errors
/// As [`eval`].
pub fn holds(condition: &Expr, row: &[Value]) -> Result<bool, ValueError> {
    Ok(known(&eval(condition, row)?) == Some(true))
}

fn known(value: &Value) -> Option<bool> {
    if let Value::Bool(b) = value { Some(*b) } else { None }
}

fn truth(known: Option<bool>) -> Value {
    known.map_or(Value::Null, Value::Bool)
}

/// CHAR when either side is one, so that blanks pad the comparison.
fn char_type(a: &Expr, b: &Expr) -> SqlType {
    let is_char = |e: &Expr| matches!(e.sql_type(), Some(SqlType::Char(_)));
    if is_char(a) || is_char(b) { SqlType::Char(0) } else { SqlType::Null }
}

/// Row values: for `=` and `<>` a known difference decides over an unknown; for
/// an order the first pair that is not equal decides, and an unknown pair makes it unknown.
///
/// The values of the left row are computed when they are needed, and kept in order.
fn compare_rows(
    op: CompareOp,
    (left, values): (&[Expr], &mut Vec<Value>),
    right: &[Expr],
    row: &[Value],
) -> Result<Option<bool>, ValueError> {
    let mut unknown = false;
    for (i, (a, b)) in left.iter().zip(right).enumerate() {
        if values.len() == i {
            values.push(operand(a, row)?);
        }
        let Some(value) = values.get(i) else { return Err(ValueError::Internal("a row value lacks a part".into())) };
        match value.compare_as(&operand(b, row)?, char_type(a, b)) {
            Some(Ordering::Equal) => {}
            None if matches!(op, CompareOp::Eq | CompareOp::NotEq) => unknown = true,
            None => return Ok(None),
            Some(ordering) => return Ok(Some(op.holds(ordering))),
        }
    }
    Ok((!unknown).then(|| op.holds(Ordering::Equal)))
}

/// The value of `expr` as a side of a comparison: integer arithmetic is exact there, so that `k + 1 > 5`
/// holds for the largest BIGINT. What does not fit 64 bits comes as a decimal.
///
/// # Errors
/// As [`eval`]; [`ValueError::OutOfRange`] beyond 38 digits.
pub fn operand(expr: &Expr, row: &[Value]) -> Computed {
    let parts = match expr {
        Expr::Arith(op, a, b, ty) if ty.is_integer() => (*op, operand(a, row)?, operand(b, row)?),
        Expr::Negate(e, ty) if ty.is_integer() => (ArithOp::Sub, Value::Int(0), operand(e, row)?),
        other => return eval(other, row),
    };
    let (op, a, b) = parts;
    let (Some(x), Some(y)) = (whole(&a), whole(&b)) else { return Ok(Value::Null) };
    let exact = match op {
        ArithOp::Add => x.checked_add(y),
        ArithOp::Sub => x.checked_sub(y),
        ArithOp::Mul => x.checked_mul(y),
        ArithOp::Div | ArithOp::Rem if y == 0 => return Err(ValueError::DivisionByZero),
        ArithOp::Div => x.checked_div(y),
        ArithOp::Rem => x.checked_rem(y),
    };
    let overflow = || ValueError::OutOfRange { value: expr.to_string(), target: "38 digits".into() };
    let exact = exact.ok_or_else(overflow)?;
    match i64::try_from(exact) {
        Ok(value) => Ok(Value::Int(value)),
        Err(_) if exact.unsigned_abs() < EXACT_END => Decimal::new(exact, 0).map(Value::Decimal),
        Err(_) => Err(overflow()),
    }
}

/// The smallest integer of more than 38 digits.
const EXACT_END: u128 = 10u128.pow(38);

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(i) => Some((*i).into()),
        Value::Decimal(d) => d.unscaled_at(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typing;

    fn int(value: i64) -> Expr {
        Expr::Literal(Value::Int(value), SqlType::BigInt)
    }

    fn value(e: Result<Expr, ValueError>) -> Value {
        eval(&e.unwrap(), &[]).unwrap()
    }

    #[test]
    fn arithmetic_never_wraps() {
        let overflow = typing::arith(ArithOp::Add, int(i64::MAX), int(1)).unwrap();
        assert_eq!(eval(&overflow, &[]).unwrap_err().code().as_str(), "out_of_range");
        for op in [ArithOp::Div, ArithOp::Rem] {
            for zero in ["0", "0.0", "0e0"] {
                let e = typing::arith(op, int(1), typing::number(zero).unwrap()).unwrap();
                assert_eq!(eval(&e, &[]).unwrap_err(), ValueError::DivisionByZero, "{op:?} {zero}");
            }
        }
        assert_eq!(value(typing::arith(ArithOp::Div, int(-5), int(2))), Value::Int(-2));
        assert_eq!(value(typing::arith(ArithOp::Rem, int(5), int(-3))), Value::Int(2));
        assert_eq!(value(typing::arith(ArithOp::Rem, int(i64::MIN), int(-1))), Value::Int(0));
        let seven = typing::arith(ArithOp::Div, int(7), typing::number("2.0").unwrap());
        assert_eq!(value(seven), Value::Decimal("3.5".parse().unwrap()));
    }

    /// An instant outside the calendar is an error, however it is computed.
    #[test]
    fn instants_have_texts() {
        let day = |ms| Expr::Literal(Value::Date(ms), SqlType::Date);
        let last = crate::datetime::parse("262142-12-31 23:59:59.999").unwrap().ms;
        let (add, ceil) =
            (|a, b| typing::arith(ArithOp::Add, a, b), |a| typing::call_named("CEIL", vec![a, typing::string("day")]));
        assert_eq!(value(add(day(last - 86_400_000), int(1))), Value::Date(last));
        assert_eq!(value(typing::cast(int(last), SqlType::Date)), Value::Date(last));
        for e in [
            add(day(last), int(1)),
            add(day(0), typing::number("-1e9").unwrap()),
            typing::cast(int(last + 1), SqlType::Date),
            typing::cast(int(last + 1), SqlType::Timestamp),
            typing::cast(int(i64::MIN), SqlType::Time),
            ceil(day(last)),
        ] {
            let e = e.unwrap();
            assert_eq!(eval(&e, &[]).unwrap_err().code().sqlstate(), "22008", "{e}");
        }
    }

    #[test]
    fn comparisons_see_exact_integers() {
        let compare = |op, a, b: i64| value(typing::compare(op, a, int(b)));
        let one_more = |a: i64| typing::arith(ArithOp::Add, int(a), int(1)).unwrap();
        assert_eq!(compare(CompareOp::Gt, one_more(i64::MAX), 5), Value::Bool(true));
        assert_eq!(compare(CompareOp::Eq, one_more(i64::MAX), i64::MIN), Value::Bool(false));
        let negative = Expr::Negate(Box::new(int(i64::MIN)), SqlType::BigInt);
        assert_eq!(compare(CompareOp::Gt, negative.clone(), i64::MAX), Value::Bool(true));
        let back = typing::arith(ArithOp::Sub, one_more(i64::MAX), int(1)).unwrap();
        assert_eq!(compare(CompareOp::Eq, back, i64::MAX), Value::Bool(true));
        assert_eq!(value(typing::in_list(negative, vec![int(0)], true)), Value::Bool(true));
        let square = |e: Expr| typing::arith(ArithOp::Mul, e.clone(), e).unwrap();
        assert_eq!(compare(CompareOp::Gt, square(int(i64::MAX)), 0), Value::Bool(true));
        let too_large = typing::compare(CompareOp::Gt, square(square(int(i64::MAX))), int(0)).unwrap();
        assert_eq!(eval(&too_large, &[]).unwrap_err().code().as_str(), "out_of_range");
    }

    #[test]
    fn casts_round_to_integers_and_cut_decimals() {
        let cast = |text, ty| value(typing::cast(typing::number(text).unwrap(), ty));
        assert_eq!(cast("2.9", SqlType::Integer), Value::Int(3));
        assert_eq!(cast("2.5e0", SqlType::Integer), Value::Int(3));
        assert_eq!(cast("1.999", SqlType::Decimal(Some((4, 2)))), Value::Decimal("1.99".parse().unwrap()));
        assert!(eval(&typing::cast(int(300), SqlType::TinyInt).unwrap(), &[]).is_err());
        assert_eq!(value(typing::cast(typing::string("42"), SqlType::Integer)), Value::Int(42));
        assert_eq!(value(typing::cast(int(5), SqlType::Varchar(None))), Value::text("5"));
    }

    #[test]
    fn logic_has_three_values() {
        let null = || Expr::Literal(Value::Null, SqlType::Boolean);
        assert_eq!(value(typing::and(vec![null(), Expr::boolean(false)])), Value::Bool(false));
        assert_eq!(value(typing::and(vec![null(), Expr::boolean(true)])), Value::Null);
        assert_eq!(value(typing::or(vec![null(), Expr::boolean(true)])), Value::Bool(true));
        assert_eq!(value(typing::in_list(int(1), vec![int(2), Expr::NULL], false)), Value::Null);
        assert_eq!(value(typing::in_list(int(2), vec![int(2), Expr::NULL], true)), Value::Bool(false));
        assert_eq!(
            value(typing::row_compare(CompareOp::Lt, vec![int(1), int(5)], vec![int(1), int(6)])),
            Value::Bool(true)
        );
        assert_eq!(
            value(typing::row_compare(CompareOp::Eq, vec![int(1), Expr::NULL], vec![int(2), int(1)])),
            Value::Bool(false)
        );
        assert_eq!(
            value(typing::row_compare(CompareOp::Lt, vec![Expr::NULL, int(1)], vec![int(2), int(1)])),
            Value::Null
        );
        assert_eq!(value(typing::compare(CompareOp::NotDistinct, Expr::NULL, Expr::NULL)), Value::Bool(true));
    }
}
