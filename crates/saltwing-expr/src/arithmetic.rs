//! Arithmetic, minus and ABS.

use arrow::array::{Decimal256Array, Float64Array, Int64Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::i256;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ArithOp, Decimal, SqlType, Value, arithmetic};

use crate::arrow_type;
use crate::bare_decimal;
use crate::batch::{Batch, Columnwise, RowByRow};
use crate::operand::{Operand, both_valid, decimals, doubles, integers, valid, zip_map};
use crate::step::{Compute, Step, Vector, append_exact};
use crate::{ColumnBuilder, value_at};

/// `a op b`, in the type that typing gave it.
#[derive(Debug)]
pub(crate) struct Arithmetic {
    pub(crate) op: ArithOp,
    pub(crate) a: Step,
    pub(crate) b: Step,
    pub(crate) ty: SqlType,
}

impl Compute for Arithmetic {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let (a, b) = (self.a.compute(batch)?, self.b.compute(batch)?);
        if is_null(&a) || is_null(&b) {
            return Ok(Vector::Constant(Value::Null));
        }
        if let (Vector::Constant(a), Vector::Constant(b)) = (&a, &b) {
            return arithmetic::arith(self.op, a, b, self.ty).map(Vector::Constant).map_err(|_| RowByRow);
        }
        let nulls = both_valid(&a, &b);
        match self.ty {
            SqlType::BigInt => {
                let (a, b) = (integers(&a)?, integers(&b)?);
                integer_result(&a, &b, batch.rows, nulls, |a, b| integer(self.op, a, b))
            }
            SqlType::Double => {
                let (a, b) = (doubles(&a)?, doubles(&b)?);
                let compute = |a, b| arithmetic::float_arith(self.op, a, b).ok().flatten();
                let values = zip_checked(&a, &b, batch.rows, nulls.as_ref(), compute)?;
                Ok(Vector::of(Float64Array::new(ScalarBuffer::from(values), nulls)))
            }
            SqlType::Decimal(None) if self.a.ty.family() != TypeFamily::Instant => {
                let (a, b) = (decimals(&a)?, decimals(&b)?);
                let compute = |a, b| arithmetic::decimal_arith(self.op, a, b).ok().and_then(bare_decimal::to_unscaled);
                decimal_result(zip_checked(&a, &b, batch.rows, nulls.as_ref(), compute)?, nulls)
            }
            _ => self.by_values(&a, &b, batch.rows),
        }
    }
}

impl Arithmetic {
    /// Instants and days, and the days between instants.
    fn by_values(&self, a: &Vector, b: &Vector, rows: usize) -> Columnwise<Vector> {
        let value = |vector: &Vector, row, ty| match vector {
            Vector::Constant(value) => Ok(value.clone()),
            Vector::Array(array) => value_at(array, row, ty).map_err(|_| RowByRow),
        };
        let mut builder = ColumnBuilder::new(self.ty, rows);
        for row in 0..rows {
            let (a, b) = (value(a, row, self.a.ty)?, value(b, row, self.b.ty)?);
            append_exact(&mut builder, &arithmetic::arith(self.op, &a, &b, self.ty).map_err(|_| RowByRow)?)?;
        }
        Ok(Vector::Array(builder.finish()))
    }
}

fn is_null(vector: &Vector) -> bool {
    matches!(vector, Vector::Constant(Value::Null))
}

/// The result, and whether it is none: an overflow or a division by zero.
fn integer(op: ArithOp, a: i64, b: i64) -> (i64, bool) {
    match op {
        ArithOp::Add => a.overflowing_add(b),
        ArithOp::Sub => a.overflowing_sub(b),
        ArithOp::Mul => a.overflowing_mul(b),
        ArithOp::Div | ArithOp::Rem if b == 0 => (0, true),
        ArithOp::Div => a.overflowing_div(b),
        // The smallest integer modulo -1 is 0, not an overflow.
        ArithOp::Rem => (a.wrapping_rem(b), false),
    }
}

