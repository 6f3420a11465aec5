//! COPY FROM STDIN in a format of PostgreSQL.
//!
//! ```text
//! session   messages ──decode──> parts 4 to 9
//! writer                         part 3 ──> convert ──> library: writes part 3, commits
//! ```
//! A task of its own passes the parts to the library, one after the other. Meanwhile the session decodes the next ones: a commit of many parts takes
//! longer than the decoding of one. At most [`PARTS_MAX`] parts wait for the writer; then the session reads no further, and the client waits.

use std::collections::VecDeque;

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::copy::CopyInResponse;
use tokio::task::JoinHandle;

use super::super::end::{Failure, SessionEnd};
use super::super::postgres_session::PostgresSession;
use super::super::row_stream::supervise;
use super::super::run::tag;
use super::super::statement_text::StatementText;
use super::Supervision;
use super::loading::{LoadError, Loaded, Loading, Part};
use crate::copy::{CopyFrom, NextRow, RowReader};
use crate::error_fields::error_info;
use crate::messages::{complete, error, notice};
use crate::wire::{Frontend, MalformedMessage, Wire, WireFailure};

/// Decoded parts that wait for the writer: at most 40,000 rows, and 32 MB of values.
const PARTS_MAX: usize = 8;
/// The pause between two interrupts of a part that is being written, until it stops.
const STOP_PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

impl PostgresSession {
    /// Runs a COPY FROM STDIN in a format of PostgreSQL. All that does not need rows is checked before the client is told to send them.
    pub(super) async fn copy_in(&mut self, statement: &StatementText, copy: &CopyFrom) -> Result<(), Failure> {
        let mut supervision = self.begin_copy(statement);
        let connection = self.connection.clone();
        let opened = supervise(&mut self.wire, &supervision.running, Loading::open(&connection, copy)).await?;
        let opened = opened.map_err(|failed| Failure::from(error_info(&failed, None)));
        let (loading, columns) = supervision.note(opened)?;
        let count = i16::try_from(columns.len()).map_err(|_| error("54011", "COPY has more than 32767 columns"))?;
        let reader = RowReader::new(&copy.format, &copy.table.sql, columns);
        let reader = supervision.note(reader.map_err(|failed| Box::<pgwire::error::ErrorInfo>::from(failed).into()))?;
        let code = reader.value_format().code();
        let formats = vec![code; usize::try_from(count).unwrap_or_default()];
        self.wire.put(&Message::CopyInResponse(CopyInResponse::new(i8::from(code == 1), count, formats)))?;
        let mut incoming = Incoming {
            wire: &mut self.wire,
            supervision,
            reader,
            part: Part::default(),
            waiting: VecDeque::new(),
            malformed: None,
            writer: Writer::Idle(Box::new(loading)),
            table: &copy.table.sql,
        };
        let received = incoming.receive().await;
        let loaded = incoming.end(received).await?;
        if loaded.transactions > 1 {
            let text = format!(
                "the rows were committed in {} transactions, because one cannot hold so many",
                loaded.transactions
            );
            self.wire.put(&notice("NOTICE", "00000", text))?;
        }
        Ok(self.wire.put(&complete(tag("COPY", loaded.rows)))?)
    }
}

/// A COPY FROM whose rows come.
struct Incoming<'a> {
    wire: &'a mut Wire,
    supervision: Supervision,
    reader: RowReader,
    /// The part that is being decoded.
    part: Part,
    /// Parts that are decoded and wait for the writer.
    waiting: VecDeque<Part>,
    /// The error of the row after these parts. It ends the COPY when they are written, so that it does not depend on the writer's pace which rows
    /// before it are committed.
    malformed: Option<Failure>,
    writer: Writer,
    table: &'a str,
}

/// The task that writes a part. It gives the table back.
type Writing = JoinHandle<(Loading, Result<(), LoadError>)>;

enum Writer {
    Idle(Box<Loading>),
    Busy(Writing),
    /// While one of the others takes its place, and after the task has panicked.
    Taken,
}

impl Writer {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_))
    }

    /// Begins to write a part, if none is being written.
    fn start(&mut self, waiting: &mut VecDeque<Part>) {
        if !matches!(self, Self::Idle(_)) {
            return;
        }
        let Some(part) = waiting.pop_front() else { return };
        if let Self::Idle(loading) = std::mem::replace(self, Self::Taken) {
            *self = Self::Busy(tokio::spawn(loading.write(part)));
        }
    }

    /// The end of the part that is being written; never, if none is.
    async fn written(&mut self) -> Result<Result<(), LoadError>, Failure> {
        let Self::Busy(writing) = self else { return std::future::pending().await };
        match writing.await {
            Ok((loading, written)) => {
                *self = Self::Idle(Box::new(loading));
                Ok(written)
            }
            Err(panicked) => {
                *self = Self::Taken;
                Err(error("XX000", format!("a task of COPY failed: {panicked}")).into())
            }
        }
    }
}

/// What the decoder needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// More messages.
    Input,
    /// Room for more rows.
    Room,
    /// Nothing: there are no more rows.
    Nothing,
}

