//! Calls of the asynchronous API: each is the blocking call of the same name, on a thread of the library.

use saltwing_types::ErrorCode;

use crate::session::Session;
use crate::transaction_closure::check_outside;
use crate::{Error, blocking};

/// Runs a call on a thread of the library; cancels its statements if the future is dropped.
pub(crate) async fn call<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&blocking::Connection) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    // This check must run on the caller's thread, which tracks the closures that it runs.
    check_outside(&session.transaction)?;
    call_anywhere(session, work).await
}

/// As [`call`], also inside the closure of a transaction of the connection.
pub(crate) async fn call_anywhere<T: Send + 'static>(
    session: &Session,
    work: impl FnOnce(&blocking::Connection) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let connection = blocking::Connection { session: session.fork() };
    let cancel = CancelOnDrop(Some(connection.session.clone()));
    let (sender, receiver) = async_channel::bounded(1);
    session.shared().pools.spawn_blocking(move || {
        // If the receiver is gone, the call was cancelled.
        let _ = sender.send_blocking(work(&connection));
    })?;
    let result = receiver.recv().await;
    cancel.disarm();
    result.unwrap_or_else(|_| Err(Error::new(ErrorCode::Cancelled, "the database is closing")))
}

/// Cancels a session's statement, unless it has ended.
struct CancelOnDrop(Option<Session>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(session) = &self.0 {
            session.abandon();
        }
    }
}
