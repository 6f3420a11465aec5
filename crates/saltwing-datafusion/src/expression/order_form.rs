//! Values in a form whose order in Arrow is that of SQL.
//!
//! | type | order in SQL | form |
//! |---|---|---|
//! | CHAR(n) | as if padded with blanks, though it is kept without | padded |
//! | INTERVAL | by its length | its length |
//! | arrays | element by element, NULL first in either direction | bytes that compare so |

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr as PlanExpr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use saltwing_expr::{Evaluator, arrow_type};
use saltwing_types::{Expr, SqlType, Value, typing};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};

/// The value in the form of its type; the value itself if Arrow has its order.
///
/// # Errors
/// A broken invariant of the rules of typing.
pub(crate) fn order_form(value: PlanExpr, ty: SqlType) -> Result<PlanExpr, RelationalError> {
    if let Some(element) = ty.element() {
        return Ok(ScalarUDF::new_from_impl(ArrayOrder::new(element)?).call(vec![value]));
    }
    let name = value.schema_name().to_string();
    Ok(match form(argument(0, name, ty, true), ty)? {
        Some(form) => ExprFunction::call(form, vec![value]),
        None => value,
    })
}

/// The value whose form is one of CHAR: blanks at the end are none of it.
///
/// # Errors
/// As [`order_form`].
pub(crate) fn without_form(value: PlanExpr, ty: SqlType) -> Result<PlanExpr, RelationalError> {
    let padded = argument(0, "padded", SqlType::Varchar(None), true);
    let own = typing::cast(typing::call_named("RTRIM", vec![padded])?, ty)?;
    Ok(ExprFunction::call(own, vec![value]))
}

/// The column that an expression of a physical plan is the form of, or is.
pub(crate) fn below_form(expr: &Arc<dyn PhysicalExpr>) -> &Arc<dyn PhysicalExpr> {
    let of_array = expr.downcast_ref::<ScalarFunctionExpr>().filter(|call| call.fun().inner().is::<ArrayOrder>());
    if let Some([array]) = of_array.map(ScalarFunctionExpr::args) {
        return array;
    }
    match ExprFunction::of_physical(expr) {
        Some((own, [column])) if is_form(own) => column,
        _ => expr,
    }
}

/// Whether an expression is the form of its only column.
fn is_form(own: &Expr) -> bool {
    let Expr::Call(_, args, _) = own else { return false };
    let Some(Expr::Column(column)) = args.first() else { return false };
    matches!(form(Expr::Column(column.clone()), column.ty), Ok(Some(form)) if form == *own)
}

/// The form of a value that is no array; `None` if Arrow has its order.
fn form(value: Expr, ty: SqlType) -> Result<Option<Expr>, RelationalError> {
    Ok(match ty {
        SqlType::Char(length) => {
            let length = Expr::Literal(Value::Int(length.into()), SqlType::BigInt);
            Some(typing::call_named("RPAD", vec![value, length])?)
        }
        SqlType::Interval => Some(typing::call_named("INTERVAL_SECONDS", vec![value])?),
        _ => None,
    })
}

/// The bytes of arrays: they compare as the arrays do.
#[derive(Debug)]
struct ArrayOrder {
    element: SqlType,
    /// The form of the elements.
    form: Option<Evaluator>,
    signature: Signature,
}

impl ArrayOrder {
    fn new(element: SqlType) -> Result<Self, RelationalError> {
        // Elements that are CHAR compare as texts do.
        let has_form = element == SqlType::Interval;
        let form = if has_form { form(argument(0, "element", element, true), element)? } else { None };
        Ok(Self { element, form: form.map(Evaluator::new), signature: Signature::any(1, Volatility::Immutable) })
    }

    fn bytes(&self, arrays: &ArrayRef) -> Result<ArrayRef> {
        let item = Arc::new(Field::new_list_field(arrow_type(self.element), true));
        let arrays = cast(arrays, &DataType::List(item))?;
        let (_, offsets, elements, nulls) = arrays.as_list::<i32>().clone().into_parts();
        let elements = match &self.form {
            None => elements,
            Some(form) => {
                let rows = elements.len();
                form.evaluate(&[Some(elements)], rows).map_err(RelationalError::from)?
            }
        };
        let item = Arc::new(Field::new_list_field(elements.data_type().clone(), true));
        let arrays: ArrayRef = Arc::new(ListArray::try_new(item, offsets, elements, nulls.clone())?);
        let fields = vec![SortField::new(arrays.data_type().clone())];
        let rows = RowConverter::new(fields)?.convert_columns(&[arrays])?;
        let (offsets, bytes, _) = rows.try_into_binary()?.into_parts();
        Ok(Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?))
    }
}

impl PartialEq for ArrayOrder {
    fn eq(&self, other: &Self) -> bool {
        self.element == other.element
    }
}

impl Eq for ArrayOrder {}

impl std::hash::Hash for ArrayOrder {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.element.hash(state);
    }
}

impl ScalarUDFImpl for ArrayOrder {
    fn name(&self) -> &str {
        "order_of_array"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [arrays] = <[ColumnarValue; 1]>::try_from(args.args)
            .map_err(|_| RelationalError::bug("an order is that of one array"))?;
        Ok(ColumnarValue::Array(self.bytes(&arrays.into_array(args.number_rows)?)?))
    }
}
