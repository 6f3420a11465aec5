//! Runs statements: dispatches each kind to its executor.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::{FEW_ROWS, ScanContext, Snapshot};
use saltwing_bind::{BoundQuery, Params, RootQuery, query};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{RunningSelect, SelectPlan};
use saltwing_planner::{DirectQuery, Guard, HintVerb, KeyAccess, PlannedSelect, plan_select};
use saltwing_sql::Statement;
use saltwing_sql::statement::{CreateTable, QueryStatement};
use saltwing_types::{ErrorCode, Span, Value};

use crate::Error;
use crate::alter_table::{run_alter_table, run_comment};
use crate::attached::{check_written, run_attach, run_detach, show_attached};
use crate::computed::check_defaults;
use crate::copy::{copy_from, copy_to, describe_file, with_files};
use crate::create_table_as::run_create_table_as;
use crate::dml::run_dml;
use crate::explain::run_explain;
use crate::export::export;
use crate::indexes::{run_alter_index, run_create_index, run_drop_index, show_indexes};
use crate::kept_select::{KeptSelect, ReadyPlan};
use crate::kept_write::KeptWrite;
use crate::maintenance::run_backup;
use crate::outcome::{BatchSource, ExecResult, Outcome, RowsOutcome, Running, Values};
use crate::relational::run_kept;
use crate::removal::{run_drop_schema, run_drop_sequence, run_drop_table, run_drop_view, run_truncate};
use crate::sequences::{run_alter_sequence, run_create_sequence, show_create_sequence, show_sequences};
use crate::session::{Session, no_rows};
use crate::settings::ExecutorChoice;
use crate::show::{columns_shown, describe, show_create_table, show_schemas, show_setting, show_tables};
use crate::show_functions::show_functions;
use crate::starting_again::known_again;
use crate::statement_cache::CachedStatement;
use crate::storage::{run_compact, show_storage};
use crate::temporary::{add_table, is_there};
use crate::text_rows::{TextRow, text_rows};
use crate::transaction_statements::{begin_transaction, show_transactions};
use crate::views::{run_alter_view, run_create_view, show_views};

/// A query, and everything that decides how it runs.
#[derive(Clone)]
pub(crate) struct QueryRun<'a> {
    pub(crate) session: &'a Session,
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

pub(crate) fn run_statement(session: &Session, statement: &Statement, params: &[Value]) -> Result<Outcome, Error> {
    run_statement_of(session, statement, params, None)
}

