//! Law 1 for each shape separately, with constants that are often values of the column, which random trees seldom have.

use proptest::sample::Index;

use saltwing_types::Function;
use saltwing_types::function::{Args, NullRule, SizeBound};

use super::*;
use crate::tests::generators::any_value;
use crate::tests::generators::expressions::KINDS;

const FIRST: usize = 0;
const SECOND: usize = 1;

/// Two columns, of one family more often than not, and constants that go with each.
#[derive(Debug)]
struct Pair {
    types: [usize; 2],
    columns: Vec<Vec<Value>>,
    constants: [Vec<Value>; 2],
}

impl Pair {
    fn column(&self, which: usize) -> Expr {
        column(self.types[which])
    }

    fn ty(&self, which: usize) -> SqlType {
        COLUMN_TYPES[self.types[which]]
    }

    fn constants(&self, which: usize) -> Vec<Expr> {
        self.constants[which].iter().map(|value| Expr::Literal(value.clone(), self.ty(which))).collect()
    }

    fn constant(&self, which: usize) -> Expr {
        self.constants(which).swap_remove(0)
    }

    fn check(&self, expr: &Expr) -> Result<(), TestCaseError> {
        check(expr, &self.columns)
    }

    /// What typing refuses is no expression.
    fn check_typed(&self, expr: Result<Expr, ValueError>) -> Result<(), TestCaseError> {
        expr.map_or(Ok(()), |expr| self.check(&expr))
    }
}

fn any_pair() -> impl Strategy<Value = Pair> {
    let same_family = |first: usize| -> Vec<usize> {
        let family = COLUMN_TYPES[first].family();
        (0..COLUMN_TYPES.len()).filter(|i| COLUMN_TYPES[*i].family() == family).collect()
    };
    let second = move |first| {
        let all: Vec<usize> = (0..COLUMN_TYPES.len()).collect();
        (Just(first), prop_oneof![3 => prop::sample::select(same_family(first)), 1 => prop::sample::select(all)])
    };
    let types = (0..COLUMN_TYPES.len()).prop_flat_map(second);
    (types, 0..=ROWS_MAX).prop_flat_map(|((first, second), rows)| {
        let values = |i: usize, count| prop::collection::vec(any_value(COLUMN_TYPES[i]), count);
        let picks = || prop::collection::vec(any::<Option<Index>>(), 1..24);
        let columns = (values(first, rows), values(second, rows));
        (columns, values(first, 5), values(second, 5), picks(), picks()).prop_map(
            move |((of_first, of_second), a, b, pick_a, pick_b)| {
                // Columns that nothing names are NULL; one that is named twice has the second's values.
                let mut columns = vec![vec![Value::Null; rows]; COLUMN_TYPES.len()];
                columns[first] = of_first;
                columns[second] = of_second;
                let constants = [choose(&columns[first], &a, &pick_a), choose(&columns[second], &b, &pick_b)];
                Pair { types: [first, second], columns, constants }
            },
        )
    })
}

/// For each pick a value of the column, or a fresh one.
fn choose(values: &[Value], fresh: &[Value], picks: &[Option<Index>]) -> Vec<Value> {
    let of_column = |pick: &Index| if values.is_empty() { Value::Null } else { pick.get(values).clone() };
    let choose =
        |(i, pick): (usize, &Option<Index>)| pick.as_ref().map_or_else(|| fresh[i % fresh.len()].clone(), of_column);
    picks.iter().enumerate().map(choose).collect()
}

fn any_op() -> impl Strategy<Value = CompareOp> {
    use CompareOp::*;
    prop::sample::select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq, Distinct, NotDistinct])
}

