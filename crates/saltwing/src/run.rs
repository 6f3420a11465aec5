//! Runs statements: dispatches each kind to its executor.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::{FEW_ROWS, ScanContext, Snapshot};
use saltwing_bind::{BoundQuery, Params, RootQuery, create_table, query};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{RunningSelect, SelectPlan};
use saltwing_planner::{DirectQuery, Guard, HintVerb, KeyAccess, PlannedSelect, plan_select};
use saltwing_sql::Statement;
use saltwing_sql::statement::{CreateTable, QueryStatement};
use saltwing_types::{ErrorCode, Span, Value};

use crate::Error;
use crate::kept_select::{KeptSelect, ReadyPlan};
use crate::kept_write::KeptWrite;
use crate::outcome::{BatchSource, ExecResult, Outcome, RowsOutcome, Running, Values};
use crate::session::{Session, no_rows};
use crate::settings::ExecutorChoice;
use crate::show::columns_shown;
use crate::statement_cache::CachedStatement;
use crate::text_rows::{TextRow, text_rows};

/// A query, and everything that decides how it runs.
#[derive(Clone)]
pub(crate) struct QueryRun<'a> {
    pub(crate) statement: Cow<'a, QueryStatement>,
    pub(crate) params: Params<'a>,
    /// Of the moment of the catalog, or earlier: its rows are known by their definitions or later ones.
    pub(crate) snapshot: Arc<dyn Snapshot>,
    pub(crate) catalog: Arc<dyn CatalogReader>,
    /// The notices about the files that it reads, whose columns are known for this run alone; `None` if it reads none.
    pub(crate) files: Option<Arc<[String]>>,
    pub(crate) guard: Guard,
    pub(crate) executor: ExecutorChoice,
    /// The moment that `now()` is, in milliseconds since 1970; `None` is the moment of planning.
    #[cfg_attr(not(feature = "datafusion"), allow(dead_code))] // the relational engine alone has such functions
    pub(crate) now_ms: Option<i64>,
}

/// The purpose of planning a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is run.
    Execute,
    /// It is judged, and not run.
    Judge,
    /// It is explained: nothing is refused.
    Explain,
}

impl Session {
    pub(crate) fn run_statement(&self, statement: &Statement, params: &[Value]) -> Result<Outcome, Error> {
        self.run_statement_of(statement, params, None)
    }