/// As [`Session::run_statement`]; `kept` is the place for what is kept of a write that may run again.
pub(crate) fn run_statement_of(
    session: &Session,
    statement: &Statement,
    params: &[Value],
    kept: Option<&KeptWrite>,
) -> Result<Outcome, Error> {
    check_written(session, statement)?;
    let catalog = &session.shared().catalog;
    let shown = |rows: Vec<TextRow>| text_rows(columns_shown(statement).unwrap_or_default(), &rows).map(Outcome::Rows);
    match statement {
        Statement::Query(query) => run_query(session, query, params).map(Outcome::Rows),
        Statement::Upsert(_)
        | Statement::Insert(_)
        | Statement::Delete(_)
        | Statement::Update(_)
        | Statement::Merge(_) => run_dml(session, statement, params, kept),
        Statement::Explain(explain) => shown(run_explain(session, explain, params)?),
        Statement::CreateTable(create) => run_create_table(session, create),
        Statement::CreateTableAs(create) => run_create_table_as(session, create, params),
        Statement::AlterTable(alter) => run_alter_table(session, alter),
        Statement::CreateIndex(create) => run_create_index(session, create),
        Statement::AlterIndex(alter) => run_alter_index(session, alter),
        Statement::DropIndex(drop) => run_drop_index(session, drop),
        Statement::Comment(comment) => run_comment(session, comment),
        Statement::DropTable(drop) => run_drop_table(session, drop),
        Statement::CreateView(create) => run_create_view(session, create),
        Statement::AlterView(alter) => run_alter_view(session, alter),
        Statement::DropView(drop) => run_drop_view(session, drop),
        Statement::Truncate(tables) => run_truncate(session, tables),
        Statement::CreateSequence(create) => run_create_sequence(session, create),
        Statement::AlterSequence(alter) => run_alter_sequence(session, alter),
        Statement::DropSequence(drop) => run_drop_sequence(session, drop),
        Statement::CreateSchema(create) => {
            writable(session)?;
            let known = catalog.snapshot().has_schema(&create.name.text);
            if !(known && create.if_not_exists) {
                catalog.create_schema(&create.name.text).map_err(|e| Error::from(e).at(Some(create.name.span)))?;
            }
            Ok(ExecResult::default().into())
        }
        Statement::DropSchema(drop) => run_drop_schema(session, drop),
        Statement::CopyFrom(copy) => copy_from(session, copy, None).map(Outcome::Done),
        Statement::CopyTo(copy) => copy_to(session, copy, params, None).map(Outcome::Done),
        Statement::ShowTables(show) => shown(show_tables(session, show)?),
        Statement::ShowSchemas(show) => shown(show_schemas(session, show.as_deref())?),
        Statement::ShowFunctions(show) => shown(show_functions(session, show.as_deref())?),
        Statement::ShowSequences(show) => shown(show_sequences(session, show)?),
        Statement::ShowIndexes(table) => shown(show_indexes(session, table.as_ref())?),
        Statement::ShowViews(show) => shown(show_views(session, show)?),
        Statement::ShowCreateSequence(name) => shown(show_create_sequence(session, name)?),
        Statement::ShowCreateTable(name) => shown(show_create_table(session, name)?),
        Statement::ShowStorage(name) => show_storage(session, name.as_ref()).map(Outcome::Rows),
        Statement::Compact(tables) => run_compact(session, tables),
        Statement::Backup(backup) => run_backup(session, &backup.path).map_err(|error| error.at(Some(backup.span))),
        Statement::Attach(attach) => run_attach(session, attach),
        Statement::Detach(alias) => run_detach(session, alias),
        Statement::ShowAttached => shown(show_attached(session)),
        Statement::Describe(name) => shown(describe(session, name)?),
        Statement::DescribeFile(file) => shown(describe_file(session, file)?),
        Statement::ShowSetting(name) => shown(show_setting(session, name.as_ref())?),
        Statement::Set(set) => session.set(set).map(|()| ExecResult::default().into()),
        Statement::Export(it) => export(session, it).map(Outcome::Rows),
        Statement::ShowTransactions => shown(show_transactions(session)),
        Statement::Begin { read_only } => begin_transaction(session, *read_only).map(|()| ExecResult::default().into()),
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
pub(crate) fn check_gives_rows(session: &Session, statement: &Statement) -> Result<(), Error> {
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

fn executor(session: &Session) -> ExecutorChoice {
    session.read_settings(|settings| settings.executor)
}

/// A query with the rows, the catalog and the overrides as they are now.
pub(crate) fn query_run<'a>(
    session: &'a Session,
    statement: &'a QueryStatement,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    let moment = session.moment()?;
    query_run_at(session, moment, statement, params, context)
}

/// The same over rows that were taken before.
pub(crate) fn query_run_on<'a>(
    session: &'a Session,
    snapshot: Arc<dyn Snapshot>,
    statement: &'a QueryStatement,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    query_run_at(session, (snapshot, session.catalog()), statement, params, context)
}

fn query_run_at<'a>(
    session: &'a Session,
    (snapshot, mut catalog): (Arc<dyn Snapshot>, Arc<dyn CatalogReader>),
    statement: &'a QueryStatement,
    params: Params<'a>,
    context: &ScanContext,
) -> Result<QueryRun<'a>, Error> {
    let files = with_files(session, statement, &catalog, context)?.map(|(with_files, notices)| {
        catalog = with_files;
        notices.into()
    });
    let guard = session.guard_of(statement, &*catalog);
    let statement = Cow::Borrowed(statement);
    // Only the direct path reads pages.
    let executor = if statement.after.is_some() { ExecutorChoice::Auto } else { executor(session) };
    let now_ms = session.is_within_transaction().then(|| session.now_ms());
    Ok(QueryRun { session, statement, params, snapshot, catalog, files, guard, executor, now_ms })
}

/// A query that may have run before: its plan is used again where it still holds.
pub(crate) fn run_known_query(
    session: &Session,
    statement: &QueryStatement,
    params: &[Value],
    known: &Arc<CachedStatement>,
) -> Result<RowsOutcome, Error> {
    let mut rows = run_as_known(session, statement, params, known)?;
    if let Some(running) = &mut rows.running {
        running.notices.extend(saltwing_bind::query_notice(&statement.query));
    }
    Ok(rows)
}

