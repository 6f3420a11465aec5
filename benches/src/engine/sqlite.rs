//! SQLite: WITHOUT ROWID, WAL, synchronous=FULL.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, params};

use super::{Answer, Engine, Fingerprint, Transaction, Worker, timed};
use crate::Result;
use crate::read::{Argument, Arguments, Dialect, Read, SIDE_TABLES};
use crate::rows::LogRow;

/// SQLite's database in one file.
pub struct Sqlite {
    connection: Connection,
    file: PathBuf,
    cache_bytes: u64,
}

const CREATE_LOG: &str = "\
CREATE TABLE IF NOT EXISTS log (
    phone TEXT NOT NULL, ts INTEGER NOT NULL, a INTEGER, b INTEGER, c INTEGER, d INTEGER, url TEXT,
    PRIMARY KEY (phone, ts DESC)
) WITHOUT ROWID";
const COUNT_UP: &str = "INSERT INTO counter VALUES (?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n";
const UPSERT: &str = "INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?, ?)";
/// Lines of a CSV file that are one transaction, as many as Saltwing's COPY takes.
const CSV_BATCH_ROWS: usize = 5000;
/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(60);

impl Sqlite {
    /// Opens or makes the database.
    pub fn open(folder: &Path, cache_bytes: u64) -> Result<Self> {
        let file = folder.join("log.sqlite");
        let connection = connect(&file, cache_bytes)?;
        for sql in std::iter::once(CREATE_LOG).chain(SIDE_TABLES) {
            connection.execute(sql, ())?;
        }
        Ok(Self { connection, file, cache_bytes })
    }
}

fn connect(file: &Path, cache_bytes: u64) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -{};",
        cache_bytes / 1024
    ))?;
    Ok(connection)
}

impl rusqlite::ToSql for Argument {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Argument::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Argument::Int(n) => ToSqlOutput::from(*n),
        })
    }
}

/// Every value looked at, where it lies; or, if `owned`, each text taken as one of the caller's own.
fn sum_of_rows(statement: &mut Statement<'_>, arguments: &Arguments, owned: bool) -> Result<i64> {
    let columns = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(arguments))?;
    let mut sum = 0i64;
    while let Some(row) = rows.next()? {
        for place in 0..columns {
            sum += match row.get_ref(place)? {
                ValueRef::Integer(n) => n,
                ValueRef::Text(_) if owned => row.get::<_, String>(place)?.len() as i64,
                ValueRef::Text(text) => text.len() as i64,
                other => return Err(format!("a {} is not of the log", other.data_type()).into()),
            };
        }
    }
    Ok(sum)
}

/// Every value, column by column.
fn fingerprint(statement: &mut Statement<'_>, arguments: &Arguments, is_ordered: bool) -> Result<Fingerprint> {
    let columns = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(arguments))?;
    let mut fingerprint = Fingerprint::new(is_ordered);
    while let Some(row) = rows.next()? {
        for place in 0..columns {
            match row.get_ref(place)? {
                ValueRef::Integer(n) => fingerprint.int(n),
                ValueRef::Text(text) => fingerprint.text(text),
                other => return Err(format!("a {} is not of the log", other.data_type()).into()),
            }
        }
        fingerprint.end_row();
    }
    Ok(fingerprint)
}

fn upsert(statement: &mut Statement<'_>, row: &LogRow) -> Result<()> {
    let [a, b, c, d] = row.numbers;
    statement.execute(params![row.phone, row.ts, a, b, c, d, row.url])?;
    Ok(())
}

/// A row of a line without quotes.
fn csv_row(line: &str) -> Option<LogRow> {
    let mut fields = line.split(',');
    let (phone, ts) = (fields.next()?.to_owned(), fields.next()?.parse().ok()?);
    let mut number = || fields.next()?.parse().ok();
    let numbers = [number()?, number()?, number()?, number()?];
    Some(LogRow { phone, ts, numbers, url: fields.next()?.to_owned() })
}

