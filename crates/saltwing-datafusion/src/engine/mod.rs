//! The engine: plans a query with DataFusion's parts and our rules, and runs the plan.

mod corrections;
mod distinct_calls;
mod foreign_names;
mod function_list;
mod functions;
mod group_keys;
mod node_rewrites;
mod optimizer;
mod output;
mod planned;
mod reusable;
mod spill_directory;
mod template;

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder, SessionStateDefaults};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::optimizer::{Analyzer, Optimizer, OptimizerConfig, OptimizerContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
use parking_lot::RwLock;
use saltwing_access::Memory;
use saltwing_types::Function;
use saltwing_types::function::aggregate::AggregateEntry;
use saltwing_types::function::window::WindowEntry;

use self::corrections::{SETTINGS, physical_rules};
use self::optimizer::optimizer;
use self::planned::judged;
use self::spill_directory::SpillDirectory;
use self::template::{is_immutable, parameter_types, params_only_in_scan_filters};
use crate::bound_plan;
use crate::function::aggregate;
use crate::function::bounded_function::bounded;
use crate::function::native::functions as native_functions;
use crate::function::registered::RegisteredFunction;
use crate::function::table_functions::TableFunctions;
use crate::physical::join_order::for_lookups;
use crate::physical::large_limits::SpillLargeLimits;
use crate::physical::order_columns::DropOrderColumns;
use crate::physical::recursion::limited;
use crate::physical::scan_rule::ScanRule;
use crate::request::{Mode, QueryRequest};
use crate::scan::scan_request::QueryContext;
use crate::scan::shared_rows::SharedPlanner;
use crate::statement::current as current_statement;
use crate::statement::memory_pool::OperatorMemory;
use crate::statement::planner_thread::{CancellableRule, on_planner_thread};
use crate::statement::tasks::{Tasks, hold_back};
use crate::{RelationalError, RelationalErrorKind};

pub use self::function_list::EngineFunction;
pub use self::output::ResultStream;
pub use self::planned::{Planned, Template};
pub use self::template::Binding;

/// Settings of an [`Engine`].
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Partitions in which a statement runs: each may have a thread of its own.
    pub partitions: usize,
    /// The memory of the sorts, joins and aggregates of all statements together. At the limit they spill to temporary
    /// files, or fail.
    pub memory: Arc<Memory>,
    /// Where the temporary files are; `None` is the system's place for such files.
    pub spill_directory: Option<PathBuf>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self { partitions: 2, memory: Arc::new(Memory::new(usize::MAX)), spill_directory: None }
    }
}

/// Plans and runs queries of any shape.
pub struct Engine {
    /// Settings and functions. Another function makes another state: a statement keeps the one that it was planned with.
    session: RwLock<Arc<SessionState>>,
    pub(crate) table_functions: TableFunctions,
    analyzer: Analyzer,
    optimizer: Optimizer,
    tasks: Tasks,
}

impl Engine {
    /// An engine; it holds no tables.
    ///
    /// # Errors
    /// Errors of DataFusion about the settings.
    pub fn new(config: &EngineConfig) -> Result<Self, RelationalError> {
        let mut options = SessionConfig::new()
            .with_target_partitions(config.partitions)
            .with_information_schema(false)
            // Within a bucket rows come in key order: they are not dealt out.
            .with_round_robin_repartition(false);
        let optimizer_options = &mut options.options_mut().optimizer;
        optimizer_options.skip_failed_rules = false;
        // Our scans take no filters that appear only while the plan runs.
        optimizer_options.enable_dynamic_filter_pushdown = false;
        optimizer_options.enable_topk_dynamic_filter_pushdown = false;
        optimizer_options.enable_join_dynamic_filter_pushdown = false;
        optimizer_options.enable_aggregate_dynamic_filter_pushdown = false;
        for setting in &SETTINGS {
            options.options_mut().set(setting.name, setting.instead)?;
        }
        hold_back(&mut options, config.memory.limit());
        let sql = &mut options.options_mut().sql_parser;
        sql.map_string_types_to_utf8view = false;
        sql.default_null_ordering = "nulls_first".into();
        let memory = Arc::new(OperatorMemory::new(config.memory.clone()));
        let mut runtime = RuntimeEnvBuilder::new().with_memory_pool(memory.clone());
        if let Some(directory) = &config.spill_directory {
            let files = DiskManagerBuilder::default().with_mode(SpillDirectory::mode(directory.clone()));
            runtime = runtime.with_disk_manager_builder(files);
        }
        let mut rules = physical_rules();
        // Sorts that the scans make needless are gone before the last rules put operators between.
        let placed = rules.iter().position(|rule| rule.name() == "EnsureCooperative");
        let placed = placed.ok_or_else(|| RelationalError::bug("no rule of the engine makes scans cooperate"))?;
        rules.insert(placed, Arc::new(DropOrderColumns));
        rules.insert(placed, Arc::new(SpillLargeLimits));
        rules.insert(0, Arc::new(ScanRule));
        let rules = rules.into_iter().map(|rule| Arc::new(CancellableRule(rule)) as _).collect();
        let native = SessionStateDefaults::default_aggregate_functions();
        let aggregates = native.into_iter().chain(aggregate::functions()).collect();
        let native = SessionStateDefaults::default_scalar_functions();
        let scalar_functions = native.into_iter().chain(native_functions()).map(bounded).collect();
        let session = SessionStateBuilder::new()
            .with_config(options)
            .with_runtime_env(runtime.build_arc()?)
            .with_expr_planners(SessionStateDefaults::default_expr_planners())
            .with_scalar_functions(scalar_functions)
            .with_higher_order_functions(SessionStateDefaults::default_higher_order_functions())
            .with_aggregate_functions(aggregates)
            .with_window_functions(SessionStateDefaults::default_window_functions())
            .with_physical_optimizer_rules(rules)
            .build();
        let mut analyzer = Analyzer::new();
        analyzer.rules = analyzer.rules.into_iter().map(|rule| Arc::new(CancellableRule(rule)) as _).collect();
        let table_functions = TableFunctions::default();
        let tasks = Tasks::new(session.task_ctx(), memory);
        let session = RwLock::new(Arc::new(session));
        Ok(Self { session, table_functions, analyzer, optimizer: optimizer(), tasks })
    }