fn compare(op: CompareOp, a: Expr, b: Expr) -> Expr {
    Expr::Compare(op, Box::new(a), Box::new(b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn comparisons(pair in any_pair(), op in any_op()) {
        let same = pair.constant(FIRST);
        pair.check(&compare(op, pair.column(FIRST), same.clone()))?;
        pair.check(&compare(op, same, pair.column(FIRST)))?;
        if pair.ty(FIRST).family() == pair.ty(SECOND).family() {
            pair.check(&compare(op, pair.column(FIRST), pair.constant(SECOND)))?;
            pair.check(&compare(op, pair.column(FIRST), pair.column(SECOND)))?;
        }
    }

    #[test]
    fn lists(pair in any_pair(), with_null in any::<bool>()) {
        for which in [FIRST, SECOND] {
            let mut list = pair.constants(which);
            list.retain(|e| with_null || *e != Expr::Literal(Value::Null, pair.ty(which)));
            if !list.is_empty() && pair.ty(FIRST).family() == pair.ty(which).family() {
                pair.check(&Expr::InList(Box::new(pair.column(FIRST)), list))?;
            }
        }
        pair.check_typed(typing::in_list(pair.column(FIRST), vec![pair.column(SECOND), pair.constant(FIRST)], true))?;
    }

    #[test]
    fn rows(pair in any_pair(), op in any_op(), with_null in any::<bool>()) {
        let row = || vec![pair.column(FIRST), pair.column(SECOND)];
        pair.check_typed(typing::row_compare(op, row(), vec![pair.constant(FIRST), pair.constant(SECOND)]))?;
        pair.check_typed(typing::row_compare(op, row(), vec![pair.constant(FIRST), pair.column(SECOND)]))?;
        let zipped = pair.constants(FIRST).into_iter().zip(pair.constants(SECOND));
        let mut list: Vec<Vec<Expr>> = zipped.map(|(a, b)| vec![a, b]).collect();
        list.retain(|row| with_null || !row.iter().any(|e| matches!(e, Expr::Literal(Value::Null, _))));
        pair.check(&Expr::RowInList(row(), list))?;
    }

    #[test]
    fn casts(pair in any_pair(), ty in crate::tests::generators::any_type()) {
        pair.check_typed(typing::cast(pair.column(FIRST), ty))?;
        pair.check_typed(typing::cast(pair.column(FIRST), SqlType::Varchar(None)))?;
    }

    #[test]
    fn arithmetic(pair in any_pair(), which in 0usize..5) {
        use ArithOp::*;
        let op = [Add, Sub, Mul, Div, Rem][which];
        pair.check_typed(typing::arith(op, pair.column(FIRST), pair.column(SECOND)))?;
        pair.check_typed(typing::arith(op, pair.column(FIRST), pair.constant(SECOND)))?;
        pair.check_typed(typing::arith(op, pair.constant(FIRST), pair.column(SECOND)))?;
        pair.check_typed(typing::negate(pair.column(FIRST)))?;
        pair.check_typed(typing::call_named("ABS", vec![pair.column(FIRST)]))?;
    }

    /// Each function in each of its ways, and the rule of NULL.
    #[test]
    fn functions(
        choices in prop::collection::vec(any::<u16>(), 40),
        columns in any_columns(&COLUMN_TYPES, ROWS_MAX),
    ) {
        for function in Function::all() {
            for signature in function.signatures {
                let mut choices = Choices(choices.iter());
                let common = KINDS[choices.pick(KINDS.len())];
                let Ok(call) = choices.call(function, signature, common, 1) else { continue };
                check(&call, &columns)?;
                let Expr::Call(function, args, ty) = call else { continue };
                for row in rows_of(&columns) {
                    let values = args.iter().map(|arg| eval::eval(arg, &row)).collect::<Result<Vec<_>, _>>();
                    let Ok(values) = values else { continue };
                    let Ok(result) = function.evaluate(&values, ty) else { continue };
                    prop_assert!(result.is_null() || function.nulls != NullRule::Strict || !values.iter().any(Value::is_null));
                    prop_assert!(is_of_kind(&result, ty), "{function:?} gave {result:?} as {ty}");
                    let bound = |bound: SizeBound| (bound.bytes)(&Args::new(function.name, &values, ty)).unwrap();
                    if let (Value::Text(text), Some(size)) = (&result, function.size) {
                        prop_assert!(text.len() <= bound(size), "{function:?} of {values:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn choices(pair in any_pair(), op in any_op()) {
        let (a, b) = (pair.column(FIRST), pair.column(SECOND));
        pair.check_typed(typing::call_named("NULLIF", vec![a.clone(), b.clone()]))?;
        pair.check_typed(typing::call_named("NULLIF", vec![a.clone(), pair.constant(FIRST)]))?;
        pair.check_typed(typing::call_named("COALESCE", vec![a.clone(), b.clone(), pair.constant(FIRST)]))?;
        let when = compare(op, a.clone(), pair.constant(FIRST));
        pair.check_typed(typing::case(None, vec![(when, a), (typing::is_null(b.clone()), pair.constant(FIRST))], Some(b)))?;
    }
}

#[test]
fn the_smallest_integer_by_minus_one() {
    let columns = vec![Some(to_array(SqlType::BigInt, &[Value::Int(i64::MIN), Value::Null]))];
    let ty = SqlType::BigInt;
    let a = Expr::Column(saltwing_types::ColumnRef { index: 0, name: "a".into(), ty, nullable: true, span: None });
    let minus_one = Expr::Literal(Value::Int(-1), SqlType::BigInt);
    let arith = |op| typing::arith(op, a.clone(), minus_one.clone()).unwrap();
    let remainder = Evaluator::new(arith(ArithOp::Rem));
    let batch = Batch::load(&remainder.sources, &columns, 2).unwrap();
    assert_eq!(value_at(&remainder.columnwise(&batch).unwrap(), 0, ty).unwrap(), Value::Int(0));
    assert_eq!(evaluate(&arith(ArithOp::Div), &columns, 2).unwrap_err().code().sqlstate(), "22003");
}

/// The value under a NULL is not computed with.
#[test]
fn nulls_do_not_fail() {
    use arrow::array::Int64Array;
    use arrow::buffer::NullBuffer;
    let garbage = Int64Array::new(vec![i64::MAX, 0, 1].into(), Some(NullBuffer::from(vec![false, false, true])));
    let columns: Vec<Option<ArrayRef>> = vec![None, Some(std::sync::Arc::new(garbage))];
    for (op, expected) in [(ArithOp::Add, 2), (ArithOp::Div, 1)] {
        let evaluator = Evaluator::new(typing::arith(op, number("1"), column(1)).unwrap());
        let batch = Batch::load(&evaluator.sources, &columns, 3).unwrap();
        let array = evaluator.columnwise(&batch).unwrap();
        assert_eq!(value_at(&array, 2, SqlType::BigInt).unwrap(), Value::Int(expected));
        assert_eq!(array.null_count(), 2);
    }
    let narrow = Evaluator::new(typing::cast(column(1), SqlType::TinyInt).unwrap());
    assert_eq!(narrow.evaluate(&columns, 3).unwrap().null_count(), 2);
}

/// A constant between two values of its DECIMAL(p,s) is not cut before it is compared.
#[test]
fn constants_keep_their_digits() {
    let price = by_type(SqlType::Decimal(Some((5, 2))));
    let chosen = typing::call_named("COALESCE", vec![price, typing::string("1.555")]).unwrap();
    let same = typing::compare(CompareOp::Eq, chosen, typing::string("1.555")).unwrap();
    let mut columns = ordinary();
    columns[6] = vec![Value::Null, Value::Null];
    assert_eq!(filter_mask(&[same], &arrays(&columns), 2).unwrap(), BooleanArray::from(vec![true, true]));
}

/// Blanks pad comparisons where a side is CHAR, and nowhere else.
#[test]
fn blanks_pad_only_char() {
    let mut columns = ordinary();
    columns[14] = vec![Value::text("a "), Value::text("a")];
    let (text, a) = (|| by_type(SqlType::Varchar(None)), |ty| Expr::Literal(Value::text("a"), ty));
    let varchar = SqlType::Varchar(None);
    let mask = |condition| filter_mask(&[condition], &arrays(&columns), 2).unwrap();
    let is_a = |ty| mask(compare(CompareOp::Eq, text(), a(ty)));
    assert_eq!(is_a(varchar), BooleanArray::from(vec![false, true]));
    assert_eq!(is_a(SqlType::Char(1)), BooleanArray::from(vec![true, true]));
    let in_list = |ty| mask(Expr::InList(Box::new(text()), vec![a(ty), a(ty)]));
    assert_eq!(in_list(varchar), BooleanArray::from(vec![false, true]));
    assert_eq!(in_list(SqlType::Char(1)), BooleanArray::from(vec![true, true]));
    let null_if = typing::call_named("NULLIF", vec![text(), a(SqlType::Char(1))]).unwrap();
    check(&null_if, &columns).unwrap();
}
