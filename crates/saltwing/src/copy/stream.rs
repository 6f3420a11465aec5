//! The caller's streams, from which COPY FROM STDIN reads and to which COPY TO STDOUT writes.

use std::io::{self, Read, Write};
use std::time::Duration;

use saltwing_access::ScanContext;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::files::file::{PAUSE_MIN, wait};

/// The error of a COPY FROM STDIN or TO STDOUT without a stream: the library never uses the process's own streams.
pub(super) fn no_stream(what: &str, call: &str) -> Error {
    Error::new(ErrorCode::NotSupported, what).with_help(Some(format!("run it by Connection::{call}")))
}

/// A stream that tries again after `WouldBlock` or `TimedOut`, unless its statement was stopped.
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
