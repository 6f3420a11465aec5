//! Row values before IN, ANY and ALL over a subquery, and the rows of that. They are taken apart where they are compared.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr as PlanExpr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

use crate::expression::expr_function::any_arguments;
use crate::expression::internal_name::internal_name;

/// A row of its arguments: planned, never run.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RowValue {
    name: String,
    signature: Signature,
}

/// A row of values.
pub(crate) fn row(values: Vec<PlanExpr>) -> PlanExpr {
    let function = RowValue { name: internal_name("row"), signature: any_arguments() };
    PlanExpr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), values))
}

/// The values of a row, if the expression is one.
pub(crate) fn row_of(expr: &PlanExpr) -> Option<&[PlanExpr]> {
    match expr {
        PlanExpr::Alias(alias) => row_of(&alias.expr),
        PlanExpr::ScalarFunction(call) => call.func.inner().downcast_ref::<RowValue>().map(|_| call.args.as_slice()),
        _ => None,
    }
}

impl ScalarUDFImpl for RowValue {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Err(DataFusionError::Internal("a row's type depends on the fields of its values".into()))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let named =
            |(place, field): (usize, &FieldRef)| Arc::new(field.as_ref().clone().with_name(format!("c{place}")));
        let fields: Vec<FieldRef> = args.arg_fields.iter().enumerate().map(named).collect();
        Ok(Arc::new(Field::new(&self.name, DataType::Struct(fields.into()), true)))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(DataFusionError::Internal("a row value was not taken apart".into()))
    }
}