    /// As [`Session::run_statement`]; `kept` is the place for what is kept of a write that may run again.
    pub(crate) fn run_statement_of(
        &self,
        statement: &Statement,
        params: &[Value],
        kept: Option<&KeptWrite>,
    ) -> Result<Outcome, Error> {
        self.check_written(statement)?;
        let catalog = &self.shared().catalog;
        let shown =
            |rows: Vec<TextRow>| text_rows(columns_shown(statement).unwrap_or_default(), &rows).map(Outcome::Rows);
        match statement {
            Statement::Query(query) => self.run_query(query, params).map(Outcome::Rows),
            Statement::Upsert(_)
            | Statement::Insert(_)
            | Statement::Delete(_)
            | Statement::Update(_)
            | Statement::Merge(_) => self.run_dml(statement, params, kept),
            Statement::Explain(explain) => shown(self.run_explain(explain, params)?),
            Statement::CreateTable(create) => self.run_create_table(create),
            Statement::CreateTableAs(create) => self.run_create_table_as(create, params),
            Statement::AlterTable(alter) => self.run_alter_table(alter),
            Statement::CreateIndex(create) => self.run_create_index(create),
            Statement::AlterIndex(alter) => self.run_alter_index(alter),
            Statement::DropIndex(drop) => self.run_drop_index(drop),
            Statement::Comment(comment) => self.run_comment(comment),
            Statement::DropTable(drop) => self.run_drop_table(drop),
            Statement::CreateView(create) => self.run_create_view(create),
            Statement::AlterView(alter) => self.run_alter_view(alter),
            Statement::DropView(drop) => self.run_drop_view(drop),
            Statement::Truncate(tables) => self.run_truncate(tables),
            Statement::CreateSequence(create) => self.run_create_sequence(create),
            Statement::AlterSequence(alter) => self.run_alter_sequence(alter),
            Statement::DropSequence(drop) => self.run_drop_sequence(drop),
            Statement::CreateSchema(create) => {
                self.writable()?;
                let known = catalog.snapshot().has_schema(&create.name.text);
                if !(known && create.if_not_exists) {
                    catalog.create_schema(&create.name.text).map_err(|e| Error::from(e).at(Some(create.name.span)))?;
                }
                Ok(ExecResult::default().into())
            }
            Statement::DropSchema(drop) => self.run_drop_schema(drop),
            Statement::CopyFrom(copy) => self.copy_from(copy, None).map(Outcome::Done),
            Statement::CopyTo(copy) => self.copy_to(copy, params, None).map(Outcome::Done),
            Statement::ShowTables(show) => shown(self.show_tables(show)?),
            Statement::ShowSchemas(show) => shown(self.show_schemas(show.as_deref())?),
            Statement::ShowFunctions(show) => shown(self.show_functions(show.as_deref())?),
            Statement::ShowSequences(show) => shown(self.show_sequences(show)?),
            Statement::ShowIndexes(table) => shown(self.show_indexes(table.as_ref())?),
            Statement::ShowViews(show) => shown(self.show_views(show)?),
            Statement::ShowCreateSequence(name) => shown(self.show_create_sequence(name)?),
            Statement::ShowCreateTable(name) => shown(self.show_create_table(name)?),
            Statement::ShowStorage(name) => self.show_storage(name.as_ref()).map(Outcome::Rows),
            Statement::Compact(tables) => self.run_compact(tables),
            Statement::Backup(backup) => self.run_backup(&backup.path).map_err(|error| error.at(Some(backup.span))),
            Statement::Attach(attach) => self.run_attach(attach),
            Statement::Detach(alias) => self.run_detach(alias),
            Statement::ShowAttached => shown(self.show_attached()),
            Statement::Describe(name) => shown(self.describe(name)?),
            Statement::DescribeFile(file) => shown(self.describe_file(file)?),
            Statement::ShowSetting(name) => shown(self.show_setting(name.as_ref())?),
            Statement::Set(set) => self.set(set).map(|()| ExecResult::default().into()),
            Statement::Export(export) => self.export(export).map(Outcome::Rows),
            Statement::ShowTransactions => shown(self.show_transactions()),
            Statement::Begin { read_only } => self.begin_transaction(*read_only).map(|()| ExecResult::default().into()),
            Statement::Commit
            | Statement::Rollback
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::ReleaseSavepoint(_) => {
                Err(Error::new(ErrorCode::NoTransaction, "no transaction is open").with_help(Some("BEGIN opens one")))
            }
            Statement::Use(_) | Statement::Unsupported(_) => {
                debug_assert!(unsupported(statement).is_some(), "a statement that is not run has an error");
                Err(unsupported(statement).unwrap_or_else(|| Error::new(ErrorCode::Bug, "no run for this statement")))
            }
        }
    }

    /// Checks that a statement gives rows before it runs, so that a write which gives none has no effect.
    pub(crate) fn check_gives_rows(&self, statement: &Statement) -> Result<(), Error> {
        let gives_rows = match statement {
            Statement::Query(_) => true,
            Statement::Upsert(it) | Statement::Insert(it) => it.returning.is_some(),
            Statement::Update(it) => it.returning.is_some(),
            Statement::Delete(it) => it.returning.is_some(),
            Statement::Merge(it) => it.returning.is_some(),
            // The error of a statement that cannot run comes first.
            other => columns_shown(other).is_some() || unsupported(other).is_some(),
        };
        if gives_rows { Ok(()) } else { Err(no_rows()) }
    }

    fn executor(&self) -> ExecutorChoice {
        self.read_settings(|settings| settings.executor)
    }

