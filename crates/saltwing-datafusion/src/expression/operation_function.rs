//! Operations of our expression language, as functions in DataFusion's plans.
//!
//! DataFusion types, coerces and folds its own operators by its own rules, some of them while it plans the statement.
//! Our rules differ. So `rewrite` replaces every operation of our language in the statement's tree by a call of an
//! [`OperationFunction`], before DataFusion sees the tree. The call is typed as `saltwing-bind` types the same syntax
//! on the direct path, and [`crate::lowering`] later merges nested calls into one expression. An [`OperationFunction`]
//! is planned, but never run.
//!
//! A call has a name that DataFusion looks up ([`Operations`]). DataFusion's `ExprPlanner` hooks cannot replace the
//! calls: they cover binary operators, EXTRACT and SUBSTRING, but not literals, BETWEEN, IN, LIKE, CASE, CAST and unary
//! minus.
//!
//! AND, OR, NOT and `IS ..` stay DataFusion's: they mean the same there, and DataFusion must see them to split
//! conditions. Columns, subqueries and plain literals stay DataFusion's, too.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr as PlanExpr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, lit,
};
use saltwing_types::function::Evaluation;
use saltwing_types::{Expr, Span, SqlType, ValueError};
use sqlparser::ast::{self, Ident};

use crate::RelationalError;
use crate::error::in_sql_types;
use crate::expression::expr_function::{any_arguments, argument};
use crate::expression::internal_name::internal_name;
use crate::expression::literal::to_literal;
use crate::expression::operation::{Operation, with_operands};
use crate::expression::operation_text;
use crate::expression::sql_field::{field_type, typed_field};

/// The name of an operand where DataFusion plans the operation.
fn operand_name(place: usize) -> String {
    internal_name(&format!("operand{place}"))
}

fn operands_schema(fields: &[FieldRef]) -> Result<DFSchema> {
    let named = |(place, field): (usize, &FieldRef)| field.as_ref().clone().with_name(operand_name(place));
    let fields: Vec<Field> = fields.iter().enumerate().map(named).collect();
    DFSchema::from_unqualified_fields(fields.into(), HashMap::new())
}

/// The operations of one statement, each once, by the names under which the statement's tree calls them.
pub(crate) struct Operations {
    session: Arc<SessionState>,
    by_name: HashMap<String, Arc<ScalarUDF>>,
    names: HashMap<Operation, String>,
}

impl Operations {
    /// None yet; `session` has the functions of DataFusion's.
    pub(crate) fn new(session: Arc<SessionState>) -> Self {
        Self { session, by_name: HashMap::new(), names: HashMap::new() }
    }

    /// The name under which an operation is called.
    pub(crate) fn name(&mut self, operation: Operation, span: Option<Span>) -> String {
        if let Some(name) = self.names.get(&operation) {
            return name.clone();
        }
        let name = internal_name(&format!("operation_{}", self.names.len()));
        let function = OperationFunction {
            name: name.clone(),
            operation: operation.clone(),
            session: self.session.clone(),
            span,
            signature: any_arguments(),
        };
        self.by_name.insert(name.clone(), Arc::new(ScalarUDF::new_from_impl(function)));
        self.names.insert(operation, name.clone());
        name
    }

    /// The constant that the function of that name gives.
    pub(crate) fn constant(&self, name: &str) -> Option<&Expr> {
        match &self.by_name.get(name)?.inner().downcast_ref::<OperationFunction>()?.operation {
            Operation::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The function of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.by_name.get(name).cloned()
    }
}

/// An operation not yet merged with its neighbours: planned, never run.
#[derive(Clone)]
pub(crate) struct OperationFunction {
    name: String,
    operation: Operation,
    session: Arc<SessionState>,
    /// Where it stands first. Not part of equality.
    span: Option<Span>,
    signature: Signature,
}

impl fmt::Debug for OperationFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operation.fmt(f)
    }
}

impl PartialEq for OperationFunction {
    fn eq(&self, other: &Self) -> bool {
        self.operation == other.operation
    }
}

impl Eq for OperationFunction {}

impl Hash for OperationFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.operation.hash(state);
    }
}

