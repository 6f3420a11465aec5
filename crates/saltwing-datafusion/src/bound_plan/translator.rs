//! Expressions of ours as DataFusion's.
//!
//! An expression of the language becomes one function of its columns ([`ExprFunction`]), which DataFusion does not look into. A call that
//! only the engine computes is DataFusion's own, and an argument of that function where it stands inside. What a CASE, an AND or an OR
//! does not choose must not be computed: with such a call in it, it becomes DataFusion's, too.

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::{
    AggregateFunction, Case, InList, NullTreatment, ScalarFunction, Sort as SortExpr, TryCast,
};
use datafusion::logical_expr::{BinaryExpr, Cast, Expr as PlanExpr, Operator};
use saltwing_bind::{EngineAggregate, SortKey};
use saltwing_types::{BitOperator, ColumnRef, EngineOperation, Expr, SortOrder, SqlType};

use super::Result;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::literal::to_scalar;
use crate::expression::operator::compare_operator;
use crate::expression::order_form::order_form;
use crate::expression::sql_field::typed_field;
use crate::expression::translation::balanced;
use crate::function::table_functions::constant_argument;
use crate::{RelationalError, RelationalErrorKind};

/// Translates expressions whose columns are those that `column` gives.
#[derive(Clone, Copy)]
pub(crate) struct Translator<'a> {
    pub(crate) functions: &'a Arc<SessionState>,
    pub(crate) column: &'a dyn Fn(&ColumnRef) -> Result<PlanExpr>,
}

