//! Saltwing.

use std::collections::HashMap;
use std::path::Path;

use saltwing::arrow::array::{Array, AsArray};
use saltwing::arrow::datatypes::{DataType, Int32Type, Int64Type};
use saltwing::{Database, SqlType, StoreKind, Value, blocking};

use super::{Answer, Engine, EngineKind, Fingerprint, Transaction, Worker, timed};
use crate::Result;
use crate::read::{Argument, Arguments, Dialect, Read, SIDE_TABLES};
use crate::rows::LogRow;

const COUNT_UP: &str = "UPSERT INTO counter VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1 RETURNING n";

/// Saltwing on one of its stores.
pub struct Saltwing {
    database: Database,
    connection: blocking::Connection,
    statements: HashMap<Read, blocking::Statement>,
    /// UPSERTs by their number of rows.
    upserts: HashMap<usize, blocking::Statement>,
    delete: blocking::Statement,
    counter: blocking::Statement,
}

const CREATE_LOG: &str = "\
CREATE TABLE IF NOT EXISTS log (
    phone VARCHAR NOT NULL, ts BIGINT NOT NULL, a INTEGER, b INTEGER, c INTEGER, d INTEGER, url VARCHAR,
    CONSTRAINT pk PRIMARY KEY (phone, ts DESC)
) SALT_BUCKETS = 8, SALT_BY = (phone)";

/// Parameters of a row.
const ROW_PARAMETERS: usize = 7;

impl Saltwing {
    /// Opens or makes the database.
    pub fn open(kind: EngineKind, folder: &Path, cache_bytes: u64, keep_recent: bool) -> Result<Self> {
        let builder = match kind {
            EngineKind::SaltwingMemory => Database::memory_builder(),
            EngineKind::SaltwingSled => Database::builder(folder.join("sled")).store(StoreKind::Sled),
            _ => Database::builder(folder.join("redb")).store(StoreKind::Redb),
        };
        // A quarter for the store below, which is read when a block is not in memory.
        let builder = builder.cache_bytes(cache_bytes / 4).block_cache_bytes((cache_bytes / 4 * 3) as usize);
        let builder = builder.full_scan("allow")?;
        let builder =
            if keep_recent { builder.delta_limits(u64::MAX / 4, u64::MAX / 4).merge_when_idle(None) } else { builder };
        let database = builder.open()?;
        let connection = database.connect().blocking();
        for sql in std::iter::once(CREATE_LOG).chain(SIDE_TABLES) {
            connection.execute(sql, ())?;
        }
        Ok(Self {
            statements: HashMap::new(),
            upserts: HashMap::new(),
            delete: connection.prepare("DELETE FROM log WHERE phone = ? AND ts = ?")?,
            counter: connection.prepare(COUNT_UP)?,
            connection,
            database,
        })
    }

    fn statement(&mut self, read: Read) -> Result<&blocking::Statement> {
        if !self.statements.contains_key(&read) {
            self.statements.insert(read, self.connection.prepare(&read.sql(Dialect::Saltwing))?);
        }
        self.statements.get(&read).ok_or_else(|| "the statement is gone".into())
    }
}

impl From<&Argument> for Value {
    fn from(argument: &Argument) -> Self {
        match argument {
            Argument::Text(text) => Value::Text(text.clone()),
            Argument::Int(n) => Value::Int(*n),
        }
    }
}

fn params(arguments: &Arguments) -> Vec<Value> {
    arguments.iter().map(Value::from).collect()
}

fn values(row: &LogRow) -> impl Iterator<Item = Value> {
    let key = [Value::from(row.phone.as_str()), Value::from(row.ts)];
    key.into_iter().chain(row.numbers.map(Value::from)).chain([Value::from(row.url.as_str())])
}

fn upsert(connection: &blocking::Connection, rows: usize) -> Result<blocking::Statement> {
    let row = format!("({})", ["?"; ROW_PARAMETERS].join(", "));
    Ok(connection.prepare(&format!("UPSERT INTO log VALUES {}", vec![row; rows].join(", ")))?)
}

/// Every value taken as one of the caller's own.
fn sum_of_rows(rows: blocking::Rows) -> Result<i64> {
    let texts: Vec<bool> = rows.columns().iter().map(|column| matches!(column.ty, SqlType::Varchar(_))).collect();
    let mut sum = 0i64;
    for row in rows {
        let row = row?;
        for (place, is_text) in texts.iter().enumerate() {
            sum += if *is_text { row.get::<String>(place)?.len() as i64 } else { row.get::<i64>(place)? };
        }
    }
    Ok(sum)
}

/// Every column's values, as the batches have them.
fn sum_of_batches(mut batches: saltwing::ArrowRows) -> Result<i64> {
    let mut sum = 0i64;
    while let Some(batch) = batches.next_blocking()? {
        for column in batch.columns() {
            sum += match column.data_type() {
                DataType::Int32 => column.as_primitive::<Int32Type>().values().iter().map(|n| i64::from(*n)).sum(),
                DataType::Int64 => column.as_primitive::<Int64Type>().values().iter().sum::<i64>(),
                DataType::Utf8 => column.as_string::<i32>().iter().flatten().map(|text| text.len() as i64).sum(),
                other => return Err(format!("a column of {other} is not of the log").into()),
            };
        }
    }
    Ok(sum)
}

/// Every value, row by row. Not by `Row::get`, which the compiler then no longer puts into the timed loop.
fn fingerprint_of_rows(rows: blocking::Rows, mut fingerprint: Fingerprint) -> Result<Fingerprint> {
    for row in rows {
        for value in row?.values()? {
            match value {
                Value::Text(text) => fingerprint.text(text.as_bytes()),
                Value::Int(n) => fingerprint.int(n),
                other => return Err(format!("{other:?} is no value of the log").into()),
            }
        }
        fingerprint.end_row();
    }
    Ok(fingerprint)
}

