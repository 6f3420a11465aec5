//! The statement that a thread works for, for code that DataFusion calls without one: rules and functions.
//!
//! # Laws
//! 1. It is set while a statement is planned, and while one of its operators is polled; never across an await.
//! 2. Code must not rely on it being set: a function that runs outside of both is not stopped.

use std::cell::RefCell;

use datafusion::common::{DataFusionError, Result};

use saltwing_access::ScanContext;

use crate::RelationalError;

thread_local! {
    static CURRENT: RefCell<Option<ScanContext>> = const { RefCell::new(None) };
}

/// Makes `context` the thread's statement until the result is dropped.
pub(crate) fn enter(context: &ScanContext) -> Entered {
    Entered { outer: CURRENT.replace(Some(context.clone())) }
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
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.outer.take());
    }
}
