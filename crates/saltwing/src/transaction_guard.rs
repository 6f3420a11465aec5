//! Transactions of the library: guards that roll back when they are dropped, and their repetition after a conflict.

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

/// How often [`Connection::transaction`] runs a transaction that meets conflicts.
pub const TRANSACTION_TRIES_MAX: u32 = 20;

/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// A transaction: its statements read one snapshot, with the writes of the statements before them, and are committed
/// together.
///
/// It is a [`Connection`] of its own, with copies of the settings of the one that began it, so **statements of that connection are no
/// part of it**, prepared ones included: [`Statement::on`](crate::Statement::on) runs a prepared statement in it. An [appender](crate::Appender)
/// belongs to the transaction in which it was made. Results that are read in it end with it.
///
/// A transaction that is begun on it, by [`Connection::begin`] or [`Connection::transaction`], is an inner one: a savepoint.
///
/// Dropping it rolls it back. After its end its clones and its prepared statements are refused with
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
    /// [`ErrorCode::FailedTransaction`] if one of the statements failed: nothing is committed then, and the outer transaction goes on
    /// from the beginning of the inner one.
    /// [`ErrorCode::CommitUnknown`] if nobody knows whether the writes are committed. [`ErrorCode::NoTransaction`] if a statement ended
    /// it before.
    pub async fn commit(self) -> Result<(), Error> {
        let Self { connection, guard } = self;
        call(connection.session(), move |_| guard.commit()).await
    }

    /// Discards the writes of its statements.
    ///
    /// # Errors
    /// [`ErrorCode::NoTransaction`] if a statement ended it before.
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

    /// Begins a transaction, whose statements are those that run on the value given: see [`Transaction`]. `BEGIN` as a statement opens one on this
    /// connection and its clones instead.
    ///
    /// If this connection has a transaction open, the new one is an inner transaction of it: a savepoint. Its commit is no commit of the outer
    /// one, and its rollback takes back its own writes alone.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`] of a store without such transactions; [`ErrorCode::BadArgument`] while `autocommit_rows` is set;
    /// [`ErrorCode::FailedTransaction`] if the outer transaction failed; [`ErrorCode::ActiveTransaction`] inside the closure of
    /// [`transaction`](Connection::transaction), whose argument is what an inner transaction begins on.
    pub async fn begin(&self) -> Result<Transaction, Error> {
        let guard = call(self.session(), blocking::Connection::begin).await?;
        Ok(Transaction { connection: Connection { blocking: guard.connection.clone() }, guard })
    }

    /// Runs `run` in a transaction, and commits it if `run` gives a value. After a conflict with another commit it runs
    /// again, with a new snapshot, up to [`TRANSACTION_TRIES_MAX`] times in all; the waits between grow.
    ///
    /// What belongs to the transaction runs on the argument of `run`. Inside `run` this connection and its clones run nothing, neither
    /// texts nor prepared statements: they would be no part of the transaction, and are refused with
    /// [`ErrorCode::ActiveTransaction`]. Tasks and threads that `run` starts are not known to be inside.
    ///
    /// On a connection that has a transaction open, by `BEGIN` or as the argument of another `run`, this one is an inner
    /// transaction: a savepoint. It runs once, since only a new outer transaction has a new snapshot. After an error of `run` its writes are
    /// taken back, and the outer transaction goes on; after a conflict the outer one has failed, so that it runs again as a whole.
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
    /// What follows a try: its value, or another try after a wait. `given` has what the statements gave, and the commit if they gave a
    /// value; `failure` is the code for which the transaction failed before that. An inner transaction is tried once.
    ///
    /// # Errors
    /// That of the try, if another one would not help.
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

    /// A random part of a time that grows, so that transactions that met once do not meet again.
    fn wait(&self) -> Duration {
        let longest = Duration::from_micros(100 << self.0.min(16)).min(WAIT_MAX);
        longest.mul_f64(RandomState::new().hash_one(self.0) as f64 / u64::MAX as f64)
    }
}

/// As [`Transaction`], with calls that block.
///
/// **Statements of the connection that began it are no part of it**, prepared ones included:
/// [`Statement::on`](blocking::Statement::on) runs a prepared statement in it.
pub struct BlockingTransaction {
    /// One of its own; of an inner transaction, that of the outer one.
    connection: blocking::Connection,
    /// What it has begun, and rolls back if it is dropped.
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
    /// As there.
    pub fn commit(self) -> Result<(), Error> {
        self.end("COMMIT", SessionTransaction::commit_part)
    }

    /// As [`Transaction::rollback`].
    ///
    /// # Errors
    /// As there.
    pub fn rollback(self) -> Result<(), Error> {
        self.end("ROLLBACK", SessionTransaction::rollback_part)
    }

    /// Ends a transaction by the statement `whole`, and an inner one by `inner`.
    fn end(
        self,
        whole: &str,
        inner: impl FnOnce(&SessionTransaction, &Mark) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(mark) = self.part.mark() else { return self.execute(whole, ()).map(drop) };
        self.session.check_bound()?;
        self.current().map_or(Ok(()), |transaction| inner(&transaction, mark))
    }

    /// Whether it is a part of another one.
    fn is_inner(&self) -> bool {
        self.part.mark().is_some()
    }

    /// The transaction that is open, if this one has not ended.
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
    /// As there.
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
    /// A prepared statement runs in it by [`Statement::on`](blocking::Statement::on), and an inner transaction is a savepoint:
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
    /// As there.
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

    /// What of this connection runs nothing while the closure of `transaction` runs.
    fn outside(&self, transaction: &BlockingTransaction) -> Option<&TransactionSlot> {
        (!transaction.is_inner()).then_some(&self.session.transaction)
    }
}
