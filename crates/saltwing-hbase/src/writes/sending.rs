//! How the rows of a table are sent, and what became of each.

use std::sync::Arc;

use hbase_client::proto::CompareType;
use hbase_client::{
    Action, CallContext, Condition, Error as CallError, Filter, Get, Mutation, Outcome, Row, Table as HbaseTable,
};
use saltwing_access::{RowOutcomes, StorageCause, StorageError, Table, TableError};
use saltwing_types::Value;
use tokio::task::JoinSet;

use super::row_write::{Demand, RowWrite};
use crate::HbaseError;
use crate::cluster::{Cluster, Place};
use crate::phoenix_table::PhoenixTable;
use crate::rows::RowReader;

/// Rows with conditions that are sent at a time, each in a call of its own.
const CALLS_AT_ONCE: usize = 16;
/// Rows that are read at a time to be compared.
const ROWS_READ_AT_ONCE: usize = 500;

/// A row that is sent alone: its key, what must hold of it, and what is made in one step.
type Alone = (Vec<u8>, Option<Condition>, Vec<Mutation>);

/// What became of a row.
enum Written {
    Done,
    /// It is not as the statement has read it.
    Conflict(Vec<u8>),
    Refused(HbaseError),
    Unknown(HbaseError),
}

/// Sends the changes of different rows of a table, and counts their outcomes.
///
/// # Errors
/// If the table is of another store: nothing was sent then.
pub(super) fn send(
    cluster: &Arc<Cluster>,
    table: &Arc<Table>,
    rows: Vec<RowWrite>,
    outcomes: &mut RowOutcomes,
) -> Result<(), TableError> {
    let phoenix = PhoenixTable::of(table)?;
    let hbase = cluster.client.table(phoenix.physical.clone());
    let count = rows.len();
    let reader = RowReader::new(table, phoenix.clone(), (0..table.def().columns.len()).collect());
    let sender = Sender { table: hbase.clone(), phoenix, reader };
    match cluster.call(Place::Table(&hbase), |context| async move { Ok(sender.send(rows, &context).await) }) {
        Ok(all) => all.into_iter().for_each(|row| note(table, row, outcomes)),
        // Nothing was sent.
        Err(error @ (TableError::Cancelled | TableError::Timeout { .. })) => outcomes.refused(count, error),
        Err(error) => outcomes.unknown(count, unknown(&error)),
    }
    Ok(())
}

fn note(table: &Table, row: Written, outcomes: &mut RowOutcomes) {
    match row {
        Written::Done => outcomes.written(1),
        Written::Conflict(key) => {
            let (table, key) = (table.def().name.to_string(), table.key_text(&key));
            outcomes.refused(1, TableError::Conflict { table, key });
        }
        Written::Refused(error) => outcomes.refused(1, error.into()),
        Written::Unknown(error) => outcomes.unknown(1, unknown(&error)),
    }
}

fn unknown(error: &impl ToString) -> TableError {
    let text = format!("nobody knows whether rows were written: {}", error.to_string());
    StorageError::new(StorageCause::CommitUnknown, std::io::Error::other(text)).into()
}

struct Sender {
    table: HbaseTable,
    phoenix: Arc<PhoenixTable>,
    /// Reads all columns, for comparisons.
    reader: RowReader,
}

impl Sender {
    async fn send(self, rows: Vec<RowWrite>, context: &CallContext) -> Vec<Written> {
        let (mut plain, mut alone, mut equal) = (Vec::new(), Vec::new(), Vec::new());
        for RowWrite { key, demand, mut mutations, .. } in rows {
            match demand {
                Demand::Nothing if mutations.len() == 1 => plain.extend(mutations.pop().map(Action::Mutate)),
                Demand::Nothing => alone.push((key, None, mutations)),
                Demand::Absent => alone.push((key, Some(self.is_absent()), mutations)),
                Demand::Equal(old) => equal.push((key, old, mutations)),
            }
        }
        let mut written: Vec<Written> = Vec::new();
        if !plain.is_empty() {
            written.extend(
                self.table.multi(context, plain).await.into_iter().map(|outcome| of_outcome(outcome.map(|_| ()))),
            );
        }
        for rows in equal.chunks(ROWS_READ_AT_ONCE) {
            self.compare(rows, context, &mut alone, &mut written).await;
        }
        self.send_alone(alone, context, &mut written).await;
        written
    }

