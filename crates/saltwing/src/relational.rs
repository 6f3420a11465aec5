//! Queries that the direct path cannot run.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures_util::StreamExt;
use saltwing_datafusion::{Engine, EngineConfig, Mode, Planned, QueryRequest, RelationalError};
use saltwing_table::ScanContext;
use saltwing_types::{ErrorCode, SqlType};

use crate::explain::Explained;
use crate::outcome::{BatchSource, RowsOutcome, Stats};
use crate::run::{Purpose, QueryRun};
use crate::session::Session;
use crate::{Builder, Error};

/// Batches that wait for a reader.
const BATCHES_AHEAD: usize = 2;

/// The engine of a database.
pub(crate) fn engine(options: &Builder) -> Result<Engine, Error> {
    let config = EngineConfig { memory_bytes_max: Some(options.query_memory_bytes), ..EngineConfig::default() };
    Ok(Engine::new(&config)?)
}

impl From<RelationalError> for Error {
    fn from(error: RelationalError) -> Self {
        let (span, help) = (error.span, error.help.clone());
        Self::wrap(error.code(), error).at(span).with_help(help)
    }
}

impl Session {
    pub(crate) fn start_relational(&self, plan: &RelationalPlan, context: ScanContext) -> Result<RowsOutcome, Error> {
        let RelationalPlan(planned) = plan;
        let columns = planned.columns().into();
        let notices = planned.warnings().to_vec();
        let counters = planned.counters();
        let source = BatchSource::Channel(self.pump(planned.clone())?);
        let warning = Some(self.scan_warning(&context));
        let (context, read) = (Some(context), Stats::default());
        Ok(RowsOutcome { columns, source, context, counters, read, notices, warning })
    }

    /// What PREPARE can tell of a query before its parameters have values: a name that is not there, a full scan.
    ///
    /// Without a value a parameter may have no type yet; what is wrong for that alone shows when the query runs.
    pub(crate) fn check_relational(&self, run: &QueryRun<'_>) -> Result<(), Error> {
        match self.plan_relational(run, self.begin(), Purpose::Judge) {
            Err(error) if is_known_before_values(error.code()) => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn plan_relational(
        &self,
        run: &QueryRun<'_>,
        context: ScanContext,
        purpose: Purpose,
    ) -> Result<RelationalPlan, Error> {
        let shared = &self.database().shared;
        let planned = shared.engine.plan(QueryRequest {
            query: &run.statement.query,
            items: &run.statement.items,
            params: run.params,
            subqueries: &run.subqueries,
            catalog: &run.catalog,
            tables: shared.tables.clone(),
            view: run.view.clone(),
            context,
            guard: &run.guard,
            mode: if purpose == Purpose::Explain { Mode::Explain } else { Mode::Execute },
        })?;
        Ok(RelationalPlan(Arc::new(planned)))
    }

    /// Runs a plan on the library's threads; batches wait in the channel for whoever reads them.
    fn pump(&self, planned: Arc<Planned>) -> Result<async_channel::Receiver<Result<RecordBatch, Error>>, Error> {
        let (sender, receiver) = async_channel::bounded(BATCHES_AHEAD);
        self.database().runtime()?.spawn(async move {
            let mut stream = match planned.stream() {
                Ok(stream) => stream,
                Err(error) => {
                    // A reader that is gone needs no error.
                    let _ = sender.send(Err(error.into())).await;
                    return;
                }
            };
            drop(planned);
            while let Some(batch) = stream.next().await {
                if sender.send(batch.map_err(Error::from)).await.is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }
}

fn is_known_before_values(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::FullScanRefused
            | ErrorCode::NoSuchTable
            | ErrorCode::NoSuchColumn
            | ErrorCode::NoSuchFunction
            | ErrorCode::AmbiguousColumn
            | ErrorCode::NotSupported
    )
}

/// A query ready to run.
pub(crate) struct RelationalPlan(Arc<Planned>);

impl RelationalPlan {
    /// The type of a result of one column, where SQL has one.
    pub(crate) fn one_type(&self) -> Option<SqlType> {
        self.0.one_type()
    }

    /// How it reads its tables; of a plan that `ran`, what its scans counted.
    pub(crate) fn explained(&self, ran: bool) -> Explained {
        let (reports, plan) = (self.0.accesses(ran), Some(self.0.plan_text()));
        Explained { executor: "datafusion", reports, plan, subqueries: Vec::new() }
    }
}
