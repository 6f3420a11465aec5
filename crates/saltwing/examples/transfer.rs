//! Money transfers by eight threads, each of them a transaction that is repeated after a conflict.
//!
//! `cargo run --release -p saltwing --example transfer`

use saltwing::{Database, Error, blocking::Connection};

const ACCOUNTS: i64 = 10;
const THREADS: i64 = 8;
const TRANSFERS: i64 = 100;

/// Why a transfer was not made.
#[derive(Debug)]
enum Refused {
    NoMoney,
    Database(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

fn transfer(connection: &Connection, from: i64, to: i64, amount: i64) -> Result<(), Refused> {
    connection.transaction(|transaction| {
        let (left,): (i64,) = transaction.query_one("SELECT amount FROM account WHERE id = ?", (from,))?;
        if left < amount {
            return Err(Refused::NoMoney);
        }
        transaction.execute("UPDATE account SET amount = amount - ? WHERE id = ?", (amount, from))?;
        transaction.execute("UPDATE account SET amount = amount + ? WHERE id = ?", (amount, to))?;
        Ok(())
    })
}

fn main() -> Result<(), Error> {
    let database = Database::memory()?;
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL)", ())?;
    for id in 0..ACCOUNTS {
        connection.execute("UPSERT INTO account VALUES (?, 100)", (id,))?;
    }
    let made = std::thread::scope(|scope| {
        let run = |thread: i64| {
            let connection = database.connect().blocking();
            let transfers = (0..TRANSFERS).map(move |i| (thread * 7 + i, thread + i * 3 + 1, 1 + i % 40));
            scope.spawn(move || -> Result<u32, Error> {
                let mut made = 0;
                for (from, to, amount) in transfers {
                    match transfer(&connection, from % ACCOUNTS, to % ACCOUNTS, amount) {
                        Ok(()) => made += 1,
                        Err(Refused::NoMoney) => {}
                        // Others were first twenty times in a row.
                        Err(Refused::Database(error)) if error.is_retryable() => {}
                        Err(Refused::Database(error)) => return Err(error),
                    }
                }
                Ok(made)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0))).sum::<Result<u32, Error>>()
    })?;
    let (total,): (i64,) = connection.query_one("SELECT SUM(amount) FROM account WHERE id >= 0", ())?;
    println!("{made} transfers, and {total} in all accounts");
    assert_eq!(total, ACCOUNTS * 100);
    Ok(())
}