fn integer_result(
    a: &Operand<'_, i64>,
    b: &Operand<'_, i64>,
    rows: usize,
    nulls: Option<NullBuffer>,
    compute: impl Fn(i64, i64) -> (i64, bool),
) -> Columnwise<Vector> {
    let mut failed = false;
    let values = zip_map(a, b, rows, |a, b| {
        let (value, fails) = compute(a, b);
        failed |= fails;
        value
    });
    // The value under a NULL may fail, which has no effect.
    if failed {
        let fails = zip_map(a, b, rows, |a, b| compute(a, b).1);
        fails_somewhere(&fails, nulls.as_ref())?;
    }
    Ok(Vector::of(Int64Array::new(ScalarBuffer::from(values), nulls)))
}

fn fails_somewhere(fails: &[bool], nulls: Option<&NullBuffer>) -> Columnwise<()> {
    let counts = |row| nulls.is_none_or(|valid| valid.is_valid(row));
    let somewhere = fails.iter().enumerate().any(|(row, fails)| *fails && counts(row));
    if somewhere { Err(RowByRow) } else { Ok(()) }
}

/// Computes each row that counts; a row without a result leads nowhere.
fn zip_checked<A: Copy, R: Default>(
    a: &Operand<'_, A>,
    b: &Operand<'_, A>,
    rows: usize,
    nulls: Option<&NullBuffer>,
    compute: impl Fn(A, A) -> Option<R>,
) -> Columnwise<Vec<R>> {
    let mut row = 0;
    let mut failed = false;
    let values = zip_map(a, b, rows, |a, b| {
        let counts = nulls.is_none_or(|valid| valid.is_valid(row));
        row += 1;
        if !counts || failed {
            return R::default();
        }
        compute(a, b).unwrap_or_else(|| {
            failed = true;
            R::default()
        })
    });
    if failed { Err(RowByRow) } else { Ok(values) }
}

fn decimal_result(values: Vec<i256>, nulls: Option<NullBuffer>) -> Columnwise<Vector> {
    let array = Decimal256Array::new(ScalarBuffer::from(values), nulls);
    Ok(Vector::of(array.with_data_type(arrow_type(SqlType::Decimal(None)))))
}

/// Unary minus and ABS.
#[derive(Debug)]
pub(crate) struct SignChange {
    pub(crate) value: Step,
    pub(crate) ty: SqlType,
    /// ABS.
    pub(crate) negative_only: bool,
}

impl Compute for SignChange {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let value = self.value.compute(batch)?;
        if is_null(&value) {
            return Ok(Vector::Constant(Value::Null));
        }
        let nulls = valid(&value).cloned();
        // The second operand is a stand-in: every kind of number has its loops in one place.
        match self.ty {
            SqlType::BigInt => {
                let compute = |v: i64, _| if v < 0 || !self.negative_only { v.overflowing_neg() } else { (v, false) };
                integer_result(&integers(&value)?, &Operand::Constant(0), batch.rows, nulls, compute)
            }
            SqlType::Double => {
                let compute = |v: f64, _| Some(if self.negative_only { v.abs() } else { -v });
                let stand_in = Operand::Constant(0.0);
                let values = zip_checked(&doubles(&value)?, &stand_in, batch.rows, nulls.as_ref(), compute)?;
                Ok(Vector::of(Float64Array::new(ScalarBuffer::from(values), nulls)))
            }
            SqlType::Decimal(None) => {
                let sign = |v: Decimal| if v.is_negative() || !self.negative_only { v.negated() } else { v };
                let compute = |v, _| bare_decimal::to_unscaled(sign(v));
                let stand_in = Operand::Constant(Decimal::ZERO);
                decimal_result(zip_checked(&decimals(&value)?, &stand_in, batch.rows, nulls.as_ref(), compute)?, nulls)
            }
            _ => Err(RowByRow),
        }
    }
}
