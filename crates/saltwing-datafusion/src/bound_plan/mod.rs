//! The logical plan of a bound query.
//!
//! Each relation of the tree becomes a node, and nothing is resolved or coerced: an operation of our language becomes an
//! [`ExprFunction`], which DataFusion does not look into. Columns are found by their ids. In the plan they have the names that
//! the statement gives them, made unique, for EXPLAIN.

mod aggregate;
mod expression;
mod set_operation;
mod subquery;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef, Schema};
use datafusion::catalog::TableProvider;
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::{Column, DFSchemaRef, JoinConstraint, JoinType, NullEquality, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{
    AggregateUDF, Distinct, DistinctOn, Expr as PlanExpr, Join, LogicalPlan, LogicalPlanBuilder, Sort,
};
use saltwing_bind::{BoundQuery, ComputedColumn, ExternalSource, JoinKind, Output, Relation, RowCount, Scan, SortItem};
use saltwing_catalog::CatalogReader;
use saltwing_plan::Condition;
use saltwing_types::{ColumnRef, SortOrder};

use crate::RelationalError;
use crate::expression::internal_name::field_name;
use crate::scan::arrow_table::batches_as_table;
use crate::scan::information_schema;
use crate::scan::scan_request::{QueryContext, TableUse};
use crate::scan::table_source::TableSource;

/// What the qualifier of a computed column begins with; no statement can write it.
const COMPUTED: &str = "__saltwing_computed_";

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
                let name = table.name().to_owned();
                self.rows_of(table, &name, columns)
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
                for ComputedColumn { column, expr } in columns {
                    let value = self.expr(expr)?;
                    exprs.push(self.named(value, column));
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
        self.rows_of(table, alias.unwrap_or(name), columns)
    }

    /// The rows of a table of DataFusion's, which has these columns, under a name that no other table has.
    fn rows_of(&mut self, table: Arc<dyn TableProvider>, called: &str, columns: &[ColumnRef]) -> Result<LogicalPlan> {
        let id = columns.first().map_or(0, |column| column.index);
        let reference = TableReference::bare(unique(&mut self.tables, called, id));
        let plan = LogicalPlanBuilder::scan(reference, provider_as_source(table), None)?.build()?;
        for (column, given) in columns.iter().zip(plan.schema().columns()) {
            self.columns.insert(column.index, given);
        }
        Ok(plan)
    }

    /// The value of a column under a name of its own, which is noted.
    fn named(&mut self, value: PlanExpr, column: &ColumnRef) -> PlanExpr {
        let Column { relation, name, .. } = self.name(column);
        value.alias_qualified(relation, name)
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

    /// # Errors
    /// A broken invariant: DataFusion has no aggregate of that name.
    fn aggregate_function(&self, name: &str) -> Result<Arc<AggregateUDF>> {
        let function = self.functions.aggregate_functions().get(name).cloned();
        function.ok_or_else(|| RelationalError::bug(format!("there is no aggregate {name}")))
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