    /// The current settings and functions.
    pub(crate) fn session(&self) -> Arc<SessionState> {
        self.session.read().clone()
    }

    /// Adds a function of the program, which statements planned from now on may call.
    ///
    /// # Errors
    /// [`RelationalErrorKind::DuplicateFunction`].
    pub fn register_function(&self, function: RegisteredFunction) -> Result<(), RelationalError> {
        let function = function.into_udf();
        let mut session = self.session.write();
        let is_own = Function::by_name(function.name()).is_some()
            || AggregateEntry::by_name(function.name()).is_some()
            || WindowEntry::by_name(function.name()).is_some();
        if is_own || session.scalar_functions().contains_key(function.name()) {
            return Err(RelationalErrorKind::DuplicateFunction(function.name().to_owned()).into());
        }
        let mut with_function = SessionState::clone(&session);
        with_function.register_udf(Arc::new(function))?;
        *session = Arc::new(with_function);
        Ok(())
    }

    /// Plans a query, and judges how it reads its tables.
    ///
    /// Nothing is read yet. It runs on a thread of its own, which has the stack that deep expressions take, and which
    /// is abandoned if the statement must stop.
    ///
    /// # Errors
    /// What is wrong with the statement; to execute, also a refused full scan.
    pub fn plan(self: &Arc<Self>, request: QueryRequest) -> Result<Planned, RelationalError> {
        let (engine, context) = (self.clone(), request.context.clone());
        on_planner_thread(&context, move || engine.plan_here(&request))
    }

    fn plan_here(&self, request: &QueryRequest) -> Result<Planned, RelationalError> {
        let (session, query) = (self.session(), request.query.decorrelated()?);
        let query = query.as_ref();
        let limit_open = bound_plan::is_limit_open(query);
        let (reading, catalog) = (reading(request, limit_open), &*request.catalog);
        let logical = bound_plan::logical_plan(query, &reading, &session, &self.table_functions, catalog)?;
        self.plan_logical(request, &session, logical, limit_open)
    }

    /// The plan of a logical plan.
    fn plan_logical(
        &self,
        request: &QueryRequest,
        session: &SessionState,
        logical: LogicalPlan,
        limit_open: bool,
    ) -> Result<Planned, RelationalError> {
        current_statement::check()?;
        let options = session.config_options();
        let is_immutable = is_immutable(&logical)?;
        let analyzed = self.analyzer.execute_and_check(logical, options, |_, _| {})?;
        let columns = request.query.columns().to_vec();
        let parameters = parameter_types(&analyzed)?;
        let mut context = OptimizerContext::new_with_config_options(options.clone());
        if let Some(now) = request.now_ms.and_then(DateTime::from_timestamp_millis) {
            context = context.with_query_execution_start_time(now);
        }
        let context = Optimizing { context, functions: session };
        let optimized = self.optimizer.optimize(analyzed, &context, |_, _| {})?;
        let is_kept =
            request.mode == Mode::Keep && !limit_open && is_immutable && params_only_in_scan_filters(&optimized)?;
        current_statement::check()?;
        let physical = physical_plan(&for_lookups(optimized)?, session)?;
        let (reads, warnings) = judged(&physical, &request.guard, request.mode)?;
        let (tasks, context) = (self.tasks.clone(), request.context.clone());
        let physical = limited(physical, request.recursion)?;
        let mut planned = Planned { columns, parameters, reads, warnings, physical, tasks, context, template: None };
        if is_kept {
            planned.template = Template::new(&planned)?;
        }
        Ok(planned)
    }
}

/// What all scans of a query share.
fn reading(request: &QueryRequest, limit_open: bool) -> Arc<QueryContext> {
    Arc::new(QueryContext {
        snapshot: Some(request.snapshot.clone()),
        context: request.context.clone(),
        guard: request.guard.clone(),
        samples: request.samples.clone(),
        limit_open,
    })
}

/// The physical plan. Making one waits for nothing: its leaves are in this process.
fn physical_plan(logical: &LogicalPlan, session: &SessionState) -> Result<Arc<dyn ExecutionPlan>, RelationalError> {
    let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(SharedPlanner)]);
    Ok(futures::executor::block_on(planner.create_physical_plan(logical, session))?)
}

/// The context of optimizer rules.
struct Optimizing<'a> {
    context: OptimizerContext,
    functions: &'a SessionState,
}

impl OptimizerConfig for Optimizing<'_> {
    fn query_execution_start_time(&self) -> Option<DateTime<Utc>> {
        self.context.query_execution_start_time()
    }

    fn alias_generator(&self) -> &Arc<AliasGenerator> {
        self.context.alias_generator()
    }

    fn options(&self) -> Arc<ConfigOptions> {
        self.context.options()
    }

    fn function_registry(&self) -> Option<&dyn FunctionRegistry> {
        Some(self.functions)
    }
}
