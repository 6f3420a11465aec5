//! Bodies of requests, in bounded memory and time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;

/// How long a body may take to come.
const BODY_TIME_MAX: Duration = Duration::from_secs(300);
/// Bodies of the greatest size whose bytes are in memory at once.
const LARGEST_BODIES: usize = 4;

/// The memory of the bodies that a port is reading. A client that has not logged in yet can send bodies as well.
pub(crate) struct BodyMemory {
    bytes_max: usize,
    all_bytes_max: usize,
    all_bytes: AtomicUsize,
}

/// Bytes that are given back when it is dropped.
struct Share<'a> {
    memory: &'a BodyMemory,
    bytes: usize,
}

/// Why a body is not read to its end: the status and the text of the answer.
pub(crate) type Refused = (StatusCode, &'static str);

const TOO_LONG: Refused = (StatusCode::PAYLOAD_TOO_LARGE, "the request is longer than --max-message allows\n");
const NO_MEMORY: Refused =
    (StatusCode::SERVICE_UNAVAILABLE, "the requests that come in at once are too long for the server: send it again\n");
const TOO_SLOW: Refused = (StatusCode::REQUEST_TIMEOUT, "the request took too long to come in\n");
const CUT: Refused = (StatusCode::BAD_REQUEST, "the request was cut short\n");

impl BodyMemory {
    /// For bodies of `bytes_max` bytes each, and four times as many together.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, all_bytes_max: bytes_max.saturating_mul(LARGEST_BODIES), all_bytes: AtomicUsize::new(0) }
    }

    /// Reads a body to its end.
    ///
    /// # Errors
    /// The answer: 413 for one that is too long, 503 if all bodies together are, 408 after five minutes, 400 if the connection ends.
    pub(crate) async fn read(&self, body: Body) -> Result<Bytes, Refused> {
        tokio::time::timeout(BODY_TIME_MAX, self.read_all(body)).await.unwrap_or(Err(TOO_SLOW))
    }

    async fn read_all(&self, mut body: Body) -> Result<Bytes, Refused> {
        if body.size_hint().lower() > self.bytes_max as u64 {
            return Err(TOO_LONG);
        }
        let mut share = Share { memory: self, bytes: 0 };
        let mut whole = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let Ok(data) = frame.map_err(|_| CUT)?.into_data() else { continue };
            if data.len() > self.bytes_max.saturating_sub(whole.len()) {
                return Err(TOO_LONG);
            }
            share.grow(data.len())?;
            whole.extend_from_slice(&data);
        }
        Ok(whole.into())
    }
}

impl Share<'_> {
    fn grow(&mut self, bytes: usize) -> Result<(), Refused> {
        let max = self.memory.all_bytes_max;
        let grown = |all: usize| all.checked_add(bytes).filter(|all| *all <= max);
        self.memory.all_bytes.fetch_update(SeqCst, SeqCst, grown).map_err(|_| NO_MEMORY)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.memory.all_bytes.fetch_sub(self.bytes, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;

    use axum::body::Body;
    use proptest::prelude::*;

    use super::{BodyMemory, NO_MEMORY, Share, TOO_LONG};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn bodies_are_refused_while_others_take_the_memory() {
        let memory = BodyMemory::new(10);
        let mut others = Share { memory: &memory, bytes: 0 };
        others.grow(35).unwrap();
        let read = |bytes: usize| runtime().block_on(memory.read(Body::from(vec![0; bytes])));
        assert_eq!(read(6), Err(NO_MEMORY));
        assert_eq!(read(5).unwrap().len(), 5);
        drop(others);
        assert_eq!(read(10).unwrap().len(), 10);
        assert_eq!(read(11), Err(TOO_LONG));
    }

    proptest! {
        /// A body is read whole or not at all, and its memory is given back.
        #[test]
        fn memory_is_given_back(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let memory = BodyMemory::new(20);
            for body in bodies {
                let read = runtime().block_on(memory.read(Body::from(body.clone())));
                match body.len() > 20 {
                    true => prop_assert_eq!(read, Err(TOO_LONG)),
                    false => prop_assert_eq!(read.unwrap().to_vec(), body),
                }
                prop_assert_eq!(memory.all_bytes.load(SeqCst), 0);
            }
        }
    }
}
