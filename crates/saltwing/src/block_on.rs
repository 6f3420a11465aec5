//! Waits for a future on the caller's thread.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

/// A waiting thread.
struct Waiter {
    thread: Thread,
    /// Whether this wait was woken. The flag is needed because a nested wait parks the same thread, and may consume its wake-up.
    is_woken: AtomicBool,
}

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.thread.unpark();
    }
}

/// The value of a future. Unlike the `block_on` of a runtime, it may be called inside an async runtime, and inside itself.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    // Most futures are ready at once, and need no waker.
    if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return value;
    }
    let waiter = Arc::new(Waiter { thread: current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(waiter.clone());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        while !waiter.is_woken.swap(false, SeqCst) {
            park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::block_on;

    /// A future that is ready after another thread wakes it.
    async fn later(value: u32) -> u32 {
        let (sender, receiver) = async_channel::bounded(1);
        let thread = std::thread::spawn(move || sender.send_blocking(value).is_ok());
        let value = receiver.recv().await.unwrap_or_default();
        assert!(thread.join().is_ok_and(|is_sent| is_sent));
        value
    }

    #[test]
    fn waits_may_be_inside_of_waits() {
        for round in 0..200 {
            let outer = async {
                let (before, inside) = futures_util::join!(later(round), async { block_on(later(1)) });
                before + inside + later(2).await
            };
            assert_eq!(block_on(outer), round + 3);
        }
    }
}
