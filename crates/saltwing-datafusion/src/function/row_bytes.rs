//! All values of a row as one binary value.
//!
//! A window that numbers equal rows could list every column in its PARTITION BY. DataFusion then loses track of the
//! order of the partitions if it knows some of the columns to be constant or equal. A single binary column avoids this.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// A function of any columns, at least one. Two rows have the same bytes exactly if each value equals the other row's,
/// NULL included.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RowBytes {
    signature: Signature,
}

/// The bytes of a row of these values.
pub(crate) fn row_bytes(values: Vec<Expr>) -> Expr {
    let function = ScalarUDF::from(RowBytes { signature: Signature::variadic_any(Volatility::Immutable) });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), values))
}

impl ScalarUDFImpl for RowBytes {
    fn name(&self) -> &str {
        "__saltwing_row_bytes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = args.args.iter().map(|arg| arg.to_array(args.number_rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
        let rows = RowConverter::new(fields)?.convert_columns(&columns)?;
        Ok(ColumnarValue::Array(Arc::new(rows.try_into_binary()?)))
    }
}
