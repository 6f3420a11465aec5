//! COPY in a format of the library: its readers and writers have the bytes as they are, on a thread of the library.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};
use saltwing::{Error, ExecResult};

use super::super::end::Failure;
use super::super::postgres_session::PostgresSession;
use super::super::row_stream::supervise;
use super::super::run::tag;
use super::super::statement_text::StatementText;
use super::Supervision;
use super::incoming::{CopyMessage, copy_message, next_message, with_rows_kept};
use crate::copy::{PipeReader, PipeWriter, byte_pipe, has_binary_rows};
use crate::messages::complete;
use crate::wire::Wire;

/// The pause between two interrupts of a call, until it stops.
const STOP_PAUSE: Duration = Duration::from_millis(10);
/// Output that is sent before more of it is taken.
const FLUSH_BYTES: usize = 32 << 10;

impl PostgresSession {
    /// Runs a COPY FROM STDIN by the library.
    pub(super) async fn copy_in_by_library(&mut self, statement: &StatementText) -> Result<(), Failure> {
        let (mut supervision, format) = self.checked(statement).await?;
        // The columns are in the data.
        self.wire.put(&Message::CopyInResponse(CopyInResponse::new(format, 0, Vec::new())))?;
        supervision.flush(&mut self.wire).await?;
        let connection = self.connection.clone();
        let (writer, reader) = byte_pipe();
        let mut call = Call::new(connection.copy_from_reader(&statement.text, reader));
        let received = receive(&mut self.wire, &mut supervision, &mut call, writer).await;
        let result = match received {
            Ok(outcome) => outcome.map_err(|failed| statement.failed(&failed).into()),
            Err(failure) => {
                // Without its writer the reader fails, and so does the call.
                let rows_kept = match call.stop(&supervision).await {
                    Some(Ok(result)) => result.rows_affected,
                    Some(Err(error)) => error.rows_committed(),
                    None => 0,
                };
                Err(with_rows_kept(failure, rows_kept))
            }
        };
        self.end_by_library(supervision, result)
    }

    /// Runs a COPY TO STDOUT by the library.
    pub(super) async fn copy_out_by_library(&mut self, statement: &StatementText) -> Result<(), Failure> {
        let (mut supervision, format) = self.checked(statement).await?;
        let connection = self.connection.clone();
        let (writer, reader) = byte_pipe();
        let mut call = Call::new(connection.copy_to_writer(&statement.text, (), writer));
        let sent = send(&mut self.wire, &mut supervision, &mut call, (&reader, format)).await;
        let result = match sent {
            Ok(outcome) => outcome.map_err(|failed| statement.failed(&failed).into()),
            Err(failure) => {
                drop(reader);
                call.stop(&supervision).await;
                Err(failure)
            }
        };
        if result.is_ok() {
            self.wire.put(&Message::CopyDone(CopyDone::new()))?;
        }
        self.end_by_library(supervision, result)
    }

    /// Checks a COPY before its stream begins; gives the format of its bytes, as the protocol has it.
    async fn checked(&mut self, statement: &StatementText) -> Result<(Supervision, i8), Failure> {
        let connection = self.connection.clone();
        let mut supervision = self.begin_copy(statement);
        let prepared = supervise(&mut self.wire, &supervision.running, connection.prepare(&statement.text)).await?;
        let prepared = prepared.map_err(|failed| Failure::from(statement.failed(&failed)));
        supervision.note(prepared)?;
        let format = i8::from(has_binary_rows(&statement.text, connection.settings().dialect));
        Ok((supervision, format))
    }

    fn end_by_library(
        &mut self,
        mut supervision: Supervision,
        result: Result<ExecResult, Failure>,
    ) -> Result<(), Failure> {
        let ExecResult { rows_affected, notices, .. } = supervision.note(result)?;
        supervision.running.add_rows(rows_affected);
        self.put_notices(&notices)?;
        Ok(self.wire.put(&complete(tag("COPY", rows_affected)))?)
    }
}

type Outcome = Result<ExecResult, Error>;

/// A call of the library that runs, or its outcome until that is taken.
struct Call<'a> {
    future: Option<Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>>,
    outcome: Option<Outcome>,
}

