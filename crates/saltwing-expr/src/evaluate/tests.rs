use std::collections::HashSet;

use proptest::prelude::*;
use saltwing_types::{ArithOp, CompareOp, Decimal, SqlType, Value, eval};

use arrow::array::Array;

use super::*;
use crate::tests::generators::expressions::{COLUMN_TYPES, Choices, Kind, column};
use crate::tests::generators::{any_columns, to_array};
use crate::value_at::is_of_kind;
use crate::{ColumnBuilder, arrow_type, value_at};

const DEPTH: usize = 4;
const ROWS_MAX: usize = 6;

fn evaluate(expr: &Expr, columns: &Columns, rows: usize) -> Result<ArrayRef, ValueError> {
    Evaluator::new(expr.clone()).evaluate(columns, rows)
}

fn filter_mask(conditions: &[Expr], columns: &Columns, rows: usize) -> Result<BooleanArray, ValueError> {
    Filter::new(conditions.to_vec())?.mask(columns, rows)
}

fn arrays(columns: &[Vec<Value>]) -> Vec<Option<ArrayRef>> {
    COLUMN_TYPES.iter().zip(columns).map(|(ty, values)| Some(to_array(*ty, values))).collect()
}

fn rows_of(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let count = columns.first().map_or(0, Vec::len);
    (0..count).map(|row| columns.iter().map(|values| values[row].clone()).collect()).collect()
}

/// The scalar evaluator's value for each row, in the type of the result column.
fn scalar(expr: &Expr, rows: &[Vec<Value>]) -> Vec<Result<Value, ValueError>> {
    let ty = expr.sql_type().unwrap_or(SqlType::Null);
    let in_column = |value: Value| {
        let mut builder = ColumnBuilder::new(ty, 1);
        builder.append_value(&value)?;
        value_at(&builder.finish(), 0, ty)
    };
    rows.iter().map(|row| eval::eval(expr, row).and_then(in_column)).collect()
}

fn check(expr: &Expr, columns: &[Vec<Value>]) -> Result<(), TestCaseError> {
    let rows = rows_of(columns);
    let expected = scalar(expr, &rows);
    let codes: HashSet<_> = expected.iter().filter_map(|e| e.as_ref().err()).map(ValueError::code).collect();
    let ty = expr.sql_type().unwrap_or(SqlType::Null);
    match evaluate(expr, &arrays(columns), rows.len()) {
        Err(error) => prop_assert!(codes.contains(&error.code()), "{expr}: {error}"),
        Ok(array) => {
            prop_assert!(codes.is_empty(), "{expr} gave {array:?} where rows fail: {codes:?}");
            prop_assert_eq!(array.data_type(), &arrow_type(ty), "{}", expr);
            prop_assert_eq!(array.len(), rows.len());
            for (row, expected) in expected.into_iter().enumerate() {
                let value = value_at(&array, row, ty).unwrap();
                prop_assert_eq!(&value, &expected.unwrap(), "{} for {:?}", expr, &rows[row]);
                prop_assert!(is_of_kind(&value, ty));
            }
        }
    }
    Ok(())
}

mod shapes;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    /// Law 1.
    #[test]
    fn columns_mean_what_rows_mean(
        choices in prop::collection::vec(any::<u16>(), 0..120),
        columns in any_columns(&COLUMN_TYPES, ROWS_MAX),
    ) {
        check(&Choices(choices.iter()).expr(DEPTH), &columns)?;
    }

    /// Law 1 where no error hides it: a condition that fails seldom.
    #[test]
    fn shallow_conditions_mean_what_rows_mean(
        choices in prop::collection::vec(any::<u16>(), 0..40),
        columns in any_columns(&COLUMN_TYPES, ROWS_MAX),
    ) {
        check(&Choices(choices.iter()).of_kind(Kind::Condition, 2), &columns)?;
    }

    /// Law 2.
    #[test]
    fn a_mask_names_the_rows_that_hold(
        lists in prop::collection::vec(prop::collection::vec(any::<u16>(), 0..40), 0..4),
        columns in any_columns(&COLUMN_TYPES, ROWS_MAX),
    ) {
        let conditions: Vec<Expr> =
            lists.iter().map(|choices| Choices(choices.iter()).of_kind(Kind::Condition, 3)).collect();
        let Ok(all) = typing::and(conditions.clone()) else { return Ok(()) };
        let rows = rows_of(&columns);
        let expected: Vec<_> = rows.iter().map(|row| eval::holds(&all, row)).collect();
        match filter_mask(&conditions, &arrays(&columns), rows.len()) {
            Err(error) => {
                prop_assert!(expected.iter().any(|e| e.as_ref().is_err_and(|e| e.code() == error.code())), "{all}");
            }
            Ok(mask) => {
                prop_assert_eq!(mask.null_count(), 0);
                let mask: Vec<bool> = mask.values().iter().collect();
                prop_assert_eq!(mask, expected.into_iter().map(Result::unwrap).collect::<Vec<_>>(), "{}", all);
            }
        }
    }
}