impl Translator<'_> {
    /// An expression of DataFusion's with the same value.
    ///
    /// # Errors
    /// A column or a function that is not there: a broken invariant.
    pub(crate) fn expr(&self, expr: &Expr) -> Result<PlanExpr> {
        match expr {
            Expr::Column(column) => (self.column)(column),
            Expr::Engine(call) => self.operation(&call.operation, &call.args),
            other if other.is_of_engine() => self.with_engine_calls(other),
            other => self.function(other),
        }
    }

    fn all(&self, exprs: &[Expr]) -> Result<Vec<PlanExpr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// An expression with a call of the engine in it, or a value whose type SQL lacks.
    fn with_engine_calls(&self, expr: &Expr) -> Result<PlanExpr> {
        let is_opaque = |expr: &Expr| expr.sql_type() == Some(SqlType::Opaque);
        let boxed = |expr: &Expr| self.expr(expr).map(Box::new);
        let chain = |list: &[Expr], op| {
            balanced(self.all(list)?, op).ok_or_else(|| RelationalError::bug("AND or OR of nothing"))
        };
        Ok(match expr {
            Expr::And(list) => chain(list, Operator::And)?,
            Expr::Or(list) => chain(list, Operator::Or)?,
            Expr::Case { whens, otherwise, .. } => {
                let whens = whens.iter().map(|(when, then)| Ok((boxed(when)?, boxed(then)?))).collect::<Result<_>>()?;
                let otherwise = otherwise.as_deref().map(boxed).transpose()?;
                PlanExpr::Case(Case::new(None, whens, otherwise))
            }
            Expr::IsNull(inner) if is_opaque(inner) => PlanExpr::IsNull(boxed(inner)?),
            Expr::Compare(op, a, b) if is_opaque(a) || is_opaque(b) => {
                PlanExpr::BinaryExpr(BinaryExpr::new(boxed(a)?, compare_operator(*op), boxed(b)?))
            }
            Expr::InList(value, list) if is_opaque(value) || list.iter().any(is_opaque) => {
                PlanExpr::InList(InList::new(boxed(value)?, self.all(list)?, false))
            }
            other if is_opaque(other) || is_over_opaque(other) => {
                let text = format!("{other}: there is no such operation on lists, structs and intervals");
                return Err(RelationalErrorKind::TypeMismatch(text).into());
            }
            other => return self.function(other),
        })
    }

    /// An expression as one function of its columns, and of the engine's calls in it.
    fn function(&self, expr: &Expr) -> Result<PlanExpr> {
        let (mut own, mut args) = (expr.clone(), Vec::new());
        self.place(&mut own, &mut args)?;
        Ok(ExprFunction::call(own, args))
    }

    /// Puts arguments in the place of columns and of what DataFusion computes.
    fn place(&self, expr: &mut Expr, args: &mut Vec<PlanExpr>) -> Result<()> {
        let is_of_datafusion = match &*expr {
            Expr::Engine(_) => true,
            Expr::And(_) | Expr::Or(_) | Expr::Case { .. } => expr.is_of_engine(),
            other => other.sql_type() == Some(SqlType::Opaque) || is_over_opaque(other),
        };
        let value = match &mut *expr {
            Expr::Column(column) => (self.column)(column)?,
            other if is_of_datafusion => self.expr(other)?,
            other => {
                let mut placed = Ok(());
                other.for_each_child_mut(&mut |child| {
                    if placed.is_ok() {
                        placed = self.place(child, args);
                    }
                });
                return placed;
            }
        };
        // Two calls of random() are two values.
        let known = if value.is_volatile() { None } else { args.iter().position(|known| *known == value) };
        let index = known.unwrap_or_else(|| {
            args.push(value);
            args.len() - 1
        });
        match expr {
            Expr::Column(column) => column.index = index,
            other => {
                let ty = other.sql_type().unwrap_or(SqlType::Null);
                *other = argument(index, other.to_string(), ty, other.is_nullable());
            }
        }
        Ok(())
    }

    /// The value as DataFusion has it: what it reads while it plans is a literal.
    pub(crate) fn argument(&self, expr: &Expr) -> Result<PlanExpr> {
        match expr {
            Expr::Literal(value, ty) => Ok(PlanExpr::Literal(to_scalar(value, *ty)?, None)),
            other => self.expr(other),
        }
    }

    /// The arguments of a table function, which DataFusion reads while it plans.
    pub(crate) fn constants(&self, exprs: &[Expr]) -> Result<Vec<PlanExpr>> {
        exprs.iter().map(|expr| constant_argument(expr)?.map_or_else(|| self.expr(expr), Ok)).collect()
    }

    fn arguments(&self, exprs: &[Expr]) -> Result<Vec<PlanExpr>> {
        exprs.iter().map(|expr| self.argument(expr)).collect()
    }

    /// A call of an operation of DataFusion's.
    pub(crate) fn operation(&self, operation: &EngineOperation, args: &[Expr]) -> Result<PlanExpr> {
        let args = self.arguments(args)?;
        let one = |args: Vec<PlanExpr>| {
            let arg = args.into_iter().next().map(Box::new);
            arg.ok_or_else(|| RelationalError::bug("a call has no argument"))
        };
        Ok(match operation {
            EngineOperation::Function(name) => {
                let function = self.functions.scalar_functions().get(name).cloned();
                let function =
                    function.ok_or_else(|| RelationalError::from(RelationalErrorKind::NoSuchFunction(name.clone())))?;
                PlanExpr::ScalarFunction(ScalarFunction::new_udf(function, args))
            }
            EngineOperation::Cast(ty) => {
                PlanExpr::Cast(Cast::new_from_field(one(args)?, Arc::new(typed_field("", *ty, true))))
            }
            EngineOperation::TryCast(ty) => {
                PlanExpr::TryCast(TryCast::new_from_field(one(args)?, Arc::new(typed_field("", *ty, true))))
            }
            EngineOperation::Bits(operator) => {
                let [left, right] = <[PlanExpr; 2]>::try_from(args)
                    .map_err(|_| RelationalError::bug("an operator takes two arguments"))?;
                PlanExpr::BinaryExpr(BinaryExpr::new(Box::new(left), bit_operator(*operator), Box::new(right)))
            }
        })
    }

    /// A call of an aggregate function.
    pub(crate) fn aggregate(&self, call: &EngineAggregate) -> Result<PlanExpr> {
        let function = self.functions.aggregate_functions().get(&call.name).cloned();
        let function = function.ok_or_else(|| RelationalError::bug(format!("there is no aggregate {}", call.name)))?;
        let filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        let nulls = call.ignore_nulls.then_some(NullTreatment::IgnoreNulls);
        let (args, order_by) = (self.arguments(&call.args)?, self.sort_keys(&call.order_by)?);
        Ok(PlanExpr::AggregateFunction(AggregateFunction::new_udf(
            function,
            args,
            call.distinct,
            filter,
            order_by,
            nulls,
        )))
    }

    pub(crate) fn sort_keys(&self, keys: &[SortKey]) -> Result<Vec<SortExpr>> {
        let key = |SortKey { expr, order, nulls_first }: &SortKey| {
            let value = order_form(self.expr(expr)?, expr.sql_type().unwrap_or(SqlType::Null))?;
            Ok(SortExpr::new(value, *order == SortOrder::Asc, *nulls_first))
        };
        keys.iter().map(key).collect()
    }
}

/// Whether an operation has an operand whose type SQL lacks.
fn is_over_opaque(expr: &Expr) -> bool {
    let mut found = false;
    expr.for_each_child(&mut |child| found |= child.sql_type() == Some(SqlType::Opaque));
    found
}

fn bit_operator(operator: BitOperator) -> Operator {
    match operator {
        BitOperator::And => Operator::BitwiseAnd,
        BitOperator::Or => Operator::BitwiseOr,
        BitOperator::Xor => Operator::BitwiseXor,
        BitOperator::ShiftLeft => Operator::BitwiseShiftLeft,
        BitOperator::ShiftRight => Operator::BitwiseShiftRight,
    }
}
