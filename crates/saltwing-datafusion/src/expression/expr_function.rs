//! Our expressions as scalar functions that DataFusion runs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr as PlanExpr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_common::physical_expr::fmt_sql;
use saltwing_access::{Reservation, ScanContext};
use saltwing_expr::{Columns, Evaluator};
use saltwing_types::{ColumnRef, Expr, SqlType, Value};

use crate::RelationalError;
use crate::expression::sql_field::typed_field;
use crate::internal_name::{shown, unique_name};
use crate::statement::counted::counted;
use crate::statement::current::current;

/// Longest text of an expression in a plan, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// A signature that takes arguments as they are.
pub(crate) fn any_arguments() -> Signature {
    Signature::user_defined(Volatility::Immutable)
}

/// The column of an expression that stands for an argument.
pub(crate) fn argument(index: usize, name: impl Into<String>, ty: SqlType, nullable: bool) -> Expr {
    Expr::Column(ColumnRef { index, name: name.into(), ty, nullable, span: None })
}

/// An expression over its arguments: column `i` of the expression is argument `i`.
///
/// DataFusion neither looks into it nor simplifies it; only our scan does.
#[derive(Debug)]
pub(crate) struct ExprFunction {
    evaluator: Evaluator,
    text: String,
    /// The text, made unique: DataFusion takes functions of one name for the same.
    name: String,
    ty: SqlType,
    signature: Signature,
}

impl ExprFunction {
    /// The call of `expr` over `args`.
    pub(crate) fn call(expr: Expr, args: Vec<PlanExpr>) -> PlanExpr {
        let whole = expr.to_string();
        let text: String = whole.chars().take(TEXT_CHARS_MAX).collect();
        let name = match has_unique_text(&expr) && text.len() == whole.len() {
            true => text.clone(),
            false => unique_name(&text, digest(&expr, &[])),
        };
        let ty = expr.sql_type().unwrap_or(SqlType::Null);
        let function = Self { evaluator: Evaluator::new(expr), text, name, ty, signature: any_arguments() };
        let func = Arc::new(ScalarUDF::new_from_impl(function));
        PlanExpr::ScalarFunction(ScalarFunction::new_udf(func, args))
    }

    /// `condition` as a function of these columns too, though they change nothing: DataFusion moves a condition by its columns.
    pub(crate) fn tied(condition: PlanExpr, columns: impl IntoIterator<Item = PlanExpr>) -> PlanExpr {
        let args = std::iter::once(condition).chain(columns).collect();
        Self::call(argument(0, "condition", SqlType::Boolean, true), args)
    }

    /// The expression that a call runs, if it is one of ours.
    pub(crate) fn of(call: &ScalarFunction) -> Option<&Expr> {
        Some(call.func.inner().downcast_ref::<ExprFunction>()?.evaluator.expr())
    }
}

impl ExprFunction {
    /// The expression that a call in a physical plan runs, and its arguments, if it is one of ours.
    pub(crate) fn of_physical(expr: &Arc<dyn PhysicalExpr>) -> Option<(&Expr, &[Arc<dyn PhysicalExpr>])> {
        let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
        Some((call.fun().inner().downcast_ref::<ExprFunction>()?.evaluator.expr(), call.args()))
    }

    /// The values, whose bytes count as memory of the statement while the array lives, if they are large.
    fn evaluate_counted(
        &self,
        columns: &Columns,
        rows: usize,
        context: &ScanContext,
    ) -> std::result::Result<ArrayRef, RelationalError> {
        let mut reservation = Reservation::new(context.memory().clone());
        let values = self.evaluator.evaluate_metered(columns, rows, &mut |bytes| {
            context.check()?;
            Ok::<_, RelationalError>(reservation.resize(bytes)?)
        })?;
        if reservation.bytes() == 0 {
            return Ok(values);
        }
        reservation.resize(values.get_buffer_memory_size())?;
        Ok(counted(values.as_ref(), reservation)?)
    }

