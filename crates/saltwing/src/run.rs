//! Runs statements: each kind to who does it.

use std::sync::Arc;

use saltwing_bind::access::{AccessRequest, Guard, PointKey, TableAccess, plan, plan_select};
use saltwing_bind::{BoundQuery, BoundSource, BoundUpsert, Params, create_table, delete, query, resolve, upsert};
use saltwing_catalog::CatalogView;
use saltwing_exec::{ExecError, SelectPlan, Writer};
use saltwing_sql::Statement;
use saltwing_sql::statement::{CreateTable, Delete, DropTable, QueryStatement, RowSource, Upsert};
use saltwing_table::{Budget, ScanContext};
use saltwing_types::{ErrorCode, Span, SqlType, Value};

use crate::Error;
use crate::outcome::{BatchSource, ExecResult, Outcome, RowsOutcome};
use crate::session::{ExecutorChoice, Session};
use crate::statement_cache::{CachedStatement, ReadyPlan};

/// A query, and everything that decides how it runs.
pub(crate) struct QueryRun<'a> {
    pub(crate) statement: &'a QueryStatement,
    pub(crate) params: Params<'a>,
    pub(crate) catalog: Arc<CatalogView>,
    pub(crate) guard: Guard,
}

impl Session {
    pub(crate) fn catalog(&self) -> Arc<CatalogView> {
        self.database().shared.catalog.snapshot()
    }

    pub(crate) fn run_statement(&self, statement: &Statement, params: &[Value]) -> Result<Outcome, Error> {
        let catalog = &self.database().shared.catalog;
        match statement {
            Statement::Query(query) => self.run_query(query, params).map(Outcome::Rows),
            Statement::Upsert(statement) => self.run_upsert(statement, false, params),
            Statement::Insert(statement) => self.run_upsert(statement, true, params),
            Statement::Delete(statement) => self.run_delete(statement, params),
            Statement::Explain(explain) => self.run_explain(explain, params).map(Outcome::Rows),
            Statement::CreateTable(create) => self.run_create_table(create),
            Statement::DropTable(drop) => self.run_drop_table(drop),
            Statement::Truncate(truncate) => {
                self.writable()?;
                for name in &truncate.tables {
                    let table = resolve(&self.catalog(), name)?;
                    self.delete_all(&table)?;
                }
                Ok(ExecResult::default().into())
            }
            Statement::CreateSchema(create) => {
                self.writable()?;
                let known = catalog.snapshot().has_schema(&create.name.text);
                if !(known && create.if_not_exists) {
                    catalog.create_schema(&create.name.text).map_err(|e| Error::from(e).at(Some(create.name.span)))?;
                }
                Ok(ExecResult::default().into())
            }
            Statement::DropSchema(drop) => {
                self.writable()?;
                for name in &drop.names {
                    let known = catalog.snapshot().has_schema(&name.text);
                    if known || !drop.if_exists {
                        catalog.drop_schema(&name.text).map_err(|e| Error::from(e).at(Some(name.span)))?;
                    }
                }
                Ok(ExecResult::default().into())
            }
            Statement::CopyFrom(copy) => self.copy_from(copy).map(Outcome::Done),
            Statement::CopyTo(copy) => self.copy_to(copy, params).map(Outcome::Done),
            Statement::ShowTables(show) => self.show_tables(show).map(Outcome::Rows),
            Statement::ShowSchemas(show) => self.show_schemas(show).map(Outcome::Rows),
            Statement::ShowCreateTable(name) => self.show_create_table(name).map(Outcome::Rows),
            Statement::ShowStorage(name) => self.show_storage(name.as_ref()).map(Outcome::Rows),
            Statement::Compact(compact) => self.run_compact(compact),
            Statement::Describe(name) => self.describe(name).map(Outcome::Rows),
            Statement::ShowSetting(name) => self.show_setting(name.as_ref()).map(Outcome::Rows),
            Statement::Set(set) => self.set(set).map(|()| ExecResult::default().into()),
            Statement::Update(update) => Err(not_supported("UPDATE", update.span, "use UPSERT, or DELETE and INSERT")),
            Statement::Use(name) => Err(not_supported("USE", name.span, "write the schema before the table: s.t")),
            Statement::Begin | Statement::Commit | Statement::Rollback => Err(not_supported_here(
                "a transaction of several statements",
                "each statement is a transaction of its own",
            )),
            Statement::Unsupported(statement) => {
                let text = format!("{} is not supported yet", statement.what);
                Err(Error::new(ErrorCode::NotSupported, text)
                    .at(Some(statement.span))
                    .with_help(statement.help.as_deref()))
            }
        }
    }

