//! The logical plan of a bound query.
//!
//! Each relation of the tree becomes a node, and nothing is resolved or coerced: an operation of our language becomes an
//! [`ExprFunction`], which DataFusion does not look into. Columns are found by their ids. In the plan they have the names that
//! the statement gives them, made unique, for EXPLAIN.

mod aggregate;
mod counted;
mod distinct_on;
pub(crate) mod expression;
mod frame;
mod join;
mod set_operation;
pub(crate) mod translator;
mod volatile;
mod window;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef, Schema};
use datafusion::catalog::TableProvider;
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::{Column, TableReference, UnnestOptions};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{
    AggregateUDF, Distinct, DistinctOn, Expr as PlanExpr, Filter, LogicalPlan, LogicalPlanBuilder, Sort,
};
use saltwing_bind::{
    BoundQuery, ComputedColumn, ExternalSource, Output, Relation, RowCount, Scan, SetInput, SortItem, UnnestColumn,
};
use saltwing_catalog::CatalogReader;
use saltwing_types::{ColumnRef, SortOrder, SqlType};

use self::distinct_on::with_nullable_columns;
use self::volatile::kept_in_place;
use crate::RelationalError;
use crate::expression::order_form::order_form;
use crate::function::table_functions::TableFunctions;
use crate::internal_name::{field_name, unique_name};
use crate::scan::arrow_table::batches_as_table;
use crate::scan::scan_request::{QueryContext, TableUse};
use crate::scan::shared_rows::SharedRows;
use crate::scan::system_table::system_rows;
use crate::scan::table_source::TableSource;

/// What the qualifier of a computed column begins with; no statement can write it.
const COMPUTED: &str = "__saltwing_computed_";

/// The name that DataFusion gives to a NULL without a type. Its rules take a column of this name, with that value, for one without an alias,
/// and lose the qualifier.
const UNNAMED: &str = "NULL";

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
    table_functions: &TableFunctions,
    catalog: &dyn CatalogReader,
) -> Result<LogicalPlan> {
    let mut planner = Planner {
        catalog,
        table_functions,
        shared: shared_queries(query),
        reading,
        functions,
        columns: HashMap::new(),
        tables: HashSet::new(),
        names: HashSet::from([UNNAMED.to_owned()]),
        work_tables: HashMap::new(),
    };
    let plan = planner.relation(&query.relation)?;
    planner.put_out(plan, &query.output)
}

