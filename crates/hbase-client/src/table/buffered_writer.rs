//! A writer that sends mutations in batches, several at a time.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::{Id, JoinSet};

use super::actions::Action;
use super::multi::multi;
use crate::cluster::Cluster;
use crate::context::CallContext;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::Mutation;
use crate::row::Row;
use crate::table_name::TableName;

/// By default, the writer sends a batch when its mutations have 2 MiB.
const BATCH_BYTES: usize = 2 << 20;
/// By default, the writer sends a batch when it has 1,000 mutations.
const BATCH_ROWS: usize = 1_000;
/// By default, four batches are in flight at a time.
const BATCHES: usize = 4;

/// A mutation that was not written, or may not have been.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The number of the mutation, counted from 0 in the order of [`BufferedWriter::write`].
    pub number: u64,
    /// The mutation.
    pub mutation: Mutation,
    /// Whether its outcome is unknown; otherwise it was certainly not written.
    pub is_unknown: bool,
    /// The reason.
    pub error: Error,
}

/// What a writer has written since it was asked last.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "mutations may have failed"]
pub struct Written {
    /// The number of mutations that were written.
    pub rows: u64,
    /// The mutations that were not, or may not have been.
    pub failures: Vec<Failure>,
}

/// A batch in flight: the mutations with their numbers.
type Batch = Arc<Vec<(u64, Mutation)>>;

/// A writer that sends mutations in batches, several at a time. Mutations of one row are written in their order; those of different rows
/// in any.
///
/// Failures are collected, and given by [`Self::flush`]. What was not flushed when the writer is dropped is lost: batches in flight end
/// somewhere, and their outcomes are not told.
pub struct BufferedWriter {
    cluster: Arc<Cluster>,
    table: TableName,
    batch_bytes_max: usize,
    batch_rows_max: usize,
    batches_max: usize,
    next_number: u64,
    open: Vec<(u64, Mutation)>,
    open_bytes: usize,
    /// The rows that are in the open batch or in flight, each with the batch in flight.
    rows: HashMap<Bytes, Option<Id>>,
    in_flight: JoinSet<Vec<Outcome<Row>>>,
    batches: HashMap<Id, Batch>,
    written: Written,
}

impl BufferedWriter {
    pub(super) fn new(cluster: Arc<Cluster>, table: TableName) -> Self {
        Self {
            cluster,
            table,
            batch_bytes_max: BATCH_BYTES,
            batch_rows_max: BATCH_ROWS,
            batches_max: BATCHES,
            next_number: 0,
            open: Vec::new(),
            open_bytes: 0,
            rows: HashMap::new(),
            in_flight: JoinSet::new(),
            batches: HashMap::new(),
            written: Written::default(),
        }
    }

    /// Sends a batch when its mutations have `bytes` bytes; 2 MiB by default.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes_max = bytes.max(1);
        self
    }

    /// Sends a batch when it has `rows` mutations; 1,000 by default.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows_max = rows.max(1);
        self
    }

    /// Has up to `batches` batches in flight; 4 by default.
    #[must_use]
    pub fn batches_in_flight(mut self, batches: usize) -> Self {
        self.batches_max = batches.max(1);
        self
    }

    /// Takes a mutation, and sends a batch if one is full. It waits while as many batches are in flight as there may be, or while the
    /// row is in one of them. Batches are bounded by the context of the call that sends them.
    ///
    /// If the future is dropped, the mutation may have been taken or not: the number that the next call gives tells.
    pub async fn write(&mut self, context: &CallContext, mutation: impl Into<Mutation>) -> u64 {
        let mutation = mutation.into();
        // A second mutation of a row waits for the first one: a retry must not come after it.
        while let Some(place) = self.rows.get(mutation.row()) {
            match place {
                None => self.send(context).await,
                Some(_) => self.next_ended().await,
            }
        }
        let number = self.next_number;
        self.next_number += 1;
        self.open_bytes += mutation.row().len() + mutation.cells_bytes();
        self.rows.insert(mutation.row().clone(), None);
        self.open.push((number, mutation));
        if self.open_bytes >= self.batch_bytes_max || self.open.len() >= self.batch_rows_max {
            self.send(context).await;
        }
        number
    }

    /// Sends what is left and waits for all batches: what was written since the last call.
    pub async fn flush(&mut self, context: &CallContext) -> Written {
        self.send(context).await;
        while !self.in_flight.is_empty() {
            self.next_ended().await;
        }
        std::mem::take(&mut self.written)
    }

    /// Sends the open batch, after another one has ended if there are too many.
    async fn send(&mut self, context: &CallContext) {
        while self.in_flight.len() >= self.batches_max {
            self.next_ended().await;
        }
        if self.open.is_empty() {
            return;
        }
        self.open_bytes = 0;
        let batch: Batch = Arc::new(std::mem::take(&mut self.open));
        let (cluster, table, context) = (Arc::clone(&self.cluster), self.table.clone(), context.clone());
        let sent = Arc::clone(&batch);
        let id = self.in_flight.spawn(async move {
            let actions = sent.iter().map(|(_, mutation)| Action::Mutate(mutation.clone())).collect();
            multi(&cluster, &table, &context, actions).await
        });
        for (_, mutation) in batch.iter() {
            self.rows.insert(mutation.row().clone(), Some(id.id()));
        }
        self.batches.insert(id.id(), batch);
    }

    /// Waits for a batch to end, and notes its outcomes.
    async fn next_ended(&mut self) {
        let Some(ended) = self.in_flight.join_next_with_id().await else { return };
        let (id, outcomes) = match ended {
            Ok((id, outcomes)) => (id, Ok(outcomes)),
            Err(error) => (error.id(), Err(Error::Task { reason: error.to_string() })),
        };
        let Some(batch) = self.batches.remove(&id) else { return };
        for (_, mutation) in batch.iter() {
            self.rows.remove(mutation.row());
        }
        let mut outcomes = outcomes.map(Vec::into_iter);
        for (number, mutation) in batch.iter() {
            let outcome = match &mut outcomes {
                Ok(outcomes) => outcomes.next(),
                Err(error) => Some(Outcome::Unknown(error.clone())),
            };
            self.note(*number, mutation, outcome);
        }
    }

    fn note(&mut self, number: u64, mutation: &Mutation, outcome: Option<Outcome<Row>>) {
        let (is_unknown, error) = match outcome {
            Some(Outcome::Done(_)) => {
                self.written.rows += 1;
                return;
            }
            Some(Outcome::Refused(error)) => (false, error),
            Some(Outcome::Unknown(error)) => (true, error),
            None => (true, Error::Task { reason: "an action has no outcome".to_owned() }),
        };
        self.written.failures.push(Failure { number, mutation: mutation.clone(), is_unknown, error });
    }
}
