//! COPY of streams: who reads or writes the rows, and what stops it from outside.
//!
//! | module | has |
//! |---|---|
//! | `incoming` | COPY FROM STDIN in a format of PostgreSQL: the client's messages |
//! | `loading` | where its rows go: parts, transactions |
//! | `outgoing` | COPY TO STDOUT in a format of PostgreSQL |
//! | `library_stream` | COPY in a format of the library, by its own readers and writers |
//! | `columns` | the columns of a table whose COPY lists none |

mod columns;
mod incoming;
mod library_stream;
mod loading;
mod outgoing;

use std::time::Instant;

use saltwing::syntax::{CopyStream, StatementEffect, StatementProperties};
use saltwing_sessions::{Phase, RunningStatement};
use tokio::sync::watch;

use super::end::{Failure, SessionEnd};
use super::failures::cancelled;
use super::postgres_session::PostgresSession;
use super::statement_text::StatementText;
use crate::copy::{CopyKind, CopyStatement};
use crate::messages::error;
use crate::wire::Wire;

impl PostgresSession {
    /// Runs a COPY FROM STDIN or TO STDOUT up to its CommandComplete.
    ///
    /// Outside of a transaction a COPY FROM in a format of PostgreSQL is one transaction, unless it has more rows than one commit may hold: see
    /// [`Loading`](loading::Loading). One in a format of the library commits in batches, as the library's COPY does.
    ///
    /// # Errors
    /// Those of the statement and of its rows, after which the client may still send CopyData; the end of the session.
    pub(super) async fn run_copy(
        &mut self,
        statement: &StatementText,
        copy: &CopyStatement,
        stream: CopyStream,
    ) -> Result<(), Failure> {
        self.check_copy(stream)?;
        match (&copy.kind, stream) {
            (CopyKind::From(copy), _) => self.copy_in(statement, copy).await,
            (CopyKind::To(copy), _) => self.copy_out(statement, copy).await,
            (CopyKind::Library, CopyStream::Stdin) => self.copy_in_by_library(statement).await,
            (CopyKind::Library, CopyStream::Stdout) => self.copy_out_by_library(statement).await,
        }
    }

    /// Refuses a COPY that the block does not take.
    fn check_copy(&self, stream: CopyStream) -> Result<(), Failure> {
        let (tag, effect) = match stream {
            CopyStream::Stdin => ("COPY FROM", StatementEffect::Writes),
            CopyStream::Stdout => ("COPY TO", StatementEffect::None),
        };
        self.check_runs(StatementProperties { tag, gives_rows: false, effect, copy_stream: Some(stream) })?;
        // A transaction that is read only is refused by the library as well, but with the first rows, which the client would send in vain.
        if stream == CopyStream::Stdin && self.settings.is_read_only() {
            return Err(error("25006", format!("cannot execute {tag} in a read-only transaction")).into());
        }
        Ok(())
    }

    /// Begins a COPY: what stops it from outside.
    fn begin_copy(&mut self, statement: &StatementText) -> Supervision {
        let timeout = self.apply_statement_timeout();
        Supervision {
            running: self.session.begin(statement.text.clone()),
            deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            phase: self.phase.clone(),
        }
    }
}

/// What stops a COPY from outside: a cancellation, its timeout, the end of the process.
struct Supervision {
    running: RunningStatement,
    deadline: Option<Instant>,
    phase: watch::Receiver<Phase>,
}

impl Supervision {
    /// Ends when the COPY must stop.
    async fn stopped(&mut self) -> Failure {
        let Self { running, deadline, phase } = self;
        let expired = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until((*deadline).into()).await,
                None => std::future::pending().await,
            }
        };
        let is_ending = async {
            // Without a sender the process has no phases.
            if phase.wait_for(|phase| *phase == Phase::Cancelling).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = running.cancelled() => cancelled().into(),
            () = expired => error("57014", "canceling statement due to statement timeout").into(),
            () = is_ending => Failure::Ended(SessionEnd::ShuttingDown),
        }
    }

    /// Sends the output, unless the COPY must stop first.
    async fn flush(&mut self, wire: &mut Wire) -> Result<(), Failure> {
        tokio::select! {
            biased;
            failure = self.stopped() => Err(failure),
            flushed = wire.flush() => Ok(flushed?),
        }
    }

    /// Notes an error of the statement for the log.
    fn note<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(Failure::Statement(info)) = &result {
            self.running.fail(&info.code);
        }
        result
    }
}
