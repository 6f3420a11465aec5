//! Functions of DataFusion whose results can be larger than their arguments, with limits.
//!
//! # Invariants
//! 1. The size of a result is known before it is allocated (`result_size`).
//! 2. No value is larger than [`VALUE_BYTES_MAX`].
//! 3. A large result counts as memory of its statement while its array lives.
//! 4. The statement can be stopped after every [`PIECE_BYTES`] of a result.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::udf_eq::UdfEq;
use datafusion::logical_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};
use saltwing_access::{Reservation, ScanContext};
use saltwing_types::VALUE_BYTES_MAX;

use crate::function::result_size::{RowBytes, row_bytes};
use crate::statement::counted::counted;
use crate::statement::current::{current, stopped};
use crate::{RelationalError, RelationalErrorKind};

/// Most bytes that a function makes for a batch of rows: Arrow's offsets have 31 bits.
const BATCH_BYTES_MAX: u64 = i32::MAX as u64;
/// Bytes of a result up to which they are not counted.
const UNCOUNTED_BYTES: u64 = 1 << 20;
/// Bytes of a result that are made without a look at the statement.
const PIECE_BYTES: u64 = 32 << 20;

/// The function with bounds, if it needs some.
pub(crate) fn bounded(function: Arc<ScalarUDF>) -> Arc<ScalarUDF> {
    match row_bytes(function.name()) {
        Some(row_bytes) => {
            let inner = function.inner().clone().into();
            Arc::new(ScalarUDF::new_from_impl(BoundedFunction { inner, row_bytes: Estimate(row_bytes) }))
        }
        None => function,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct BoundedFunction {
    inner: UdfEq<Arc<dyn ScalarUDFImpl>>,
    row_bytes: Estimate,
}

/// Follows from the function: two functions that are equal have equal ones.
#[derive(Clone, Copy, Debug)]
struct Estimate(RowBytes);

impl PartialEq for Estimate {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Estimate {}

impl std::hash::Hash for Estimate {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl BoundedFunction {
    fn error(&self, text: String, help: &str) -> DataFusionError {
        let text = format!("{}: {text}", self.name().to_uppercase());
        RelationalError::from(RelationalErrorKind::TooLarge(text)).help(help).into()
    }

    /// The bytes of each row's value, and of all.
    ///
    /// # Errors
    /// A value, or all together, above their limits.
    fn sizes(&self, args: &ScalarFunctionArgs, rows: usize) -> Result<(Vec<u64>, u64)> {
        let Estimate(row_bytes) = self.row_bytes;
        let sizes: Vec<u64> = (0..rows).map(|row| row_bytes(&args.args, row)).collect();
        if let Some(bytes) = sizes.iter().find(|bytes| **bytes > VALUE_BYTES_MAX as u64) {
            let text = format!("a value would take {bytes} bytes, above the limit of {VALUE_BYTES_MAX}");
            return Err(self.error(text, "make a shorter value"));
        }
        let total = sizes.iter().fold(0, |total: u64, bytes| total.saturating_add(*bytes));
        if total > BATCH_BYTES_MAX {
            let text = format!("{rows} values would take {total} bytes together, above the limit of {BATCH_BYTES_MAX}");
            return Err(self.error(text, "make shorter values, or of fewer rows at a time"));
        }
        Ok((sizes, total))
    }

    /// Computes a large result piece by piece.
    fn in_pieces(&self, args: &ScalarFunctionArgs, sizes: &[u64], context: &ScanContext) -> Result<ArrayRef> {
        let mut pieces: Vec<ArrayRef> = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for (row, size) in sizes.iter().enumerate() {
            bytes += size;
            if bytes < PIECE_BYTES && row + 1 < sizes.len() {
                continue;
            }
            stopped(context)?;
            let (offset, length) = (start, row + 1 - start);
            let piece = |value: &ColumnarValue| match value {
                ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(offset, length)),
                scalar => scalar.clone(),
            };
            let args =
                ScalarFunctionArgs { args: args.args.iter().map(piece).collect(), number_rows: length, ..args.clone() };
            pieces.push(self.inner.invoke_with_args(args)?.into_array(length)?);
            (start, bytes) = (row + 1, 0);
        }
        let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
        Ok(concat(&pieces)?)
    }
}

/// Not passed on is `simplify`, which gives calls of functions without bounds. None of these functions implements anything
/// else.
impl ScalarUDFImpl for BoundedFunction {
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_one = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let (sizes, total) = self.sizes(&args, if is_one { 1 } else { args.number_rows })?;
        let Some(context) = current().filter(|_| total > UNCOUNTED_BYTES) else {
            return self.inner.invoke_with_args(args);
        };
        stopped(&context)?;
        let mut reservation = Reservation::new(context.memory().clone());
        let reserve = |reservation: &mut Reservation, bytes: u64| {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            reservation.resize(bytes).map_err(|error| DataFusionError::from(RelationalError::from(error)))
        };
        reserve(&mut reservation, total)?;
        let made = match is_one || total <= PIECE_BYTES {
            true => self.inner.invoke_with_args(args)?,
            false => {
                // Pieces and the whole are there at the same time.
                reserve(&mut reservation, total.saturating_mul(2))?;
                let whole = self.in_pieces(&args, &sizes, &context)?;
                reserve(&mut reservation, total)?;
                ColumnarValue::Array(whole)
            }
        };
        match made {
            // The estimate may have been far too high.
            ColumnarValue::Array(array) if array.get_buffer_memory_size() as u64 <= UNCOUNTED_BYTES => {
                Ok(ColumnarValue::Array(array))
            }
            ColumnarValue::Array(array) => {
                let bytes = reservation.bytes().min(array.get_buffer_memory_size());
                reserve(&mut reservation, bytes as u64)?;
                Ok(ColumnarValue::Array(counted(array.as_ref(), reservation)?))
            }
            // There are few of them, each below its limit.
            scalar => Ok(scalar),
        }
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
