use std::pin::pin;
use std::time::Instant;

use bytes::Bytes;
use futures::SinkExt;

use crate::error::equal;
use crate::measurement::server::Server;
use crate::measurement::times::Measured;
use crate::{Kind, TestError};

/// Rows of an account.
pub const ACCOUNT_ROWS: i64 = 1000;
/// Rows of one piece of a COPY.
const PIECE_ROWS: i64 = 500;

/// The table that all tasks use: its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTable {
    accounts: i64,
}

impl EventTable {
    /// With about so many rows: at least those of one account.
    pub fn of_rows(rows: u64) -> Self {
        let accounts = i64::try_from(rows).unwrap_or(i64::MAX) / ACCOUNT_ROWS;
        Self { accounts: accounts.max(1) }
    }

    /// Its accounts, from 0 on.
    pub fn accounts(self) -> i64 {
        self.accounts
    }

    /// Its rows.
    pub fn rows(self) -> u64 {
        (self.accounts * ACCOUNT_ROWS).unsigned_abs()
    }

    /// The amount of a row.
    pub fn amount(account: i64, id: i64) -> i64 {
        account * 7 + id
    }

    /// Makes the table anew on a server, and fills it by one COPY, whose time is measured: from its statement to the answer that all rows
    /// are written. Then the server may put the rows in order.
    ///
    /// # Errors
    /// A statement fails.
    pub async fn fill(self, server: &Server) -> Result<Measured, TestError> {
        let client = server.target.connect().await?;
        client.batch_execute("DROP TABLE IF EXISTS load_event").await?;
        client
            .batch_execute(
                "CREATE TABLE load_event (account BIGINT NOT NULL, id BIGINT NOT NULL, kind SMALLINT, amount BIGINT, note VARCHAR(60), \
                 CONSTRAINT load_event_key PRIMARY KEY (account, id))",
            )
            .await?;
        let pieces: Vec<Bytes> = (0..self.accounts * ACCOUNT_ROWS / PIECE_ROWS).map(piece).collect();
        let began = Instant::now();
        let mut sink = pin!(client.copy_in::<_, Bytes>("COPY load_event FROM STDIN").await?);
        for piece in pieces {
            sink.feed(piece).await?;
        }
        let count = sink.finish().await?;
        let took = began.elapsed();
        equal(&count, &self.rows())?;
        client.batch_execute(settle(server.kind)).await?;
        Ok(Measured::of_count(count, took))
    }

    /// Drops the table.
    ///
    /// # Errors
    /// The statement fails.
    pub async fn remove(server: &Server) -> Result<(), TestError> {
        Ok(server.target.connect().await?.batch_execute("DROP TABLE IF EXISTS load_event").await?)
    }
}

/// The statement after which a server of this kind has its rows in the form in which they stay.
fn settle(kind: Kind) -> &'static str {
    match kind {
        Kind::Saltwing => "COMPACT load_event",
        Kind::Postgres => "VACUUM (ANALYZE) load_event",
    }
}

/// Rows of a COPY, as text.
fn piece(number: i64) -> Bytes {
    let line = |row: i64| {
        let (account, id) = (row / ACCOUNT_ROWS, row % ACCOUNT_ROWS);
        let amount = EventTable::amount(account, id);
        format!("{account}\t{id}\t{}\t{amount}\tevent {id} of account {account}\n", id % 10)
    };
    (number * PIECE_ROWS..(number + 1) * PIECE_ROWS).map(line).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::{EventTable, piece};

    #[test]
    fn rows_are_whole_accounts() {
        assert_eq!((EventTable::of_rows(0).rows(), EventTable::of_rows(1_000_999).rows()), (1000, 1_000_000));
        let text = String::from_utf8(piece(3).to_vec()).unwrap();
        assert_eq!((text.lines().count(), text.lines().next()), (500, Some("1\t500\t0\t507\tevent 500 of account 1")));
    }
}
