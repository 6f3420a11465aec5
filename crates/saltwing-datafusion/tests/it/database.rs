//! A database in memory with the relational engine alone.

use std::sync::Arc;

use futures::StreamExt;
use saltwing_access::{
    Budget, Counters, Durability, Memory, ScanContext, StatementMemory, SystemClock, TableStore, Threads,
};
use saltwing_bind::{BoundQuery, BoundSource, ParamValues, Params, RootQuery, UpsertTarget};
use saltwing_catalog::{Catalog, CatalogChange, CatalogStore};
use saltwing_datafusion::{
    Binding, Engine, EngineConfig, Mode, Planned, QueryRequest, RecursionLimits, RelationalError, Template,
};
use saltwing_plan::Policy;
use saltwing_planner::Guard;
use saltwing_sql::Statement;
use saltwing_sql::statement::QueryStatement;
use saltwing_store::MemoryStore;
use saltwing_table::EmbeddedTables;
use saltwing_types::{SqlType, Value};

pub struct Database {
    pub tables: Arc<EmbeddedTables>,
    pub catalog: Box<dyn CatalogStore>,
    pub engine: Arc<Engine>,
    pub guard: Guard,
    runtime: tokio::runtime::Runtime,
    next_row_id: std::sync::atomic::AtomicI64,
    /// Rows from which on scans are split: none is too small unless a test says otherwise.
    pub split_rows_min: u64,
}

/// A result as text.
#[derive(Debug)]
pub struct Answer {
    pub labels: Vec<String>,
    pub types: Vec<String>,
    pub rows: Vec<String>,
    pub counters: Vec<Arc<Counters>>,
    /// Of each table read, its name and what its scan counted.
    pub reads: Vec<(String, Arc<Counters>)>,
    pub warnings: Vec<String>,
}

impl Answer {
    pub fn keys_read(&self) -> u64 {
        self.counters.iter().map(|c| c.keys_read.load(std::sync::atomic::Ordering::Relaxed)).sum()
    }
}

impl Database {
    /// With these tables and rows; nothing guards.
    pub fn new(statements: &[&str]) -> Self {
        let tables = Arc::new(EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(SystemClock)).unwrap());
        let catalog: Box<dyn CatalogStore> = Box::new(Catalog::boot(tables.clone(), false).unwrap());
        let engine = Arc::new(Engine::new(&EngineConfig::default()).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let guard = Guard { setting: Some(Policy::Allow), ..Guard::default() };
        let database = Self { tables, catalog, engine, guard, runtime, next_row_id: 1.into(), split_rows_min: 0 };
        statements.iter().for_each(|sql| database.change(sql));
        database
    }

    fn context(&self) -> ScanContext {
        let threads = Threads { count: 2, rows_min: self.split_rows_min };
        ScanContext::of_statement(
            Budget::default(),
            threads,
            StatementMemory::new(Arc::new(Memory::new(usize::MAX)), usize::MAX),
        )
    }

