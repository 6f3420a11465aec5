//! The logical plan of a bound query.
//!
//! Each relation of the tree becomes a node, and nothing is resolved or coerced: an operation of our language becomes an
//! [`ExprFunction`], which DataFusion does not look into. Columns are found by their ids. In the plan they have the names that
//! the statement gives them, made unique, for EXPLAIN.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::{
    Column, DFSchemaRef, JoinConstraint, JoinType, NullEquality, ScalarValue, Spans, TableReference,
};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::{
    AggregateFunction, Exists, InSubquery, NullTreatment, SetComparison, SetQuantifier, Sort as SortExpr,
    WindowFunction,
};
use datafusion::logical_expr::utils::COUNT_STAR_EXPANSION;
use datafusion::logical_expr::{
    BinaryExpr, Distinct, DistinctOn, Expr as PlanExpr, ExprSchemable, GroupingSet, Join, LogicalPlan,
    LogicalPlanBuilder, Operator, Sort, Subquery, Union, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition, cast,
};
use saltwing_bind::{
    BoundQuery, CallColumn, ComputedColumn, ExternalSource, Frame, FrameBound, FrameUnits, GroupingColumn,
    GroupingSets, JoinKind, Output, Relation, RowCount, Scan, SetInput, SetOperator, SortItem, SubqueryColumn,
    SubqueryKind, WindowCall, WindowColumn, WindowFunction as BoundFunction, WindowOrder, group_columns,
};
use saltwing_catalog::CatalogReader;
use saltwing_expr::arrow_type;
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, Expr, SortOrder, Value};

use crate::RelationalError;
use crate::expression::expr_function::{ExprFunction, argument};
use crate::expression::internal_name::field_name;
use crate::expression::literal::to_scalar;
use crate::expression::operation::compare_operator;
use crate::expression::operation_function::row;
use crate::expression::sql_field::field_type;
use crate::expression::translation::balanced;
use crate::physical::shared::SharedRows;
use crate::scan::arrow_table::batches_as_table;
use crate::scan::information_schema;
use crate::scan::scan_request::{QueryContext, TableUse};
use crate::scan::table_source::TableSource;

/// What the qualifier of a computed column begins with; no statement can write it.
const COMPUTED: &str = "__saltwing_computed_";

/// The function that tells which keys a row of a grouping set is grouped by.
const GROUPING: &str = "grouping";

type Result<T> = std::result::Result<T, RelationalError>;

/// Whether a LIMIT or OFFSET of a query has no value yet. Its plan has no node for such a one.
pub(crate) fn is_limit_open(query: &BoundQuery) -> bool {
    let mut is_open = false;
    query.relation.for_each(&mut |relation| {
        if let Relation::Limit { limit, offset, .. } = relation {
            is_open |= limit.is_open() || offset.is_open();
        }
    });
    is_open
}

/// The logical plan of a query: its columns are those of the output, in order.
///
/// # Errors
/// DataFusion's; a broken invariant of the tree.
pub(crate) fn logical_plan(
    query: &BoundQuery,
    reading: &Arc<QueryContext>,
    functions: &Arc<SessionState>,
    catalog: &dyn CatalogReader,
) -> Result<LogicalPlan> {
    let mut planner = Planner {
        catalog,
        reading,
        functions,
        columns: HashMap::new(),
        tables: HashSet::new(),
        names: HashSet::new(),
        shared: HashMap::new(),
        work_tables: HashMap::new(),
        subqueries: HashMap::new(),
        outer: Vec::new(),
    };
    let plan = planner.relation(&query.relation)?;
    planner.put_out(plan, &query.output)
}

struct Planner<'a> {
    catalog: &'a dyn CatalogReader,
    reading: &'a Arc<QueryContext>,
    functions: &'a Arc<SessionState>,
    /// The plan's column of each column by id.
    columns: HashMap<usize, Column>,
    /// The names of tables and computed columns that are taken.
    tables: HashSet<String>,
    names: HashSet<String>,
    /// The rows of volatile queries of a WITH clause, by number.
    shared: HashMap<usize, SharedRows>,
    /// The work tables of recursive queries, by number.
    work_tables: HashMap<usize, Arc<CteWorkTable>>,
    /// The values of subqueries that are no columns of the plan yet, by the ids of their columns.
    subqueries: HashMap<usize, PlanExpr>,
    /// The columns of the queries around the one that is planned.
    outer: Vec<DFSchemaRef>,
}

