//! The statements of the workload, as SQL and as answers.

use saltwing::blocking::Connection;
use saltwing::{Error, ErrorCode, Value};
use serde::{Deserialize, Serialize};

use crate::index::Index;
use crate::table::{COLUMNS, Row, Table};

/// Keys are from 0 to below this: few, so that transactions meet.
pub(crate) const KEYS: i64 = 14;

/// Rows of a page.
pub(crate) const PAGE: usize = 3;

/// A query that reads an index for two values, both included.
fn by_index(index: Index, columns: &str) -> String {
    let (table, name) = (index.table().name(), index.name());
    format!("SELECT /*+ INDEX({table} {name}) */ {columns} FROM {table} WHERE {}", index.conditions())
}

/// A statement. Ranges of keys include both ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "`sql` says what each one is")]
pub enum Statement {
    Point { table: Table, key: i64 },
    Range { table: Table, from: i64, to: i64 },
    Totals { table: Table, from: i64, to: i64 },
    Join { from: i64, to: i64 },
    ByIndex { index: Index, from: i64, to: i64 },
    Page { index: Index, from: i64, to: i64 },
    TotalsByIndex { index: Index, from: i64, to: i64 },
    Upsert { table: Table, key: i64, row: Row },
    UpsertOne { table: Table, key: i64, column: usize, value: i64 },
    InsertNew { table: Table, key: i64, row: Row },
    Set { table: Table, from: i64, to: i64, column: usize, value: i64 },
    Add { table: Table, from: i64, to: i64, value: i64 },
    Copy { from: i64, to: i64 },
    Delete { table: Table, from: i64, to: i64 },
    SetByIndex { index: Index, from: i64, to: i64, value: i64 },
    DeleteByIndex { index: Index, from: i64, to: i64 },
    Savepoint,
    RollbackTo,
    Release,
}

/// What a statement gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The rows of a query.
    Rows(Vec<Vec<Option<i64>>>),
    /// How many rows a write says that it wrote.
    Changed(u64),
    /// A savepoint is set, released or gone back to.
    Done,
    /// Two rows would have a value that must be unique: it changed nothing.
    Refused,
    /// An error: it changed nothing.
    Failed,
    /// No answer came: a statement on its own that may be committed.
    None,
}

impl Statement {
    /// Reads all rows of a table.
    pub fn all(table: Table) -> Self {
        Self::Range { table, from: 0, to: KEYS }
    }

    /// Whether it is a query that puts out rows in an order.
    fn is_sorted(&self) -> bool {
        !matches!(self, Self::ByIndex { .. })
    }

