//! Saltwing over the same cluster.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use saltwing::{Database, Value, blocking};

use super::log::{ClusterLog, ROWS_A_COMMIT};
use super::phoenix::Answer;
use super::question::Parameter;
use crate::Result;

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x100_0000_01b3;

/// A database over the tables of a cluster.
pub struct Saltwing {
    connection: blocking::Connection,
    statements: HashMap<String, blocking::Statement>,
}

impl Saltwing {
    pub fn open(cluster: &str) -> Result<Self> {
        let (tables, catalog) = saltwing_hbase::open(cluster, saltwing_hbase::Options::default())?;
        let database = Database::memory_builder().full_scan("allow")?.open_with_catalog(tables, catalog)?;
        Ok(Self { connection: database.connect().blocking(), statements: HashMap::new() })
    }

    /// Takes all values of all rows; the checksum is made after the time is taken.
    pub fn query(&mut self, sql: &str, parameters: &[Parameter]) -> Result<Answer> {
        if !self.statements.contains_key(sql) {
            self.statements.insert(sql.to_owned(), self.connection.prepare(sql)?);
        }
        let statement = self.statements.get(sql).ok_or("the statement is gone")?;
        let parameters: Vec<Value> = parameters.iter().map(value).collect();
        let began = Instant::now();
        let mut rows = Vec::new();
        for row in statement.query(parameters)? {
            rows.push(row?.values()?);
        }
        let time = began.elapsed();
        let checksum = rows.iter().fold(0, |sum: u64, row| sum.wrapping_add(checksum(row)));
        Ok(Answer { time, rows: rows.len() as u64, checksum })
    }

    pub fn load(&self, table: &str, log: ClusterLog) -> Result<Duration> {
        self.connection.execute(&format!("SET autocommit_rows = {ROWS_A_COMMIT}"), ())?;
        let began = Instant::now();
        let mut appender = self.connection.appender(table)?.on_conflict(saltwing::OnConflict::Replace);
        for index in 0..log.rows() {
            let row = log.row(index);
            let key = [Value::from(row.phone.as_str()), Value::from(row.ts)];
            let values = key.into_iter().chain(row.numbers.map(Value::from)).chain([Value::from(row.url.as_str())]);
            appender.append_row(values.collect::<Vec<_>>())?;
        }
        appender.close()?;
        let time = began.elapsed();
        self.connection.execute("SET autocommit_rows = DEFAULT", ())?;
        Ok(time)
    }
}

fn value(parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Text(text) => Value::from(text.as_str()),
        Parameter::Int(n) => Value::Int(*n),
    }
}

fn checksum(row: &[Value]) -> u64 {
    let mut sum = FNV_START;
    for value in row {
        let text = match value {
            Value::Text(text) => text.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Decimal(n) => n.to_string(),
            other => format!("{other:?}"),
        };
        for byte in text.bytes().chain([b'\t']) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }
    sum
}