fn by_type(ty: SqlType) -> Expr {
    column(COLUMN_TYPES.iter().position(|t| *t == ty).unwrap())
}

fn number(text: &str) -> Expr {
    typing::number(text).unwrap()
}

/// One row of ordinary values for every column.
fn ordinary() -> Vec<Vec<Value>> {
    let value = |ty: &SqlType| match ty {
        SqlType::Boolean => Value::Bool(true),
        SqlType::Float => Value::Float(1.5),
        SqlType::Double => Value::Double(1.5),
        SqlType::Decimal(_) => Value::Decimal(Decimal::from(7)),
        SqlType::Date => Value::Date(5),
        SqlType::Timestamp | SqlType::UnsignedTimestamp => {
            Value::Timestamp(saltwing_types::value::Timestamp::from_nanos(5))
        }
        SqlType::Char(_) | SqlType::Varchar(_) => Value::text("abc"),
        SqlType::Varbinary => Value::Bytes(vec![1]),
        SqlType::Null => Value::Null,
        _ => Value::Int(7),
    };
    COLUMN_TYPES.iter().map(|ty| vec![value(ty), Value::Null]).collect()
}

/// Shapes that filters are made of never go row by row.
#[test]
fn common_shapes_run_over_columns() {
    use SqlType::*;
    let list = |texts: &[&str]| texts.iter().map(|t| number(t)).collect::<Vec<_>>();
    let strings = |texts: &[&str]| texts.iter().map(|t| typing::string(*t)).collect::<Vec<_>>();
    let compare = |a, b| typing::compare(CompareOp::Lt, a, b);
    let divided = || typing::arith(ArithOp::Div, by_type(BigInt), by_type(Integer)).unwrap();
    let shapes = vec![
        compare(by_type(Integer), number("2.5")),
        compare(by_type(BigInt), number("1e30")),
        compare(by_type(Timestamp), typing::string("2020-01-01 00:00:00.5")),
        compare(by_type(Date), by_type(Timestamp)),
        compare(by_type(Float), number("0.1")),
        compare(by_type(Decimal(None)), number("2.5")),
        compare(by_type(Decimal(Some((5, 2)))), number("2.555")),
        compare(by_type(Char(4)), typing::string("ab")),
        compare(by_type(Varchar(None)), by_type(Char(4))),
        typing::in_list(by_type(Integer), list(&["1", "7", "300", "2.5"]), true),
        typing::in_list(by_type(Varchar(None)), strings(&["a", "b"]), false),
        typing::in_list(by_type(Integer), vec![by_type(BigInt), number("1")], false),
        typing::like(by_type(Varchar(None)), typing::string("a%"), Some('\\'), false, false),
        typing::between(by_type(Date), typing::string("1970-01-01"), typing::string("1971-01-01"), true),
        typing::row_compare(CompareOp::GtEq, vec![by_type(Integer), by_type(BigInt)], list(&["1", "2"])),
        typing::row_in_list(vec![by_type(Integer), by_type(BigInt)], vec![list(&["1", "2"]), list(&["7", "7"])], false),
        typing::and(vec![
            typing::compare(CompareOp::NotEq, by_type(Integer), number("0")).unwrap(),
            compare(divided(), number("5")).unwrap(),
        ]),
        typing::case(
            None,
            vec![(typing::compare(CompareOp::Gt, by_type(Integer), number("0")).unwrap(), divided())],
            Some(number("0")),
        ),
        typing::call_named("COALESCE", vec![by_type(Integer), number("1")]),
        typing::arith(ArithOp::Mul, by_type(Decimal(Some((5, 2)))), by_type(Integer)),
        typing::arith(ArithOp::Add, by_type(Date), number("1.5")),
        typing::cast(by_type(Integer), BigInt),
        typing::cast(by_type(Date), Timestamp),
        typing::call_named("SUBSTR", vec![by_type(Varchar(None)), number("1"), number("2")]),
        typing::call_named("LOWER", vec![by_type(Char(4))]),
        typing::call_named("CONCAT", vec![by_type(Varchar(None)), by_type(Integer)]),
    ];
    let columns = arrays(&ordinary());
    for expr in shapes {
        let evaluator = Evaluator::new(expr.unwrap());
        let shown = format!("{:?}", evaluator.step);
        assert!(!shown.contains("RowWise"), "{}: {shown}", evaluator.expr());
        let batch = Batch::load(&evaluator.sources, &columns, 2).unwrap();
        assert!(evaluator.columnwise(&batch).is_ok(), "{} left its columns", evaluator.expr());
    }
}