/// The same of batches.
fn fingerprint_of_batches(mut batches: saltwing::ArrowRows, mut fingerprint: Fingerprint) -> Result<Fingerprint> {
    while let Some(batch) = batches.next_blocking()? {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                match column.data_type() {
                    _ if column.is_null(row) => return Err("a NULL is not of the log".into()),
                    DataType::Int32 => fingerprint.int(column.as_primitive::<Int32Type>().value(row).into()),
                    DataType::Int64 => fingerprint.int(column.as_primitive::<Int64Type>().value(row)),
                    DataType::Utf8 => fingerprint.text(column.as_string::<i32>().value(row).as_bytes()),
                    other => return Err(format!("a column of {other} is not of the log").into()),
                }
            }
            fingerprint.end_row();
        }
    }
    Ok(fingerprint)
}

impl Engine for Saltwing {
    fn ask(&mut self, read: Read, argument_lists: &[Arguments]) -> Result<Option<Vec<Answer>>> {
        if read.is_relational() && !cfg!(feature = "datafusion") {
            return Ok(None);
        }
        if read == Read::PointUnprepared {
            let (connection, sql) = (&self.connection, read.sql(Dialect::Saltwing));
            let ask = |arguments| timed(|| sum_of_rows(connection.query(&sql, params(arguments))?));
            return argument_lists.iter().map(ask).collect::<Result<_>>().map(Some);
        }
        let statement = self.statement(read)?;
        let ask = |arguments| match read {
            Read::Prefix500Arrow => timed(|| sum_of_batches(statement.query_arrow(params(arguments))?)),
            _ => timed(|| sum_of_rows(statement.query(params(arguments))?)),
        };
        argument_lists.iter().map(ask).collect::<Result<_>>().map(Some)
    }

    fn look(&mut self, read: Read, arguments: &Arguments) -> Result<Option<Fingerprint>> {
        if read.is_relational() && !cfg!(feature = "datafusion") {
            return Ok(None);
        }
        let (fingerprint, params) = (Fingerprint::new(read.is_ordered()), params(arguments));
        let found = match read {
            Read::Prefix500Arrow => fingerprint_of_batches(self.statement(read)?.query_arrow(params)?, fingerprint),
            Read::PointUnprepared => {
                let rows = self.connection.query(&read.sql(Dialect::Saltwing), params)?;
                fingerprint_of_rows(rows, fingerprint)
            }
            _ => fingerprint_of_rows(self.statement(read)?.query(params)?, fingerprint),
        };
        found.map(Some)
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        if !self.upserts.contains_key(&rows.len()) {
            self.upserts.insert(rows.len(), upsert(&self.connection, rows.len())?);
        }
        let upsert = self.upserts.get(&rows.len()).ok_or("the statement is gone")?;
        upsert.execute(rows.iter().flat_map(values).collect::<Vec<_>>())?;
        Ok(())
    }

    fn load_in_bulk(&mut self, rows: &[LogRow]) -> Result<bool> {
        let mut appender = self.connection.appender("log")?;
        rows.iter().try_for_each(|row| appender.append_row(values(row).collect::<Vec<_>>()))?;
        appender.close()?;
        Ok(true)
    }

    fn load_csv(&mut self, file: &Path) -> Result<Option<u64>> {
        let copied = self.connection.execute(&format!("COPY log FROM '{}'", file.display()), ())?;
        Ok(Some(copied.rows_affected))
    }

    fn delete(&mut self, phone: &str, ts: i64) -> Result<()> {
        self.delete.execute(saltwing::params![phone, ts])?;
        Ok(())
    }

    fn count_up(&mut self, id: i64) -> Result<Option<i64>> {
        let (now,): (i64,) = self.counter.query_one(saltwing::params![id])?;
        Ok(Some(now))
    }

    fn run(&mut self, sql: &str) -> Result<bool> {
        self.connection.execute(sql, ())?;
        Ok(true)
    }

    fn settle(&mut self) -> Result<()> {
        self.connection.execute("COMPACT log, item, counter", ())?;
        Ok(())
    }

    fn counter(&self) -> Result<Option<Worker<i64>>> {
        let counter = self.database.connect().blocking().prepare(COUNT_UP)?;
        Ok(Some(Box::new(move |id| {
            let (_,): (i64,) = counter.query_one(saltwing::params![*id])?;
            Ok(())
        })))
    }

    fn transactor(&self) -> Result<Option<Worker<Transaction>>> {
        let connection = self.database.connect().blocking();
        let [begin, commit] = [connection.prepare("BEGIN")?, connection.prepare("COMMIT")?];
        let point = connection.prepare("SELECT a FROM log WHERE phone = ? AND ts = ?")?;
        let upsert = upsert(&connection, 1)?;
        Ok(Some(Box::new(move |work| {
            begin.execute(())?;
            for row in &work.points {
                let (a,): (i64,) = point.query_one(saltwing::params![row.phone.as_str(), row.ts])?;
                Transaction::check(row, a)?;
            }
            for row in &work.writes {
                upsert.execute(values(row).collect::<Vec<_>>())?;
            }
            commit.execute(())?;
            Ok(())
        })))
    }

    fn writer(&self) -> Result<Worker<LogRow>> {
        let upsert = upsert(&self.database.connect().blocking(), 1)?;
        Ok(Box::new(move |row| {
            upsert.execute(values(row).collect::<Vec<_>>())?;
            Ok(())
        }))
    }
}
