//! Transactions as guards that roll back when they are dropped, and the repetition of transactions after a conflict.

use std::hash::{BuildHasher, RandomState};
use std::ops::{ControlFlow, Deref};
use std::sync::Arc;
use std::time::Duration;

use saltwing_types::ErrorCode;

use crate::calls::call;
use crate::session::Session;
use crate::transaction::{Mark, SessionTransaction, TransactionPart, TransactionSlot, TransactionState};
use crate::transaction_closure::{poll_inside, run_inside};
use crate::{Connection, Error, IntoParams, blocking};

/// How often [`Connection::transaction`] runs a transaction that has conflicts.
pub const TRANSACTION_TRIES_MAX: u32 = 20;

/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// A transaction: its statements read one snapshot, with the writes of the statements before them, and are committed
/// together.
///
/// It is a [`Connection`] of its own, with copies of the settings of the connection that began it. **Statements of that other connection do
/// not belong to it**, not even prepared ones: [`Statement::on`](crate::Statement::on) runs a prepared statement in the transaction. An
/// [appender](crate::Appender) belongs to the transaction in which it was made. Open results end with their transaction.
///
/// [`Connection::begin`] or [`Connection::transaction`] on a transaction begins an inner one: a savepoint.
///
/// Dropping the value rolls the transaction back. After the end, statements of clones and prepared statements are refused with
/// [`ErrorCode::NoTransaction`].
pub struct Transaction {
    connection: Connection,
    guard: BlockingTransaction,
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Transaction {
    /// Commits the writes of its statements. Those of an inner transaction become writes of the outer one.
    ///
    /// # Errors
    /// [`ErrorCode::Conflict`] if another commit wrote one of the rows since the beginning, and
    /// [`ErrorCode::FailedTransaction`] if one of the statements failed: then nothing is committed, and the outer transaction continues
    /// from the beginning of the inner one.
    /// [`ErrorCode::CommitUnknown`] if it is unknown whether the writes are committed. [`ErrorCode::NoTransaction`] if a statement has
    /// already ended the transaction.
    pub async fn commit(self) -> Result<(), Error> {
        let Self { connection, guard } = self;
        call(connection.session(), move |_| guard.commit()).await
    }

    /// Discards the writes of its statements.
    ///
    /// # Errors
    /// [`ErrorCode::NoTransaction`] if a statement has already ended the transaction.
    pub async fn rollback(self) -> Result<(), Error> {
        let Self { connection, guard } = self;
        call(connection.session(), move |_| guard.rollback()).await
    }
}

impl Connection {
    /// Whether this connection is in a transaction.
    pub fn transaction_state(&self) -> TransactionState {
        self.blocking.transaction_state()
    }

    /// Begins a transaction. Its statements are those that run on the returned value: see [`Transaction`]. The statement `BEGIN` instead
    /// opens a transaction on this connection and its clones.
    ///
    /// If this connection has an open transaction, the new one is an inner transaction: a savepoint. Its commit does not commit the outer
    /// transaction, and its rollback discards only its own writes.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`] if the store has no such transactions; [`ErrorCode::BadArgument`] while `autocommit_rows` is set;
    /// [`ErrorCode::FailedTransaction`] if the outer transaction failed; [`ErrorCode::ActiveTransaction`] inside the closure of
    /// [`transaction`](Connection::transaction): there, begin inner transactions on the closure's argument.
    pub async fn begin(&self) -> Result<Transaction, Error> {
        let guard = call(self.session(), blocking::Connection::begin).await?;
        Ok(Transaction { connection: Connection { blocking: guard.connection.clone() }, guard })
    }

