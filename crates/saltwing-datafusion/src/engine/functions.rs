//! The engine's functions, as the binder asks for them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, Volatility as EngineVolatility};
use saltwing_bind::{
    BindError, BindErrorKind, EngineAggregate, EngineFunctionKind, EngineFunctions, EngineType, OpaqueTypes,
    TableColumns,
};
use saltwing_types::function::Volatility;
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::function::window::WINDOW_FUNCTIONS;
use saltwing_types::{ColumnRef, EngineOperation, Expr, Function, SqlType, ValueError};

use super::{Engine, foreign_names};
use crate::bound_plan::translator::Translator;
use crate::expression::sql_field::{field_type, typed_field};
use crate::internal_name::is_internal;
use crate::{RelationalError, RelationalErrorKind};

impl EngineFunctions for Engine {
    fn kind(&self, name: &str) -> Option<EngineFunctionKind> {
        let session = self.session();
        if is_internal(name) {
            return None;
        }
        if session.scalar_functions().contains_key(name) {
            return Some(EngineFunctionKind::Scalar);
        }
        session.aggregate_functions().contains_key(name).then_some(EngineFunctionKind::Aggregate)
    }

    fn scalar(
        &self,
        operation: &EngineOperation,
        args: &[Expr],
        opaque: &OpaqueTypes,
    ) -> Result<EngineType, BindError> {
        let session = self.session();
        let volatility = match operation {
            EngineOperation::Function(name) => match session.scalar_functions().get(name) {
                Some(function) => volatility_of(function.signature().volatility),
                None => return Err(no_such_operation(name, args)),
            },
            _ => Volatility::Immutable,
        };
        typed(&session, args.iter(), opaque, volatility, |translator| translator.operation(operation, args))
            .map_err(as_bind_error)
    }

    fn aggregate(&self, call: &EngineAggregate, opaque: &OpaqueTypes) -> Result<EngineType, BindError> {
        let session = self.session();
        typed(&session, call.exprs(), opaque, Volatility::Immutable, |translator| translator.aggregate(call))
            .map_err(as_bind_error)
    }

    fn data_type(&self, expr: &Expr, opaque: &OpaqueTypes) -> Result<DataType, BindError> {
        let session = self.session();
        let exprs = std::iter::once(expr);
        let ty = typed(&session, exprs, opaque, Volatility::Immutable, |translator| translator.expr(expr));
        Ok(ty.map_err(as_bind_error)?.data_type)
    }

    fn table(&self, name: &str, args: &[Expr]) -> Result<Option<TableColumns>, BindError> {
        let session = self.session();
        if !self.table_functions.contains(name) {
            return Ok(None);
        }
        let column = |column: &ColumnRef| {
            Err(RelationalError::bug(format!("{} is an argument of a table function", column.name)))
        };
        let translator = Translator { functions: &session, column: &column };
        let table = translator.constants(args).and_then(|args| self.table_functions.table(name, args, &session));
        let schema = table.map_err(as_bind_error)?.schema();
        let column = |field: &Arc<Field>| {
            (field.name().clone(), field_type(field).unwrap_or(SqlType::Opaque), field.is_nullable())
        };
        Ok(Some(schema.fields().iter().map(column).collect()))
    }

    fn advice(&self, name: &str) -> Option<String> {
        foreign_names::advice(name).map(str::to_owned).or_else(|| Some(format!("there is {}", self.near(name)?)))
    }
}

impl Engine {
    /// The function that a name is a slip of.
    fn near(&self, name: &str) -> Option<String> {
        let session = self.session();
        let scalar = session.scalar_functions().keys().map(String::as_str).filter(|name| !is_internal(name));
        let aggregates = AggregateEntry::all().flat_map(AggregateEntry::names);
        let windows = WINDOW_FUNCTIONS.iter().map(|entry| entry.name);
        let own = Function::all().map(|function| function.name);
        let mut names: Vec<&str> = aggregates.chain(windows).chain(own).collect();
        names.extend(scalar);
        // The maps have another order each time, and of names that are equally near the first is suggested.
        names.sort_unstable();
        saltwing_types::suggest(name, names).map(str::to_owned)
    }
}

fn volatility_of(volatility: EngineVolatility) -> Volatility {
    match volatility {
        EngineVolatility::Immutable => Volatility::Immutable,
        EngineVolatility::Stable => Volatility::Stable,
        EngineVolatility::Volatile => Volatility::Volatile,
    }
}

/// The type of what `translate` gives, over the columns that `exprs` name.
fn typed<'a>(
    session: &Arc<SessionState>,
    exprs: impl Iterator<Item = &'a Expr>,
    opaque: &OpaqueTypes,
    volatility: Volatility,
    translate: impl FnOnce(&Translator<'_>) -> Result<PlanExpr, RelationalError>,
) -> Result<EngineType, RelationalError> {
    let mut fields: HashMap<usize, Field> = HashMap::new();
    for expr in exprs {
        expr.walk(&mut |part| {
            if let Expr::Column(column) = part {
                let name = column_name(column);
                let field = match opaque.get(column.index) {
                    Some(data_type) => Field::new(name, data_type, column.nullable),
                    None => typed_field(&name, column.ty, column.nullable),
                };
                fields.insert(column.index, field);
            }
        });
    }
    let schema = DFSchema::from_unqualified_fields(fields.into_values().collect(), HashMap::new())?;
    let column = |column: &ColumnRef| Ok(PlanExpr::Column(Column::new_unqualified(column_name(column))));
    let field = translate(&Translator { functions: session, column: &column })?.to_field(&schema)?.1;
    let ty = field_type(&field).unwrap_or(SqlType::Opaque);
    Ok(EngineType { ty, data_type: field.data_type().clone(), nullable: field.is_nullable(), volatility })
}

fn column_name(column: &ColumnRef) -> String {
    format!("c{}", column.index)
}

fn no_such_operation(name: &str, args: &[Expr]) -> BindError {
    let shown: Vec<String> = args.iter().map(Expr::to_string).collect();
    let text = format!("{name}({}): there is no such operation on lists, structs and intervals", shown.join(", "));
    ValueError::TypeMismatch(text).into()
}

fn as_bind_error(error: RelationalError) -> BindError {
    let code = error.code();
    let RelationalError { kind, span, help } = error;
    let error = match kind {
        RelationalErrorKind::Value(error) => BindError::from(error),
        RelationalErrorKind::NoSuchFunction(name) => BindErrorKind::NoSuchFunction(name).into(),
        other => BindErrorKind::Engine { code, text: other.to_string() }.into(),
    };
    match help {
        Some(help) => error.at(span).help(help),
        None => error.at(span),
    }
}
