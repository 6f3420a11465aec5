//! Tracks, for each thread, the closures of [`Connection::transaction`](crate::Connection::transaction) that it runs.
//!
//! A transaction is a connection of its own, so a statement of the connection that began it (often a prepared one) would not belong to
//! the transaction, and its effect would remain after a rollback. Inside the closure such a statement is refused.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;

use saltwing_types::ErrorCode;

use crate::Error;
use crate::transaction::TransactionSlot;

thread_local! {
    /// The connections whose closures this thread runs, the outermost first.
    static CONNECTIONS: RefCell<Vec<TransactionSlot>> = const { RefCell::new(Vec::new()) };
}

/// Marks the thread as inside a closure until it is dropped.
struct Inside;

impl Inside {
    fn of(connection: &TransactionSlot) -> Self {
        CONNECTIONS.with_borrow_mut(|connections| connections.push(connection.clone()));
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CONNECTIONS.with_borrow_mut(|connections| drop(connections.pop()));
    }
}

/// Runs the closure of a transaction that this connection has begun.
pub(crate) fn run_inside<T>(connection: Option<&TransactionSlot>, closure: impl FnOnce() -> T) -> T {
    let _inside = connection.map(Inside::of);
    closure()
}

/// As [`run_inside`], for a future, which may move between threads and let other futures run in between.
pub(crate) async fn poll_inside<T>(connection: Option<&TransactionSlot>, closure: impl Future<Output = T>) -> T {
    let mut closure = pin!(closure);
    poll_fn(|context| run_inside(connection, || closure.as_mut().poll(context))).await
}

/// # Errors
/// [`ErrorCode::ActiveTransaction`] inside the closure of a transaction of this connection.
pub(crate) fn check_outside(connection: &TransactionSlot) -> Result<(), Error> {
    let is_inside = |connections: &Vec<TransactionSlot>| connections.iter().any(|known| known.is_same(connection));
    if !CONNECTIONS.with_borrow(is_inside) {
        return Ok(());
    }
    let text = "the connection is inside the closure of its transaction: what it does here would be no part of that";
    let help = "use the closure's argument: tx.execute(..), prepared.on(tx).execute(..), tx.appender(..), tx.transaction(..); for what shall \
                stay after a rollback use another connection of Database::connect";
    Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(help)))
}