    /// Runs `run` in a transaction, and commits it if `run` returns a value. After a conflict with another commit, `run` runs
    /// again with a new snapshot, up to [`TRANSACTION_TRIES_MAX`] times in all, with growing waits between the tries.
    ///
    /// Statements of the transaction run on the argument of `run`. Inside `run`, statements on this connection and its clones are refused with
    /// [`ErrorCode::ActiveTransaction`], because they would not belong to the transaction; so are prepared statements. Tasks and threads that
    /// `run` starts do not count as inside.
    ///
    /// If this connection has an open transaction, by `BEGIN` or as the argument of another `run`, the new one is an inner
    /// transaction: a savepoint. It runs once, since only a new outer transaction has a new snapshot. After an error of `run` its writes are
    /// discarded, and the outer transaction continues; after a conflict the outer one has failed, so it must run again as a whole.
    ///
    /// # Errors
    /// Those of `run`, and of [`Transaction::commit`]; a commit whose outcome is unknown is not repeated.
    pub async fn transaction<T, E: From<Error>>(
        &self,
        mut run: impl AsyncFnMut(&Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = Tries(0);
        loop {
            let transaction = self.begin().await?;
            let (outside, is_inner) = (self.blocking.outside(&transaction.guard), transaction.guard.is_inner());
            let given = poll_inside(outside, run(&transaction)).await;
            let failure = transaction.session().transaction.failure();
            let given = match given {
                Ok(value) => Ok((value, transaction.commit().await)),
                Err(error) => {
                    drop(transaction);
                    Err(error)
                }
            };
            match tries.next(given, failure, is_inner)? {
                ControlFlow::Break(value) => return Ok(value),
                ControlFlow::Continue(wait) => sleep(self.session(), wait).await?,
            }
        }
    }
}

/// Waits on a thread of the library.
async fn sleep(session: &Session, time: Duration) -> Result<(), Error> {
    let slept = session.shared().pools.timers()?.spawn(async move { tokio::time::sleep(time).await }).await;
    slept.map_err(|_| Error::new(ErrorCode::Cancelled, "the database is closing"))
}

/// How often a transaction was tried.
struct Tries(u32);

impl Tries {
    /// The result of a try: its value, or the wait before another try. `given` is the result of the statements and of their commit;
    /// `failure` is the code of the error that had failed the transaction before. An inner transaction is tried once.
    ///
    /// # Errors
    /// The error of the try, if another try would not help.
    fn next<T, E: From<Error>>(
        &mut self,
        given: Result<(T, Result<(), Error>), E>,
        failure: Option<ErrorCode>,
        is_inner: bool,
    ) -> Result<ControlFlow<T, Duration>, E> {
        self.0 += 1;
        let (code, error) = match given {
            Ok((value, Ok(()))) => return Ok(ControlFlow::Break(value)),
            Ok((_, Err(error))) => (failure.unwrap_or(error.code()), error.into()),
            Err(error) => match failure {
                Some(code) => (code, error),
                None => return Err(error),
            },
        };
        let is_conflict = matches!(code, ErrorCode::Conflict | ErrorCode::SnapshotTooOld);
        match is_conflict && !is_inner && self.0 < TRANSACTION_TRIES_MAX {
            true => Ok(ControlFlow::Continue(self.wait())),
            false => Err(error),
        }
    }

    /// A random part of a growing time, so that two transactions that had a conflict do not conflict again.
    fn wait(&self) -> Duration {
        let longest = Duration::from_micros(100 << self.0.min(16)).min(WAIT_MAX);
        longest.mul_f64(RandomState::new().hash_one(self.0) as f64 / u64::MAX as f64)
    }
}

/// As [`Transaction`], with calls that block.
///
/// **Statements of the connection that began it do not belong to it**, not even prepared ones:
/// [`Statement::on`](blocking::Statement::on) runs a prepared statement in the transaction.
pub struct BlockingTransaction {
    /// A connection of its own; for an inner transaction, the connection of the outer one.
    connection: blocking::Connection,
    /// The transaction, or the part of one, that the guard has begun and rolls back if it is dropped.
    part: TransactionPart,
}

impl Deref for BlockingTransaction {
    type Target = blocking::Connection;

    fn deref(&self) -> &blocking::Connection {
        &self.connection
    }
}

impl BlockingTransaction {
    /// As [`Transaction::commit`].
    ///
    /// # Errors
    /// Those of the async method.
    pub fn commit(self) -> Result<(), Error> {
        self.end("COMMIT", SessionTransaction::commit_part)
    }

    /// As [`Transaction::rollback`].
    ///
    /// # Errors
    /// Those of the async method.
    pub fn rollback(self) -> Result<(), Error> {
        self.end("ROLLBACK", SessionTransaction::rollback_part)
    }

