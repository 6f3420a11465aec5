//! Operations of our expression language, as functions in DataFusion's plans.
//!
//! DataFusion types, coerces and folds its own operators by its own rules, some of them while it plans the statement.
//! Our rules differ. So `rewrite` replaces every operation of our language in the statement's tree by a call of an
//! [`OperationFunction`], before DataFusion sees the tree. [`saltwing_types::typing`] types the call, and
//! [`crate::lowering`] later merges nested calls into one expression. An [`OperationFunction`] is planned, but never
//! run.
//!
//! A call has a name that DataFusion looks up ([`Operations`]). DataFusion's `ExprPlanner` hooks cannot replace the
//! calls: they cover binary operators, EXTRACT and SUBSTRING, but not literals, BETWEEN, IN, LIKE, CASE, CAST and unary
//! minus.
//!
//! AND, OR, NOT and `IS ..` stay DataFusion's: they mean the same there, and DataFusion must see them to split
//! conditions. Columns, subqueries and plain literals stay DataFusion's, too.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::expr::{Between, Case, InList, Like, ScalarFunction};
use datafusion::logical_expr::type_coercion::binary::{BinaryTypeCoercer, comparison_coercion};
use datafusion::logical_expr::{
    BinaryExpr, Cast, ColumnarValue, Expr as PlanExpr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use saltwing_types::function::Evaluation;
use saltwing_types::{ArithOp, ColumnRef, CompareOp, Expr, Function, Span, SqlType, Value, ValueError, typing};

use crate::RelationalError;
use crate::internal_name::internal_name;
use crate::literal::to_literal;
use crate::message::in_sql_types;
use crate::operation_text;
use crate::sql_field::{field_type, typed_field};

/// One operation of the expression language, its operands apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// A constant that DataFusion would read otherwise.
    Literal(Value, SqlType),
    /// A parameter without a value.
    Param(usize),
    /// A subquery that has not run, by number, and its type.
    Subquery(usize, SqlType),
    /// The value of a subquery that has run.
    Computed(Value, SqlType),
    /// Two operands.
    Compare(CompareOp),
    /// The first `n` operands with the others.
    RowCompare(CompareOp, usize),
    /// Operand, low, high.
    Between { negated: bool },
    /// Operand, then the list.
    InList { negated: bool },
    /// `width` operands, then rows of as many.
    RowInList { width: usize, negated: bool },
    /// Text and pattern.
    Like { escape: Option<char>, ignore_case: bool, negated: bool },
    /// Text and regular expression.
    Regexp { ignore_case: bool, negated: bool },
    /// Two operands.
    Arith(ArithOp),
    /// Unary minus.
    Negate,
    /// `CAST`.
    Cast(SqlType),
    /// [operand], condition and result by turns, [else].
    Case { operand: bool, otherwise: bool },
    /// A function of the language.
    Call(Function),
    /// The operand itself, of a type that its Arrow type says.
    Plain,
    /// A row of its operands before or in a subquery; it is taken apart where it is compared.
    Row,
}

