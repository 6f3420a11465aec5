//! Futures that are ready.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that is ready; `None` of one that would wait. Such a future is dropped.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
