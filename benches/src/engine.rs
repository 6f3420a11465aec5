//! The engines, behind one trait.

use std::path::Path;

use rusqlite::params;
use saltwing::{Database, blocking};

use crate::rows::LogRow;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What the work asks of an engine. Answers are sums, so that they can be compared.
pub trait Engine {
    /// Its name in the table.
    fn name(&self) -> &'static str;
    /// Writes rows as one durable batch.
    fn load(&mut self, rows: &[LogRow]) -> Result<()>;
    /// One row by its key.
    fn point(&mut self, phone: &str, ts: i64) -> Result<i64>;
    /// The same, from the statement's text.
    fn point_unprepared(&mut self, phone: &str, ts: i64) -> Result<i64>;
    /// The newest 500 rows of a phone, seven columns, as Arrow where the engine has it.
    fn prefix500(&mut self, phone: &str) -> Result<i64>;
    /// The newest 10 rows of a phone.
    fn latest10(&mut self, phone: &str) -> Result<i64>;
    /// How many rows of a phone lie in a span of time.
    fn count_range(&mut self, phone: &str, from: i64, to: i64) -> Result<i64>;
    /// One durable row.
    fn upsert1(&mut self, row: &LogRow) -> Result<()>;
}

const COLUMNS: &str = "phone, ts, a, b, c, d, url";
const POINT: &str = "SELECT a FROM log WHERE phone = ? AND ts = ?";
const PREFIX: &str = "SELECT phone, ts, a, b, c, d, url FROM log WHERE phone = ? ORDER BY phone, ts DESC LIMIT 500";
const LATEST: &str = "SELECT ts, a FROM log WHERE phone = ? ORDER BY phone, ts DESC LIMIT 10";
const COUNT: &str = "SELECT count(*) FROM log WHERE phone = ? AND ts >= ? AND ts < ?";

/// Saltwing on fjall.
pub struct Saltwing {
    connection: blocking::Connection,
    point: blocking::Statement,
    prefix: blocking::Statement,
    latest: blocking::Statement,
    count: blocking::Statement,
    upsert: blocking::Statement,
}

impl Saltwing {
    /// A new database in a directory.
    pub fn create(path: &Path) -> Result<Self> {
        let connection = Database::open(path)?.connect().blocking();
        connection.execute(
            "CREATE TABLE log (phone VARCHAR NOT NULL, ts BIGINT NOT NULL, a INTEGER, b INTEGER, c INTEGER, d INTEGER, url VARCHAR,
             CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = 8, SALT_BY = (phone)",
            (),
        )?;
        let prepare = |sql: &str| connection.prepare(sql);
        Ok(Self {
            point: prepare(POINT)?,
            prefix: prepare(PREFIX)?,
            latest: prepare(LATEST)?,
            count: prepare(COUNT)?,
            upsert: prepare("UPSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)")?,
            connection,
        })
    }

    fn int(rows: blocking::Rows) -> Result<i64> {
        let mut sum = 0;
        for row in rows {
            sum += row?.get::<i64>(0)?;
        }
        Ok(sum)
    }
}

fn values(row: &LogRow) -> saltwing::Params {
    let [a, b, c, d] = row.numbers;
    saltwing::params![row.phone.as_str(), row.ts, a, b, c, d, row.url.as_str()]
}

impl Engine for Saltwing {
    fn name(&self) -> &'static str {
        "saltwing"
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        let literal = |r: &LogRow| {
            let [a, b, c, d] = r.numbers;
            format!("('{}', {}, {a}, {b}, {c}, {d}, '{}')", r.phone, r.ts, r.url)
        };
        let list: Vec<String> = rows.iter().map(literal).collect();
        self.connection.execute(&format!("UPSERT INTO log ({COLUMNS}) VALUES {}", list.join(", ")), ())?;
        Ok(())
    }

    fn point(&mut self, phone: &str, ts: i64) -> Result<i64> {
        Self::int(self.point.query(saltwing::params![phone, ts])?)
    }

    fn point_unprepared(&mut self, phone: &str, ts: i64) -> Result<i64> {
        Self::int(self.connection.query(POINT, saltwing::params![phone, ts])?)
    }

    fn prefix500(&mut self, phone: &str) -> Result<i64> {
        let mut sum = 0;
        for row in self.prefix.query(saltwing::params![phone])? {
            sum += row?.get::<i64>(1)?;
        }
        Ok(sum)
    }

    fn latest10(&mut self, phone: &str) -> Result<i64> {
        Self::int(self.latest.query(saltwing::params![phone])?)
    }

    fn count_range(&mut self, phone: &str, from: i64, to: i64) -> Result<i64> {
        Self::int(self.count.query(saltwing::params![phone, from, to])?)
    }

    fn upsert1(&mut self, row: &LogRow) -> Result<()> {
        self.upsert.execute(values(row))?;
        Ok(())
    }
}

/// SQLite: WITHOUT ROWID, WAL, synchronous=FULL, a cache of 1 GB.
pub struct Sqlite {
    connection: rusqlite::Connection,
}

impl Sqlite {
    /// A new database in a directory.
    pub fn create(path: &Path) -> Result<Self> {
        let connection = rusqlite::Connection::open(path.join("log.sqlite"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000;
             CREATE TABLE log (phone TEXT NOT NULL, ts INTEGER NOT NULL, a INTEGER, b INTEGER, c INTEGER, d INTEGER, url TEXT,
             PRIMARY KEY (phone, ts DESC)) WITHOUT ROWID;",
        )?;
        Ok(Self { connection })
    }

    fn sum(&self, sql: &str, column: usize, params: impl rusqlite::Params) -> Result<i64> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut sum = 0;
        while let Some(row) = rows.next()? {
            sum += row.get::<_, i64>(column)?;
        }
        Ok(sum)
    }
}

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            for r in rows {
                let [a, b, c, d] = r.numbers;
                insert.execute(params![r.phone, r.ts, a, b, c, d, r.url])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn point(&mut self, phone: &str, ts: i64) -> Result<i64> {
        self.sum(POINT, 0, params![phone, ts])
    }

    fn point_unprepared(&mut self, phone: &str, ts: i64) -> Result<i64> {
        Ok(self.connection.prepare(POINT)?.query_row(params![phone, ts], |row| row.get(0))?)
    }

    fn prefix500(&mut self, phone: &str) -> Result<i64> {
        let mut statement = self.connection.prepare_cached(PREFIX)?;
        let mut rows = statement.query(params![phone])?;
        let mut sum = 0;
        while let Some(row) = rows.next()? {
            // All seven columns are taken, as the other engine takes them.
            for i in 2..6 {
                std::hint::black_box(row.get::<_, i64>(i)?);
            }
            std::hint::black_box((row.get_ref(0)?, row.get_ref(6)?));
            sum += row.get::<_, i64>(1)?;
        }
        Ok(sum)
    }

    fn latest10(&mut self, phone: &str) -> Result<i64> {
        self.sum(LATEST, 0, params![phone])
    }

    fn count_range(&mut self, phone: &str, from: i64, to: i64) -> Result<i64> {
        self.sum(COUNT, 0, params![phone, from, to])
    }

    fn upsert1(&mut self, row: &LogRow) -> Result<()> {
        self.load(std::slice::from_ref(row))
    }
}
