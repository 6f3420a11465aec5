//! A pipe of bytes between a session and a thread of the library.
//!
//! Each end has a form for the session, which is async, and one for the library: `Read` and `Write`. These wait for a short time alone and then
//! give `TimedOut`, so that the library can look whether its statement was stopped.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::sync::Notify;

/// The bytes that a pipe holds; one more message may be above it.
const PIPE_BYTES_MAX: usize = 256 << 10;
/// How long an end waits that blocks.
const WAIT: Duration = Duration::from_millis(50);

/// A new pipe.
pub(crate) fn byte_pipe() -> (PipeWriter, PipeReader) {
    let shared = Arc::new(Shared::default());
    (PipeWriter { shared: shared.clone() }, PipeReader { shared })
}

/// The end where bytes go in. Dropped before [`PipeWriter::finish`] it fails the reader: its bytes are not complete.
pub(crate) struct PipeWriter {
    shared: Arc<Shared>,
}

/// The end where bytes come out.
pub(crate) struct PipeReader {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes an end that blocks.
    blocked: Condvar,
    /// Wakes an end of a session.
    waiting: Notify,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<Bytes>,
    bytes: usize,
    /// Whether all bytes have gone in.
    is_finished: bool,
    writer_is_gone: bool,
    reader_is_gone: bool,
}

impl Shared {
    /// The state. A panic of another thread leaves it whole: each change of it is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.blocked.notify_all();
        // The permit stays if nobody waits yet.
        self.waiting.notify_one();
    }

    /// Waits for a change.
    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.blocked.wait_timeout(state, WAIT).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Ends with a value as soon as `look` gives one.
    async fn until<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let found = look(&mut self.lock());
            match found {
                Some(value) => {
                    self.wake();
                    return value;
                }
                None => self.waiting.notified().await,
            }
        }
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.bytes < PIPE_BYTES_MAX
    }

    fn add(&mut self, bytes: Bytes) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        self.chunks.push_back(bytes);
    }
}

impl PipeWriter {
    /// Puts bytes in as soon as there is room; gives whether the reader takes them. Dropped before its end, it has put nothing in.
    pub(crate) async fn send(&self, bytes: &Bytes) -> bool {
        let put = |state: &mut State| {
            if state.reader_is_gone {
                return Some(false);
            }
            state.has_room().then(|| {
                state.add(bytes.clone());
                true
            })
        };
        self.shared.until(put).await
    }

    /// Notes that all bytes have gone in.
    pub(crate) fn finish(self) {
        self.shared.lock().is_finished = true;
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.shared.lock().writer_is_gone = true;
        self.shared.wake();
    }
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.shared.lock();
        if !state.reader_is_gone && !state.has_room() {
            state = self.shared.wait(state);
        }
        if state.reader_is_gone {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client takes no more bytes"));
        }
        if !state.has_room() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let part = bytes.get(..bytes.len().min(PIPE_BYTES_MAX)).unwrap_or(bytes);
        state.add(Bytes::copy_from_slice(part));
        drop(state);
        self.shared.wake();
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PipeReader {
    /// Takes the next bytes as soon as there are some; `None` at their end. Dropped before its end, it has taken nothing.
    pub(crate) async fn receive(&self) -> Option<Bytes> {
        let take = |state: &mut State| match state.chunks.pop_front() {
            Some(bytes) => {
                state.bytes = state.bytes.saturating_sub(bytes.len());
                Some(Some(bytes))
            }
            None => state.writer_is_gone.then_some(None),
        };
        self.shared.until(take).await
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let mut state = self.shared.lock();
        if state.chunks.is_empty() && !state.writer_is_gone {
            state = self.shared.wait(state);
        }
        let Some(chunk) = state.chunks.front_mut() else {
            return match (state.writer_is_gone, state.is_finished) {
                (true, true) => Ok(0),
                (true, false) => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the client has given up")),
                (false, _) => Err(io::ErrorKind::TimedOut.into()),
            };
        };
        let length = chunk.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), chunk.get(..length)) {
            to.copy_from_slice(from);
        }
        chunk.advance(length);
        if chunk.is_empty() {
            state.chunks.pop_front();
        }
        state.bytes = state.bytes.saturating_sub(length);
        drop(state);
        self.shared.wake();
        Ok(length)
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        self.shared.lock().reader_is_gone = true;
        self.shared.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    /// Reads to the end as the library does: a time without bytes is no end.
    fn read_all(mut reader: PipeReader) -> io::Result<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), [0; 1000]);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(all),
                Ok(length) => all.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                Err(error) => return Err(error),
            }
        }
    }

    #[test]
    fn bytes_of_a_session_reach_the_library_in_order() {
        let (writer, reader) = byte_pipe();
        let thread = std::thread::spawn(move || read_all(reader));
        let chunk: Vec<u8> = (0..100_000_u32).map(|number| number as u8).collect();
        block_on(async {
            for _ in 0..20 {
                assert!(writer.send(&chunk.clone().into()).await);
            }
        });
        writer.finish();
        assert_eq!(thread.join().unwrap().unwrap(), chunk.repeat(20));
    }

    #[test]
    fn bytes_of_the_library_reach_the_session_in_order() {
        let (mut writer, reader) = byte_pipe();
        let chunk: Vec<u8> = (0..1_000_000_u32).map(|number| (number / 7) as u8).collect();
        let bytes = chunk.clone();
        let thread = std::thread::spawn(move || {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                match writer.write(rest) {
                    Ok(length) => rest = &rest[length..],
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::TimedOut),
                }
            }
            writer.finish();
        });
        let received = block_on(async {
            let mut received = Vec::new();
            while let Some(bytes) = reader.receive().await {
                received.extend_from_slice(&bytes);
            }
            received
        });
        thread.join().unwrap();
        assert_eq!(received, chunk);
    }

    #[test]
    fn an_end_that_blocks_waits_for_a_short_time() {
        let (writer, mut reader) = byte_pipe();
        assert_eq!(reader.read(&mut [0; 4]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(writer);
        assert_eq!(reader.read(&mut [0; 4]).unwrap_err().kind(), io::ErrorKind::ConnectionAborted);

        let (mut writer, reader) = byte_pipe();
        assert_eq!(writer.write(&vec![0; 2 * PIPE_BYTES_MAX]).unwrap(), PIPE_BYTES_MAX);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(reader);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_session_notices_that_the_other_end_is_gone() {
        let (writer, reader) = byte_pipe();
        drop(reader);
        assert!(!block_on(writer.send(&Bytes::from_static(b"x"))));
        let (writer, reader) = byte_pipe();
        writer.finish();
        assert_eq!(block_on(reader.receive()), None);
    }
}
