//! The cluster: its client, the threads on which calls run, and the wait for their answers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use hbase_client::{CallContext, Client, Error as CallError, Settings, Table};
use saltwing_access::TableError;
use saltwing_types::interrupt::{self, Interrupt};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use crate::HbaseError;
use crate::options::{Options, registry};

/// Threads on which calls run and rows are decoded: most of the time they wait.
const THREADS_MAX: usize = 4;
/// What is waited beyond the deadline of a call, which ends by itself and knows best how.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long a region is looked for to name its server.
const NAMING_MAX: Duration = Duration::from_millis(20);

/// The cluster, as all parts of the store share it.
pub(crate) struct Cluster {
    pub(crate) client: Client,
    pub(crate) options: Options,
    pub(crate) address: String,
    handle: Handle,
    /// Taken when the cluster is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last owner may be a task, which must not wait for the others.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Whose answer is waited for, for messages.
pub(crate) enum Place<'a> {
    /// The server of the region that has a row of a table.
    Row(&'a Table, &'a [u8]),
    /// The servers of some rows of a table.
    Table(&'a Table),
}

impl Cluster {
    /// The cluster at an address. Nothing is connected.
    ///
    /// # Errors
    /// [`HbaseError::Address`], [`HbaseError::Threads`].
    pub(crate) fn new(address: &str, options: Options) -> Result<Self, HbaseError> {
        let registry = registry(address)?;
        let mut settings = Settings::default();
        if let Some(user) = &options.user {
            settings.user.clone_from(user);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(2, THREADS_MAX);
        let mut builder = Builder::new_multi_thread();
        let built = builder.worker_threads(threads).thread_name("saltwing-hbase").enable_all().build();
        let runtime = built.map_err(HbaseError::Threads)?;
        let client = Client::with_settings(registry, settings);
        let (address, handle, runtime) = (address.to_owned(), runtime.handle().clone(), Some(runtime));
        Ok(Self { client, options, address, handle, runtime })
    }

    /// Starts work on the threads of the cluster.
    pub(crate) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.handle.spawn(work)
    }

    /// The bounds of a call for a statement.
    pub(crate) fn call_context(&self, statement: Option<&dyn Interrupt>) -> CallContext {
        let remaining = statement.and_then(Interrupt::remaining);
        CallContext::within(remaining.map_or(self.options.call_time, |remaining| remaining.min(self.options.call_time)))
    }

    /// Waits for a call, for the statement of the thread.
    ///
    /// # Errors
    /// Those of the call; [`TableError::Cancelled`] and [`TableError::Timeout`] before it is sent, then [`TableError::StoppedWaiting`].
    pub(crate) fn call<T, F>(&self, place: Place<'_>, call: impl FnOnce(CallContext) -> F) -> Result<T, TableError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, HbaseError>> + Send + 'static,
    {
        self.call_for(interrupt::current().as_deref(), place, call)
    }

    /// As [`Cluster::call`], for this statement.
    pub(crate) fn call_for<T, F>(
        &self,
        statement: Option<&dyn Interrupt>,
        place: Place<'_>,
        call: impl FnOnce(CallContext) -> F,
    ) -> Result<T, TableError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, HbaseError>> + Send + 'static,
    {
        statement.map_or(Ok(()), Interrupt::check)?;
        let mut answer = self.spawn(call(self.call_context(statement)));
        let limit = self.options.call_time.saturating_add(GRACE);
        let waited = interrupt::wait(statement, limit, |context| Pin::new(&mut answer).poll(context));
        let interrupted = match waited {
            Ok(Some(Ok(Ok(value)))) => return Ok(value),
            Ok(Some(Ok(Err(error)))) => return Err(self.failed(statement, error)),
            Ok(Some(Err(task))) => return Err(HbaseError::from(CallError::Task { reason: task.to_string() }).into()),
            Ok(None) => {
                answer.abort();
                return Err(HbaseError::NoAnswer { server: self.name_of(place), ms: limit.as_millis() }.into());
            }
            Err(interrupted) => interrupted,
        };
        answer.abort();
        Err(TableError::StoppedWaiting { server: self.name_of(place), interrupted })
    }

    /// The error of a call that failed. A call that had as much time as the statement fails when the statement must stop.
    pub(crate) fn failed(&self, statement: Option<&dyn Interrupt>, error: HbaseError) -> TableError {
        match (statement.map_or(Ok(()), Interrupt::check), error.server()) {
            (Err(interrupted), Some(server)) => TableError::StoppedWaiting { server, interrupted },
            (Err(interrupted), None) => interrupted.into(),
            (Ok(()), _) => error.into(),
        }
    }

    /// The name of a server, or of several.
    pub(crate) fn name_of(&self, place: Place<'_>) -> String {
        let (table, row) = match place {
            Place::Row(table, row) => (table, row.to_vec()),
            Place::Table(table) => return format!("the region servers of {} in {}", table.name(), self.address),
        };
        let of = table.clone();
        let mut found = self.spawn(async move { of.region(&CallContext::within(NAMING_MAX), &row).await });
        let waited = interrupt::wait(None, NAMING_MAX, |context| Pin::new(&mut found).poll(context));
        found.abort();
        match waited {
            Ok(Some(Ok(Ok(region)))) => region.server().to_string(),
            _ => format!("the region server of a row of {} in {}", table.name(), self.address),
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster({})", self.address)
    }
}