impl Engine for Sqlite {
    fn ask(&mut self, read: Read, argument_lists: &[Arguments]) -> Result<Option<Vec<Answer>>> {
        let sql = read.sql(Dialect::Sqlite);
        if read == Read::PointUnprepared {
            let connection = &self.connection;
            let ask = |arguments| timed(|| sum_of_rows(&mut connection.prepare(&sql)?, arguments, true));
            return argument_lists.iter().map(ask).collect::<Result<_>>().map(Some);
        }
        let mut statement = self.connection.prepare(&sql)?;
        let owned = read != Read::Prefix500Arrow;
        argument_lists
            .iter()
            .map(|arguments| timed(|| sum_of_rows(&mut statement, arguments, owned)))
            .collect::<Result<_>>()
            .map(Some)
    }

    fn look(&mut self, read: Read, arguments: &Arguments) -> Result<Option<Fingerprint>> {
        let mut statement = self.connection.prepare(&read.sql(Dialect::Sqlite))?;
        fingerprint(&mut statement, arguments, read.is_ordered()).map(Some)
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        if let [row] = rows {
            let mut statement = self.connection.prepare_cached(UPSERT)?;
            return upsert(&mut statement, row);
        }
        let transaction = self.connection.transaction()?;
        let mut statement = transaction.prepare_cached(UPSERT)?;
        rows.iter().try_for_each(|row| upsert(&mut statement, row))?;
        drop(statement);
        Ok(transaction.commit()?)
    }

    fn load_in_bulk(&mut self, rows: &[LogRow]) -> Result<bool> {
        rows.chunks(CSV_BATCH_ROWS).try_for_each(|batch| self.load(batch))?;
        Ok(true)
    }

    fn load_csv(&mut self, file: &Path) -> Result<Option<u64>> {
        let mut rows = 0;
        let mut batch = Vec::with_capacity(CSV_BATCH_ROWS);
        for line in BufReader::new(std::fs::File::open(file)?).lines() {
            let line = line?;
            batch.push(csv_row(&line).ok_or_else(|| format!("not a row of the log: {line}"))?);
            if batch.len() == CSV_BATCH_ROWS {
                self.load(&batch)?;
                rows += batch.len() as u64;
                batch.clear();
            }
        }
        self.load(&batch)?;
        Ok(Some(rows + batch.len() as u64))
    }

    fn delete(&mut self, phone: &str, ts: i64) -> Result<()> {
        self.connection.prepare_cached("DELETE FROM log WHERE phone = ? AND ts = ?")?.execute(params![phone, ts])?;
        Ok(())
    }

    fn count_up(&mut self, id: i64) -> Result<Option<i64>> {
        Ok(Some(self.connection.prepare_cached(COUNT_UP)?.query_row([id], |row| row.get(0))?))
    }

    fn run(&mut self, sql: &str) -> Result<bool> {
        self.connection.execute(sql, ())?;
        Ok(true)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?)
    }

    fn counter(&self) -> Result<Option<Worker<i64>>> {
        let connection = connect(&self.file, self.cache_bytes)?;
        Ok(Some(Box::new(move |id| {
            let _: i64 = connection.prepare_cached(COUNT_UP)?.query_row([id], |row| row.get(0))?;
            Ok(())
        })))
    }

    fn transactor(&self) -> Result<Option<Worker<Transaction>>> {
        let connection = connect(&self.file, self.cache_bytes)?;
        Ok(Some(Box::new(move |work| {
            // As a deferred one, a second writer could not go on.
            connection.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
            let mut point = connection.prepare_cached("SELECT a FROM log WHERE phone = ? AND ts = ?")?;
            for row in &work.points {
                Transaction::check(row, point.query_row(params![row.phone, row.ts], |found| found.get(0))?)?;
            }
            let mut statement = connection.prepare_cached(UPSERT)?;
            work.writes.iter().try_for_each(|row| upsert(&mut statement, row))?;
            connection.prepare_cached("COMMIT")?.execute(())?;
            Ok(())
        })))
    }

    fn writer(&self) -> Result<Worker<LogRow>> {
        let connection = connect(&self.file, self.cache_bytes)?;
        Ok(Box::new(move |row| {
            let mut statement = connection.prepare_cached(UPSERT)?;
            upsert(&mut statement, row)
        }))
    }
}