    /// What PREPARE finds wrong with a statement: names, types, and the guard's verdict.
    pub(crate) fn check(&self, statement: &Statement) -> Result<(), Error> {
        let catalog = self.catalog();
        match statement {
            Statement::Query(statement) => self.check_query(statement),
            Statement::Upsert(statement) | Statement::Insert(statement) => {
                match upsert(statement, false, &catalog, Params::Open)?.source {
                    BoundSource::Rows(_) => Ok(()),
                    BoundSource::Query(query) => self.check_query(&statement.source_query(&query)),
                }
            }
            Statement::Delete(statement) => match self.plan_delete(statement, &catalog, Params::Open)? {
                Some(access) => Ok(access.judge().map(drop)?),
                None => self.check_query(&saltwing_bind::row_key_query(statement)?),
            },
            _ => Ok(()),
        }
    }

    /// A query with the catalog and the overrides as they are now.
    pub(crate) fn query_run<'a>(&self, statement: &'a QueryStatement, params: Params<'a>) -> QueryRun<'a> {
        QueryRun { statement, params, catalog: self.catalog(), guard: self.guard(&statement.hints) }
    }

    fn check_query(&self, statement: &QueryStatement) -> Result<(), Error> {
        let run = self.query_run(statement, Params::Open);
        match self.plan_direct(&run)? {
            Some(direct) => Ok(direct.access().judge().map(drop)?),
            None => self.check_relational(&run),
        }
    }

    /// A query that may have run before: its plan is used again where it still holds.
    pub(crate) fn run_known_query(
        &self,
        statement: &QueryStatement,
        params: &[Value],
        known: &CachedStatement,
    ) -> Result<RowsOutcome, Error> {
        if self.settings().executor == ExecutorChoice::DataFusion {
            return self.run_query(statement, params);
        }
        match known.planned(statement, &self.catalog(), params) {
            None => self.run_query(statement, params),
            Some(ReadyPlan { plan, point }) => {
                let context = self.begin();
                let notices = plan.access().judge_with(&self.guard(&statement.hints))?;
                self.start_planned(&plan, point.as_ref(), context, notices)
            }
        }
    }

    fn run_query(&self, statement: &QueryStatement, params: &[Value]) -> Result<RowsOutcome, Error> {
        let context = self.begin();
        let run = self.query_run(statement, Params::Given(params));
        match self.plan_direct(&run)? {
            Some(direct) => self.start_direct(&direct, context),
            None => self.start_relational(&run, context),
        }
    }

    /// The query as the direct path runs it; `None` when it is not for it.
    ///
    /// # Errors
    /// What is wrong with the query; 0A000 when the direct path alone is wanted and cannot run it.
    pub(crate) fn plan_direct(&self, run: &QueryRun<'_>) -> Result<Option<SelectPlan>, Error> {
        let choice = self.settings().executor;
        if choice == ExecutorChoice::DataFusion {
            return Ok(None);
        }
        let planned = match query(run.statement, &run.catalog, run.params)? {
            BoundQuery::Relational => None,
            BoundQuery::Single(bound) => plan_select(*bound)?,
        };
        let planned = planned.map(|mut planned| {
            planned.access = planned.access.with_overrides(&run.guard);
            SelectPlan::new(planned)
        });
        match (planned, choice) {
            (None, ExecutorChoice::Direct) => {
                Err(not_supported("this query on the direct path", run.statement.span, "SET executor = 'auto'"))
            }
            (planned, _) => Ok(planned),
        }
    }

