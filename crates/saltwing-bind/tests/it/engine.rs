//! A relational engine of a few functions, for the binder's tests.

use arrow::datatypes::DataType;
use saltwing_bind::{
    BindError, BindErrorKind, EngineAggregate, EngineFunctionKind, EngineFunctions, EngineType, OpaqueTypes,
    TableColumns,
};
use saltwing_types::function::Volatility;
use saltwing_types::{EngineOperation, ErrorCode, Expr, SqlType};

/// The engine.
pub struct TestEngine;

fn list(item: DataType) -> DataType {
    DataType::new_list(item, true)
}

fn of(ty: SqlType, data_type: DataType, volatility: Volatility) -> EngineType {
    EngineType { ty, data_type, nullable: true, volatility }
}

/// The Arrow type of an expression, as far as these functions tell them apart.
fn type_of(expr: &Expr, opaque: &OpaqueTypes) -> DataType {
    match expr {
        Expr::Column(column) if let Some(known) = opaque.get(column.index) => known,
        Expr::Engine(call) if call.ty == SqlType::Opaque => list(list(DataType::Int64)),
        other if other.sql_type().is_some_and(|ty| ty.element().is_some()) => list(DataType::Int64),
        _ => DataType::Int64,
    }
}

impl EngineFunctions for TestEngine {
    fn kind(&self, name: &str) -> Option<EngineFunctionKind> {
        Some(match name {
            "random" | "now" | "make_array" | "array_element" | "array_slice" | "date_part" => {
                EngineFunctionKind::Scalar
            }
            "array_agg" | "string_agg" | "stddev" | "count" | "sum" | "avg" | "first_value" | "percentile_disc" => {
                EngineFunctionKind::Aggregate
            }
            _ => return None,
        })
    }

    fn scalar(
        &self,
        operation: &EngineOperation,
        args: &[Expr],
        opaque: &OpaqueTypes,
    ) -> Result<EngineType, BindError> {
        use Volatility::{Immutable, Stable, Volatile};
        Ok(match operation {
            EngineOperation::Function(name) => match (name.as_str(), args) {
                ("random", []) => of(SqlType::Double, DataType::Float64, Volatile),
                ("date_part", [_, _]) => of(SqlType::Double, DataType::Float64, Immutable),
                ("__saltwing_at_time_zone", [_, _]) => of(SqlType::Timestamp, DataType::Int64, Immutable),
                ("now", []) => of(SqlType::Timestamp, DataType::Int64, Stable),
                ("make_array", _) => of(SqlType::Opaque, list(list(DataType::Int64)), Immutable),
                ("generate_series", [_, _]) => {
                    of(SqlType::array(SqlType::BigInt).unwrap(), list(DataType::Int64), Immutable)
                }
                ("array_slice", [array, ..]) => of(array.sql_type().unwrap(), type_of(array, opaque), Immutable),
                ("array_element", [array, ..]) => match type_of(array, opaque) {
                    DataType::List(item) if matches!(item.data_type(), DataType::List(_)) => {
                        of(SqlType::array(SqlType::BigInt).unwrap(), item.data_type().clone(), Immutable)
                    }
                    _ => of(SqlType::BigInt, DataType::Int64, Immutable),
                },
                _ => {
                    let text = format!("{name} takes other arguments");
                    return Err(BindErrorKind::Engine { code: ErrorCode::TypeMismatch, text }.into());
                }
            },
            EngineOperation::Cast(ty) | EngineOperation::TryCast(ty) => of(*ty, DataType::Int64, Immutable),
            EngineOperation::Bits(_) => of(SqlType::BigInt, DataType::Int64, Immutable),
        })
    }

    fn aggregate(&self, call: &EngineAggregate, opaque: &OpaqueTypes) -> Result<EngineType, BindError> {
        let argument = call.args.first().map_or(SqlType::BigInt, |argument| argument.sql_type().unwrap());
        Ok(match call.name.as_str() {
            "array_agg" => match SqlType::array(argument) {
                Some(ty) => of(ty, list(DataType::Int64), Volatility::Immutable),
                None => of(SqlType::Opaque, list(type_of(&call.args[0], opaque)), Volatility::Immutable),
            },
            "stddev" | "avg" => of(SqlType::Double, DataType::Float64, Volatility::Immutable),
            _ => of(argument, DataType::Int64, Volatility::Immutable),
        })
    }

    fn data_type(&self, expr: &Expr, opaque: &OpaqueTypes) -> Result<DataType, BindError> {
        Ok(type_of(expr, opaque))
    }

    fn table(&self, name: &str, _: &[Expr]) -> Result<Option<TableColumns>, BindError> {
        Ok((name == "generate_series").then(|| vec![("value".to_owned(), SqlType::BigInt, false)]))
    }

    fn advice(&self, name: &str) -> Option<String> {
        (name == "randon").then(|| "there is random".to_owned())
    }
}
