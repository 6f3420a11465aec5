//! The caller's streams: what COPY FROM STDIN reads, and COPY TO STDOUT writes to.

use std::io::{self, Read, Write};
use std::time::Duration;

use saltwing_access::ScanContext;
use saltwing_sql::Statement;
use saltwing_types::ErrorCode;

use super::file::{PAUSE_MIN, wait};
use crate::Error;
use crate::copy::{copy_from, copy_to};
use crate::outcome::{ExecResult, Outcome};
use crate::params::Params;
use crate::session::{Session, drain};

/// Runs a COPY FROM STDIN.
pub(crate) fn copy_from_reader(session: &Session, sql: &str, reader: &mut dyn Read) -> Result<ExecResult, Error> {
    let statement = session.cached(sql)?;
    drain(session.run_here(&statement, |session| match &statement.parsed.statement {
        Statement::CopyFrom(copy) if copy.path().is_none() => copy_from(session, copy, Some(reader)).map(Outcome::Done),
        _ => Err(Error::new(ErrorCode::BadArgument, "a reader is for COPY .. FROM STDIN alone")),
    })?)
}

/// Runs a COPY TO STDOUT.
pub(crate) fn copy_to_writer(
    session: &Session,
    sql: &str,
    params: Params,
    writer: &mut dyn Write,
) -> Result<ExecResult, Error> {
    let statement = session.cached(sql)?;
    drain(session.run_here(&statement, |session| {
        let values = params.values(&statement.parsed.parameters, statement.parameter_count)?;
        match &statement.parsed.statement {
            Statement::CopyTo(copy) if copy.path().is_none() => {
                copy_to(session, copy, &values, Some(writer)).map(Outcome::Done)
            }
            _ => Err(Error::new(ErrorCode::BadArgument, "a writer is for COPY .. TO STDOUT alone")),
        }
    })?)
}

/// The error of a COPY FROM STDIN or TO STDOUT without a stream: the library has none of its own.
pub(super) fn no_stream(what: &str, call: &str) -> Error {
    Error::new(ErrorCode::NotSupported, what).with_help(Some(format!("run it by Connection::{call}")))
}

/// A stream that would block is tried again, unless its statement was stopped.
pub(super) struct WaitingStream<'a, S: ?Sized> {
    stream: &'a mut S,
    context: &'a ScanContext,
    pause: Duration,
}

impl<'a, S: ?Sized> WaitingStream<'a, S> {
    pub(super) fn new(stream: &'a mut S, context: &'a ScanContext) -> Self {
        Self { stream, context, pause: PAUSE_MIN }
    }

    fn retry<T>(&mut self, mut operation: impl FnMut(&mut S) -> io::Result<T>) -> io::Result<T> {
        loop {
            match operation(self.stream) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    self.context.check().map_err(io::Error::other)?;
                    wait(&mut self.pause);
                }
                done => {
                    self.pause = PAUSE_MIN;
                    return done;
                }
            }
        }
    }
}

impl<S: Read + ?Sized> Read for WaitingStream<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(|stream| stream.read(buffer))
    }
}

impl<S: Write + ?Sized> Write for WaitingStream<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retry(S::flush)
    }
}