    pub(crate) fn start_direct(&self, direct: &SelectPlan, context: ScanContext) -> Result<RowsOutcome, Error> {
        let notices = direct.access().judge()?;
        self.start_planned(direct, None, context, notices)
    }

    fn start_planned(
        &self,
        planned: &SelectPlan,
        point: Option<&PointKey>,
        context: ScanContext,
        notices: Option<String>,
    ) -> Result<RowsOutcome, Error> {
        let shared = &self.database().shared;
        let (tables, bytes_max) = (&shared.tables, shared.options.query_memory_bytes);
        let rows = planned.start(tables, tables.view()?, point, context.clone(), bytes_max)?;
        let columns = rows.columns().clone();
        let warning = Some(self.scan_warning(&context));
        let (counters, notices) = (vec![context.counters.clone()], notices.into_iter().collect());
        let source = BatchSource::Direct(Box::new(rows));
        Ok(RowsOutcome { columns, source, context: Some(context), counters, notices, warning })
    }

    fn run_upsert(&self, statement: &Upsert, insert: bool, params: &[Value]) -> Result<Outcome, Error> {
        self.writable()?;
        let catalog = self.catalog();
        let context = self.begin();
        let bound = upsert(statement, insert, &catalog, Params::Given(params))?;
        let writer = self.writer();
        let (rows, notices) = match &bound.source {
            BoundSource::Rows(rows) => {
                let written = writer.upsert(&bound, rows).map_err(|error| {
                    let span = row_span(statement, &error);
                    Error::from(error).at(span)
                });
                (written?, Vec::new())
            }
            BoundSource::Query(query) => {
                self.upsert_query(&writer, &bound, &statement.source_query(query), params, context)?
            }
        };
        Ok(ExecResult { rows_affected: rows, notices }.into())
    }

    fn upsert_query(
        &self,
        writer: &Writer<'_>,
        bound: &BoundUpsert,
        statement: &QueryStatement,
        params: &[Value],
        context: ScanContext,
    ) -> Result<(u64, Vec<String>), Error> {
        let run = self.query_run(statement, Params::Given(params));
        let rows = match self.plan_direct(&run)? {
            Some(direct) => self.start_direct(&direct, context)?,
            None => self.start_relational(&run, context)?,
        };
        if rows.columns.len() != bound.columns.len() {
            let text =
                format!("the query gives {} columns for {} to be written", rows.columns.len(), bound.columns.len());
            let error = Error::new(ErrorCode::Syntax, text).at(Some(statement.span));
            return Err(error.with_help(Some("Phoenix: ERROR 1020")));
        }
        let types: Vec<SqlType> = rows.columns.iter().map(|c| c.ty).collect();
        let RowsOutcome { mut source, mut notices, warning, .. } = rows;
        let batches = std::iter::from_fn(|| source.next_blocking().transpose());
        let written = writer.upsert_batches(bound, &types, batches)?;
        notices.extend(warning.into_iter().flat_map(|warning| warning.notices()));
        Ok((written, notices))
    }

    pub(crate) fn plan_delete(
        &self,
        statement: &Delete,
        catalog: &CatalogView,
        params: Params<'_>,
    ) -> Result<Option<TableAccess>, Error> {
        let bound = delete(statement, catalog, params)?;
        let Some(conditions) = bound.conditions else { return Ok(None) };
        let access = plan(AccessRequest {
            alias: statement.alias.as_ref().map(|a| a.text.clone()),
            span: Some(statement.table.span()),
            ..AccessRequest::of(&bound.table, conditions)
        })?;
        Ok(Some(access.with_overrides(&self.guard(&statement.hints))))
    }

    fn run_delete(&self, statement: &Delete, params: &[Value]) -> Result<Outcome, Error> {
        self.writable()?;
        let context = self.begin();
        let writer = self.writer();
        match self.plan_delete(statement, &self.catalog(), Params::Given(params))? {
            Some(access) => {
                let mut notices: Vec<String> = access.judge()?.into_iter().collect();
                let deleted = writer.delete(&access, &context)?;
                notices.extend(self.scan_warning(&context).notices());
                Ok(ExecResult { rows_affected: deleted.rows, notices }.into())
            }
            None => self.delete_query(&writer, statement, params, context),
        }
    }

