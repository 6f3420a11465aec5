//! UNION, INTERSECT, EXCEPT and recursive queries: the common types of their inputs, and how often equal rows are
//! repeated.

use std::sync::Arc;

use arrow::datatypes::FieldRef;
use datafusion::common::{Column, JoinType, NullEquality, Result, ScalarValue};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    Distinct, Expr as PlanExpr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, Projection, RecursiveQuery,
    Union, cast,
};
use saltwing_expr::arrow_type;
use saltwing_types::{Expr, Function, SqlType, typing};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::literal::to_literal;
use crate::expression::sql_field::field_type;
use crate::function::row_bytes::row_bytes;
use crate::rewrite::label::plain;

/// The number of a row among those that are equal to it, on either side; no statement can write these names.
const LEFT_NUMBER: &str = "\u{1}left_number";
const RIGHT_NUMBER: &str = "\u{1}right_number";
/// A row's values as one.
const ROW: &str = "\u{1}row";

/// The parts of a UNION with each column in one type, as CASE would bring them together.
pub(super) fn brought_together(mut union: Union) -> Result<Union> {
    let mut common = Vec::with_capacity(union.schema.fields().len());
    for place in 0..union.schema.fields().len() {
        let column = |input: &Arc<LogicalPlan>| {
            let field = input.schema().fields().get(place)?;
            if let Some(text) = literal_text(input, place) {
                return Some(text);
            }
            Some(argument(place, plain(field.name()), field_type(field)?, field.is_nullable()))
        };
        let columns: Option<Vec<Expr>> = union.inputs.iter().map(column).collect();
        let together = columns.map(|columns| typing::call(Function::COALESCE, columns)).transpose();
        common.push(together.map_err(RelationalError::from)?.and_then(|together| together.sql_type()));
    }
    for input in &mut union.inputs {
        *input = as_types(input, &common)?;
    }
    // As the planner built it, over the current branches.
    Union::try_new_with_loose_types(union.inputs)
}

/// The literal of a text that a column of a plan is in all rows: it takes the type of what stands beside it.
fn literal_text(plan: &LogicalPlan, place: usize) -> Option<Expr> {
    let LogicalPlan::Projection(projection) = plan else { return None };
    match projection.expr.get(place)?.clone().unalias() {
        PlanExpr::Literal(value @ ScalarValue::Utf8(Some(_)), _) => to_literal(&value),
        PlanExpr::Column(column) => {
            literal_text(&projection.input, projection.input.schema().maybe_index_of_column(&column)?)
        }
        _ => None,
    }
}

/// A plan with its columns as our tables have those of their types: ranks are BIGINT, but not as our columns are.
pub(super) fn as_own_types(plan: &Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    let types: Vec<_> = plan.schema().fields().iter().map(|field| field_type(field)).collect();
    as_types(plan, &types)
}

/// A recursive query whose further rows have the types of the first ones: they are read as such in the next round.
pub(super) fn of_one_type(query: RecursiveQuery) -> Result<RecursiveQuery> {
    let types: Vec<_> = query.static_term.schema().fields().iter().map(|field| field_type(field)).collect();
    let recursive = as_types(&query.recursive_term, &types)?;
    RecursiveQuery::try_new(query.name, query.static_term, recursive, query.is_distinct)
}

/// A plan with its columns cast to these types, as far as SQL has types for both, and as our tables have them.
fn as_types(input: &Arc<LogicalPlan>, wanted: &[Option<SqlType>]) -> Result<Arc<LogicalPlan>> {
    let fits = |(field, wanted): (&FieldRef, &Option<SqlType>)| match (wanted, field_type(field)) {
        (Some(wanted), Some(ty)) => *wanted == ty && *field.data_type() == arrow_type(*wanted),
        _ => true,
    };
    if input.schema().fields().iter().zip(wanted).all(fits) {
        return Ok(input.clone());
    }
    let exprs = input
        .schema()
        .iter()
        .zip(wanted)
        .map(|((qualifier, field), wanted)| {
            let column = PlanExpr::from((qualifier, field));
            match (wanted, field_type(field)) {
                _ if fits((field, wanted)) => Ok(column),
                (Some(wanted), Some(ty)) if *wanted == ty => {
                    let same = cast(column, arrow_type(*wanted));
                    Ok(same.alias_qualified(qualifier.cloned(), field.name()))
                }
                (Some(wanted), Some(ty)) => {
                    let own = argument(0, field.name(), ty, field.is_nullable());
                    let value = typing::cast(own, *wanted).map_err(RelationalError::from)?;
                    let call = ExprFunction::call(value, vec![column]);
                    Ok(call.alias_qualified(qualifier.cloned(), field.name()))
                }
                _ => Ok(column),
            }
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(exprs, input.clone())?)))
}

/// INTERSECT ALL and EXCEPT ALL with counts: the n-th of equal rows on the left meets the n-th on the right.
///
/// DataFusion plans them as semi and anti joins, in which one row on the right meets all that are equal to it.
/// Other joins, and set operations whose left side has each row once, stay as they are.
pub(super) fn with_counts(mut join: Join) -> Result<LogicalPlan> {
    let is_set_operation = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull;
    if !is_set_operation || matches!(*join.left, LogicalPlan::Distinct(Distinct::All(_))) {
        return Ok(LogicalPlan::Join(join));
    }
    let columns: Vec<PlanExpr> = join.left.schema().iter().map(PlanExpr::from).collect();
    join.left = Arc::new(numbered(&join.left, LEFT_NUMBER)?);
    join.right = Arc::new(numbered(&join.right, RIGHT_NUMBER)?);
    let number = |name: &str| PlanExpr::Column(Column::new_unqualified(name));
    join.on.push((number(LEFT_NUMBER), number(RIGHT_NUMBER)));
    let plan = LogicalPlan::Join(join).recompute_schema()?;
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// A plan with the number of each row among those that are equal to it.
fn numbered(plan: &Arc<LogicalPlan>, name: &str) -> Result<LogicalPlan> {
    let columns: Vec<PlanExpr> = plan.schema().iter().map(PlanExpr::from).collect();
    let row = row_bytes(columns.clone()).alias(ROW);
    let with_row = LogicalPlanBuilder::from(plan.clone()).project(columns.iter().cloned().chain([row]))?;
    let row = PlanExpr::Column(Column::new_unqualified(ROW));
    // Any order will do, but a window wants one.
    let number = row_number().partition_by(vec![row.clone()]).order_by(vec![row.sort(true, true)]).build()?;
    let numbered = with_row.window([number])?;
    let number = numbered.schema().columns().pop().map(|column| PlanExpr::Column(column).alias(name));
    numbered.project(columns.into_iter().chain(number))?.build()
}
