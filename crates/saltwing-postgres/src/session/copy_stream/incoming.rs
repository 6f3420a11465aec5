//! COPY FROM STDIN in a format of PostgreSQL.
//!
//! ```text
//! messages ──decode──> part 2     part 3 ..
//! library              writes part 1 ──> part 2
//! ```
//! While the library writes a part on a thread of its own, the session decodes the next one. It holds two parts at most; if both are there, it reads no
//! further, and the client waits.

use std::pin::Pin;

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::copy::CopyInResponse;

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
    /// The rows that are decoded and not passed to the writer.
    part: Part,
    writer: Writer,
    table: &'a str,
}

/// A part that is being written.
type Writing = Pin<Box<dyn Future<Output = (Loading, Result<(), LoadError>)> + Send>>;

enum Writer {
    Idle(Box<Loading>),
    Busy(Writing),
    /// While one of the others takes its place.
    Taken,
}

impl Writer {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_))
    }

    /// Begins to write a part, if none is being written; gives the part back otherwise.
    fn start(&mut self, part: Part) -> Option<Part> {
        match std::mem::replace(self, Self::Taken) {
            Self::Idle(loading) => {
                *self = Self::Busy(Box::pin(loading.write(part)));
                None
            }
            other => {
                *self = other;
                Some(part)
            }
        }
    }

    /// The end of the part that is being written; never, if none is.
    async fn written(&mut self) -> Result<(), LoadError> {
        let Self::Busy(writing) = self else { return std::future::pending().await };
        let (loading, written) = writing.await;
        *self = Self::Idle(Box::new(loading));
        written
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
            let needs = self.decode()?;
            if needs != Needs::Input && !self.part.is_empty() && !self.writer.is_busy() {
                let part = std::mem::take(&mut self.part);
                let refused = self.writer.start(part);
                debug_assert!(refused.is_none(), "a writer that is not busy takes a part");
                continue;
            }
            if needs == Needs::Nothing && self.part.is_empty() && !self.writer.is_busy() {
                return Ok(());
            }
            let Self { wire, supervision, writer, table, .. } = self;
            let message = tokio::select! {
                biased;
                failure = supervision.stopped() => return Err(failure),
                written = writer.written() => {
                    written.map_err(|failed| failed.info(table))?;
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

    /// Decodes rows until the part is full or their bytes have not come.
    fn decode(&mut self) -> Result<Needs, Failure> {
        while !self.part.is_full() {
            match self.reader.next().map_err(Box::<pgwire::error::ErrorInfo>::from)? {
                NextRow::Row(row) => self.part.add(row, self.reader.line()),
                NextRow::NeedsInput => return Ok(Needs::Input),
                NextRow::End => return Ok(Needs::Nothing),
            }
        }
        Ok(Needs::Room)
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
                _ = self.writer.written() => {}
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
