//! Calls with DISTINCT as groups: these go to temporary files beyond the memory limit, and the values that a call has seen do not.
//!
//! ```text
//! SELECT g, count(DISTINCT a), count(DISTINCT b), count(*) FROM t GROUP BY g
//!   ──►
//! SELECT g, count(a), count(b), sum(n) FILTER (WHERE it is of the first set)
//! FROM (SELECT g, a, b, count(*) AS n FROM t GROUP BY GROUPING SETS ((g, a), (g, b))) GROUP BY g
//! ```
//!
//! Each row of a set has NULL in the place of the other sets' values, which calls pass over. DataFusion has such a rule for one
//! argument that is a column, without COUNT(*) or FILTER beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Expr as PlanExpr, ExprSchemable, GroupingSet, LogicalPlan, Projection, cast, lit, when,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use saltwing_types::function::aggregate::AggregateFunction as OwnFunction;
use saltwing_types::{SqlType, typing};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument as own_argument};

/// The rule.
#[derive(Debug)]
pub(super) struct DistinctCalls;

impl OptimizerRule for DistinctCalls {
    fn name(&self) -> &str {
        "saltwing_distinct_calls"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match &plan {
            LogicalPlan::Aggregate(aggregate) => match Parts::of(aggregate)? {
                Some(parts) => parts.as_groups(aggregate).map(Transformed::yes),
                None => Ok(Transformed::no(plan)),
            },
            _ => Ok(Transformed::no(plan)),
        }
    }
}

/// The parts of an aggregate that becomes groups.
#[derive(Default)]
struct Parts {
    /// The different arguments of calls with DISTINCT.
    arguments: Vec<PlanExpr>,
    calls: Vec<Call>,
}

enum Call {
    /// The function, and the place of its argument.
    Distinct(Arc<AggregateUDF>, usize),
    /// A call of all values: over the rows of a group, and the function that puts the groups' results together.
    Plain { partial: AggregateFunction, together: Arc<AggregateUDF>, result: PlainResult },
}

/// The result of a call of all values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainResult {
    /// As it is.
    Same,
    /// The sum of no counts is NULL.
    Count,
    /// It was summed up as [`WIDE_SUM`]: sums of parts may be beyond BIGINT where the whole one is not.
    Integer,
}

/// The type that holds sums of any number of integers, and its SQL type.
const WIDE_SUM: (DataType, SqlType) = (DataType::Decimal128(38, 0), SqlType::Decimal(Some((38, 0))));

/// Names that no statement can write.
fn group(place: usize) -> String {
    format!("\u{1}group_{place}")
}

fn argument(place: usize) -> String {
    format!("\u{1}argument_{place}")
}

fn partial(place: usize) -> String {
    format!("\u{1}partial_{place}")
}

fn column(name: String) -> PlanExpr {
    PlanExpr::Column(Column::new_unqualified(name))
}

impl Parts {
    /// `None` for an aggregate without DISTINCT, and for one with calls that cannot be put together from parts.
    fn of(aggregate: &Aggregate) -> Result<Option<Self>> {
        let columns = aggregate.group_expr.len() + aggregate.aggr_expr.len();
        let has_sets = aggregate.group_expr.iter().any(|expr| matches!(expr, PlanExpr::GroupingSet(_)));
        if has_sets || columns != aggregate.schema.fields().len() {
            return Ok(None);
        }
        let mut parts = Self::default();
        for expr in &aggregate.aggr_expr {
            let PlanExpr::AggregateFunction(call) = expr.clone().unalias() else { return Ok(None) };
            let Some(call) = parts.call(call, aggregate.input.schema())? else { return Ok(None) };
            parts.calls.push(call);
        }
        // The number of a set has a bit for each column.
        let fits = aggregate.group_expr.len() + parts.arguments.len() <= 64;
        Ok((fits && !parts.arguments.is_empty()).then_some(parts))
    }