impl Operation {
    /// The expression, by the typing rules.
    ///
    /// # Errors
    /// What the rules refuse.
    pub(crate) fn build(&self, args: Vec<Expr>) -> std::result::Result<Expr, ValueError> {
        let few = || ValueError::BadArgument(format!("{self:?} with {} operands", args.len()));
        let mut args_in_order = args.clone().into_iter();
        let mut next = || args_in_order.next().ok_or_else(few);
        match self {
            Self::Literal(value, ty) => Ok(Expr::Literal(value.clone(), *ty)),
            Self::Param(index) => Ok(Expr::Param(*index, None)),
            Self::Subquery(number, ty) => Ok(Expr::Subquery(*number, *ty)),
            Self::Computed(value, ty) => Ok(typing::computed(value.clone(), *ty)),
            Self::Compare(op) => typing::compare(*op, next()?, next()?),
            Self::RowCompare(op, width) => {
                let (left, right) = args.split_at_checked(*width).ok_or_else(few)?;
                typing::row_compare(*op, left.to_vec(), right.to_vec())
            }
            Self::Between { negated } => typing::between(next()?, next()?, next()?, *negated),
            Self::InList { negated } => typing::in_list(next()?, args_in_order.collect(), *negated),
            Self::RowInList { width, negated } => {
                let (left, rows) = args.split_at_checked(*width).ok_or_else(few)?;
                typing::row_in_list(
                    left.to_vec(),
                    rows.chunks((*width).max(1)).map(<[Expr]>::to_vec).collect(),
                    *negated,
                )
            }
            Self::Like { escape, ignore_case, negated } => {
                typing::like(next()?, next()?, *escape, *ignore_case, *negated)
            }
            Self::Regexp { ignore_case, negated } => typing::regexp(next()?, next()?, *ignore_case, *negated),
            Self::Arith(op) => typing::arith(*op, next()?, next()?),
            Self::Negate => typing::negate(next()?),
            Self::Cast(ty) => typing::cast(next()?, *ty),
            Self::Case { operand, otherwise } => {
                let operand = operand.then(&mut next).transpose()?;
                let mut rest: Vec<Expr> = args_in_order.collect();
                let otherwise = if *otherwise { rest.pop() } else { None };
                let mut rest = rest.into_iter();
                let mut whens = Vec::new();
                while let (Some(when), Some(then)) = (rest.next(), rest.next()) {
                    whens.push((when, then));
                }
                typing::case(operand, whens, otherwise)
            }
            Self::Call(function) => typing::call(*function, args),
            Self::Plain => next(),
            Self::Row => Err(ValueError::BadArgument("a row value stands where one value is wanted".into())),
        }
    }

    /// Whether the value is a truth value, whatever the operands are.
    fn is_condition(&self) -> bool {
        matches!(
            self,
            Self::Compare(_)
                | Self::RowCompare(..)
                | Self::Between { .. }
                | Self::InList { .. }
                | Self::RowInList { .. }
                | Self::Like { .. }
                | Self::Regexp { .. }
        )
    }

    /// The same operation of DataFusion's, for operands of types that SQL lacks (lists, intervals).
    pub(crate) fn native(&self, args: Vec<PlanExpr>) -> Option<PlanExpr> {
        let boxed = Box::new;
        let mut operands = args.clone().into_iter();
        Some(match self {
            Self::Compare(op) => binary(operands.next()?, compare_operator(*op), operands.next()?),
            Self::Arith(op) => binary(operands.next()?, arith_operator(*op), operands.next()?),
            Self::Call(function) if *function == Function::CONCAT => {
                let first = operands.next()?;
                operands.fold(first, |joined, part| binary(joined, Operator::StringConcat, part))
            }
            Self::Negate => PlanExpr::Negative(boxed(operands.next()?)),
            Self::Between { negated } => {
                let (value, low, high) = (operands.next()?, operands.next()?, operands.next()?);
                PlanExpr::Between(Between::new(boxed(value), *negated, boxed(low), boxed(high)))
            }
            Self::InList { negated } => {
                PlanExpr::InList(InList::new(boxed(operands.next()?), operands.collect(), *negated))
            }
            Self::Like { escape, ignore_case, negated } => {
                let (text, pattern) = (operands.next()?, operands.next()?);
                PlanExpr::Like(Like::new(*negated, boxed(text), boxed(pattern), *escape, *ignore_case))
            }
            Self::Cast(ty) => {
                let field = Arc::new(typed_field("", *ty, true));
                PlanExpr::Cast(Cast::new_from_field(boxed(operands.next()?), field))
            }
            Self::Case { operand, otherwise } => {
                let operand = if *operand { Some(boxed(operands.next()?)) } else { None };
                let mut rest: Vec<PlanExpr> = operands.collect();
                let otherwise = if *otherwise { rest.pop().map(Box::new) } else { None };
                let mut rest = rest.into_iter();
                let mut whens = Vec::new();
                while let (Some(when), Some(then)) = (rest.next(), rest.next()) {
                    whens.push((boxed(when), boxed(then)));
                }
                PlanExpr::Case(Case::new(operand, whens, otherwise))
            }
            Self::Call(function) if *function == Function::COALESCE => datafusion::functions::expr_fn::coalesce(args),
            Self::Call(function) if function.name == "NULLIF" => {
                datafusion::functions::expr_fn::nullif(operands.next()?, operands.next()?)
            }
            Self::Call(function) if function.name == "DATE_TRUNC" => {
                datafusion::functions::expr_fn::date_trunc(operands.next()?, operands.next()?)
            }
            Self::Call(function) if let Evaluation::Field(field) = function.evaluation => {
                let name = datafusion::prelude::lit(field.name());
                datafusion::functions::expr_fn::date_part(name, operands.next()?)
            }
            Self::Call(function) if function.name == "REVERSE" => {
                datafusion::functions_nested::expr_fn::array_reverse(operands.next()?)
            }
            Self::Call(function) if function.name == "LENGTH" => {
                datafusion::functions_nested::expr_fn::cardinality(operands.next()?)
            }
            Self::Plain => operands.next()?,
            _ => return None,
        })
    }