struct Planner<'a> {
    catalog: &'a dyn CatalogReader,
    reading: &'a Arc<QueryContext>,
    functions: &'a Arc<SessionState>,
    table_functions: &'a TableFunctions,
    /// The queries that several relations read, by number.
    shared: HashMap<usize, SharedQuery>,
    /// The plan's column of each column by id.
    columns: HashMap<usize, Column>,
    /// The names of tables and computed columns that are taken.
    tables: HashSet<String>,
    names: HashSet<String>,
    /// The work tables of recursive queries, by number.
    work_tables: HashMap<usize, Arc<CteWorkTable>>,
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
            Relation::Shared { number, rows, columns } => {
                let plan = self.shared_rows(*number, rows)?;
                self.renamed(plan, columns)
            }
            Relation::Unnest { input, columns, keeps_rows } => self.unnested(input, columns, *keeps_rows),
            Relation::Filter { input, conditions } => {
                let input = self.relation(input)?;
                match self.conditions(conditions)? {
                    Some(condition) => kept_in_place(Filter::try_new(condition, Arc::new(input))?),
                    None => Ok(input),
                }
            }
            Relation::Join { lateral: true, .. } | Relation::Apply { .. } => {
                Err(RelationalError::bug("a query is planned that was not decorrelated"))
            }
            Relation::Join { kind, left, right, same, conditions, .. } => {
                let (left, right) = (self.relation(left)?, self.relation(right)?);
                self.join(*kind, (left, right), same, conditions)
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
                // The order begins with what rows are equal in, and intervals of one length are not: they are in the order of Arrow.
                let is_interval = |column: &ColumnRef| column.ty == SqlType::Interval;
                let form = |column: &ColumnRef| match is_interval(column) {
                    true => self.column(column),
                    false => Ok(order_form(self.column(column)?, column.ty)?),
                };
                let sort = order.iter().map(|item| {
                    let by =
                        if on.contains(&item.column) { form(&item.column)? } else { self.sort_form(&item.column)? };
                    Ok(SortExpr::new(by, item.order == SortOrder::Asc, item.nulls_first))
                });
                let (sort, on) = (sort.collect::<Result<_>>()?, on.iter().map(form).collect::<Result<_>>()?);
                let first = DistinctOn::try_new(on, self.all_columns(columns)?, Some(sort), input)?;
                with_nullable_columns(LogicalPlan::Distinct(Distinct::On(first)))
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
            let column = Column::new(Some(reference.clone()), name);
            self.columns.insert(first_column + index, column);
        }
        let of = TableUse { reading: self.reading.clone(), table: table.clone(), alias: alias.clone(), span: *span };
        let source = provider_as_source(Arc::new(TableSource::new(of)));
        Ok(LogicalPlanBuilder::scan(reference, source, None)?.build()?)
    }

    fn external(&mut self, source: &ExternalSource, alias: Option<&str>, columns: &[ColumnRef]) -> Result<LogicalPlan> {
        let (name, table) = match source {
            ExternalSource::Arrow(table) => (table.name.as_str(), batches_as_table(table)?),
            ExternalSource::System(table) => (table.name(), system_rows(*table, self.catalog)?),
            ExternalSource::Function { name, args } => {
                let args = self.translated(|translator| translator.constants(args))?;
                (name.as_str(), self.table_functions.table(name, args, self.functions)?)
            }
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

    /// The rows of a query, which is computed once however many relations read it.
    fn shared_rows(&mut self, number: usize, rows: &SetInput) -> Result<LogicalPlan> {
        let known = self.shared.get(&number).and_then(|query| query.plan.clone());
        let plan = match known {
            Some(plan) => plan,
            None => self.set_input(rows, &rows.columns, number)?,
        };
        let Some(query) = self.shared.get_mut(&number) else {
            return Err(RelationalError::bug("a query is read that nothing shares"));
        };
        query.plan = Some(plan.clone());
        Ok(if query.readers > 1 { query.rows.clone().of(plan) } else { plan })
    }

    fn unnested(&mut self, input: &Relation, columns: &[UnnestColumn], keeps_rows: bool) -> Result<LogicalPlan> {
        let input = self.relation(input)?;
        let passed = input.schema().columns();
        let mut exprs: Vec<PlanExpr> = passed.iter().cloned().map(PlanExpr::Column).collect();
        for UnnestColumn { column, array } in columns {
            let array = self.expr(array)?;
            exprs.push(self.named(array, column));
        }
        let plan = LogicalPlanBuilder::from(input).project(exprs)?.build()?;
        let arrays = plan.schema().columns().split_off(passed.len());
        let options = UnnestOptions::new().with_preserve_nulls(keeps_rows);
        let plan = LogicalPlanBuilder::from(plan).unnest_columns_with_options(arrays, options)?.build()?;
        let given = plan.schema().columns();
        let mut exprs = Vec::with_capacity(given.len());
        for (place, given) in given.into_iter().enumerate() {
            match place.checked_sub(passed.len()).and_then(|place| columns.get(place)) {
                None => exprs.push(PlanExpr::Column(given)),
                Some(UnnestColumn { column, .. }) => exprs.push(self.named(PlanExpr::Column(given), column)),
            }
        }
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
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
            Ok(if is_named { column } else { column.alias(unique_name(&output.label, place)) })
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
        column_of
    }

    fn column(&self, column: &ColumnRef) -> Result<PlanExpr> {
        let known = self.columns.get(&column.index).cloned();
        let unknown = || RelationalError::bug(format!("no relation gives the column {}", column.name));
        known.map(PlanExpr::Column).ok_or_else(unknown)
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

    /// A column in the form that sorts as SQL does.
    fn sort_form(&self, column: &ColumnRef) -> Result<PlanExpr> {
        order_form(self.column(column)?, column.ty)
    }

    fn sort(&self, items: &[SortItem]) -> Result<Vec<SortExpr>> {
        let item = |SortItem { column, order, nulls_first }: &SortItem| {
            Ok(SortExpr::new(self.sort_form(column)?, *order == SortOrder::Asc, *nulls_first))
        };
        items.iter().map(item).collect()
    }
}

/// A query that several relations may read.
struct SharedQuery {
    readers: usize,
    rows: SharedRows,
    /// Its plan, once it was made.
    plan: Option<LogicalPlan>,
}

/// The shared queries of a query, by number.
fn shared_queries(query: &BoundQuery) -> HashMap<usize, SharedQuery> {
    let mut found: HashMap<usize, SharedQuery> = HashMap::new();
    query.relation.for_each(&mut |relation| {
        if let Relation::Shared { number, .. } = relation {
            let new = || SharedQuery { readers: 0, rows: SharedRows::new(*number), plan: None };
            found.entry(*number).or_insert_with(new).readers += 1;
        }
    });
    found
}

/// The name, or the name followed by the id if it is taken. It is taken then.
fn unique(taken: &mut HashSet<String>, name: &str, id: usize) -> String {
    let name = match taken.contains(name) {
        true => unique_name(name, id),
        false => name.to_owned(),
    };
    taken.insert(name.clone());
    name
}
