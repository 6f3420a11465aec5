//! Waiting for an answer, for as long as the statement may go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::{Interrupt, Interrupted};

/// The wakers of those who wait for a statement's answers: they are woken when it is cancelled.
#[derive(Debug, Default)]
pub struct Wakers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The number of the next waker.
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

impl Wakers {
    /// Adds a waker until the result is dropped. The caller asks the statement once more afterwards: a cancel before the waker was added wakes
    /// nobody.
    pub fn add(&self, waker: &Waker) -> AddedWaker<'_> {
        let mut waiting = self.waiting();
        let number = waiting.next;
        waiting.next = number.wrapping_add(1);
        waiting.wakers.push((number, waker.clone()));
        AddedWaker { wakers: self, number }
    }

    /// Wakes all.
    pub fn wake(&self) {
        let wakers: Vec<Waker> = self.waiting().wakers.iter().map(|(_, waker)| waker.clone()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A list of wakers is whole at each instant: a panic elsewhere does not damage it.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waker in a list.
#[must_use = "the waker is taken out of the list when this is dropped"]
pub struct AddedWaker<'a> {
    wakers: &'a Wakers,
    number: u64,
}

impl Drop for AddedWaker<'_> {
    fn drop(&mut self) {
        self.wakers.waiting().wakers.retain(|(number, _)| *number != self.number);
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks the thread until `poll` is ready, at most for `limit`; `None` if it was not. `poll` is called at first and each time that its waker
/// is woken, and perhaps in between.
///
/// # Errors
/// [`Interrupted`] as soon as the statement must stop, by its limit or a cancel. If `poll` is ready then, its result counts.
pub fn wait<T>(
    statement: Option<&dyn Interrupt>,
    limit: Duration,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Result<Option<T>, Interrupted> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let _added = statement.and_then(Interrupt::wakers).map(|wakers| wakers.add(&waker));
    let mut context = Context::from_waker(&waker);
    let began = Instant::now();
    loop {
        if let Poll::Ready(answer) = poll(&mut context) {
            return Ok(Some(answer));
        }
        statement.map_or(Ok(()), Interrupt::check)?;
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        let of_statement = statement.and_then(Interrupt::remaining);
        std::thread::park_timeout(of_statement.map_or(left, |of_statement| of_statement.min(left)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use super::*;

    /// Longer than any test waits.
    const LONG: Duration = Duration::from_secs(3600);

    #[derive(Default)]
    struct Statement {
        cancelled: AtomicBool,
        wakers: Wakers,
        ends: Option<Instant>,
    }

    impl Interrupt for Statement {
        fn check(&self) -> Result<(), Interrupted> {
            if self.cancelled.load(SeqCst) {
                return Err(Interrupted::Cancelled);
            }
            match self.remaining() {
                Some(Duration::ZERO) => Err(Interrupted::Timeout { limit_ms: 0 }),
                _ => Ok(()),
            }
        }

        fn remaining(&self) -> Option<Duration> {
            self.ends.map(|ends| ends.saturating_duration_since(Instant::now()))
        }

        fn wakers(&self) -> Option<&Wakers> {
            Some(&self.wakers)
        }
    }

    fn never(_: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    #[test]
    fn a_cancel_ends_the_wait() {
        let statement = Arc::new(Statement::default());
        let waiting = std::thread::spawn({
            let statement = statement.clone();
            move || wait(Some(&*statement), LONG, never)
        });
        while statement.wakers.waiting().wakers.is_empty() {
            std::thread::yield_now();
        }
        statement.cancelled.store(true, SeqCst);
        statement.wakers.wake();
        assert_eq!(waiting.join().unwrap(), Err(Interrupted::Cancelled));
        assert!(statement.wakers.waiting().wakers.is_empty());
        assert_eq!(wait(Some(&*statement), LONG, never), Err(Interrupted::Cancelled), "it was cancelled before");
    }

    #[test]
    fn the_limits_end_the_wait() {
        assert_eq!(wait(None, Duration::from_millis(1), never), Ok(None));
        let statement = Statement { ends: Some(Instant::now() + Duration::from_millis(5)), ..Statement::default() };
        assert_eq!(wait(Some(&statement), LONG, never), Err(Interrupted::Timeout { limit_ms: 0 }));
    }

    #[test]
    fn an_answer_ends_the_wait() {
        let answer = Arc::new(Mutex::new((None, None::<Waker>)));
        let answering = answer.clone();
        let server = std::thread::spawn(move || {
            loop {
                let mut answer = answering.lock().unwrap();
                if let Some(waker) = answer.1.take() {
                    answer.0 = Some(7);
                    return waker.wake();
                }
            }
        });
        let statement = Statement::default();
        let poll = |context: &mut Context<'_>| {
            let mut answer = answer.lock().unwrap();
            answer.1 = Some(context.waker().clone());
            answer.0.map_or(Poll::Pending, Poll::Ready)
        };
        assert_eq!(wait(Some(&statement), LONG, poll), Ok(Some(7)));
        server.join().unwrap();
        // An answer that is there counts more than a cancel.
        statement.cancelled.store(true, SeqCst);
        assert_eq!(wait(Some(&statement), LONG, |_| Poll::Ready(8)), Ok(Some(8)));
    }
}
