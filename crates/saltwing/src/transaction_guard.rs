//! Transactions of the library: guards that roll back when they are dropped, and their repetition after a conflict.

use std::hash::{BuildHasher, RandomState};
use std::ops::{ControlFlow, Deref};
use std::time::Duration;

use saltwing_types::ErrorCode;

use crate::session::Session;
use crate::transaction::TransactionState;
use crate::{Connection, Error, blocking};

/// How often [`Connection::transaction`] runs a transaction that meets conflicts.
pub const TRANSACTION_TRIES_MAX: u32 = 20;

/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// A transaction: its statements read one snapshot, with the writes of the statements before them, and are committed
/// together.
///
/// It is a [`Connection`] of its own, so that statements of other connections are no part of it. Dropping it rolls it back.
pub struct Transaction {
    connection: Connection,
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Transaction {
    /// Commits the writes of its statements.
    ///
    /// # Errors
    /// [`ErrorCode::Conflict`] if another commit wrote one of the rows since the beginning, and
    /// [`ErrorCode::FailedTransaction`] if one of the statements failed: nothing is committed then.
    /// [`ErrorCode::CommitUnknown`] if nobody knows whether the writes are committed.
    pub async fn commit(self) -> Result<(), Error> {
        self.connection.execute("COMMIT", ()).await.map(drop)
    }

    /// Discards the writes of its statements.
    ///
    /// # Errors
    /// [`ErrorCode::NoTransaction`] if a statement ended it before.
    pub async fn rollback(self) -> Result<(), Error> {
        self.connection.execute("ROLLBACK", ()).await.map(drop)
    }
}

impl Connection {
    /// Whether this connection is in a transaction.
    pub fn transaction_state(&self) -> TransactionState {
        self.session.transaction.state()
    }

    /// Begins a transaction. `BEGIN` as a statement opens one on this connection instead.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`] of a store without such transactions.
    pub async fn begin(&self) -> Result<Transaction, Error> {
        let connection = Connection { session: self.session.sibling() };
        connection.execute("BEGIN", ()).await?;
        Ok(Transaction { connection })
    }

    /// Runs `run` in a transaction, and commits it if `run` gives a value. After a conflict with another commit it runs
    /// again, with a new snapshot, up to [`TRANSACTION_TRIES_MAX`] times in all; the waits between grow.
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
            let given = run(&transaction).await;
            let failure = transaction.session.transaction.failure();
            let given = match given {
                Ok(value) => Ok((value, transaction.commit().await)),
                Err(error) => Err(error),
            };
            match tries.next(given, failure)? {
                ControlFlow::Break(value) => return Ok(value),
                ControlFlow::Continue(wait) => self.session.sleep(wait).await?,
            }
        }
    }
}

impl Session {
    /// Waits on a thread of the library.
    async fn sleep(&self, time: Duration) -> Result<(), Error> {
        let slept = self.shared().runtime()?.spawn(async move { tokio::time::sleep(time).await }).await;
        slept.map_err(|_| Error::new(ErrorCode::Cancelled, "the database is closing"))
    }
}

/// How often a transaction was tried.
struct Tries(u32);

impl Tries {
    /// What follows a try: its value, or another try after a wait. `given` has what the statements gave, and the commit if they gave a
    /// value; `failure` is the code for which the transaction failed before that.
    ///
    /// # Errors
    /// That of the try, if another one would not help.
    fn next<T, E: From<Error>>(
        &mut self,
        given: Result<(T, Result<(), Error>), E>,
        failure: Option<ErrorCode>,
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
        match is_conflict && self.0 < TRANSACTION_TRIES_MAX {
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
pub struct BlockingTransaction {
    connection: blocking::Connection,
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
        self.connection.execute("COMMIT", ()).map(drop)
    }

    /// As [`Transaction::rollback`].
    ///
    /// # Errors
    /// As there.
    pub fn rollback(self) -> Result<(), Error> {
        self.connection.execute("ROLLBACK", ()).map(drop)
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
        let connection = blocking::Connection { session: self.session.sibling() };
        connection.execute("BEGIN", ())?;
        Ok(BlockingTransaction { connection })
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
    /// # Errors
    /// As there.
    pub fn transaction<T, E: From<Error>>(
        &self,
        mut run: impl FnMut(&BlockingTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = Tries(0);
        loop {
            let transaction = self.begin()?;
            let given = run(&transaction);
            let failure = transaction.session.transaction.failure();
            match tries.next(given.map(|value| (value, transaction.commit())), failure)? {
                ControlFlow::Break(value) => return Ok(value),
                ControlFlow::Continue(wait) => std::thread::sleep(wait),
            }
        }
    }
}
