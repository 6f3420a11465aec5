//! The statement for which a thread works, for rules and functions that DataFusion calls without a context of ours.
//!
//! # Invariants
//! 1. The statement is set while it is planned and while one of its operators is polled, and never across an await.
//! 2. No code relies on it for correctness: a function that runs elsewhere cannot be stopped, and nothing more.

use std::cell::RefCell;

use datafusion::common::{DataFusionError, Result};

use saltwing_access::ScanContext;
use saltwing_types::interrupt;

use crate::RelationalError;

thread_local! {
    static CURRENT: RefCell<Option<ScanContext>> = const { RefCell::new(None) };
}

/// Makes `context` the thread's statement until the result is dropped.
pub(crate) fn enter(context: &ScanContext) -> Entered {
    Entered { outer: CURRENT.replace(Some(context.clone())), _interrupt: context.enter() }
}

/// The thread's statement.
pub(crate) fn current() -> Option<ScanContext> {
    CURRENT.with_borrow(Clone::clone)
}

/// An error if the thread's statement must stop.
pub(crate) fn check() -> Result<()> {
    CURRENT.with_borrow(|context| match context {
        Some(context) => stopped(context),
        None => Ok(()),
    })
}

/// An error if a statement must stop.
pub(crate) fn stopped(context: &ScanContext) -> Result<()> {
    context.check().map_err(|error| DataFusionError::from(RelationalError::from(error)))
}

/// The thread works for a statement.
pub(crate) struct Entered {
    outer: Option<ScanContext>,
    /// Our own code asks the same statement in another way.
    _interrupt: interrupt::Entered,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.outer.take());
    }
}
