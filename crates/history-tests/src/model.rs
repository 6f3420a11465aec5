//! The model: what a statement makes of the rows of two tables.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::history::Transaction;
use crate::index::Index;
use crate::state::State;
use crate::statement::{Answer, PAGE, Statement};
use crate::table::{Row, Table};

/// The rows that a transaction wrote, as it leaves them; `None` is a deleted one.
pub(crate) type Writes = BTreeMap<(Table, i64), Option<Row>>;

/// An answer that the model does not give.
pub(crate) struct Difference<'a> {
    pub(crate) statement: &'a Statement,
    pub(crate) answer: &'a Answer,
    pub(crate) wanted: Answer,
}

/// A transaction on its way.
struct View {
    state: State,
    writes: Writes,
    savepoints: Vec<(State, Writes)>,
}

/// Runs a transaction over the rows of its snapshot: its writes, if each of its statements answers as it did.
pub(crate) fn replay<'a>(transaction: &'a Transaction, snapshot: &State) -> Result<Writes, Difference<'a>> {
    let mut view = View { state: snapshot.clone(), writes: Writes::new(), savepoints: Vec::new() };
    for (statement, answer) in &transaction.statements {
        if *answer == Answer::Failed {
            continue;
        }
        let wanted = view.run(statement);
        if *answer != wanted && *answer != Answer::None {
            return Err(Difference { statement, answer, wanted });
        }
    }
    Ok(view.writes)
}

impl View {
    /// The answer of a statement. What gives two rows a value that must be unique changes nothing.
    fn run(&mut self, statement: &Statement) -> Answer {
        let before = self.state.is_unique.then(|| (self.state.clone(), self.writes.clone()));
        let answer = self.done(statement);
        match before {
            Some(before) if self.state.has_duplicates() => {
                (self.state, self.writes) = before;
                Answer::Refused
            }
            _ => answer,
        }
    }

    fn done(&mut self, statement: &Statement) -> Answer {
        match statement {
            Statement::Point { table, key } => put_out(self.read(*table, *key..=*key)),
            Statement::Range { table, from, to } => put_out(self.read(*table, *from..=*to)),
            Statement::Totals { table, from, to } => totals(&self.read(*table, *from..=*to)),
            Statement::ByIndex { index, from, to } => put_out(self.found(*index, *from, *to)),
            Statement::Page { index, from, to } => {
                let mut rows = self.found(*index, *from, *to);
                rows.sort_by_key(|(key, row)| index.place(*key, row));
                rows.truncate(PAGE);
                put_out(rows)
            }
            Statement::TotalsByIndex { index, from, to } => totals(&self.found(*index, *from, *to)),
            Statement::Join { from, to } => {
                let other = |key: &i64| self.state.rows(Table::B).get(key);
                let rows = self.state.rows(Table::A).range(from..=to);
                let joined = rows.filter_map(|(key, row)| Some(vec![Some(*key), row[0], other(key)?[1]]));
                Answer::Rows(joined.collect())
            }
            Statement::Upsert { table, key, row } => self.put(*table, [(*key, *row)]),
            Statement::UpsertOne { table, key, column, value } => {
                let mut row = self.state.rows(*table).get(key).copied().unwrap_or_default();
                row[*column] = Some(*value);
                self.put(*table, [(*key, row)])
            }
            Statement::InsertNew { table, key, row } => {
                let is_new = !self.state.rows(*table).contains_key(key);
                self.put(*table, is_new.then_some((*key, *row)))
            }
            Statement::Set { table, from, to, column, value } => {
                let mut rows = self.read(*table, *from..=*to);
                rows.iter_mut().for_each(|(_, row)| row[*column] = Some(*value));
                self.put(*table, rows)
            }
            Statement::Add { table, from, to, value } => {
                let mut rows = self.read(*table, *from..=*to);
                rows.iter_mut().for_each(|(_, row)| *row = [row[0].map(|v| v + value), row[1].map(|w| w + 1)]);
                self.put(*table, rows)
            }
            Statement::Copy { from, to } => {
                let rows = self.read(Table::A, *from..=*to);
                self.put(Table::B, rows)
            }
            Statement::SetByIndex { index, from, to, value } => {
                let mut rows = self.found(*index, *from, *to);
                rows.iter_mut().for_each(|(_, row)| row[1 - index.column()] = Some(*value));
                self.put(index.table(), rows)
            }
            Statement::Delete { table, from, to } => self.delete(*table, &self.read(*table, *from..=*to)),
            Statement::DeleteByIndex { index, from, to } => self.delete(index.table(), &self.found(*index, *from, *to)),
            Statement::Savepoint => {
                self.savepoints.push((self.state.clone(), self.writes.clone()));
                Answer::Done
            }
            Statement::RollbackTo => match self.savepoints.last().cloned() {
                Some(savepoint) => {
                    (self.state, self.writes) = savepoint;
                    Answer::Done
                }
                None => Answer::Failed,
            },
            Statement::Release => self.savepoints.pop().map_or(Answer::Failed, |_| Answer::Done),
        }
    }

    fn read(&self, table: Table, keys: RangeInclusive<i64>) -> Vec<(i64, Row)> {
        self.state.rows(table).range(keys).map(|(key, row)| (*key, *row)).collect()
    }

    /// The rows that a statement finds by an index, in the order of keys.
    fn found(&self, index: Index, from: i64, to: i64) -> Vec<(i64, Row)> {
        let rows = self.state.rows(index.table()).iter().filter(|(_, row)| index.finds(row, from, to));
        rows.map(|(key, row)| (*key, *row)).collect()
    }

    fn delete(&mut self, table: Table, rows: &[(i64, Row)]) -> Answer {
        rows.iter().for_each(|(key, _)| self.write(table, *key, None));
        Answer::Changed(rows.len() as u64)
    }

    fn put(&mut self, table: Table, rows: impl IntoIterator<Item = (i64, Row)>) -> Answer {
        let written = rows.into_iter().map(|(key, row)| self.write(table, key, Some(row))).count();
        Answer::Changed(written as u64)
    }

    fn write(&mut self, table: Table, key: i64, row: Option<Row>) {
        self.state.write((table, key), row);
        self.writes.insert((table, key), row);
    }
}

fn put_out(rows: Vec<(i64, Row)>) -> Answer {
    Answer::Rows(rows.into_iter().map(|(key, [v, w])| vec![Some(key), v, w]).collect())
}

/// The totals of rows in the order of keys.
fn totals(rows: &[(i64, Row)]) -> Answer {
    let sum = rows.iter().filter_map(|(_, row)| row[0]).reduce(|a, b| a + b);
    let max = rows.iter().filter_map(|(_, row)| row[1]).max();
    Answer::Rows(vec![vec![Some(rows.len() as i64), sum, max, rows.first().map(|(key, _)| *key)]])
}