    /// The text and its parameters.
    pub fn sql(&self) -> (String, Vec<Value>) {
        let values = |values: &[Option<i64>]| values.iter().map(|value| Value::from(*value)).collect();
        let range = |from: &i64, to: &i64| values(&[Some(*from), Some(*to)]);
        match self {
            Self::Point { table, key } => {
                (format!("SELECT k, v, w FROM {} WHERE k = ?", table.name()), values(&[Some(*key)]))
            }
            Self::Range { table, from, to } => {
                (format!("SELECT k, v, w FROM {} WHERE k BETWEEN ? AND ? ORDER BY k", table.name()), range(from, to))
            }
            Self::Totals { table, from, to } => {
                let totals = "COUNT(*), SUM(v), MAX(w), MIN(k)";
                (format!("SELECT {totals} FROM {} WHERE k BETWEEN ? AND ?", table.name()), range(from, to))
            }
            Self::Join { from, to } => {
                let join = "a JOIN b ON b.k = a.k WHERE a.k BETWEEN ? AND ?";
                (format!("SELECT a.k, a.v, b.w FROM {join} ORDER BY a.k"), range(from, to))
            }
            Self::ByIndex { index, from, to } => (by_index(*index, "k, v, w"), range(from, to)),
            Self::Page { index, from, to } => {
                (format!("{} ORDER BY {} LIMIT {PAGE}", by_index(*index, "k, v, w"), index.order()), range(from, to))
            }
            Self::TotalsByIndex { index, from, to } => {
                (by_index(*index, "COUNT(*), SUM(v), MAX(w), MIN(k)"), range(from, to))
            }
            Self::Upsert { table, key, row } => {
                let sql = format!("UPSERT INTO {} (k, v, w) VALUES (?, ?, ?)", table.name());
                (sql, values(&[Some(*key), row[0], row[1]]))
            }
            Self::UpsertOne { table, key, column, value } => {
                let sql = format!("UPSERT INTO {} (k, {}) VALUES (?, ?)", table.name(), COLUMNS[*column]);
                (sql, values(&[Some(*key), Some(*value)]))
            }
            Self::InsertNew { table, key, row } => {
                let sql = format!("INSERT INTO {} (k, v, w) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", table.name());
                (sql, values(&[Some(*key), row[0], row[1]]))
            }
            Self::Set { table, from, to, column, value } => {
                let sql = format!("UPDATE {} SET {} = ? WHERE k BETWEEN ? AND ?", table.name(), COLUMNS[*column]);
                (sql, values(&[Some(*value), Some(*from), Some(*to)]))
            }
            Self::Add { table, from, to, value } => {
                let sql = format!("UPDATE {} SET v = v + ?, w = w + 1 WHERE k BETWEEN ? AND ?", table.name());
                (sql, values(&[Some(*value), Some(*from), Some(*to)]))
            }
            Self::Copy { from, to } => {
                let rows = "SELECT k, v, w FROM a WHERE k BETWEEN ? AND ?";
                (format!("UPSERT INTO b (k, v, w) {rows}"), range(from, to))
            }
            Self::Delete { table, from, to } => {
                (format!("DELETE FROM {} WHERE k BETWEEN ? AND ?", table.name()), range(from, to))
            }
            Self::SetByIndex { index, from, to, value } => {
                let (table, other) = (index.table().name(), COLUMNS[1 - index.column()]);
                let sql = format!("UPDATE {table} SET {other} = ? WHERE {}", index.conditions());
                (sql, values(&[Some(*value), Some(*from), Some(*to)]))
            }
            Self::DeleteByIndex { index, from, to } => {
                (format!("DELETE FROM {} WHERE {}", index.table().name(), index.conditions()), range(from, to))
            }
            Self::Savepoint => ("SAVEPOINT s".into(), Vec::new()),
            Self::RollbackTo => ("ROLLBACK TO s".into(), Vec::new()),
            Self::Release => ("RELEASE s".into(), Vec::new()),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The statement's.
    pub fn run(&self, connection: &Connection) -> Result<Answer, Error> {
        match self.answer(connection) {
            Err(error) if error.code() == ErrorCode::DuplicateKey => Ok(Answer::Refused),
            answer => answer,
        }
    }

    fn answer(&self, connection: &Connection) -> Result<Answer, Error> {
        let (sql, parameters) = self.sql();
        match self {
            Self::Point { .. }
            | Self::Range { .. }
            | Self::Totals { .. }
            | Self::Join { .. }
            | Self::ByIndex { .. }
            | Self::Page { .. }
            | Self::TotalsByIndex { .. } => {
                let rows = connection.query(&sql, parameters)?.map(|row| {
                    let row = row?;
                    (0..row.columns().len()).map(|column| row.get(column)).collect()
                });
                let mut rows = rows.collect::<Result<Vec<_>, Error>>()?;
                if !self.is_sorted() {
                    rows.sort();
                }
                Ok(Answer::Rows(rows))
            }
            Self::Savepoint | Self::RollbackTo | Self::Release => {
                connection.execute(&sql, parameters).map(|_| Answer::Done)
            }
            _ => Ok(Answer::Changed(connection.execute(&sql, parameters)?.rows_affected)),
        }
    }
}
