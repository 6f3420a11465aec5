use std::fmt;

use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use crate::error::{ensure, equal};
use crate::measurement::event_table::{ACCOUNT_ROWS, EventTable};
use crate::random::Random;
use crate::{Target, TestError};

/// Rows of [`Task::Newest`].
const NEWEST_ROWS: usize = 100;
/// Rows of [`Task::Aggregate`].
const AGGREGATE_ROWS: i64 = 400;

/// What a connection does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One row by its key, by a prepared statement.
    PointPrepared,
    /// One row by its key, by a text that is another one each time.
    PointUnprepared,
    /// The newest 100 rows of an account.
    Newest,
    /// Count and sum over 400 rows of an account.
    Aggregate,
    /// One row is inserted or updated, and is on the disk when the answer comes.
    Upsert,
}

impl Task {
    /// All, in the order in which they are measured. The one that writes is the last.
    pub const ALL: [Self; 5] =
        [Self::PointPrepared, Self::PointUnprepared, Self::Newest, Self::Aggregate, Self::Upsert];

    /// The task of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PointPrepared => "point-prepared",
            Self::PointUnprepared => "point-unprepared",
            Self::Newest => "newest-100",
            Self::Aggregate => "aggregate-400",
            Self::Upsert => "upsert",
        }
    }

    fn statement(self) -> &'static str {
        match self {
            Self::PointPrepared => "SELECT amount, note FROM load_event WHERE account = $1 AND id = $2",
            // Each run has its own text.
            Self::PointUnprepared => "SELECT 1",
            Self::Newest => {
                "SELECT id, kind, amount, note FROM load_event WHERE account = $1 ORDER BY id DESC LIMIT 100"
            }
            Self::Aggregate => {
                "SELECT count(*), min(amount) FROM load_event WHERE account = $1 AND id >= $2 AND id < $3"
            }
            Self::Upsert => {
                "INSERT INTO load_event (account, id, kind, amount, note) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (account, id) DO UPDATE SET kind = excluded.kind, amount = excluded.amount, note = excluded.note"
            }
        }
    }

    /// A connection that is ready to run it.
    ///
    /// # Errors
    /// The login, or the statement's preparation.
    pub(crate) async fn runner(self, target: &Target, table: EventTable, seed: u64) -> Result<Runner, TestError> {
        let client = target.connect().await?;
        let statement = client.prepare(self.statement()).await?;
        Ok(Runner { task: self, table, client, statement, random: Random::new(seed) })
    }
}

impl fmt::Display for Task {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A connection that runs a task.
pub(crate) struct Runner {
    task: Task,
    table: EventTable,
    client: Client,
    statement: Statement,
    random: Random,
}

impl Runner {
    /// Runs it once, and looks whether the answer is right.
    ///
    /// # Errors
    /// The statement fails; another answer.
    pub async fn run_once(&mut self) -> Result<(), TestError> {
        let account = self.random.below(self.table.accounts());
        let id = self.random.below(ACCOUNT_ROWS);
        let amount = EventTable::amount(account, id);
        let (client, statement) = (&self.client, &self.statement);
        match self.task {
            Task::PointPrepared => {
                let row = client.query_one(statement, &[&account, &id]).await?;
                equal(&row.try_get::<_, i64>(0)?, &amount)
            }
            Task::PointUnprepared => {
                let text = format!("SELECT amount, note FROM load_event WHERE account = {account} AND id = {id}");
                let messages = client.simple_query(&text).await?;
                let found = messages.iter().find_map(|message| match message {
                    SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                });
                equal(&found, &Some(amount.to_string()))
            }
            Task::Newest => {
                let rows = client.query(statement, &[&account]).await?;
                let last = rows.last().map(|row| row.try_get::<_, i64>(0)).transpose()?;
                let expected = ACCOUNT_ROWS - NEWEST_ROWS as i64;
                ensure(rows.len() == NEWEST_ROWS && last == Some(expected), || {
                    format!("{} rows up to {last:?}, expected {NEWEST_ROWS} up to {expected}", rows.len())
                })
            }
            Task::Aggregate => {
                let first = id.min(ACCOUNT_ROWS - AGGREGATE_ROWS);
                let row = client.query_one(statement, &[&account, &first, &(first + AGGREGATE_ROWS)]).await?;
                let found = (row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?);
                equal(&found, &(AGGREGATE_ROWS, EventTable::amount(account, first)))
            }
            Task::Upsert => {
                // Half of the rows are there.
                let id = self.random.below(ACCOUNT_ROWS * 2);
                let amount = EventTable::amount(account, id);
                let note = format!("event {id} of account {account}");
                let count = client.execute(statement, &[&account, &id, &((id % 10) as i16), &amount, &note]).await?;
                equal(&count, &1)
            }
        }
    }
}