    /// Reads rows, and adds those that are as they must be, on the condition that their cells stay so.
    async fn compare(
        &self,
        rows: &[(Vec<u8>, Vec<Value>, Vec<Mutation>)],
        context: &CallContext,
        alone: &mut Vec<Alone>,
        written: &mut Vec<Written>,
    ) {
        let gets = rows.iter().map(|(key, ..)| Get::new(key.clone())).collect();
        for ((key, old, mutations), row) in rows.iter().zip(self.table.get_many(context, gets).await) {
            let read = row.map_err(HbaseError::from).and_then(|row| Ok((self.reader.read(&row)?, row)));
            match read {
                Err(error) => written.push(Written::Refused(error)),
                Ok((Some(read), row)) if read.values == *old => {
                    alone.push((key.clone(), Some(self.is_equal(&row)), mutations.clone()));
                }
                Ok(_) => written.push(Written::Conflict(key.clone())),
            }
        }
    }

    /// Sends each row in a call of its own, several at a time.
    async fn send_alone(&self, rows: Vec<Alone>, context: &CallContext, written: &mut Vec<Written>) {
        let (mut left, mut calls) = (rows.into_iter(), JoinSet::new());
        loop {
            while calls.len() < CALLS_AT_ONCE
                && let Some((key, condition, mutations)) = left.next()
            {
                let (table, context) = (self.table.clone(), context.clone());
                calls.spawn(async move {
                    let outcome = match condition {
                        None => table.mutate_row(&context, mutations).await.map(|()| true),
                        Some(condition) => table.check_and_mutate(&context, condition, mutations).await,
                    };
                    match outcome {
                        Outcome::Done(false) => Written::Conflict(key),
                        outcome => of_outcome(outcome.map(|_| ())),
                    }
                });
            }
            match calls.join_next().await {
                None => return,
                Some(Ok(row)) => written.push(row),
                Some(Err(task)) => {
                    written.push(Written::Unknown(CallError::Task { reason: task.to_string() }.into()));
                }
            }
        }
    }

    fn is_absent(&self) -> Condition {
        let format = self.phoenix.codec.format();
        Condition::absent(format.empty_family.clone().into_bytes(), format.qualifiers.of_empty_cell())
    }

    /// The condition that the table's cells of a row are those that were read, and no others.
    fn is_equal(&self, row: &Row) -> Condition {
        let format = self.phoenix.codec.format();
        let empty = (format.empty_family.as_bytes(), format.qualifiers.of_empty_cell());
        let columns = (0..format.columns.len()).filter_map(|column| self.phoenix.codec.cell_of_column(column));
        let columns = columns.map(|(family, qualifier)| (family.as_bytes(), qualifier));
        let mut cells: Vec<(&[u8], &[u8])> = columns.chain([empty]).collect();
        cells.sort_unstable();
        cells.dedup();
        let is_same = |(family, qualifier): (&[u8], &[u8])| {
            let (of_family, of_qualifier) = (family.to_vec(), qualifier.to_vec());
            let (comparator, keeps_absent) = match row.value(family, qualifier) {
                Some(value) => (hbase_client::Comparator::bytes(value.to_vec()), false),
                None => (hbase_client::Comparator::absent(), true),
            };
            Filter::column_value(of_family, of_qualifier, CompareType::Equal, comparator, keeps_absent)
        };
        Condition::filter(Filter::all(cells.into_iter().map(is_same)))
    }
}

fn of_outcome(outcome: Outcome<()>) -> Written {
    match outcome {
        Outcome::Done(()) => Written::Done,
        Outcome::Refused(error) => Written::Refused(error.into()),
        Outcome::Unknown(error) => Written::Unknown(error.into()),
    }
}
