//! DataFusion's constants as literals of our expression language.

use datafusion::common::ScalarValue;
use saltwing_expr::{sql_type, value_at};
use saltwing_types::{Expr, SqlType, Value};

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