fn run_as_known(
    session: &Session,
    statement: &QueryStatement,
    params: &[Value],
    known: &Arc<CachedStatement>,
) -> Result<RowsOutcome, Error> {
    if statement.has_sequences || statement.after.is_some() {
        return run_query(session, statement, params);
    }
    let executor = executor(session);
    let kept = || match run_kept(session, statement, params, &known.kept)? {
        Some(rows) => Ok(rows),
        None => run_query(session, statement, params),
    };
    if executor == ExecutorChoice::DataFusion {
        return kept();
    }
    let catalog = session.catalog();
    let (kind, planning) = match known.plan.of(catalog.version()) {
        Some(kind) => (kind, None),
        None => {
            let context = session.begin();
            let _statement = context.enter();
            (
                known.plan.plan(statement, (&*catalog, session.shared().engine_functions()), !params.is_empty())?,
                Some(context),
            )
        }
    };
    let begin = || planning.clone().unwrap_or_else(|| session.begin());
    let run_anew = || run_query_in(session, begin(), statement, params);
    let Some(ReadyPlan { plan, part }) = kind.with_values(params) else {
        let is_kept = executor == ExecutorChoice::Auto && kind.is_relational();
        return if is_kept { kept() } else { run_anew() };
    };
    if let Some(row_key) = plan.point_key(part.as_ref())
        && may_read_at_once(session, 1)
        && !plan.access().table().is_attached()
    {
        // It is read at once, so it needs no cancellation and has no notice at its end.
        return match plan.point(&*session.shared().tables, row_key).map_err(Error::from) {
            Ok(row) => Ok(session.read_at_once(RowsOutcome::point(plan.columns().clone(), row.map(|row| row.values)))),
            Err(error) if error.code() == ErrorCode::Conflict => run_anew(),
            Err(error) => Err(error),
        };
    }
    let snapshot = session.snapshot()?;
    // Rows are not read by a definition that is older than they are.
    if session.catalog().version() != catalog.version() {
        return run_anew();
    }
    // A part of the key is known only if the access is allowed. Each row may come with an entry that names it.
    if may_read_at_once(session, 2 * FEW_ROWS as u64)
        && let Some(few) = plan.few(&snapshot, part.as_ref())?
    {
        return Ok(session.read_at_once(RowsOutcome::few(plan.columns().clone(), few)));
    }
    let context = begin();
    let notices = match plan.access().access().verdict.allowed {
        // An allowed access needs no override.
        Some(true) => None,
        _ => plan.access().judge_with(&session.guard_of(statement, &*catalog))?,
    };
    if executor != ExecutorChoice::Auto || !plan.keeps_groups() {
        return start_planned(session, &plan, part, snapshot, context, notices);
    }
    let again = known_again(session, known, params, snapshot.clone(), context.clone());
    Ok(start_planned(session, &plan, part, snapshot, context, notices)?.or_again(again))
}

/// Whether a statement that reads `rows_most` rows at most needs no context: nothing limits it, notices it or cancels it.
fn may_read_at_once(session: &Session, rows_most: u64) -> bool {
    session.read_settings(|settings| settings.allows_unmetered(rows_most)) && !session.is_within_transaction()
}

pub(crate) fn run_query(session: &Session, statement: &QueryStatement, params: &[Value]) -> Result<RowsOutcome, Error> {
    run_query_in(session, session.begin(), statement, params)
}

fn run_query_in(
    session: &Session,
    context: ScanContext,
    statement: &QueryStatement,
    params: &[Value],
) -> Result<RowsOutcome, Error> {
    query_run(session, statement, Params::Given(params), &context)?.start_run(context)
}

pub(crate) fn start_direct(
    session: &Session,
    direct: &Arc<SelectPlan>,
    snapshot: Arc<dyn Snapshot>,
    context: ScanContext,
) -> Result<RowsOutcome, Error> {
    let notices = direct.access().judge()?;
    start_planned(session, direct, None, snapshot, context, notices)
}