    /// A query with the rows, the catalog and the overrides as they are now.
    pub(crate) fn query_run<'a>(
        &self,
        statement: &'a QueryStatement,
        params: Params<'a>,
        context: &ScanContext,
    ) -> Result<QueryRun<'a>, Error> {
        let moment = self.moment()?;
        self.query_run_at(moment, statement, params, context)
    }

    /// The same over rows that were taken before.
    pub(crate) fn query_run_on<'a>(
        &self,
        snapshot: Arc<dyn Snapshot>,
        statement: &'a QueryStatement,
        params: Params<'a>,
        context: &ScanContext,
    ) -> Result<QueryRun<'a>, Error> {
        self.query_run_at((snapshot, self.catalog()), statement, params, context)
    }

    fn query_run_at<'a>(
        &self,
        (snapshot, mut catalog): (Arc<dyn Snapshot>, Arc<dyn CatalogReader>),
        statement: &'a QueryStatement,
        params: Params<'a>,
        context: &ScanContext,
    ) -> Result<QueryRun<'a>, Error> {
        let files = self.with_files(statement, &catalog, context)?.map(|(with_files, notices)| {
            catalog = with_files;
            notices.into()
        });
        let guard = self.guard_of(statement, &*catalog);
        let statement = Cow::Borrowed(statement);
        // Only the direct path reads pages.
        let executor = if statement.after.is_some() { ExecutorChoice::Auto } else { self.executor() };
        let now_ms = self.is_within_transaction().then(|| self.now_ms());
        Ok(QueryRun { statement, params, snapshot, catalog, files, guard, executor, now_ms })
    }

    /// A query that may have run before: its plan is used again where it still holds.
    pub(crate) fn run_known_query(
        &self,
        statement: &QueryStatement,
        params: &[Value],
        known: &Arc<CachedStatement>,
    ) -> Result<RowsOutcome, Error> {
        let mut rows = self.run_as_known(statement, params, known)?;
        if let Some(running) = &mut rows.running {
            running.notices.extend(saltwing_bind::query_notice(&statement.query));
        }
        Ok(rows)
    }

    fn run_as_known(
        &self,
        statement: &QueryStatement,
        params: &[Value],
        known: &Arc<CachedStatement>,
    ) -> Result<RowsOutcome, Error> {
        if statement.has_sequences || statement.after.is_some() {
            return self.run_query(statement, params);
        }
        let executor = self.executor();
        let kept = || match self.run_kept(statement, params, &known.kept)? {
            Some(rows) => Ok(rows),
            None => self.run_query(statement, params),
        };
        if executor == ExecutorChoice::DataFusion {
            return kept();
        }
        let catalog = self.catalog();
        let (kind, planning) = match known.plan.of(catalog.version()) {
            Some(kind) => (kind, None),
            None => {
                let context = self.begin();
                let _statement = context.enter();
                (
                    known.plan.plan(statement, (&*catalog, self.shared().engine_functions()), !params.is_empty())?,
                    Some(context),
                )
            }
        };
        let begin = || planning.clone().unwrap_or_else(|| self.begin());
        let run_anew = || self.run_query_in(begin(), statement, params);
        let Some(ReadyPlan { plan, part }) = kind.with_values(params) else {
            let is_kept = executor == ExecutorChoice::Auto && kind.is_relational();
            return if is_kept { kept() } else { run_anew() };
        };
        if let Some(row_key) = plan.point_key(part.as_ref())
            && self.may_read_at_once(1)
            && !plan.access().table().is_attached()
        {
            // It is read at once, so it needs no cancellation and has no notice at its end.
            return match plan.point(&*self.shared().tables, row_key).map_err(Error::from) {
                Ok(row) => Ok(self.read_at_once(RowsOutcome::point(plan.columns().clone(), row.map(|row| row.values)))),
                Err(error) if error.code() == ErrorCode::Conflict => run_anew(),
                Err(error) => Err(error),
            };
        }
        let snapshot = self.snapshot()?;
        // Rows are not read by a definition that is older than they are.
        if self.catalog().version() != catalog.version() {
            return run_anew();
        }
        // A part of the key is known only if the access is allowed. Each row may come with an entry that names it.
        if self.may_read_at_once(2 * FEW_ROWS as u64)
            && let Some(few) = plan.few(&snapshot, part.as_ref())?
        {
            return Ok(self.read_at_once(RowsOutcome::few(plan.columns().clone(), few)));
        }
        let context = begin();
        let notices = match plan.access().access().verdict.allowed {
            // An allowed access needs no override.
            Some(true) => None,
            _ => plan.access().judge_with(&self.guard_of(statement, &*catalog))?,
        };
        if executor != ExecutorChoice::Auto || !plan.keeps_groups() {
            return self.start_planned(&plan, part, snapshot, context, notices);
        }
        let again = self.known_again(known, params, snapshot.clone(), context.clone());
        Ok(self.start_planned(&plan, part, snapshot, context, notices)?.or_again(again))
    }

    /// Whether a statement that reads `rows_most` rows at most needs no context: nothing limits it, notices it or cancels it.
    fn may_read_at_once(&self, rows_most: u64) -> bool {
        self.read_settings(|settings| settings.allows_unmetered(rows_most)) && !self.is_within_transaction()
    }

    pub(crate) fn run_query(&self, statement: &QueryStatement, params: &[Value]) -> Result<RowsOutcome, Error> {
        self.run_query_in(self.begin(), statement, params)
    }

    fn run_query_in(
        &self,
        context: ScanContext,
        statement: &QueryStatement,
        params: &[Value],
    ) -> Result<RowsOutcome, Error> {
        self.start_run(self.query_run(statement, Params::Given(params), &context)?, context)
    }

    /// Runs the subqueries that run by themselves, and starts the query around them.
    pub(crate) fn start_run(&self, run: QueryRun<'_>, context: ScanContext) -> Result<RowsOutcome, Error> {
        if run.statement.has_sequences {
            return self.start_sequenced(run, context);
        }
        let (root, reads) = self.with_subqueries(&run, &context, Purpose::Execute)?;
        let plan = self.plan_query((&run, &root.query), &context, Purpose::Execute)?;
        let mut rows = self.start_root(&plan, (&run, root), context)?;
        if let Some(running) = &mut rows.running {
            running.counters.extend(reads.counters);
            running.notices.extend(reads.notices);
            running.notices.extend(run.files.iter().flat_map(|notices| notices.iter().cloned()));
        }
        Ok(rows)
    }

    /// The query, bound, and the subqueries that run before it.
    ///
    /// # Errors
    /// Errors of the query.
    pub(crate) fn bound(&self, run: &QueryRun<'_>) -> Result<RootQuery, Error> {
        let engine = self.shared().engine_functions();
        Ok(query(&run.statement, &*run.catalog, engine, run.params)?)
    }

    /// The query as the direct path runs it; `None` when it is not for it.
    ///
    /// # Errors
    /// 0A000 if only the direct path is requested and it cannot run the query.
    pub(crate) fn plan_direct(&self, run: &QueryRun<'_>, bound: &BoundQuery) -> Result<Option<SelectPlan>, Error> {
        let choice = run.executor;
        if choice == ExecutorChoice::DataFusion {
            return Ok(None);
        }
        let planned = DirectQuery::of(bound.clone()).map(plan_select).transpose()?.flatten();
        let ready = |mut planned: PlannedSelect| {
            planned.access = planned.access.with_overrides(&run.guard);
            SelectPlan::new(planned)
        };
        let planned = planned.map(ready).transpose()?;
        match (planned, choice) {
            (None, ExecutorChoice::Direct) => {
                Err(not_supported("this query on the direct path", run.statement.span, "SET executor = 'auto'"))
            }
            (planned, _) => Ok(planned),
        }
    }

    pub(crate) fn start_direct(
        &self,
        direct: &Arc<SelectPlan>,
        snapshot: Arc<dyn Snapshot>,
        context: ScanContext,
    ) -> Result<RowsOutcome, Error> {
        let notices = direct.access().judge()?;
        self.start_planned(direct, None, snapshot, context, notices)
    }

    /// Starts the query of a write by the plan that is kept for it; `None` where it must be planned from its text.
    pub(crate) fn start_kept(
        &self,
        (statement, kept): (&QueryStatement, &KeptSelect),
        catalog: &dyn CatalogReader,
        values: &[Value],
        (snapshot, context): (Arc<dyn Snapshot>, ScanContext),
        verb: HintVerb,
    ) -> Result<Option<RowsOutcome>, Error> {
        // Without the relational engine's functions, `now()` is nothing to it.
        if statement.has_sequences || self.executor() == ExecutorChoice::DataFusion {
            return Ok(None);
        }
        let kind = match kept.of(catalog.version()) {
            Some(kind) => kind,
            None => kept.plan(statement, (catalog, self.shared().engine_functions()), !values.is_empty())?,
        };
        let Some(ReadyPlan { plan, part }) = kind.with_values(values) else { return Ok(None) };
        if plan.keeps_groups() {
            return Ok(None);
        }
        let notices = match plan.access().access().verdict.allowed {
            Some(true) => None,
            _ => plan.access().judge_with(&Guard { verb, ..self.guard_of(statement, catalog) })?,
        };
        self.start_planned(&plan, part, snapshot, context, notices).map(Some)
    }

    fn start_planned(
        &self,
        planned: &Arc<SelectPlan>,
        part: Option<KeyAccess>,
        snapshot: Arc<dyn Snapshot>,
        context: ScanContext,
        notices: Option<String>,
    ) -> Result<RowsOutcome, Error> {
        let columns = planned.columns().clone();
        let source = match planned.start(snapshot, part, context.clone())? {
            RunningSelect::Total(row) => BatchSource::Values(Some(Values::Total(row))),
            RunningSelect::Rows(rows) => BatchSource::Direct(Box::new(rows)),
        };
        let notices = notices.into_iter().collect();
        let running = Running { warnings: Some(self.warnings()), ..Running::of_scan(context, notices) };
        Ok(RowsOutcome::running(columns, source, running))
    }

    fn run_create_table(&self, create: &CreateTable) -> Result<Outcome, Error> {
        self.writable()?;
        if create.if_not_exists && self.is_there(create) {
            let notices = vec![format!("table {} exists already", create.table)];
            return Ok(ExecResult::noticed(notices).into());
        }
        Ok(ExecResult::noticed(self.create_table(create)?).into())
    }

    /// Makes a table; the notices for the user.
    pub(crate) fn create_table(&self, create: &CreateTable) -> Result<Vec<String>, Error> {
        let shared = self.shared();
        let bound = create_table(create, shared.options.default_salt)?.with_free_names(&*shared.catalog.snapshot());
        self.check_defaults(&bound.def).map_err(|error| error.at(Some(create.table.span())))?;
        let sequences = bound.sequences.into_iter().map(|sequence| sequence.def).collect();
        match self.add_table(create, bound.def, sequences) {
            Err(saltwing_catalog::CatalogError::DuplicateTable { .. }) if create.if_not_exists => {}
            created => created.map_err(|e| Error::from(e).at(Some(create.table.span())))?,
        }
        Ok(bound.notices)
    }

    pub(crate) fn writable(&self) -> Result<(), Error> {
        if self.shared().options.readonly {
            return Err(Error::new(ErrorCode::ReadOnly, "the database is open for reading only"));
        }
        Ok(())
    }
}

/// The error of a statement that is read and not run; `None` of one that is.
pub(crate) fn unsupported(statement: &Statement) -> Option<Error> {
    Some(match statement {
        Statement::Use(name) => not_supported("USE", name.span, "write the schema before the table: s.t"),
        Statement::Unsupported(statement) => {
            let text = format!("{} is not supported", statement.what);
            Error::new(ErrorCode::NotSupported, text).at(Some(statement.span)).with_help(statement.help.as_deref())
        }
        _ => return None,
    })
}

fn not_supported(what: &str, span: Span, help: &str) -> Error {
    let text = format!("{what} is not supported");
    Error::new(ErrorCode::NotSupported, text).with_help(Some(help)).at(Some(span))
}