    /// Creates a table, or writes rows.
    pub fn change(&self, sql: &str) {
        match saltwing_sql::parse_one(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).statement {
            Statement::CreateTable(create) => {
                let bound = saltwing_bind::create_table(&create, None).unwrap_or_else(|e| panic!("{sql}: {e}"));
                let change = CatalogChange::CreateTable { def: bound.def, sequences: Vec::new(), temporary: false };
                self.catalog.apply(change).unwrap();
            }
            Statement::Upsert(upsert) => {
                let bound = saltwing_bind::upsert(
                    &upsert,
                    false,
                    (&*self.catalog.snapshot().unwrap(), &saltwing_bind::NoEngine),
                    Params::NONE,
                );
                let bound = bound.unwrap_or_else(|e| panic!("{sql}: {e}"));
                let UpsertTarget { table, columns, .. } = bound.target;
                let BoundSource::Rows(rows) = bound.source else { panic!("{sql}") };
                let mut writes = self.tables.batch();
                for values in rows {
                    let mut row = vec![Value::Null; table.def().columns.len()];
                    if table.def().has_hidden_key() {
                        let id = table.def().columns.iter().position(|column| column.name == "_row_id").unwrap();
                        row[id] = Value::Int(self.next_row_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
                    }
                    columns.iter().zip(values).for_each(|(&column, value)| row[column] = value);
                    writes.put(&table, row).unwrap();
                }
                writes.commit(Durability::Buffered).unwrap();
            }
            _ => panic!("{sql}"),
        }
    }

    pub fn plan_with(&self, sql: &str, params: Params<'_>, mode: Mode) -> Result<Planned, RelationalError> {
        let statement = query(sql);
        let guard = Guard { hints: statement.hints.clone(), ..self.guard.clone() };
        let catalog = self.catalog.snapshot().unwrap();
        let root = saltwing_bind::query(&statement, &*catalog, &*self.engine, params)?;
        self.plan_bound(self.with_values(root, &guard, mode)?, guard, mode)
    }

    /// The query with the values of its uncorrelated subqueries, if it is to run.
    fn with_values(&self, root: RootQuery, guard: &Guard, mode: Mode) -> Result<BoundQuery, RelationalError> {
        let RootQuery { subqueries, mut query, .. } = root;
        let mut waiting = subqueries.into_iter();
        for number in 0.. {
            let Some(subquery) = waiting.next() else { break };
            let planned = self.plan_bound(subquery.query.clone(), guard.clone(), mode)?;
            if mode != Mode::Execute {
                continue;
            }
            let values = self.runtime.block_on(first_values(&planned, subquery.ty))?;
            assert!(values.len() < 2, "several rows");
            let value = values.into_iter().next().unwrap_or(Value::Null);
            query.set_subquery(number, &subquery, &value)?;
            waiting.as_mut_slice().iter_mut().try_for_each(|it| it.query.set_subquery(number, &subquery, &value))?;
        }
        Ok(query)
    }

    fn plan_bound(&self, query: BoundQuery, guard: Guard, mode: Mode) -> Result<Planned, RelationalError> {
        self.engine.plan(QueryRequest {
            query,
            catalog: self.catalog.snapshot().unwrap(),
            snapshot: self.tables.snapshot().unwrap(),
            context: self.context(),
            guard,
            samples: Vec::new(),
            recursion: RecursionLimits::default(),
            mode,
            now_ms: None,
        })
    }

    /// The plan of a query to be run again and again, if it has one.
    pub fn template(&self, sql: &str) -> Option<Template> {
        self.plan_with(sql, Params::OPEN, Mode::Keep).ok()?.into_template()
    }

    /// A run of a template; `None` where it does not fit.
    pub fn run_template(&self, template: &Template, values: &[Value]) -> Option<Result<Answer, RelationalError>> {
        let binding = Binding {
            values: ParamValues::untyped(values),
            snapshot: self.tables.snapshot().unwrap(),
            context: self.context(),
            guard: &self.guard,
        };
        let planned = template.bind(binding).unwrap()?;
        Some(self.run(&planned))
    }

    pub fn try_with(&self, sql: &str, params: &[Value]) -> Result<Answer, RelationalError> {
        self.run(&self.plan_with(sql, Params::Given(ParamValues::untyped(params)), Mode::Execute)?)
    }

    fn run(&self, planned: &Planned) -> Result<Answer, RelationalError> {
        self.runtime.block_on(async {
            let mut stream = planned.stream()?;
            let mut rows = Vec::new();
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    let cells = batch.columns().iter().zip(planned.columns()).map(|(array, column)| {
                        let text = saltwing_expr::text_at(array, row, column.ty).unwrap();
                        text.unwrap_or_else(|| "NULL".into())
                    });
                    rows.push(cells.collect::<Vec<_>>().join("|"));
                }
            }
            Ok(Answer {
                labels: planned.columns().iter().map(|c| c.label.clone()).collect(),
                types: planned.columns().iter().map(|c| c.ty.to_string()).collect(),
                rows,
                counters: planned.counters(),
                reads: planned
                    .accesses(true)
                    .iter()
                    .filter_map(|report| {
                        Some((report.access.table().def().name.name.clone(), report.counters.clone()?))
                    })
                    .collect(),
                warnings: planned.warnings().to_vec(),
            })
        })
    }

    pub fn answer(&self, sql: &str) -> Answer {
        self.try_with(sql, &[]).unwrap_or_else(|e| panic!("{sql}\n{}: {e}", e.code()))
    }

    /// The rows in the order in which they come.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        self.answer(sql).rows
    }

    /// The one value of one row.
    pub fn value(&self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows[0].clone()
    }

    /// SQLSTATE and text of the error.
    pub fn error(&self, sql: &str) -> (String, String) {
        match self.try_with(sql, &[]) {
            Ok(answer) => panic!("{sql} gave {answer:?}"),
            Err(error) => (error.code().sqlstate().to_owned(), error.to_string()),
        }
    }

    #[track_caller]
    pub fn refuses(&self, sql: &str, sqlstate: &str) {
        let (state, text) = self.error(sql);
        assert_eq!(state, sqlstate, "{sql}\n{text}");
    }

    pub fn plan_text(&self, sql: &str) -> String {
        let planned = self.plan_with(sql, Params::NONE, Mode::Explain);
        planned.unwrap_or_else(|e| panic!("{sql}\n{}: {e}", e.code())).plan_text()
    }
}

pub fn query(sql: &str) -> QueryStatement {
    match saltwing_sql::parse_one(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).statement {
        Statement::Query(query) => query,
        _ => panic!("{sql} is no query"),
    }
}

/// The values of the first column.
async fn first_values(planned: &Planned, ty: SqlType) -> Result<Vec<Value>, RelationalError> {
    let (mut stream, mut values) = (planned.stream()?, Vec::new());
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let column = batch.column(0);
        values.extend((0..batch.num_rows()).map(|row| saltwing_expr::value_at(column.as_ref(), row, ty).unwrap()));
    }
    Ok(values)
}