/// Starts the query of a write by the plan that is kept for it; `None` where it must be planned from its text.
pub(crate) fn start_kept(
    session: &Session,
    (statement, kept): (&QueryStatement, &KeptSelect),
    catalog: &dyn CatalogReader,
    values: &[Value],
    (snapshot, context): (Arc<dyn Snapshot>, ScanContext),
    verb: HintVerb,
) -> Result<Option<RowsOutcome>, Error> {
    // Without the relational engine's functions, `now()` is nothing to it.
    if statement.has_sequences || executor(session) == ExecutorChoice::DataFusion {
        return Ok(None);
    }
    let kind = match kept.of(catalog.version()) {
        Some(kind) => kind,
        None => kept.plan(statement, (catalog, session.shared().engine_functions()), !values.is_empty())?,
    };
    let Some(ReadyPlan { plan, part }) = kind.with_values(values) else { return Ok(None) };
    if plan.keeps_groups() {
        return Ok(None);
    }
    let notices = match plan.access().access().verdict.allowed {
        Some(true) => None,
        _ => plan.access().judge_with(&Guard { verb, ..session.guard_of(statement, catalog) })?,
    };
    start_planned(session, &plan, part, snapshot, context, notices).map(Some)
}

fn start_planned(
    session: &Session,
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
    let running = Running { warnings: Some(session.warnings()), ..Running::of_scan(context, notices) };
    Ok(RowsOutcome::running(columns, source, running))
}

fn run_create_table(session: &Session, create: &CreateTable) -> Result<Outcome, Error> {
    writable(session)?;
    if create.if_not_exists && is_there(session, create) {
        let notices = vec![format!("table {} exists already", create.table)];
        return Ok(ExecResult::noticed(notices).into());
    }
    Ok(ExecResult::noticed(make_table(session, create)?).into())
}

/// Makes a table; the notices for the user.
pub(crate) fn make_table(session: &Session, create: &CreateTable) -> Result<Vec<String>, Error> {
    let shared = session.shared();
    let bound =
        saltwing_bind::create_table(create, shared.options.default_salt)?.with_free_names(&*shared.catalog.snapshot());
    check_defaults(session, &bound.def).map_err(|error| error.at(Some(create.table.span())))?;
    let sequences = bound.sequences.into_iter().map(|sequence| sequence.def).collect();
    match add_table(session, create, bound.def, sequences) {
        Err(saltwing_catalog::CatalogError::DuplicateTable { .. }) if create.if_not_exists => {}
        created => created.map_err(|e| Error::from(e).at(Some(create.table.span())))?,
    }
    Ok(bound.notices)
}

pub(crate) fn writable(session: &Session) -> Result<(), Error> {
    if session.shared().options.readonly {
        return Err(Error::new(ErrorCode::ReadOnly, "the database is open for reading only"));
    }
    Ok(())
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

impl QueryRun<'_> {
    /// Runs the subqueries that self by themselves, and starts the query around them.
    pub(crate) fn start_run(&self, context: ScanContext) -> Result<RowsOutcome, Error> {
        if self.statement.has_sequences {
            return self.start_sequenced(context);
        }
        let (root, reads) = self.with_subqueries(&context, Purpose::Execute)?;
        let plan = self.plan_query(&root.query, &context, Purpose::Execute)?;
        let mut rows = self.start_root(&plan, root, context)?;
        if let Some(running) = &mut rows.running {
            running.counters.extend(reads.counters);
            running.notices.extend(reads.notices);
            running.notices.extend(self.files.iter().flat_map(|notices| notices.iter().cloned()));
        }
        Ok(rows)
    }

    /// The query, bound, and the subqueries that self before it.
    ///
    /// # Errors
    /// Errors of the query.
    pub(crate) fn bound(&self) -> Result<RootQuery, Error> {
        let engine = self.session.shared().engine_functions();
        Ok(query(&self.statement, &*self.catalog, engine, self.params)?)
    }

    /// The query as the direct path runs it; `None` when it is not for it.
    ///
    /// # Errors
    /// 0A000 if only the direct path is requested and it cannot self the query.
    pub(crate) fn plan_direct(&self, bound: &BoundQuery) -> Result<Option<SelectPlan>, Error> {
        let choice = self.executor;
        if choice == ExecutorChoice::DataFusion {
            return Ok(None);
        }
        let planned = DirectQuery::of(bound.clone()).map(plan_select).transpose()?.flatten();
        let ready = |mut planned: PlannedSelect| {
            planned.access = planned.access.with_overrides(&self.guard);
            SelectPlan::new(planned)
        };
        let planned = planned.map(ready).transpose()?;
        match (planned, choice) {
            (None, ExecutorChoice::Direct) => {
                Err(not_supported("this query on the direct path", self.statement.span, "SET executor = 'auto'"))
            }
            (planned, _) => Ok(planned),
        }
    }
}