impl Planner<'_> {
    fn relation(&mut self, relation: &Relation) -> Result<LogicalPlan> {
        match relation {
            Relation::Scan(scan) => self.scan(scan),
            Relation::External { source, alias, columns } => self.external(source, alias.as_deref(), columns),
            Relation::Values { rows, columns } => self.values(rows, columns),
            Relation::SetOperation { operator, inputs, columns } => self.set_operation(*operator, inputs, columns),
            Relation::Recursive { number, name, first, next, distinct, columns } => {
                let first = self.set_input(first, columns, 0)?;
                let name = unique(&mut self.tables, name, *number);
                let nullable = |field: &FieldRef| Field::clone(field).with_nullable(true);
                let fields: Vec<Field> = first.schema().fields().iter().map(nullable).collect();
                self.work_tables.insert(*number, Arc::new(CteWorkTable::new(&name, Arc::new(Schema::new(fields)))));
                let next = self.set_input(next, columns, 1)?;
                let plan = LogicalPlanBuilder::from(first).to_recursive_query(name, next, *distinct)?.build()?;
                self.renamed(plan, columns)
            }
            Relation::WorkTable { number, columns } => {
                let table = self.work_tables.get(number).cloned();
                let table = table.ok_or_else(|| RelationalError::bug("a work table outside of its query"))?;
                let id = columns.first().map_or(*number, |column| column.index);
                let reference = TableReference::bare(unique(&mut self.tables, table.name(), id));
                let plan = LogicalPlanBuilder::scan(reference, provider_as_source(table), None)?.build()?;
                for (column, given) in columns.iter().zip(plan.schema().columns()) {
                    self.columns.insert(column.index, given);
                }
                Ok(plan)
            }
            Relation::Shared { cte, input, columns } => {
                let input = self.relation(input)?;
                let input = LogicalPlanBuilder::from(input).project(self.all_columns(columns)?)?.build()?;
                Ok(self.shared.entry(*cte).or_insert_with(|| SharedRows::new(*cte)).clone().of(input))
            }
            Relation::Filter { input, conditions } => {
                let input = self.relation(input)?;
                match self.conditions(conditions)? {
                    Some(condition) => Ok(LogicalPlanBuilder::from(input).filter(condition)?.build()?),
                    None => Ok(input),
                }
            }
            Relation::Join { kind, left, right, lateral, conditions } => {
                let left = self.relation(left)?;
                let right = match lateral {
                    true => LogicalPlan::Subquery(self.nested(&left, |planner| planner.relation(right))?),
                    false => self.relation(right)?,
                };
                self.join(*kind, left, right, conditions)
            }
            Relation::Apply { input, subqueries } => {
                let input = self.relation(input)?;
                for subquery in subqueries {
                    let value = self.subquery(&input, subquery)?;
                    self.subqueries.insert(subquery.column.index, value);
                }
                Ok(input)
            }
            Relation::Aggregate { input, keys, calls, sets } => {
                let input = self.relation(input)?;
                match sets {
                    None => self.aggregate(input, keys, calls),
                    Some(sets) => self.aggregate_of_sets(input, keys, calls, sets),
                }
            }
            Relation::Window { input, calls } => self.windowed(input, calls),
            Relation::Project { input, columns } => {
                let input = self.relation(input)?;
                let mut exprs: Vec<PlanExpr> = input.schema().columns().into_iter().map(PlanExpr::Column).collect();
                for computed in columns {
                    exprs.push(self.computed(computed)?);
                }
                Ok(LogicalPlanBuilder::from(input).project(exprs)?.build()?)
            }
            Relation::Distinct { input, columns } => {
                let input = self.relation(input)?;
                Ok(LogicalPlanBuilder::from(input).project(self.all_columns(columns)?)?.distinct()?.build()?)
            }
            Relation::DistinctOn { input, on, order, columns } => {
                let input = Arc::new(self.relation(input)?);
                let (on, select) = (self.all_columns(on)?, self.all_columns(columns)?);
                let first = DistinctOn::try_new(on, select, Some(self.sort(order)?), input)?;
                Ok(LogicalPlan::Distinct(Distinct::On(first)))
            }
            Relation::Sort { input, items } => {
                let input = Arc::new(self.relation(input)?);
                Ok(LogicalPlan::Sort(Sort { expr: self.sort(items)?, input, fetch: None }))
            }
            Relation::Limit { input, limit, offset, .. } => {
                let input = self.relation(input)?;
                if limit.is_open() || offset.is_open() {
                    return Ok(input);
                }
                let rows = |count: &RowCount| count.rows().map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
                Ok(LogicalPlanBuilder::from(input).limit(rows(offset).unwrap_or(0), rows(limit))?.build()?)
            }
        }
    }

    fn join(
        &self,
        kind: JoinKind,
        left: LogicalPlan,
        right: LogicalPlan,
        conditions: &[Condition],
    ) -> Result<LogicalPlan> {
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
        };
        let filter = self.conditions(conditions)?;
        let (left, right, constraint) = (Arc::new(left), Arc::new(right), JoinConstraint::On);
        let nulls = NullEquality::NullEqualsNothing;
        Ok(LogicalPlan::Join(Join::try_new(left, right, Vec::new(), filter, join_type, constraint, nulls, false)?))
    }

    fn scan(&mut self, scan: &Scan) -> Result<LogicalPlan> {
        let Scan { table, alias, span, first_column, .. } = scan;
        let def = table.def();
        let called = alias.as_ref().unwrap_or(&def.name.name);
        let reference = TableReference::bare(unique(&mut self.tables, called, *first_column));
        for index in 0..table.width() {
            let name = match def.columns.get(index) {
                Some(column) => field_name(def, column),
                None => table.schema().field(index).name().clone(),
            };
            let column = Column::new(Some(reference.clone()), name.to_lowercase());
            self.columns.insert(first_column + index, column);
        }
        let of = TableUse { reading: self.reading.clone(), table: table.clone(), alias: alias.clone(), span: *span };
        let source = provider_as_source(Arc::new(TableSource::new(of, true)));
        Ok(LogicalPlanBuilder::scan(reference, source, None)?.build()?)
    }

    fn external(&mut self, source: &ExternalSource, alias: Option<&str>, columns: &[ColumnRef]) -> Result<LogicalPlan> {
        let (name, table) = match source {
            ExternalSource::Arrow(table) => (table.name.as_str(), batches_as_table(table)?),
            ExternalSource::Catalog(view) => (view.name, information_schema::table(view.name, self.catalog)?),
        };
        let id = columns.first().map_or(0, |column| column.index);
        let reference = TableReference::bare(unique(&mut self.tables, alias.unwrap_or(name), id));
        let plan = LogicalPlanBuilder::scan(reference, provider_as_source(table), None)?.build()?;
        for (column, given) in columns.iter().zip(plan.schema().columns()) {
            self.columns.insert(column.index, given);
        }
        Ok(plan)
    }

    /// The value of a subquery over the rows of `input`. As a part of an expression it is what our rule makes joins of.
    fn subquery(&mut self, input: &LogicalPlan, subquery: &SubqueryColumn) -> Result<PlanExpr> {
        let values = subquery.values().iter().map(|value| self.expr(value)).collect::<Result<Vec<_>>>()?;
        let output = &subquery.query.output;
        let plan = self.nested(input, |planner| {
            let plan = planner.relation(&subquery.query.relation)?;
            planner.put_out(plan, output)
        })?;
        Ok(match &subquery.kind {
            SubqueryKind::Scalar => PlanExpr::ScalarSubquery(plan),
            SubqueryKind::Exists => PlanExpr::Exists(Exists::new(plan, false)),
            SubqueryKind::In { .. } => {
                let (value, plan) = self.compared_rows(values, plan)?;
                PlanExpr::InSubquery(InSubquery::new(Box::new(value), plan, false))
            }
            SubqueryKind::Quantified { op, all, .. } => {
                let (value, plan) = self.compared_rows(values, plan)?;
                let quantifier = if *all { SetQuantifier::All } else { SetQuantifier::Any };
                PlanExpr::SetComparison(SetComparison::new(Box::new(value), plan, compare_operator(*op), quantifier))
            }
        })
    }

    /// A plan that may name the columns of `outer`.
    fn nested(&mut self, outer: &LogicalPlan, plan: impl FnOnce(&mut Self) -> Result<LogicalPlan>) -> Result<Subquery> {
        self.outer.push(outer.schema().clone());
        let nested = plan(self);
        self.outer.pop();
        let subquery = Arc::new(nested?);
        Ok(Subquery { outer_ref_columns: subquery.all_out_ref_exprs(), subquery, spans: Spans::new() })
    }

    /// The left side of a comparison with the rows of a subquery, and these: each side is one expression, a row of several values.
    fn compared_rows(&self, values: Vec<PlanExpr>, subquery: Subquery) -> Result<(PlanExpr, Subquery)> {
        let values = match <[PlanExpr; 1]>::try_from(values) {
            Ok([value]) => return Ok((value, subquery)),
            Err(values) => values,
        };
        let alias = format!("{COMPUTED}row");
        let members = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).alias(alias)?;
        let columns = members.schema().columns().into_iter().map(PlanExpr::Column).collect();
        let plan = members.project([row(self.functions, columns)?.alias(COMPUTED)])?.build()?;
        Ok((row(self.functions, values)?, subquery.with_plan(Arc::new(plan))))
    }

    fn values(&mut self, rows: &[Vec<Expr>], columns: &[ColumnRef]) -> Result<LogicalPlan> {
        if columns.is_empty() {
            return Ok(LogicalPlanBuilder::empty(true).build()?);
        }
        let value = |expr: &Expr| match expr {
            Expr::Literal(value, ty) => Ok(PlanExpr::Literal(to_scalar(value, *ty)?, None)),
            other => self.expr(other),
        };
        let row = |row: &Vec<Expr>| row.iter().map(value).collect::<Result<Vec<_>>>();
        let plan = LogicalPlanBuilder::values(rows.iter().map(row).collect::<Result<_>>()?)?.build()?;
        let mut exprs = Vec::with_capacity(columns.len());
        for (column, given) in columns.iter().zip(plan.schema().columns()) {
            let field = plan.schema().qualified_field_from_column(&given)?.1;
            let is_typed = field_type(field) == Some(column.ty);
            let mut value = PlanExpr::Column(given);
            if !is_typed {
                value = ExprFunction::call(argument(0, column.name.clone(), column.ty, column.nullable), vec![value]);
            }
            let Column { relation, name, .. } = self.name(column);
            exprs.push(value.alias_qualified(relation, name));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    fn set_operation(
        &mut self,
        operator: SetOperator,
        inputs: &[SetInput],
        columns: &[ColumnRef],
    ) -> Result<LogicalPlan> {
        let plans = inputs.iter().enumerate().map(|(number, input)| self.set_input(input, columns, number));
        let plans = plans.collect::<Result<Vec<_>>>()?;
        let plan = match operator {
            SetOperator::Union => {
                LogicalPlan::Union(Union::try_new_with_loose_types(plans.into_iter().map(Arc::new).collect())?)
            }
            SetOperator::Intersect { all } | SetOperator::Except { all } => {
                let [left, right] = <[_; 2]>::try_from(plans)
                    .map_err(|_| RelationalError::bug("INTERSECT and EXCEPT take two queries"))?;
                match operator {
                    SetOperator::Intersect { .. } => LogicalPlanBuilder::intersect(left, right, all)?,
                    _ => LogicalPlanBuilder::except(left, right, all)?,
                }
            }
        };
        self.renamed(plan, columns)
    }

    /// An input of an operation with these columns, under names that no other input has.
    fn set_input(&mut self, input: &SetInput, columns: &[ColumnRef], number: usize) -> Result<LogicalPlan> {
        let plan = self.relation(&input.relation)?;
        let named = |(given, column): (&ColumnRef, &ColumnRef)| {
            Ok(self.column(given)?.alias(format!("{}:{}:{number}", column.name, column.index)))
        };
        let exprs = input.columns.iter().zip(columns).map(named).collect::<Result<Vec<_>>>()?;
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// A plan whose columns are these, in order.
    fn renamed(&mut self, plan: LogicalPlan, columns: &[ColumnRef]) -> Result<LogicalPlan> {
        let given = plan.schema().columns();
        let exprs: Vec<PlanExpr> = columns.iter().zip(given).map(|(column, given)| self.named(given, column)).collect();
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    fn aggregate(&mut self, input: LogicalPlan, keys: &[ComputedColumn], calls: &[CallColumn]) -> Result<LogicalPlan> {
        let key_exprs = keys.iter().map(|key| self.expr(&key.expr)).collect::<Result<Vec<_>>>()?;
        let call_exprs = calls.iter().map(|call| self.call(call)).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlanBuilder::from(input).aggregate(key_exprs, call_exprs)?.build()?;
        let given = plan.schema().columns();
        if given.len() != keys.len() + calls.len() {
            return Err(RelationalError::bug("an aggregation gives other columns than its keys and calls"));
        }
        let mut exprs = Vec::with_capacity(given.len());
        for (column, given) in group_columns(keys, calls).zip(given) {
            let is_known = self.columns.get(&column.index) == Some(&given);
            exprs.push(if is_known { PlanExpr::Column(given) } else { self.named(given, column) });
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// An aggregation by sets of keys. DataFusion gives the keys in the order in which the sets name them, then the number of the set.
    fn aggregate_of_sets(
        &mut self,
        input: LogicalPlan,
        keys: &[ComputedColumn],
        calls: &[CallColumn],
        GroupingSets { sets, groupings }: &GroupingSets,
    ) -> Result<LogicalPlan> {
        let key_exprs = keys.iter().map(|key| self.expr(&key.expr)).collect::<Result<Vec<_>>>()?;
        let of = |places: &[usize]| -> Vec<PlanExpr> {
            places.iter().filter_map(|place| key_exprs.get(*place)).cloned().collect()
        };
        let mut call_exprs = calls.iter().map(|call| self.call(call)).collect::<Result<Vec<_>>>()?;
        for GroupingColumn { keys, .. } in groupings {
            let function = self.functions.aggregate_functions().get(GROUPING).cloned();
            let function = function.ok_or_else(|| RelationalError::bug("there is no function GROUPING"))?;
            let call = AggregateFunction::new_udf(function, of(keys), false, None, Vec::new(), None);
            call_exprs.push(PlanExpr::AggregateFunction(call));
        }
        let group = PlanExpr::GroupingSet(GroupingSet::GroupingSets(sets.iter().map(|set| of(set)).collect()));
        let plan = LogicalPlanBuilder::from(input).aggregate([group], call_exprs)?.build()?;
        let mut order: Vec<usize> = Vec::with_capacity(keys.len());
        for place in sets.iter().flatten() {
            if !order.contains(place) {
                order.push(*place);
            }
        }
        let given = plan.schema().columns();
        let Some((of_keys, of_calls)) = given.split_at_checked(keys.len()) else {
            return Err(RelationalError::bug("an aggregation by sets has fewer columns than keys"));
        };
        let mut exprs = Vec::with_capacity(given.len());
        for (given, key) in of_keys.iter().zip(order.iter().filter_map(|place| keys.get(*place))) {
            exprs.push(self.named(given.clone(), &key.column));
        }
        let columns = calls.iter().map(|call| &call.column).chain(groupings.iter().map(|it| &it.column));
        for (given, column) in of_calls.iter().skip(1).zip(columns) {
            exprs.push(self.named(given.clone(), column));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// A column of the plan under a name of its own, which is noted.
    fn named(&mut self, given: Column, column: &ColumnRef) -> PlanExpr {
        let Column { relation, name, .. } = self.name(column);
        PlanExpr::Column(given).alias_qualified(relation, name)
    }

    fn call(&self, CallColumn { call, .. }: &CallColumn) -> Result<PlanExpr> {
        let name = call.function.name().to_lowercase();
        let function = self.functions.aggregate_functions().get(&name).cloned();
        let function = function.ok_or_else(|| RelationalError::bug(format!("there is no aggregate {name}")))?;
        let argument = match &call.argument {
            Some(argument) => self.expr(argument)?,
            None => PlanExpr::Literal(COUNT_STAR_EXPANSION, None),
        };
        let filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        let call = AggregateFunction::new_udf(function, vec![argument], call.distinct, filter, Vec::new(), None);
        Ok(PlanExpr::AggregateFunction(call))
    }

    fn windowed(&mut self, input: &Relation, calls: &[WindowColumn]) -> Result<LogicalPlan> {
        let input = self.relation(input)?;
        let mut exprs: Vec<PlanExpr> = input.schema().columns().into_iter().map(PlanExpr::Column).collect();
        let calls_of = calls.iter().map(|call| self.window_call(&call.call)).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlanBuilder::window_plan(input, calls_of.clone())?;
        for (WindowColumn { column, .. }, call) in calls.iter().zip(calls_of) {
            let given = PlanExpr::Column(Column::from_name(call.schema_name().to_string()));
            // Ranks are BIGINT, but not as our columns are.
            let given = match call.get_type(plan.schema())? == arrow_type(column.ty) {
                true => given,
                false => cast(given, arrow_type(column.ty)),
            };
            let Column { relation, name, .. } = self.name(column);
            exprs.push(given.alias_qualified(relation, name));
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    fn window_call(&self, call: &WindowCall) -> Result<PlanExpr> {
        let name = call.function.name().to_lowercase();
        let exprs = |list: &[Expr]| list.iter().map(|expr| self.expr(expr)).collect::<Result<Vec<_>>>();
        let mut args = match (&call.function, call.arguments.as_slice()) {
            (BoundFunction::Aggregate(_), []) => vec![PlanExpr::Literal(COUNT_STAR_EXPANSION, None)],
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
        if let (BoundFunction::Ntile, [count]) = (&call.function, call.arguments.as_slice()) {
            args = vec![literal(count)?];
        }
        let definition = match (&call.function, self.functions.window_functions().get(&name)) {
            (BoundFunction::Aggregate(_), _) | (_, None) => {
                let function = self.functions.aggregate_functions().get(&name).cloned();
                WindowFunctionDefinition::AggregateUDF(
                    function.ok_or_else(|| RelationalError::bug(format!("there is no window function {name}")))?,
                )
            }
            (_, Some(function)) => WindowFunctionDefinition::WindowUDF(function.clone()),
        };
        let mut function = WindowFunction::new(definition, args);
        let params = &mut function.params;
        params.filter = call.filter.as_ref().map(|filter| self.expr(filter)).transpose()?.map(Box::new);
        params.null_treatment = call.ignore_nulls.then_some(NullTreatment::IgnoreNulls);
        params.partition_by = exprs(&call.partition_by)?;
        let item = |WindowOrder { expr, order, nulls_first }: &WindowOrder| {
            Ok(SortExpr::new(self.expr(expr)?, *order == SortOrder::Asc, *nulls_first))
        };
        params.order_by = call.order_by.iter().map(item).collect::<Result<_>>()?;
        params.window_frame = frame(&call.frame)?;
        Ok(PlanExpr::from(function))
    }

    /// The columns of the result, each under a name of its own.
    fn put_out(&self, plan: LogicalPlan, output: &[Output]) -> Result<LogicalPlan> {
        let mut taken = HashSet::new();
        let column = |(place, output): (usize, &Output)| {
            let column = self.column(&output.column)?;
            let is_named = matches!(column, PlanExpr::Column(_)) && taken.insert(output.column.index);
            Ok(if is_named { column } else { column.alias(format!("{}:{place}", output.label)) })
        };
        let columns = output.iter().enumerate().map(column).collect::<Result<Vec<_>>>()?;
        Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
    }

    fn computed(&mut self, computed: &ComputedColumn) -> Result<PlanExpr> {
        let expr = self.expr(&computed.expr)?;
        let Column { relation, name, .. } = self.name(&computed.column);
        Ok(expr.alias_qualified(relation, name))
    }

    /// A new column, which is noted. Its name and its qualifier are no other column's: by the qualifiers, DataFusion's rules and
    /// ours tell the sides of a join.
    fn name(&mut self, column: &ColumnRef) -> Column {
        let name = unique(&mut self.names, &column.name, column.index);
        let column_of = Column::new(Some(TableReference::bare(format!("{COMPUTED}{}", column.index))), name);
        self.columns.insert(column.index, column_of.clone());
        self.subqueries.remove(&column.index);
        column_of
    }

    fn column(&self, column: &ColumnRef) -> Result<PlanExpr> {
        if let Some(value) = self.subqueries.get(&column.index) {
            return Ok(value.clone());
        }
        let known = self.columns.get(&column.index).cloned();
        let known =
            known.ok_or_else(|| RelationalError::bug(format!("no relation gives the column {}", column.name)))?;
        // No column of the query itself has the name of one around it.
        Ok(match self.outer.iter().rev().find(|schema| schema.has_column(&known)) {
            Some(schema) => {
                let field = schema.qualified_field_from_column(&known)?.1.clone();
                PlanExpr::OuterReferenceColumn(field, known)
            }
            None => PlanExpr::Column(known),
        })
    }

    fn all_columns(&self, columns: &[ColumnRef]) -> Result<Vec<PlanExpr>> {
        columns.iter().map(|column| self.column(column)).collect()
    }

    fn sort(&self, items: &[SortItem]) -> Result<Vec<SortExpr>> {
        let item = |SortItem { column, order, nulls_first }: &SortItem| {
            Ok(SortExpr::new(self.column(column)?, *order == SortOrder::Asc, *nulls_first))
        };
        items.iter().map(item).collect()
    }

    /// All of these conditions; `None` if there is none.
    fn conditions(&self, conditions: &[Condition]) -> Result<Option<PlanExpr>> {
        let conditions = conditions.iter().map(|condition| self.condition(&condition.expr)).collect::<Result<_>>()?;
        Ok(balanced(conditions, Operator::And))
    }

    /// A condition. Over several relations and over subqueries its comparisons, AND, OR and NOT are DataFusion's: joins find their keys
    /// in these, and subqueries become joins.
    fn condition(&self, expr: &Expr) -> Result<PlanExpr> {
        if self.relations_of(expr).len() < 2 && !self.has_subquery(expr) {
            return self.expr(expr);
        }
        let all = |list: &[Expr], op| {
            let parts = list.iter().map(|part| self.condition(part)).collect::<Result<_>>()?;
            balanced(parts, op).ok_or_else(|| RelationalError::bug("AND or OR of nothing"))
        };
        match expr {
            Expr::And(list) => all(list, Operator::And),
            Expr::Or(list) => all(list, Operator::Or),
            Expr::Not(inner) if self.has_subquery(inner) => Ok(match self.condition(inner)? {
                PlanExpr::Exists(test) => PlanExpr::Exists(Exists { negated: !test.negated, ..test }),
                PlanExpr::InSubquery(test) => PlanExpr::InSubquery(InSubquery { negated: !test.negated, ..test }),
                other => PlanExpr::Not(Box::new(other)),
            }),
            Expr::Compare(op, a, b) => {
                let (left, right) = (Box::new(self.expr(a)?), Box::new(self.expr(b)?));
                Ok(PlanExpr::BinaryExpr(BinaryExpr::new(left, compare_operator(*op), right)))
            }
            other => self.expr(other),
        }
    }

    fn has_subquery(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found |= matches!(part, Expr::Column(column) if self.subqueries.contains_key(&column.index));
        });
        found
    }

    /// The relations whose columns an expression names, by their names in the plan.
    fn relations_of(&self, expr: &Expr) -> HashSet<String> {
        let mut found = HashSet::new();
        expr.walk(&mut |part| {
            if let Expr::Column(column) = part
                && let Some(column) = self.columns.get(&column.index)
            {
                found.insert(column.relation.as_ref().map_or_else(String::new, TableReference::to_string));
            }
        });
        found
    }

    /// An expression as one function of its columns; a column as it is.
    fn expr(&self, expr: &Expr) -> Result<PlanExpr> {
        if let Expr::Column(column) = expr {
            return self.column(column);
        }
        let (mut own, mut args, mut missing) = (expr.clone(), Vec::new(), None);
        own.map_columns(&mut |column| match self.column(column) {
            Ok(arg) => {
                let place = args.iter().position(|known| *known == arg);
                column.index = place.unwrap_or_else(|| {
                    args.push(arg);
                    args.len() - 1
                });
            }
            Err(error) => missing = Some(error),
        });
        missing.map_or_else(|| Ok(ExprFunction::call(own, args)), Err)
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
fn frame(Frame { units, start, end }: &Frame) -> Result<WindowFrame> {
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

/// The name, or the name followed by the id if it is taken. It is taken then.
fn unique(taken: &mut HashSet<String>, name: &str, id: usize) -> String {
    let name = match taken.contains(name) {
        true => format!("{name}:{id}"),
        false => name.to_owned(),
    };
    taken.insert(name.clone());
    name
}
