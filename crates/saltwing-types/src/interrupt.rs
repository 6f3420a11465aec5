//! Whether the statement that a thread works for must stop.
//!
//! A text alone can make binding, planning and evaluation long: a list of a million literals, an AND of thousands of ORs, a
//! function that makes values of megabytes. Such work is counted in units where it is done ([`spend`]), and the statement is
//! checked once in [`UNITS_BETWEEN_CHECKS`] of them. A unit is what one node of an expression, or one pair of sets of values,
//! takes: well below 10 microseconds.
//!
//! Work that waits for another machine instead of computing is done by [`wait`], which a cancel and the statement's limit end at once.
//!
//! # Invariants
//! 1. A statement that must stop stays so: all later checks fail, too. A function without an error of its own may therefore give
//!    up with any result once `spend` has failed, if the caller of the work ends it with a [`check`].
//! 2. No code relies on a statement for correctness: work that is done outside of one cannot be stopped, and nothing more.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

pub use self::wait::{AddedWaker, Wakers, wait};
pub use crate::error::Interrupted;

mod wait;

/// Units of work between two checks: below 10 milliseconds.
pub const UNITS_BETWEEN_CHECKS: u64 = 1024;

/// A statement that may have to stop.
pub trait Interrupt: Send + Sync {
    /// An error when the statement must stop, and from then on.
    ///
    /// # Errors
    /// [`Interrupted`].
    fn check(&self) -> Result<(), Interrupted>;

    /// The time that its limit leaves it; `None` if it has no limit.
    fn remaining(&self) -> Option<Duration> {
        None
    }

    /// Those who are woken when it is cancelled; `None` if it cannot be cancelled.
    fn wakers(&self) -> Option<&Wakers> {
        None
    }
}

/// The statement of a thread.
#[derive(Default)]
struct Current {
    statement: Option<Arc<dyn Interrupt>>,
    /// Units since it was entered.
    spent: u64,
    interrupted: Option<Interrupted>,
}

impl Current {
    fn check(&mut self) -> Result<(), Interrupted> {
        if let (None, Some(statement)) = (self.interrupted, &self.statement) {
            self.interrupted = statement.check().err();
        }
        self.interrupted.map_or(Ok(()), Err)
    }
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
}

/// Makes a statement that of the thread until the result is dropped.
pub fn enter(statement: Arc<dyn Interrupt>) -> Entered {
    let inner = Current { statement: Some(statement), ..Current::default() };
    Entered { outer: CURRENT.replace(inner), _of_thread: PhantomData }
}

/// The statement of the thread, for other threads that work for it.
pub fn current() -> Option<Arc<dyn Interrupt>> {
    CURRENT.with_borrow(|current| current.statement.clone())
}

/// Asks the statement of the thread now.
///
/// # Errors
/// [`Interrupted`] when it must stop.
pub fn check() -> Result<(), Interrupted> {
    CURRENT.with_borrow_mut(Current::check)
}

/// Counts units of work that is done, or about to be; asks the statement of the thread if they are enough.
///
/// # Errors
/// [`Interrupted`] when it must stop.
pub fn spend(units: usize) -> Result<(), Interrupted> {
    CURRENT.with_borrow_mut(|current| {
        let before = current.spent / UNITS_BETWEEN_CHECKS;
        current.spent = current.spent.saturating_add(units as u64);
        match current.interrupted {
            Some(interrupted) => Err(interrupted),
            None if current.spent / UNITS_BETWEEN_CHECKS == before => Ok(()),
            None => current.check(),
        }
    })
}

/// Units that the thread has spent for its statement since it was entered.
pub fn spent() -> u64 {
    CURRENT.with_borrow(|current| current.spent)
}

/// A thread works for a statement.
#[must_use = "the statement is left when this is dropped"]
pub struct Entered {
    outer: Current,
    /// It is left on the thread that has entered it.
    _of_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // The statement that is left is dropped with this value, after the borrow ends.
        CURRENT.with_borrow_mut(|current| std::mem::swap(current, &mut self.outer));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    use super::*;

    /// Stops at a check.
    struct After(AtomicU64);

    impl Interrupt for After {
        fn check(&self) -> Result<(), Interrupted> {
            match self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
                Ok(_) => Ok(()),
                Err(_) => Err(Interrupted::Cancelled),
            }
        }
    }

    #[test]
    fn a_statement_is_checked_once_per_interval() {
        assert_eq!((spend(1 << 40), check()), (Ok(()), Ok(())), "nobody works for a statement");
        let entered = enter(Arc::new(After(AtomicU64::new(2))));
        let spends = (0..).take_while(|_| spend(1).is_ok()).count() as u64;
        assert_eq!(spends, 3 * UNITS_BETWEEN_CHECKS - 1);
        assert_eq!((spend(1), check()), (Err(Interrupted::Cancelled), Err(Interrupted::Cancelled)));
        let inner = enter(Arc::new(After(AtomicU64::new(0))));
        assert_eq!((spent(), spend(1), spend(1 << 20)), (0, Ok(()), Err(Interrupted::Cancelled)));
        drop(inner);
        assert_eq!(spent(), 3 * UNITS_BETWEEN_CHECKS + 1);
        drop(entered);
        assert!(current().is_none() && check().is_ok());
    }
}