impl Incoming<'_> {
    /// Receives all rows and writes them, but for the last commit.
    async fn receive(&mut self) -> Result<(), Failure> {
        self.supervision.flush(self.wire).await?;
        loop {
            let needs = self.decode();
            self.writer.start(&mut self.waiting);
            if needs == Needs::Nothing && !self.writer.is_busy() {
                return self.malformed.take().map_or(Ok(()), Err);
            }
            let Self { wire, supervision, writer, table, .. } = self;
            let message = tokio::select! {
                biased;
                failure = supervision.stopped() => return Err(failure),
                written = writer.written() => {
                    written?.map_err(|failed| failed.info(table))?;
                    None
                }
                message = next_message(wire, needs == Needs::Input) => Some(message?),
            };
            if let Some((kind, message)) = message {
                self.take(kind, message)?;
            }
            // A client whose bytes are always there leaves other sessions their turn.
            tokio::task::consume_budget().await;
        }
    }

    /// Decodes rows until no more parts may wait, their bytes have not come, or one is malformed.
    fn decode(&mut self) -> Needs {
        while self.waiting.len() < PARTS_MAX {
            if self.malformed.is_some() {
                return Needs::Nothing;
            }
            match self.reader.next() {
                Ok(NextRow::Row(row)) => self.part.add(row, self.reader.line()),
                Ok(NextRow::NeedsInput) => return Needs::Input,
                Ok(NextRow::End) => {
                    self.end_part();
                    return Needs::Nothing;
                }
                Err(malformed) => {
                    self.end_part();
                    self.malformed = Some(Box::<pgwire::error::ErrorInfo>::from(malformed).into());
                }
            }
            if self.part.is_full() {
                self.end_part();
            }
        }
        Needs::Room
    }

    /// Passes the part to those that wait for the writer.
    fn end_part(&mut self) {
        if !self.part.is_empty() {
            self.waiting.push_back(std::mem::take(&mut self.part));
        }
    }

    /// Takes a message of the client.
    fn take(&mut self, kind: u8, message: Result<Frontend, MalformedMessage>) -> Result<(), Failure> {
        match copy_message(kind, message)? {
            CopyMessage::Data(bytes) => self.reader.push(&bytes),
            CopyMessage::Done => self.reader.complete(),
            CopyMessage::Nothing => {}
        }
        Ok(())
    }

    /// Ends the COPY: commits its rows, or gives them up.
    async fn end(mut self, received: Result<(), Failure>) -> Result<Loaded, Failure> {
        let ended = match received {
            Ok(()) => self.finish().await,
            Err(failure) => Err(failure),
        };
        let failure = match ended {
            Ok(loaded) => {
                self.supervision.running.add_rows(loaded.rows);
                return Ok(loaded);
            }
            Err(failure) => failure,
        };
        let rows_kept = self.give_up().await;
        self.supervision.note(Err(with_rows_kept(failure, rows_kept)))
    }

    async fn finish(&mut self) -> Result<Loaded, Failure> {
        let Self { wire, supervision, writer: Writer::Idle(loading), table, .. } = self else {
            debug_assert!(false, "the last part is written");
            return Err(error("XX000", "a COPY ends before its last rows are written").into());
        };
        // A commit that runs tells its outcome, even if the statement is cancelled meanwhile.
        let loaded = supervise(wire, &supervision.running, loading.finish()).await?;
        loaded.map_err(|failed| failed.info(table).into())
    }

    /// Stops the part that is being written and gives up all that is not committed; gives how many rows stay.
    async fn give_up(&mut self) -> u64 {
        while self.writer.is_busy() {
            self.supervision.running.cancel();
            tokio::select! {
                biased;
                // The error of the COPY came first.
                _later = self.writer.written() => {}
                () = tokio::time::sleep(STOP_PAUSE) => {}
            }
        }
        match std::mem::replace(&mut self.writer, Writer::Taken) {
            Writer::Idle(loading) => loading.discard().await,
            _ => 0,
        }
    }
}

/// An error of a COPY FROM, with the rows that were committed before it.
pub(super) fn with_rows_kept(failure: Failure, rows: u64) -> Failure {
    match failure {
        Failure::Statement(mut info) if rows > 0 => {
            info.detail = Some(format!("{rows} rows were committed before the error, and stay"));
            Failure::Statement(info)
        }
        failure => failure,
    }
}

/// A message that may come in a COPY FROM.
pub(super) enum CopyMessage {
    /// Bytes.
    Data(bytes::Bytes),
    /// There are no more bytes.
    Done,
    /// Flush and Sync, which drivers send after Execute.
    Nothing,
}

/// The meaning of a message in a COPY FROM.
///
/// # Errors
/// 57014 if the client gives up; 08P01 for a message that does not belong here; the end of the session.
pub(super) fn copy_message(kind: u8, message: Result<Frontend, MalformedMessage>) -> Result<CopyMessage, Failure> {
    match message {
        Ok(Frontend::CopyData(bytes)) => Ok(CopyMessage::Data(bytes)),
        Ok(Frontend::CopyDone) => Ok(CopyMessage::Done),
        Ok(Frontend::Flush | Frontend::Sync) => Ok(CopyMessage::Nothing),
        Ok(Frontend::CopyFail(reason)) => Err(error("57014", format!("COPY from stdin failed: {reason}")).into()),
        Ok(Frontend::Terminate) => Err(Failure::Ended(SessionEnd::Terminated)),
        Ok(_) => Err(error("08P01", format!("unexpected message type 0x{kind:02X} during COPY from stdin")).into()),
        Err(malformed @ MalformedMessage::NotUtf8) => Err(error(malformed.sqlstate(), malformed.to_string()).into()),
        Err(malformed) => Err(WireFailure::from(malformed).into()),
    }
}

/// The next message of the client if `is_wanted`; otherwise it only ends when the client goes.
pub(super) async fn next_message(
    wire: &mut Wire,
    is_wanted: bool,
) -> Result<(u8, Result<Frontend, MalformedMessage>), WireFailure> {
    match is_wanted {
        true => wire.message().await,
        false => wire.while_connected(std::future::pending()).await,
    }
}
