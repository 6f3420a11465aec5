//! The names that a statement may use, as DataFusion's planner looks them up: tables, functions, types.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::catalog::{TableFunction, TableFunctionArgs};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, DataFusionError, Result, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, RelationPlanner, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    AggregateUDF, Expr as PlanExpr, HigherOrderUDF, ScalarUDF, TableSource as Source, WindowUDF,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use saltwing_access::Table;
use saltwing_catalog::{CatalogReader, INFORMATION_SCHEMA};
use saltwing_sql::cast_type;
use saltwing_types::Span;

use crate::expression::internal_name::PREFIX;
use crate::expression::operation_function::Operations;
use crate::expression::sql_field::typed_field;
use crate::rewrite::Places;
use crate::scan::arrow_table::batches_as_table;
use crate::scan::information_schema;
use crate::scan::scan_request::{QueryContext, TableUse};
use crate::scan::table_source::TableSource;
use crate::{RelationalError, RelationalErrorKind};

/// The names of one statement.
pub(crate) struct Names<'a> {
    /// Functions and settings, the same for all statements.
    pub(crate) session: &'a SessionState,
    pub(crate) table_functions: &'a HashMap<String, Arc<TableFunction>>,
    pub(crate) catalog: &'a dyn CatalogReader,
    pub(crate) reading: Arc<QueryContext>,
    pub(crate) operations: Operations,
    /// Whether hidden columns are named.
    pub(crate) with_hidden: bool,
    /// The tables that are read as they were.
    pub(crate) past_tables: Vec<Arc<Table>>,
    /// Where each table is named: planned in the order of the text, but for subqueries among the items.
    pub(crate) places: RefCell<Places>,
    pub(crate) relation_planners: [Arc<dyn RelationPlanner>; 1],
}

impl Names<'_> {
    /// Where a use of a table stands; the last place serves for all further uses.
    fn next_place(&self, name: &TableReference) -> Option<Span> {
        let mut places = self.places.borrow_mut();
        let places = places.get_mut(&name.to_string())?;
        if places.len() > 1 { places.pop_front() } else { places.front().copied() }
    }
}

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn Source>> {
        let schema = name.schema();
        if schema == Some(INFORMATION_SCHEMA) {
            let table = information_schema::table(name.table(), self.catalog)?;
            return Ok(provider_as_source(table));
        }
        let span = self.next_place(&name);
        if let (None, Some(table)) = (schema, self.catalog.arrow_table(name.table())) {
            return Ok(provider_as_source(batches_as_table(&table)?));
        }
        let past = past_number(name.table()).and_then(|number| self.past_tables.get(number).cloned());
        let table = past.map_or_else(|| self.catalog.resolve(schema, name.table()), Ok);
        let table = table.map_err(|error| DataFusionError::from(RelationalError::from(error).at(span)))?;
        let of = TableUse { reading: self.reading.clone(), table, alias: None, span };
        Ok(provider_as_source(Arc::new(TableSource::new(of, self.with_hidden))))
    }

    fn get_table_function_source(&self, name: &str, args: Vec<PlanExpr>) -> Result<Arc<dyn Source>> {
        let Some(function) = self.table_functions.get(name) else {
            return Err(RelationalError::from(RelationalErrorKind::NoSuchFunction(name.to_owned())).into());
        };
        let context = SimplifyContext::builder().with_config_options(self.session.config_options().clone()).build();
        let (simplifier, empty) = (ExprSimplifier::new(context), DFSchema::empty());
        let args = args
            .into_iter()
            .map(|arg| simplifier.coerce(arg, &empty).and_then(|arg| simplifier.simplify(arg)))
            .collect::<Result<Vec<_>>>()?;
        let table = function.create_table_provider_with_args(TableFunctionArgs::new(&args, self.session))?;
        Ok(provider_as_source(table))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn Source>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.session.expr_planners()
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relation_planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(OurTypes))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.operations.by_name(name).or_else(|| self.session.scalar_functions().get(name).cloned())
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.session.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.session.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.session.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.session.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.session.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.session.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.session.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.session.window_functions().keys().cloned().collect()
    }
}

/// The number of a table in [`Names::past_tables`], by its name in the plan.
fn past_number(name: &str) -> Option<usize> {
    name.rsplit_once(PREFIX)?.1.parse().ok()
}

/// SQL's types as ours, where a cast stayed DataFusion's (`TRY_CAST`).
#[derive(Debug)]
struct OurTypes;

impl TypePlanner for OurTypes {
    fn plan_type_field(&self, sql_type: &sqlparser::ast::DataType) -> Result<Option<FieldRef>> {
        Ok(cast_type(sql_type).map(|ty| Arc::new(typed_field("", ty, true)) as FieldRef))
    }
}