    /// A DELETE whose condition is more than one row's: the relational engine says which rows.
    fn delete_query(
        &self,
        writer: &Writer<'_>,
        statement: &Delete,
        params: &[Value],
        context: ScanContext,
    ) -> Result<Outcome, Error> {
        let query = saltwing_bind::row_key_query(statement)?;
        let run = self.query_run(&query, Params::Given(params));
        let table = resolve(&run.catalog, &statement.table)?;
        let token = self.database().shared.tables.view()?.token();
        let rows = self.start_relational(&run, context)?;
        let RowsOutcome { mut source, mut notices, warning, .. } = rows;
        let batches = std::iter::from_fn(|| source.next_blocking().transpose());
        let deleted = writer.delete_batches::<Error>(&table, &token, batches)?;
        notices.extend(warning.into_iter().flat_map(|warning| warning.notices()));
        Ok(ExecResult { rows_affected: deleted.rows, notices }.into())
    }

    fn delete_all(&self, table: &Arc<saltwing_table::Table>) -> Result<(), Error> {
        let access = plan(AccessRequest::of(table, Vec::new()))?;
        // TRUNCATE says that it means all rows: there is nothing for the guard to ask.
        self.writer().delete(&access, &ScanContext::new(Budget::default()))?;
        Ok(())
    }

    fn run_create_table(&self, create: &CreateTable) -> Result<Outcome, Error> {
        self.writable()?;
        let shared = &self.database().shared;
        let exists = resolve(&shared.catalog.snapshot(), &create.table).is_ok();
        if exists && create.if_not_exists {
            let notices = vec![format!("table {} exists already", create.table)];
            return Ok(ExecResult { rows_affected: 0, notices }.into());
        }
        let bound = create_table(create, shared.options.default_salt)?;
        match shared.catalog.create_table(bound.def) {
            Err(saltwing_catalog::CatalogError::DuplicateTable { .. }) if create.if_not_exists => {}
            created => drop(created.map_err(|e| Error::from(e).at(Some(create.table.span())))?),
        }
        Ok(ExecResult { rows_affected: 0, notices: bound.notices }.into())
    }

    fn run_drop_table(&self, drop: &DropTable) -> Result<Outcome, Error> {
        self.writable()?;
        let catalog = &self.database().shared.catalog;
        for name in &drop.tables {
            match catalog.drop_table(name.schema.as_ref().map(|s| s.text.as_str()), &name.name.text) {
                Err(
                    saltwing_catalog::CatalogError::NoSuchTable { .. }
                    | saltwing_catalog::CatalogError::NoSuchSchema(_),
                ) if drop.if_exists => {}
                dropped => dropped.map_err(|e| Error::from(e).at(Some(name.span())))?,
            }
        }
        Ok(ExecResult::default().into())
    }

    pub(crate) fn writer(&self) -> Writer<'_> {
        Writer { store: &self.database().shared.tables, durability: self.settings().durability }
    }

    pub(crate) fn writable(&self) -> Result<(), Error> {
        if self.database().shared.options.readonly {
            return Err(Error::new(ErrorCode::ReadOnly, "the database is open for reading only"));
        }
        Ok(())
    }
}

/// The place of the row that an error is about.
fn row_span(statement: &Upsert, error: &ExecError) -> Option<Span> {
    match (error, &statement.source) {
        (ExecError::DuplicateKey { row, .. }, RowSource::Values(rows)) => rows.get(*row).map(|row| row.span),
        _ => None,
    }
}

fn not_supported(what: &str, span: Span, help: &str) -> Error {
    not_supported_here(what, help).at(Some(span))
}

fn not_supported_here(what: &str, help: &str) -> Error {
    Error::new(ErrorCode::NotSupported, format!("{what} is not supported yet")).with_help(Some(help))
}