impl OperationFunction {
    /// The operation that a call is one of, with where it stands.
    pub(crate) fn of(call: &ScalarFunction) -> Option<(&Operation, Option<Span>)> {
        let function = call.func.inner().downcast_ref::<OperationFunction>()?;
        Some((&function.operation, function.span))
    }
}

impl ScalarUDFImpl for OperationFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema_name(&self, args: &[PlanExpr]) -> Result<String> {
        let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        Ok(operation_text::told_apart(&self.operation, &args))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Err(DataFusionError::Internal("an operation's type depends on its operands' fields".into()))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        if self.operation == Operation::Row {
            let fields: Vec<FieldRef> = args.arg_fields.iter().enumerate().map(named_by_place).collect();
            return Ok(Arc::new(Field::new(&self.name, DataType::Struct(fields.into()), true)));
        }
        if self.operation.is_condition() {
            self.check_native_comparison(args.arg_fields)?;
            return Ok(Arc::new(typed_field(&self.name, SqlType::Boolean, true)));
        }
        let operands: Option<Vec<Expr>> = args
            .arg_fields
            .iter()
            .zip(args.scalar_arguments)
            .map(|(field, scalar)| match scalar {
                Some(scalar) => to_literal(scalar),
                None => field_type(field)
                    .map(|ty| argument(0, operation_text::shown(field.name()), ty, field.is_nullable())),
            })
            .collect();
        let Some(operands) = operands.filter(|operands| !self.operation.is_nested_array(operands)) else {
            let types: Vec<DataType> = args.arg_fields.iter().map(|f| f.data_type().clone()).collect();
            let ty = self.native_type(args.arg_fields)?.ok_or_else(|| self.refusal(&types))?;
            return Ok(Arc::new(Field::new(&self.name, ty, true)));
        };
        let built = self.operation.build(operands).map_err(|error| error.at(self.span))?;
        let ty = built.sql_type().unwrap_or(SqlType::Null);
        let field = typed_field(&self.name, ty, built.is_nullable());
        let plain = self.operation == Operation::Plain;
        Ok(Arc::new(if plain { field.with_metadata(HashMap::new()) } else { field }))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(DataFusionError::Internal(format!("{:?} was not lowered", self.operation)))
    }
}

impl OperationFunction {
    /// The call with `args` as an operation of DataFusion's; `None` if it has no such operation.
    ///
    /// # Errors
    /// Operands that do not compare.
    pub(crate) fn native(call: &ScalarFunction, args: Vec<PlanExpr>, schema: &DFSchema) -> Result<Option<PlanExpr>> {
        let Some(function) = call.func.inner().downcast_ref::<OperationFunction>() else { return Ok(None) };
        let fields = call.args.iter().map(|arg| Ok(arg.to_field(schema)?.1)).collect::<Result<Vec<_>>>()?;
        function.check_native_comparison(&fields)?;
        function.native_of(args, schema)
    }

    /// The same operation of DataFusion's, for operands of types that SQL lacks (lists, intervals).
    fn native_of(&self, args: Vec<PlanExpr>, schema: &DFSchema) -> Result<Option<PlanExpr>> {
        let session = &self.session;
        let call = |name: &str, args| Some(session.scalar_functions().get(name)?.call(args));
        Ok(match &self.operation {
            Operation::Syntax(_) if !self.operation.is_native() => None,
            Operation::Syntax(syntax) => {
                let fields = args.iter().map(|arg| Ok(arg.to_field(schema)?.1)).collect::<Result<Vec<_>>>()?;
                let names = |place| ast::Expr::Identifier(Ident::with_quote('"', operand_name(place)));
                let sql = ast::ExprWithAlias { expr: with_operands(syntax, names), alias: None };
                let planned = session.create_logical_expr_from_sql_expr(sql, &operands_schema(&fields)?)?;
                let args: HashMap<String, PlanExpr> =
                    args.into_iter().enumerate().map(|(place, arg)| (operand_name(place), arg)).collect();
                let replaced = planned.transform(|part| match &part {
                    PlanExpr::Column(column) => Ok(args
                        .get(&column.name)
                        .map_or(Transformed::no(part.clone()), |arg| Transformed::yes(arg.clone()))),
                    _ => Ok(Transformed::no(part)),
                })?;
                Some(replaced.data)
            }
            Operation::Cast(ty) => args.into_iter().next().map(|value| {
                PlanExpr::Cast(Cast::new_from_field(Box::new(value), Arc::new(typed_field("", *ty, true))))
            }),
            Operation::Call(function) => match function.name {
                "COALESCE" | "NULLIF" | "DATE_TRUNC" => call(&function.name.to_lowercase(), args),
                "CONCAT" => call("array_concat", args),
                "REVERSE" => call("array_reverse", args),
                "LENGTH" => call("cardinality", args),
                "ARRAY_ELEM" => call("array_element", args),
                name if name.contains("ARRAY") => call(&name.to_lowercase(), args),
                _ => match function.evaluation {
                    Evaluation::Field(field) => {
                        call("date_part", std::iter::once(lit(field.name())).chain(args).collect())
                    }
                    _ => None,
                },
            },
            Operation::Plain => args.into_iter().next(),
            Operation::Constant(_) | Operation::Row => None,
        })
    }