impl<'a> Call<'a> {
    fn new(call: impl Future<Output = Outcome> + Send + 'a) -> Self {
        Self { future: Some(Box::pin(call)), outcome: None }
    }

    /// Ends with the call; never, if it has ended before.
    async fn ended(&mut self) {
        let Some(future) = &mut self.future else { return std::future::pending().await };
        self.outcome = Some(future.await);
        self.future = None;
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    /// Stops the call, if it runs, and waits for its end.
    async fn stop(mut self, supervision: &Supervision) -> Option<Outcome> {
        while self.future.is_some() {
            supervision.running.cancel();
            tokio::select! {
                biased;
                () = self.ended() => {}
                () = tokio::time::sleep(STOP_PAUSE) => {}
            }
        }
        self.outcome
    }
}

/// Passes the client's bytes to the library's call. An error of the call comes at once; its success, after the client's last byte.
async fn receive(
    wire: &mut Wire,
    supervision: &mut Supervision,
    call: &mut Call<'_>,
    writer: PipeWriter,
) -> Result<Outcome, Failure> {
    let mut writer = Some(writer);
    // Bytes for which the pipe had no room yet.
    let mut waiting: Option<Bytes> = None;
    loop {
        if (writer.is_none() || call.has_failed())
            && let Some(outcome) = call.outcome.take()
        {
            return Ok(outcome);
        }
        let message = tokio::select! {
            biased;
            failure = supervision.stopped() => return Err(failure),
            () = call.ended() => continue,
            message = next_input(wire, writer.as_ref(), &mut waiting) => message?,
        };
        match message {
            None | Some(CopyMessage::Nothing) => {}
            Some(CopyMessage::Data(bytes)) => waiting = Some(bytes),
            Some(CopyMessage::Done) => writer.take().into_iter().for_each(PipeWriter::finish),
        }
    }
}

/// Passes the bytes that wait to the pipe, or gives the next message.
async fn next_input(
    wire: &mut Wire,
    writer: Option<&PipeWriter>,
    waiting: &mut Option<Bytes>,
) -> Result<Option<CopyMessage>, Failure> {
    if let (Some(bytes), Some(writer)) = (waiting.as_ref(), writer) {
        // If the reader takes no more, the outcome of the call tells why.
        wire.while_connected(writer.send(bytes)).await?;
        *waiting = None;
        return Ok(None);
    }
    let (kind, message) = next_message(wire, writer.is_some()).await?;
    copy_message(kind, message).map(Some)
}

/// Passes the bytes of the library's call to the client. The stream begins with the first bytes, so that an error before them is one of the
/// statement.
async fn send(
    wire: &mut Wire,
    supervision: &mut Supervision,
    call: &mut Call<'_>,
    (reader, format): (&PipeReader, i8),
) -> Result<Outcome, Failure> {
    let mut has_begun = false;
    let mut begin = |wire: &mut Wire| match std::mem::replace(&mut has_begun, true) {
        true => Ok(()),
        false => wire.put(&Message::CopyOutResponse(CopyOutResponse::new(format, 0, Vec::new()))),
    };
    loop {
        let received = tokio::select! {
            biased;
            failure = supervision.stopped() => return Err(failure),
            () = call.ended() => continue,
            received = wire.while_connected(reader.receive()) => received?,
        };
        let Some(bytes) = received else { break };
        // After an error the rest of the bytes is of no use.
        if !call.has_failed() {
            begin(wire)?;
            wire.put(&Message::CopyData(CopyData::new(bytes)))?;
            if wire.output().len() >= FLUSH_BYTES {
                supervision.flush(wire).await?;
            }
        }
    }
    // The writer is dropped at the end of the call, perhaps before its outcome is here.
    while call.outcome.is_none() {
        supervise(wire, &supervision.running, call.ended()).await?;
    }
    if !call.has_failed() {
        begin(wire)?;
    }
    match call.outcome.take() {
        Some(outcome) => Ok(outcome),
        None => {
            debug_assert!(false, "a call that has ended has an outcome");
            Err(crate::messages::error("XX000", "a COPY ends without an outcome").into())
        }
    }
}
