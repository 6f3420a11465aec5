//! Window functions.

use std::sync::Arc;

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction};
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{
    Expr as PlanExpr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition, WindowUDF, cast,
};
use saltwing_bind::{
    Frame, FrameBound, FrameUnits, Relation, WindowCall, WindowColumn, WindowFunction as BoundFunction,
};
use saltwing_expr::arrow_type;
use saltwing_types::{Expr, SqlType, Value};

use super::aggregate::is_extreme_of_char;
use super::frame::of_peers;
use super::{Planner, Result};
use crate::RelationalError;
use crate::expression::literal::to_scalar;
use crate::expression::order_form::{order_form, without_form};
use crate::function::aggregate::over_moving_frame;
use crate::function::frame_without::over_frame_without;
use crate::function::neighbour::Neighbour;

impl Planner<'_> {
    pub(super) fn windowed(&mut self, input: &Relation, calls: &[WindowColumn]) -> Result<LogicalPlan> {
        let input = self.relation(input)?;
        let mut exprs: Vec<PlanExpr> = input.schema().columns().into_iter().map(PlanExpr::Column).collect();
        let schema = input.schema().clone();
        let call_of = |call: &WindowColumn| {
            let plan = of_peers(self.window_call(&call.call)?, &schema)?;
            match call.call.frame.excluded {
                None => Ok(over_moving_frame(plan)),
                Some(rows) => Ok(over_frame_without(rows, plan, &schema)?),
            }
        };
        let calls_of = calls.iter().map(call_of).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlanBuilder::window_plan(input, calls_of.clone())?;
        for (WindowColumn { column, call: bound }, call) in calls.iter().zip(calls_of) {
            let given = PlanExpr::Column(Column::from_name(call.schema_name().to_string()));
            if let BoundFunction::Aggregate(function) = bound.function
                && is_extreme_of_char(function, column.ty)
            {
                let value = without_form(given, column.ty)?;
                exprs.push(self.named(value, column));
                continue;
            }
            // Ranks are BIGINT, but not as our columns are.
            let given = match column.ty == SqlType::Opaque || call.get_type(plan.schema())? == arrow_type(column.ty) {
                true => given,
                false => cast(given, arrow_type(column.ty)),
            };
            exprs.push(self.named(given, column));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    fn window_call(&self, call: &WindowCall) -> Result<PlanExpr> {
        let name = call.function.name().to_lowercase();
        let exprs = |list: &[Expr]| list.iter().map(|expr| self.expr(expr)).collect::<Result<Vec<_>>>();
        if let (BoundFunction::Lag | BoundFunction::Lead, [_, distance]) = (&call.function, call.arguments.as_slice())
            && !matches!(distance, Expr::Literal(..))
        {
            let neighbour = Neighbour::new(call.function == BoundFunction::Lead);
            let definition = WindowFunctionDefinition::WindowUDF(Arc::new(WindowUDF::from(neighbour)));
            return self.call_over(call, definition, exprs(&call.arguments)?);
        }
        let args = match (&call.function, call.arguments.as_slice()) {
            (BoundFunction::Aggregate(_), []) => vec![PlanExpr::Literal(COUNT_STAR_EXPANSION, None)],
            (BoundFunction::Engine(_), args) => {
                self.translated(|translator| args.iter().map(|arg| translator.argument(arg)).collect())?
            }
            (BoundFunction::Ntile, [count]) => vec![literal(count)?],
            (BoundFunction::Aggregate(function), [value]) if is_extreme_of_char(*function, call.ty) => {
                vec![order_form(self.expr(value)?, call.ty)?]
            }
            (_, [value, offset @ ..]) => {
                let mut args = vec![self.expr(value)?];
                // DataFusion reads them while it plans.
                for offset in offset {
                    args.push(literal(offset)?);
                }
                args
            }
            (_, []) => Vec::new(),
        };
        let definition = match (&call.function, self.functions.window_functions().get(&name)) {
            (BoundFunction::Aggregate(_) | BoundFunction::Engine(_), _) | (_, None) => {
                WindowFunctionDefinition::AggregateUDF(self.aggregate_function(&name)?)
            }
            (_, Some(function)) => WindowFunctionDefinition::WindowUDF(function.clone()),
        };
        self.call_over(call, definition, args)
    }

    /// A function with these arguments over the window of a call.
    fn call_over(
        &self,
        call: &WindowCall,
        definition: WindowFunctionDefinition,
        args: Vec<PlanExpr>,
    ) -> Result<PlanExpr> {
        let exprs = |list: &[Expr]| list.iter().map(|expr| self.expr(expr)).collect::<Result<Vec<_>>>();
        let mut function = WindowFunction::new(definition, args);
        let params = &mut function.params;
        params.filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        params.null_treatment = call.ignore_nulls.then_some(NullTreatment::IgnoreNulls);
        params.partition_by = exprs(&call.partition_by)?;
        params.distinct = call.distinct;
        params.order_by = self.translated(|translator| translator.sort_keys(&call.order_by))?;
        params.window_frame = frame(&call.frame)?;
        Ok(PlanExpr::from(function))
    }
}

/// A literal as DataFusion has it.
fn literal(expr: &Expr) -> Result<PlanExpr> {
    match expr {
        Expr::Literal(value, ty) => Ok(PlanExpr::Literal(to_scalar(value, *ty)?, None)),
        other => Err(RelationalError::bug(format!("{other} is no literal"))),
    }
}

/// A frame. DataFusion takes the offsets of RANGE as texts, and gives them the type of what is sorted by.
fn frame(Frame { units, start, end, .. }: &Frame) -> Result<WindowFrame> {
    let offset = |value: &Value| match (units, value) {
        (FrameUnits::Range, Value::Int(offset)) => Ok(ScalarValue::from(offset.to_string())),
        (FrameUnits::Range, Value::Decimal(offset)) => Ok(ScalarValue::from(offset.to_string())),
        (FrameUnits::Range, Value::Interval(offset)) => Ok(ScalarValue::from(offset.to_string())),
        (_, Value::Int(offset)) => Ok(ScalarValue::UInt64(Some(offset.cast_unsigned()))),
        _ => Err(RelationalError::bug("an offset of a frame is no number")),
    };
    let bound = |bound: &FrameBound| {
        Ok::<_, RelationalError>(match bound {
            FrameBound::UnboundedPreceding => WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
            FrameBound::Preceding(value) => WindowFrameBound::Preceding(offset(value)?),
            FrameBound::CurrentRow => WindowFrameBound::CurrentRow,
            FrameBound::Following(value) => WindowFrameBound::Following(offset(value)?),
            FrameBound::UnboundedFollowing => WindowFrameBound::Following(ScalarValue::UInt64(None)),
        })
    };
    let units = match units {
        FrameUnits::Rows => WindowFrameUnits::Rows,
        FrameUnits::Range => WindowFrameUnits::Range,
        FrameUnits::Groups => WindowFrameUnits::Groups,
    };
    Ok(WindowFrame::new_bounds(units, bound(start)?, bound(end)?))
}