    /// The type that the same operation of DataFusion's has.
    fn native_type(&self, fields: &[FieldRef]) -> Result<Option<DataType>> {
        let schema = operands_schema(fields)?;
        let operands = (0..fields.len()).map(|place| PlanExpr::Column(Column::new_unqualified(operand_name(place))));
        let native = self.native_of(operands.collect(), &schema);
        Ok(native.ok().flatten().and_then(|native| native.get_type(&schema).ok()))
    }

    /// Whether DataFusion compares the operands where SQL has no type for one of them.
    fn check_native_comparison(&self, fields: &[FieldRef]) -> Result<()> {
        if fields.iter().all(|field| field_type(field).is_some()) {
            return Ok(());
        }
        let Some((value, others)) = fields.split_first() else { return Ok(()) };
        let compares = |other: &FieldRef| comparison_coercion(value.data_type(), other.data_type()).is_some();
        if !self.operation.compares_first() {
            return Ok(());
        }
        match others.iter().find(|other| !compares(other)) {
            None => Ok(()),
            Some(other) => Err(self.refusal(&[value.data_type().clone(), other.data_type().clone()])),
        }
    }

    /// The error of operands that the operation does not take.
    fn refusal(&self, types: &[DataType]) -> DataFusionError {
        let names: Vec<String> = types.iter().map(|ty| in_sql_types(&ty.to_string())).collect();
        let text = match self.operation.compares_first() {
            true => format!("{} do not compare", names.join(" and ")),
            false => format!("{}: these types do not meet", operation_text::text(&self.operation, &names)),
        };
        let error = RelationalError::from(ValueError::TypeMismatch(text)).at(self.span);
        let has_interval = types.iter().any(|ty| matches!(ty, DataType::Interval(_)));
        let is_arithmetic =
            matches!(&self.operation, Operation::Syntax(syntax) if matches!(**syntax, ast::Expr::BinaryOp { .. }));
        match has_interval && is_arithmetic {
            true => error.help("write the length out: INTERVAL '3 days'; an interval is added to an instant").into(),
            false => error.into(),
        }
    }
}

fn named_by_place((place, field): (usize, &FieldRef)) -> FieldRef {
    Arc::new(field.as_ref().clone().with_name(format!("c{place}")))
}

/// A row of values, before or in a subquery.
///
/// # Errors
/// A broken invariant of [`Operations`].
pub(crate) fn row(session: &Arc<SessionState>, values: Vec<PlanExpr>) -> Result<PlanExpr, RelationalError> {
    let mut operations = Operations::new(session.clone());
    let name = operations.name(Operation::Row, None);
    let function = operations.by_name(&name).ok_or_else(|| RelationalError::bug("a row has no function"))?;
    Ok(PlanExpr::ScalarFunction(ScalarFunction::new_udf(function, values)))
}

/// The values of a row, if the expression is one.
pub(crate) fn row_of(expr: &PlanExpr) -> Option<&[PlanExpr]> {
    match expr {
        PlanExpr::Alias(alias) => row_of(&alias.expr),
        PlanExpr::ScalarFunction(call) => match OperationFunction::of(call) {
            Some((Operation::Row, _)) => Some(&call.args),
            _ => None,
        },
        _ => None,
    }
}