    /// The type that [`Operation::native`] has.
    fn native_type(&self, types: &[DataType]) -> Option<DataType> {
        let first_known = |list: &[DataType]| list.iter().find(|ty| **ty != DataType::Null).cloned();
        match self {
            _ if self.is_condition() => Some(DataType::Boolean),
            Self::Arith(op) => {
                BinaryTypeCoercer::new(types.first()?, &arith_operator(*op), types.get(1)?).get_result_type().ok()
            }
            Self::Call(function) if *function == Function::CONCAT => {
                BinaryTypeCoercer::new(types.first()?, &Operator::StringConcat, types.get(1)?).get_result_type().ok()
            }
            Self::Call(function) if *function == Function::COALESCE => {
                let mut types = types.iter().filter(|ty| **ty != DataType::Null);
                let first = types.next()?.clone();
                types.try_fold(first, |common, ty| comparison_coercion(&common, ty))
            }
            Self::Call(function) if function.name == "LENGTH" => Some(DataType::UInt64),
            Self::Call(function) if function.name == "DATE_TRUNC" => types.get(1).cloned(),
            Self::Call(function) if matches!(function.evaluation, Evaluation::Field(_)) => Some(DataType::Int32),
            Self::Negate | Self::Plain | Self::Call(_) => types.first().cloned(),
            Self::Case { operand, otherwise } => {
                let conditions = types.get(usize::from(*operand)..)?;
                let results: Vec<DataType> = conditions.chunks(2).filter_map(|pair| pair.get(1).cloned()).collect();
                let otherwise = if *otherwise { types.last() } else { None };
                first_known(&results).or_else(|| otherwise.cloned())
            }
            _ => None,
        }
    }
}

fn binary(left: PlanExpr, op: Operator, right: PlanExpr) -> PlanExpr {
    PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

/// DataFusion's operator of a comparison.
pub(crate) fn compare_operator(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::NotEq => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::LtEq => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::GtEq => Operator::GtEq,
        CompareOp::Distinct => Operator::IsDistinctFrom,
        CompareOp::NotDistinct => Operator::IsNotDistinctFrom,
    }
}

/// The comparison that DataFusion's operator is.
pub(crate) fn compare_op(op: Operator) -> Option<CompareOp> {
    Some(match op {
        Operator::Eq => CompareOp::Eq,
        Operator::NotEq => CompareOp::NotEq,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::LtEq,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::GtEq,
        Operator::IsDistinctFrom => CompareOp::Distinct,
        Operator::IsNotDistinctFrom => CompareOp::NotDistinct,
        _ => return None,
    })
}

fn arith_operator(op: ArithOp) -> Operator {
    match op {
        ArithOp::Add => Operator::Plus,
        ArithOp::Sub => Operator::Minus,
        ArithOp::Mul => Operator::Multiply,
        ArithOp::Div => Operator::Divide,
        ArithOp::Rem => Operator::Modulo,
    }
}

/// The operations of one statement, each once, by the names under which the statement's tree calls them.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    by_name: HashMap<String, Arc<ScalarUDF>>,
    names: HashMap<Operation, String>,
}