/// An error counts only for rows that get to it.
#[test]
fn errors_are_lazy() {
    let rows = |values: &[i64]| {
        vec![Some(to_array(SqlType::Integer, &values.iter().map(|v| Value::Int(*v)).collect::<Vec<_>>()))]
    };
    let zero_guard = typing::compare(CompareOp::NotEq, column(0), number("0")).unwrap();
    let quotient = typing::arith(ArithOp::Div, number("10"), column(0)).unwrap();
    let large = typing::compare(CompareOp::Gt, quotient, number("3")).unwrap();
    let guarded = typing::and(vec![zero_guard.clone(), large.clone()]).unwrap();
    let mask = filter_mask(&[guarded], &rows(&[0, 1, 10]), 3).unwrap();
    assert_eq!(mask, BooleanArray::from(vec![false, true, false]));
    // As two conditions of a filter too, and in this order only.
    assert!(filter_mask(&[zero_guard.clone(), large.clone()], &rows(&[0, 1]), 2).is_ok());
    let error = filter_mask(&[large.clone(), zero_guard], &rows(&[0, 1]), 2).unwrap_err();
    assert_eq!(error.code().sqlstate(), "22012");
    assert!(filter_mask(&[large], &rows(&[]), 0).is_ok());
}

/// Intermediate values may exceed the range of columns.
#[test]
fn only_results_are_held_to_columns_limits() {
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let columns = vec![Some(to_array(SqlType::Decimal(None), &[decimal("1e37"), decimal("2")]))];
    let ty = SqlType::Decimal(None);
    let wide = Expr::Column(saltwing_types::ColumnRef { index: 0, name: "d".into(), ty, nullable: true, span: None });
    let product = typing::arith(ArithOp::Mul, wide, number("1000")).unwrap();
    let compared = typing::compare(CompareOp::Gt, product.clone(), number("1e39")).unwrap();
    assert_eq!(filter_mask(&[compared], &columns, 2).unwrap(), BooleanArray::from(vec![true, false]));
    assert_eq!(evaluate(&product, &columns, 2).unwrap_err().code().sqlstate(), "22003");
}

#[test]
fn columns_of_the_engine_are_read() {
    use arrow::array::{StringViewArray, TimestampMicrosecondArray};
    let text: ArrayRef = std::sync::Arc::new(StringViewArray::from(vec![Some("abc"), None]));
    let at: ArrayRef = std::sync::Arc::new(TimestampMicrosecondArray::from(vec![1, 2]));
    let mut columns: Vec<Option<ArrayRef>> = vec![None; COLUMN_TYPES.len()];
    columns[14] = Some(text);
    columns[11] = Some(at);
    let same = typing::compare(CompareOp::Eq, by_type(SqlType::Varchar(None)), typing::string("abc")).unwrap();
    let later = typing::compare(CompareOp::Gt, by_type(SqlType::Timestamp), typing::string("1970-01-01")).unwrap();
    assert_eq!(filter_mask(&[same, later], &columns, 2).unwrap(), BooleanArray::from(vec![true, false]));
}

#[test]
fn missing_and_short_columns_are_refused() {
    let condition = typing::compare(CompareOp::Gt, column(0), number("1")).unwrap();
    let short = vec![Some(to_array(SqlType::Integer, &[Value::Int(1)]))];
    let long = vec![Some(to_array(SqlType::Integer, &[Value::Int(1), Value::Int(2), Value::Int(3)]))];
    for columns in [&[][..], &[None], &short, &long] {
        assert_eq!(filter_mask(std::slice::from_ref(&condition), columns, 2).unwrap_err().code().sqlstate(), "22023");
    }
}

#[test]
fn a_null_is_a_condition_that_never_holds() {
    let columns = vec![Some(to_array(SqlType::Null, &[Value::Null]))];
    let ty = SqlType::Null;
    let null = Expr::Column(saltwing_types::ColumnRef { index: 0, name: "n".into(), ty, nullable: true, span: None });
    assert_eq!(filter_mask(&[null], &columns, 1).unwrap(), BooleanArray::from(vec![false]));
    assert_eq!(filter_mask(&[Expr::NULL], &columns, 1).unwrap(), BooleanArray::from(vec![false]));
}

#[test]
fn no_condition_holds_always_and_a_number_is_no_condition() {
    assert_eq!(filter_mask(&[], &[], 3).unwrap(), BooleanArray::from(vec![true; 3]));
    assert_eq!(filter_mask(&[number("1")], &[], 3).unwrap_err().code().sqlstate(), "42804");
}

/// A chain of very many parts is a list.
#[test]
fn long_chains_are_lists() {
    let parts = (0..20_000).map(|i| typing::compare(CompareOp::NotEq, column(1), number(&i.to_string())).unwrap());
    let columns = vec![None, Some(to_array(SqlType::BigInt, &[Value::Int(5), Value::Int(-1)]))];
    let mask = filter_mask(&parts.collect::<Vec<_>>(), &columns, 2).unwrap();
    assert_eq!(mask, BooleanArray::from(vec![false, true]));
}
