//! BEGIN, COMMIT, ROLLBACK, savepoints, SHOW TRANSACTIONS, and the other statements inside a transaction.

use std::sync::Arc;
use std::time::Duration;

use saltwing_access::{AtomicScope, SnapshotScope};
use saltwing_exec::OpenTransaction;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::session::Session;
use crate::transaction::SessionTransaction;

/// Cancels the running statement, discards the writes, and ends the transaction.
pub(crate) fn roll_back(session: &Session, transaction: &SessionTransaction) {
    transaction.cancel();
    session.transaction.close();
    transaction.rows.rollback();
}

/// Commits the writes, and ends the transaction, also after an error.
pub(crate) fn commit(session: &Session, transaction: &SessionTransaction) -> Result<(), Error> {
    session.transaction.close();
    if let Some(failure) = transaction.failure() {
        transaction.rows.rollback();
        let text = format!("nothing is committed, since the transaction failed before: {}", failure.text);
        return Err(Error::new(ErrorCode::FailedTransaction, text));
    }
    Ok(transaction.rows.commit(session.settings().durability)?)
}

/// BEGIN.
///
/// # Errors
/// [`ErrorCode::ActiveTransaction`]; 0A000 if the store does not support transactions; [`ErrorCode::BadArgument`] if
/// `autocommit_rows` is set.
pub(crate) fn begin_transaction(session: &Session, is_read_only: bool) -> Result<(), Error> {
    let (shared, settings) = (session.shared(), session.settings());
    let capabilities = shared.tables.capabilities();
    let is_atomic = is_read_only || capabilities.atomic == AtomicScope::Store;
    if !is_atomic || capabilities.snapshots != SnapshotScope::Store {
        let text = format!("{} has no transactions of several statements", capabilities.name);
        return Err(Error::new(ErrorCode::NotSupported, text));
    }
    if let Some(rows) = settings.autocommit_rows {
        let text = format!("autocommit_rows = {rows} commits statements in parts, and a transaction is one commit");
        return Err(Error::new(ErrorCode::BadArgument, text).with_help(Some("SET autocommit_rows = DEFAULT")));
    }
    session.transaction.open(|| {
        // The rows and the catalog must fit each other: see `Session::moment`.
        let (rows, catalog) = loop {
            let catalog = session.whole_catalog()?;
            let rows = OpenTransaction::begin(&*shared.tables, &shared.memory)?;
            if session.catalog_version() == catalog.version() {
                break (rows, catalog);
            }
        };
        let number = shared.transactions.next_number();
        let transaction = Arc::new(SessionTransaction::new(number, is_read_only, rows, catalog));
        shared.transactions.add(&transaction);
        if let Some(limit) = settings.transaction_timeout {
            expire_after(session, &transaction, limit)?;
        }
        Ok(transaction)
    })
}

fn expire_after(session: &Session, transaction: &Arc<SessionTransaction>, limit: Duration) -> Result<(), Error> {
    let transaction = Arc::downgrade(transaction);
    drop(session.shared().pools.timers()?.spawn(async move {
        tokio::time::sleep(limit).await;
        transaction.upgrade().iter().for_each(|transaction| transaction.expire(limit));
    }));
    Ok(())
}
