//! The library's own threads.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::mpsc::SendError;

use saltwing_access::reap_later;
use saltwing_types::ErrorCode;
use tokio::runtime::{Handle, Runtime};

use crate::{Builder, Error};

/// Stack of each thread: relational planning is recursive.
const THREAD_STACK_BYTES: usize = 16 << 20;

/// The threads of a database, in two pools. Each is started when it is first needed.
///
/// # Invariant
/// Work in the statements' pool may wait for the engine's pool: an async call may run an INSERT whose query is relational. Work in the engine's
/// pool waits for neither pool. With a single pool, calls that wait for the scans of their queries could take all threads, and no scan
/// would ever run.
pub(crate) struct ThreadPools {
    /// Runs the calls of the async API, the reads of their results, and timers.
    statements: Pool,
    /// Runs relational queries on its workers, and their scans on its threads for work that blocks.
    #[cfg_attr(not(feature = "datafusion"), allow(dead_code))] // unused without that feature
    engine: Pool,
}

struct Pool {
    name: &'static str,
    workers: usize,
    blocking_threads_max: NonZeroUsize,
    runtime: OnceLock<Runtime>,
}

impl ThreadPools {
    pub(crate) fn new(options: &Builder) -> Self {
        let pool = |name, workers| Pool {
            name,
            workers,
            blocking_threads_max: options.blocking_threads_max,
            runtime: OnceLock::new(),
        };
        Self { statements: pool("saltwing", 1), engine: pool("saltwing-engine", options.threads.count.max(2)) }
    }

    /// Runs blocking work, such as a call of the async API.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub(crate) fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        drop(self.statements.handle()?.spawn_blocking(work));
        Ok(())
    }

    /// The runtime for timers.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub(crate) fn timers(&self) -> Result<&Handle, Error> {
        self.statements.handle()
    }

    /// The runtime for relational queries.
    ///
    /// # Errors
    /// The threads cannot be started.
    #[cfg(feature = "datafusion")]
    pub(crate) fn engine(&self) -> Result<&Handle, Error> {
        self.engine.handle()
    }

    /// Ends the threads after their current work; work that has not begun is dropped.
    pub(crate) fn shut_down(&mut self) {
        [&mut self.statements, &mut self.engine].into_iter().filter_map(|pool| pool.runtime.take()).for_each(shut_down);
    }
}

impl Pool {
    fn handle(&self) -> Result<&Handle, Error> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime.handle());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.workers)
            .max_blocking_threads(self.blocking_threads_max.get())
            .thread_name(self.name)
            .thread_stack_size(THREAD_STACK_BYTES)
            .enable_time()
            .build()
            .map_err(|error| Error::new(ErrorCode::Io, format!("the library's threads cannot be started: {error}")))?;
        // If another thread was first, this runtime is shut down again.
        if let Err(second) = self.runtime.set(runtime) {
            shut_down(second);
        }
        let started = self.runtime.get().map(Runtime::handle);
        started.ok_or_else(|| Error::new(ErrorCode::Bug, "the library's threads are gone"))
    }
}

/// Ends the threads of a runtime, without waiting for them: the caller may be async code, or a task of the runtime.
fn shut_down(runtime: Runtime) {
    let (give, taken) = std::sync::mpsc::channel::<Runtime>();
    // The runtime joins its threads when it is dropped.
    let waits = std::thread::Builder::new().name("saltwing-close".into()).spawn(move || drop(taken.recv()));
    match waits {
        Ok(thread) => {
            if let Err(SendError(runtime)) = give.send(runtime) {
                runtime.shutdown_background();
            }
            reap_later(thread);
        }
        Err(error) => {
            tracing::warn!(%error, "no thread can be started to wait for the end of the library's threads");
            runtime.shutdown_background();
        }
    }
}