    /// Ends a whole transaction by the statement `whole`, and an inner one by `inner`.
    fn end(
        self,
        whole: &str,
        inner: impl FnOnce(&SessionTransaction, &Mark) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(mark) = self.part.mark() else { return self.execute(whole, ()).map(drop) };
        self.session.check_bound()?;
        self.current().map_or(Ok(()), |transaction| inner(&transaction, mark))
    }

    /// Whether this is an inner transaction.
    fn is_inner(&self) -> bool {
        self.part.mark().is_some()
    }

    /// The open transaction, if this one has not ended.
    fn current(&self) -> Option<Arc<SessionTransaction>> {
        self.part.current(&self.session.transaction)
    }
}

impl Drop for BlockingTransaction {
    fn drop(&mut self) {
        let Some(transaction) = self.current() else { return };
        match self.part.mark() {
            None => {
                self.session.transaction.close();
                transaction.give_up();
            }
            Some(mark) => transaction.drop_part(mark),
        }
    }
}

impl blocking::Connection {
    /// Whether this connection is in a transaction.
    pub fn transaction_state(&self) -> TransactionState {
        self.session.transaction.state()
    }

    /// As [`Connection::begin`].
    ///
    /// # Errors
    /// Those of the async method.
    pub fn begin(&self) -> Result<BlockingTransaction, Error> {
        let (session, part) = match self.session.open_transaction()? {
            Some(open) => (self.session.clone(), open.begin_part()?),
            None => {
                let session = self.session.sibling();
                session.execute("BEGIN", ().into_params())?;
                let open = session.transaction.current();
                let open = open.ok_or_else(|| Error::new(ErrorCode::Bug, "BEGIN has opened no transaction"))?;
                (session, TransactionPart::whole(&open))
            }
        };
        let connection = blocking::Connection { session: session.bound_to(part.clone()) };
        Ok(BlockingTransaction { connection, part })
    }

    /// As [`Connection::transaction`]:
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, amount BIGINT)", ())?;
    /// connection.execute("UPSERT INTO account VALUES (1, 100), (2, 0)", ())?;
    /// connection.transaction(|transaction| -> Result<(), saltwing::Error> {
    ///     let (amount,): (i64,) = transaction.query_one("SELECT amount FROM account WHERE id = 1", ())?;
    ///     transaction.execute("UPSERT INTO account VALUES (1, ?)", (amount - 30,))?;
    ///     transaction.execute("UPSERT INTO account VALUES (2, 30)", ())?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(connection.query_one::<(i64,)>("SELECT amount FROM account WHERE id = 2", ())?, (30,));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Statement::on`](blocking::Statement::on) runs a prepared statement in the transaction, and an inner transaction is a savepoint:
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// # let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.execute("CREATE TABLE log (id BIGINT PRIMARY KEY, note VARCHAR)", ())?;
    /// let insert = connection.prepare("INSERT INTO log VALUES (?, ?)")?;
    /// connection.transaction(|transaction| -> Result<(), saltwing::Error> {
    ///     insert.on(transaction).execute((1, "kept"))?;
    ///     let inner = transaction.transaction(|inner| insert.on(inner).execute((1, "a second row of this key")));
    ///     assert_eq!(inner.unwrap_err().code(), saltwing::ErrorCode::DuplicateKey);
    ///     insert.on(transaction).execute((2, "kept, too")).map(drop)
    /// })?;
    /// assert_eq!(connection.query_one::<(i64,)>("SELECT count(*) FROM log WHERE id > 0", ())?, (2,));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the async method.
    pub fn transaction<T, E: From<Error>>(
        &self,
        mut run: impl FnMut(&BlockingTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = Tries(0);
        loop {
            let transaction = self.begin()?;
            let (outside, is_inner) = (self.outside(&transaction), transaction.is_inner());
            let given = run_inside(outside, || run(&transaction));
            let failure = transaction.session.transaction.failure();
            match tries.next(given.map(|value| (value, transaction.commit())), failure, is_inner)? {
                ControlFlow::Break(value) => return Ok(value),
                ControlFlow::Continue(wait) => std::thread::sleep(wait),
            }
        }
    }

    /// The slot of this connection, whose statements are refused while the closure of `transaction` runs; `None` for an inner transaction.
    fn outside(&self, transaction: &BlockingTransaction) -> Option<&TransactionSlot> {
        (!transaction.is_inner()).then_some(&self.session.transaction)
    }
}