impl Operations {
    /// The name under which an operation is called: readable, since DataFusion's errors show it.
    pub(crate) fn name(&mut self, operation: Operation, span: Option<Span>) -> String {
        if let Some(name) = self.names.get(&operation) {
            return name.clone();
        }
        let name = internal_name(&format!("{}_{}", operation_text::word(&operation), self.names.len()));
        let function =
            OperationFunction { name: name.clone(), operation: operation.clone(), span, signature: any_arguments() };
        self.by_name.insert(name.clone(), Arc::new(ScalarUDF::new_from_impl(function)));
        self.names.insert(operation, name.clone());
        name
    }

    /// The function of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.by_name.get(name).cloned()
    }
}

/// A signature that takes arguments as they are.
pub(crate) fn any_arguments() -> Signature {
    Signature::user_defined(Volatility::Immutable)
}

/// An operation not yet merged with its neighbours: planned, never run.
#[derive(Clone, Debug)]
pub(crate) struct OperationFunction {
    name: String,
    operation: Operation,
    /// Where it stands first. Not part of equality.
    span: Option<Span>,
    signature: Signature,
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
                None => operand(field),
            })
            .collect();
        let Some(operands) = operands else {
            let types: Vec<DataType> = args.arg_fields.iter().map(|f| f.data_type().clone()).collect();
            let ty = self.operation.native_type(&types).ok_or_else(|| self.refusal(&types))?;
            return Ok(Arc::new(Field::new(&self.name, ty, true)));
        };
        let built = self.operation.build(operands).map_err(|error| RelationalError::from(error).at(self.span))?;
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
    /// Whether a call has operands that its operation takes, as far as DataFusion is to run it.
    pub(crate) fn check_operands(call: &ScalarFunction, schema: &DFSchema) -> Result<()> {
        let Some(function) = call.func.inner().downcast_ref::<OperationFunction>() else { return Ok(()) };
        if !function.operation.is_condition() {
            return Ok(());
        }
        let fields = call.args.iter().map(|arg| Ok(arg.to_field(schema)?.1)).collect::<Result<Vec<_>>>()?;
        function.check_native_comparison(&fields)
    }

    /// Whether DataFusion compares the operands where SQL has no type for one of them.
    fn check_native_comparison(&self, fields: &[FieldRef]) -> Result<()> {
        if fields.iter().all(|field| field_type(field).is_some()) {
            return Ok(());
        }
        let Some((value, others)) = fields.split_first() else { return Ok(()) };
        let compares = |other: &FieldRef| comparison_coercion(value.data_type(), other.data_type()).is_some();
        match self.operation {
            Operation::Compare(_) | Operation::Between { .. } | Operation::InList { .. } => {
                match others.iter().find(|other| !compares(other)) {
                    None => Ok(()),
                    Some(other) => Err(self.refusal(&[value.data_type().clone(), other.data_type().clone()])),
                }
            }
            _ => Ok(()),
        }
    }

    /// The error of operands that the operation does not take.
    fn refusal(&self, types: &[DataType]) -> DataFusionError {
        let names: Vec<String> = types.iter().map(|ty| in_sql_types(&ty.to_string())).collect();
        let text = match &self.operation {
            Operation::Compare(_) | Operation::Between { .. } | Operation::InList { .. } => {
                format!("{} do not compare", names.join(" and "))
            }
            operation => format!("{}: these types do not meet", operation_text::text(operation, &names)),
        };
        let error = RelationalError::from(ValueError::TypeMismatch(text)).at(self.span);
        let has_interval = types.iter().any(|ty| matches!(ty, DataType::Interval(_)));
        match has_interval && matches!(self.operation, Operation::Arith(_)) {
            true => error.help("write the length out: INTERVAL '3 days'; an interval is added to an instant").into(),
            false => error.into(),
        }
    }
}

fn named_by_place((place, field): (usize, &FieldRef)) -> FieldRef {
    Arc::new(field.as_ref().clone().with_name(format!("c{place}")))
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

/// An operand of which only the type is known.
fn operand(field: &Field) -> Option<Expr> {
    let ty = field_type(field)?;
    Some(Expr::Column(ColumnRef {
        index: 0,
        name: operation_text::shown(field.name()),
        ty,
        nullable: field.is_nullable(),
        span: None,
    }))
}