    /// Whether it is nothing but a cast of its argument.
    fn is_cast(&self) -> bool {
        matches!(self.evaluator.expr(), Expr::Cast(inner, _) if matches!(**inner, Expr::Column(_)))
    }

    /// The type and the column, if an expression of a physical plan is nothing but the cast of a column.
    pub(crate) fn column_cast(expr: &Arc<dyn PhysicalExpr>) -> Option<(SqlType, &Column)> {
        let (Expr::Cast(inner, ty), args) = Self::of_physical(expr)? else { return None };
        let Expr::Column(argument) = &**inner else { return None };
        Some((*ty, args.get(argument.index)?.downcast_ref::<Column>()?))
    }
}

/// Whether no other expression has the same text: 2.0 and 2e0 are both written as 2, for example.
fn has_unique_text(expr: &Expr) -> bool {
    let mut unique = true;
    expr.walk(&mut |part| {
        unique &= match part {
            Expr::Literal(Value::Decimal(value), _) => !value.is_integer(),
            Expr::Literal(Value::Float(_) | Value::Double(_), _) => false,
            Expr::Literal(Value::Null, ty) => *ty == SqlType::Null,
            _ => true,
        };
    });
    unique
}

/// A canonical form: equal expressions must not differ in it. An outer join that became an inner one leaves a condition
/// above it over nullable columns, and an equal one in it over columns that are not nullable.
fn without_places(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.map_columns(&mut |column| {
        column.name.clear();
        column.nullable = false;
        column.span = None;
    });
    expr
}

/// What tells an expression over the arguments of these names from others.
fn digest(expr: &Expr, args: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (format!("{:?}", without_places(expr)), args).hash(&mut hasher);
    hasher.finish()
}

/// An expression of a physical plan as a user would write it: ours by their text, columns without their place.
pub(crate) fn text_of(expr: &Arc<dyn PhysicalExpr>) -> String {
    let named = expr.clone().transform_down(|part| {
        let own = part.downcast_ref::<ScalarFunctionExpr>();
        let Some(own) = own.and_then(|call| Some((call, call.fun().inner().downcast_ref::<ExprFunction>()?))) else {
            return Ok(Transformed::no(part));
        };
        let text = match own {
            (call, function) if function.is_cast() => call.args().first().map_or_else(String::new, text_of),
            (_, function) => function.text.clone(),
        };
        Ok(Transformed::new(Arc::new(Column::new(&text, 0)) as Arc<dyn PhysicalExpr>, true, TreeNodeRecursion::Jump))
    });
    named.map_or_else(|_| expr.to_string(), |named| fmt_sql(named.data.as_ref()).to_string())
}

impl PartialEq for ExprFunction {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.evaluator.expr() == other.evaluator.expr()
    }
}

impl Eq for ExprFunction {}

impl Hash for ExprFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl ScalarUDFImpl for ExprFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema_name(&self, args: &[PlanExpr]) -> Result<String> {
        let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        let mut expr = without_places(self.evaluator.expr());
        expr.map_columns(&mut |column| column.name = args.get(column.index).map(|arg| shown(arg)).unwrap_or_default());
        // Texts of different expressions may be the same (2.5 and 2.5e0): names must not.
        Ok(unique_name(&expr.to_string(), digest(self.evaluator.expr(), &args)))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(saltwing_expr::arrow_type(self.ty))
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(typed_field(&self.text, self.ty, self.evaluator.expr().is_nullable())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let columns: Vec<Option<ArrayRef>> =
            args.args.into_iter().map(|arg| arg.into_array(rows).map(Some)).collect::<Result<_>>()?;
        let value = match current() {
            None => self.evaluator.evaluate(&columns, rows),
            Some(context) => Ok(self.evaluate_counted(&columns, rows, &context)?),
        };
        let value = value.map_err(RelationalError::from)?;
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&value, 0)?));
        }
        Ok(ColumnarValue::Array(value))
    }
}