    fn call(&mut self, call: AggregateFunction, schema: &DFSchema) -> Result<Option<Call>> {
        let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = &call.params;
        if !order_by.is_empty() || null_treatment.is_some() {
            return Ok(None);
        }
        let [value] = args.as_slice() else { return Ok(None) };
        match OwnFunction::by_name(call.func.name()) {
            _ if !distinct => return plain_call(call, schema),
            Some(OwnFunction::Min | OwnFunction::Max) => return plain_call(call, schema),
            Some(OwnFunction::Count | OwnFunction::Sum | OwnFunction::Avg) => {}
            Some(OwnFunction::WrappingSum) | None => return Ok(None),
        }
        if !is_grouped_as_compared(&value.get_type(schema)?) {
            return Ok(None);
        }
        // What does not count is not computed: it may fail.
        let value = match filter {
            Some(filter) => when(filter.as_ref().clone(), value.clone()).end()?,
            None => value.clone(),
        };
        let place = self.arguments.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.arguments.push(value);
            self.arguments.len() - 1
        });
        Ok(Some(Call::Distinct(call.func, place)))
    }

    fn as_groups(&self, aggregate: &Aggregate) -> Result<LogicalPlan> {
        let groups: Vec<PlanExpr> = (0..aggregate.group_expr.len()).map(|place| column(group(place))).collect();
        let inner = self.inner(aggregate, &groups)?;
        let outer = Aggregate::try_new(Arc::new(inner), groups, self.outer_calls(aggregate.group_expr.len()))?;
        // Under the names that they had.
        let results = outer.schema.columns().into_iter().zip(aggregate.schema.iter()).enumerate();
        let results = results.map(|(place, (result, (qualifier, field)))| {
            let result = PlanExpr::Column(result);
            let call = place.checked_sub(aggregate.group_expr.len()).and_then(|place| self.calls.get(place));
            let result = match call {
                Some(Call::Plain { result: PlainResult::Count, .. }) => {
                    when(result.clone().is_null(), lit(0_i64)).otherwise(result)?
                }
                Some(Call::Plain { result: PlainResult::Integer, .. }) => as_integer(result, field.name())?,
                _ => result,
            };
            Ok(result.alias_qualified(qualifier.cloned(), field.name()))
        });
        let results = results.collect::<Result<Vec<_>>>()?;
        Ok(LogicalPlan::Projection(Projection::try_new(results, Arc::new(LogicalPlan::Aggregate(outer)))?))
    }

    /// The different values of each argument in each group.
    fn inner(&self, aggregate: &Aggregate, groups: &[PlanExpr]) -> Result<LogicalPlan> {
        let named = |exprs: &[PlanExpr], name: fn(usize) -> String| -> Vec<PlanExpr> {
            exprs.iter().enumerate().map(|(place, expr)| expr.clone().unalias().alias(name(place))).collect()
        };
        let mut computed = named(&aggregate.group_expr, group);
        computed.extend(named(&self.arguments, argument));
        let plain = self.calls.iter().enumerate().filter_map(|(place, call)| match call {
            Call::Plain { partial, .. } => Some((place, PlanExpr::AggregateFunction(partial.clone()))),
            Call::Distinct(..) => None,
        });
        let mut read: BTreeSet<Column> = BTreeSet::new();
        let mut partials = Vec::new();
        for (place, call) in plain {
            read.extend(call.column_refs().into_iter().cloned());
            partials.push(call.alias(partial(place)));
        }
        computed.extend(read.into_iter().map(PlanExpr::Column));
        let input = LogicalPlan::Projection(Projection::try_new(computed, aggregate.input.clone())?);
        let set = |place| groups.iter().cloned().chain([column(argument(place))]).collect::<Vec<_>>();
        let by = match self.arguments.len() {
            1 => set(0),
            count => vec![PlanExpr::GroupingSet(GroupingSet::GroupingSets((0..count).map(set).collect()))],
        };
        Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), by, partials)?))
    }

    /// The calls over the groups of [`Parts::inner`].
    fn outer_calls(&self, groups: usize) -> Vec<PlanExpr> {
        let calls = self.calls.iter().enumerate().map(|(place, call)| {
            let (function, argument, filter) = match call {
                Call::Distinct(function, place) => (function.clone(), argument(*place), None),
                Call::Plain { together, .. } => (together.clone(), partial(place), self.is_of_first_set(groups)),
            };
            let args = vec![column(argument)];
            let call = AggregateFunction::new_udf(function, args, false, filter.map(Box::new), Vec::new(), None);
            PlanExpr::AggregateFunction(call).alias(format!("\u{1}result_{place}"))
        });
        calls.collect()
    }

    /// Whether a row is of the first set; `None` if there is one set. Each set has all rows of the input.
    fn is_of_first_set(&self, groups: usize) -> Option<PlanExpr> {
        let others = self.arguments.len() - 1;
        // A bit for each column that is none of the set's, the last one's lowest.
        let id = (1_u64 << others) - 1;
        let ty = Aggregate::grouping_id_type(groups + self.arguments.len(), 0);
        let id = ScalarValue::UInt64(Some(id)).cast_to(&ty).ok().filter(|_| others > 0)?;
        Some(column(Aggregate::INTERNAL_GROUPING_ID.to_owned()).eq(lit(id)))
    }
}

/// A call of all values, if its results can be put together.
fn plain_call(mut call: AggregateFunction, schema: &DFSchema) -> Result<Option<Call>> {
    let (together, result) = match OwnFunction::by_name(call.func.name()) {
        Some(OwnFunction::Count) => (sum_udaf(), PlainResult::Count),
        Some(OwnFunction::Sum) if PlanExpr::AggregateFunction(call.clone()).get_type(schema)?.is_integer() => {
            call.func = sum_udaf();
            call.params.args = call.params.args.into_iter().map(|arg| cast(arg, WIDE_SUM.0)).collect();
            (sum_udaf(), PlainResult::Integer)
        }
        Some(OwnFunction::Sum | OwnFunction::Min | OwnFunction::Max | OwnFunction::WrappingSum) => {
            (call.func.clone(), PlainResult::Same)
        }
        Some(OwnFunction::Avg) | None => return Ok(None),
    };
    Ok(Some(Call::Plain { partial: call, together, result }))
}

/// A sum as the BIGINT that SUM of integers is.
fn as_integer(sum: PlanExpr, name: &str) -> Result<PlanExpr> {
    let wide = own_argument(0, name, WIDE_SUM.1, true);
    Ok(ExprFunction::call(typing::cast(wide, SqlType::BigInt).map_err(RelationalError::from)?, vec![sum]))
}

/// Whether values are in one group where they are equal for a call.
fn is_grouped_as_compared(ty: &DataType) -> bool {
    ty.is_integer()
        || ty.is_decimal()
        || ty.is_string()
        || ty.is_binary()
        || matches!(ty, DataType::Boolean | DataType::Timestamp(..))
}
