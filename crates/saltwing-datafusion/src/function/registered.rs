//! Functions of the program that uses the library.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use saltwing_expr::{ColumnBuilder, arrow_type, value_at};
use saltwing_types::{SqlType, Value, ValueError, number};

use crate::expression::sql_field::{field_type, typed_field};
use crate::{RelationalError, RelationalErrorKind};

/// Computes a call from the values of its arguments.
pub type Compute = Arc<dyn Fn(Vec<Value>) -> std::result::Result<Value, String> + Send + Sync>;

/// A function of the program. It is called for each row.
#[derive(Clone)]
pub struct RegisteredFunction {
    /// In lower case.
    pub name: String,
    /// The types of the arguments.
    pub parameters: Vec<SqlType>,
    /// The type of a call.
    pub result: SqlType,
    /// Whether equal arguments give equal results.
    pub volatility: saltwing_types::function::Volatility,
    /// The function itself. Its error is a text about the arguments.
    pub compute: Compute,
}

impl RegisteredFunction {
    pub(crate) fn into_udf(self) -> ScalarUDF {
        use saltwing_types::function::Volatility as Ours;
        let volatility = match self.volatility {
            Ours::Immutable => Volatility::Immutable,
            Ours::Stable => Volatility::Stable,
            Ours::Volatile => Volatility::Volatile,
        };
        let signature = match self.parameters.len() {
            0 => Signature::nullary(volatility),
            // The types are ours to check, and values ours to convert.
            count => Signature::any(count, volatility),
        };
        ScalarUDF::new_from_impl(Registered { function: self, signature })
    }

    /// The types of the arguments of a call.
    ///
    /// # Errors
    /// Arguments of another family than their parameters.
    fn argument_types(&self, fields: &[FieldRef]) -> Result<Vec<SqlType>, RelationalError> {
        let types: Option<Vec<SqlType>> = fields.iter().map(|field| field_type(field)).collect();
        let is_taken =
            |(given, parameter): (&SqlType, &SqlType)| *given == SqlType::Null || given.family() == parameter.family();
        types.filter(|types| types.iter().zip(&self.parameters).all(is_taken)).ok_or_else(|| {
            let types = fields
                .iter()
                .map(|field| field_type(field).map_or_else(|| field.data_type().to_string(), |ty| ty.to_string()))
                .collect::<Vec<_>>()
                .join(", ");
            RelationalErrorKind::WrongArguments { function: self.name.clone(), types }.into()
        })
    }

    /// The value of a call.
    fn call(&self, values: Vec<Value>) -> Result<Value, ValueError> {
        let called = catch_unwind(AssertUnwindSafe(|| (self.compute)(values)));
        let called = called.unwrap_or_else(|_| Err("the function panicked".to_owned()));
        let value = called.map_err(|text| ValueError::BadArgument(format!("{}: {text}", self.name)))?;
        number::assign(value, self.result)
    }
}

struct Registered {
    function: RegisteredFunction,
    signature: Signature,
}

/// A name is registered once.
impl PartialEq for Registered {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for Registered {}

impl Hash for Registered {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function.name)
    }
}

impl ScalarUDFImpl for Registered {
    fn name(&self) -> &str {
        &self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(arrow_type(self.function.result))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.function.argument_types(args.arg_fields)?;
        Ok(Arc::new(typed_field(self.name(), self.function.result, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let function = &self.function;
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        // A call of constants alone is one call, unless each row has its own result.
        let is_once = is_constant && self.signature.volatility != Volatility::Volatile;
        let rows = if is_once { 1 } else { args.number_rows };
        let types = function.argument_types(&args.arg_fields)?;
        let arrays = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<Result<Vec<_>>>()?;
        let mut results = ColumnBuilder::new(function.result, rows);
        for row in 0..rows {
            let arguments = arrays.iter().zip(types.iter().zip(&function.parameters));
            let values =
                arguments.map(|(array, (ty, to))| value_at(array, row, *ty).and_then(|v| number::assign(v, *to)));
            let value = values.collect::<std::result::Result<Vec<_>, _>>().and_then(|values| function.call(values));
            let appended = value.and_then(|value| results.append_value(&value));
            appended.map_err(RelationalError::from)?;
        }
        let results = results.finish();
        Ok(match is_once {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
            false => ColumnarValue::Array(results),
        })
    }
}
