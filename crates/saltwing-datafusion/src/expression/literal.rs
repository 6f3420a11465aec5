//! DataFusion's constants as literals of our expression language, and our values as its constants.

use datafusion::common::ScalarValue;
use saltwing_expr::{ColumnBuilder, sql_type, value_at};
use saltwing_types::{Expr, SqlType, Value};

use crate::RelationalError;

/// A value as DataFusion has it.
///
/// # Errors
/// A value that has no place there: an instant beyond its limits.
pub(crate) fn to_scalar(value: &Value, ty: SqlType) -> Result<ScalarValue, RelationalError> {
    let mut column = ColumnBuilder::new(ty, 1);
    column.append_value(value)?;
    Ok(ScalarValue::try_from_array(&column.finish(), 0)?)
}

/// The literal that a scalar value is; `None` where SQL has no such type.
pub(crate) fn to_literal(scalar: &ScalarValue) -> Option<Expr> {
    Some(match scalar {
        ScalarValue::Null => Expr::NULL,
        ScalarValue::Int64(Some(value)) => Expr::Literal(Value::Int(*value), SqlType::BigInt),
        ScalarValue::Boolean(Some(value)) => Expr::boolean(*value),
        ScalarValue::Utf8(Some(text)) => Expr::Literal(Value::text(text), SqlType::Varchar(None)),
        other => {
            let ty = sql_type(&other.data_type())?;
            let array = other.to_array().ok()?;
            Expr::Literal(value_at(&array, 0, ty).ok()?, ty)
        }
    })
}
