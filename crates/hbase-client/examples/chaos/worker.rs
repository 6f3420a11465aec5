//! Random operations on the rows of one worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hbase_client::{Action, CallContext, Condition, Delete, Get, Increment, Mutation, Outcome, Row, Scan, Table};

use crate::counts::Counts;
use crate::model::{COUNTER, FAMILY, Model, ROWS, State, VALUE, key, prefix, put, state_of};
use crate::{AnyError, Options};

/// A worker, its rows and what it knows of them.
pub(crate) struct Worker {
    pub(crate) table: Table,
    pub(crate) number: u64,
    pub(crate) random: fastrand::Rng,
    pub(crate) model: Model,
    pub(crate) next_value: u64,
    pub(crate) counts: Counts,
}

/// Works until the operations are done and the disturbances are over.
pub(crate) async fn work(
    table: Table,
    number: u64,
    options: Options,
    is_over: Arc<AtomicBool>,
) -> Result<Counts, AnyError> {
    let random = fastrand::Rng::with_seed(options.seed * 1_000 + number);
    let mut worker = Worker { table, number, random, model: Model::new(), next_value: 1, counts: Counts::default() };
    let share = options.operations / options.workers;
    while worker.counts.operations < share || !is_over.load(Ordering::Relaxed) {
        let done = worker.operation().await;
        if let Err(error) = done {
            is_over.store(true, Ordering::Relaxed);
            println!("worker {number}: {error}");
            return Err(error);
        }
        worker.counts.operations += 1;
        if worker.counts.operations > share {
            // The disturbances take longer than the operations: the load goes on, at leisure.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    worker.scan(Scan::range(&prefix(number)[..]..&prefix(number + 1)[..]), |_, _| true, None).await?;
    Ok(worker.counts)
}

fn context() -> CallContext {
    CallContext::within(Duration::from_secs(120)).with_retries(1_000)
}

/// The bounds of a read: servers that are stopped cost attempts, which are made again.
pub(crate) fn read_context() -> CallContext {
    context().with_attempts_of(Duration::from_secs(3))
}

impl Worker {
    pub(crate) fn key(&mut self) -> Vec<u8> {
        key(self.number, self.random.u64(..ROWS))
    }

    fn state(&self, key: &[u8]) -> State {
        self.model.get(key).copied().unwrap_or_default()
    }

    fn set(&mut self, key: &[u8], state: State) {
        if state.is_absent() {
            self.model.remove(key);
        } else {
            self.model.insert(key.to_vec(), state);
        }
    }

    fn value(&mut self) -> u64 {
        self.next_value += 1;
        self.next_value
    }

    async fn operation(&mut self) -> Result<(), AnyError> {
        match self.random.u8(0..20) {
            0..4 => self.get().await,
            4..8 => self.put().await,
            8 => self.delete().await,
            9..11 => self.check_and_mutate().await,
            11..13 => self.increment().await,
            13..16 => self.multi().await,
            _ => self.some_scan().await,
        }
    }

    async fn get(&mut self) -> Result<(), AnyError> {
        let key = self.key();
        let row = self.table.get(&read_context(), Get::new(key.clone())).await?;
        self.compare(&key, &row)
    }

    fn compare(&self, key: &[u8], row: &Row) -> Result<(), AnyError> {
        let (is, expected) = (state_of(row)?, self.state(key));
        if is == expected { Ok(()) } else { Err(wrong(key, is, expected)) }
    }

    /// Takes the outcome of a write that would make the row so.
    async fn settle<T>(&mut self, key: &[u8], outcome: Outcome<T>, state: State) -> Result<Option<T>, AnyError> {
        let done = match outcome {
            Outcome::Done(value) => {
                self.set(key, state);
                Some(value)
            }
            Outcome::Refused(error) => {
                self.counts.refused += 1;
                println!("worker {}: refused: {error}", self.number);
                None
            }
            Outcome::Unknown(_) => {
                self.counts.unknown += 1;
                self.resolve(key, state).await?;
                None
            }
        };
        // A later change must have a later time: a marker of a deletion hides puts of its own millisecond.
        tokio::time::sleep(Duration::from_millis(2)).await;
        Ok(done)
    }

    /// Reads a row that is either as it was or as it would be after the write.
    async fn resolve(&mut self, key: &[u8], would_be: State) -> Result<(), AnyError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let row = self.table.get(&context(), Get::new(key.to_vec())).await?;
        let (is, was) = (state_of(&row)?, self.state(key));
        if is != was && is != would_be {
            return Err(wrong(key, is, would_be));
        }
        self.set(key, is);
        Ok(())
    }

    async fn put(&mut self) -> Result<(), AnyError> {
        let (key, value) = (self.key(), self.value());
        let state = State { value: Some(value), ..self.state(&key) };
        let outcome = self.table.mutate(&context(), put(&key, value)?).await;
        self.settle(&key, outcome, state).await?;
        Ok(())
    }

    async fn delete(&mut self) -> Result<(), AnyError> {
        let key = self.key();
        let outcome = self.table.mutate(&context(), Delete::new(key.clone())?).await;
        self.settle(&key, outcome, State::default()).await?;
        Ok(())
    }

    async fn check_and_mutate(&mut self) -> Result<(), AnyError> {
        let (key, value) = (self.key(), self.value());
        let was = self.state(&key);
        let (condition, holds) = match (self.random.u8(0..3), was.value) {
            (0, _) => (Condition::absent(FAMILY, VALUE), was.value.is_none()),
            (1, Some(is)) => (Condition::equals(FAMILY, VALUE, is.to_be_bytes().to_vec()), true),
            _ => (Condition::equals(FAMILY, VALUE, &b"another"[..]), false),
        };
        let mut mutations: Vec<Mutation> = vec![put(&key, value)?.into()];
        let mut state = State { value: Some(value), ..was };
        if self.random.bool() {
            mutations.push(Delete::new(key.clone())?.column(FAMILY, COUNTER, None)?.into());
            state.counter = None;
        }
        let state = if holds { state } else { was };
        let outcome = self.table.check_and_mutate(&context(), condition, mutations).await;
        match self.settle(&key, outcome, state).await? {
            Some(held) if held != holds => Err(format!("a condition held: {held}, expected: {holds}").into()),
            _ => Ok(()),
        }
    }

    async fn increment(&mut self) -> Result<(), AnyError> {
        let (key, by) = (self.key(), self.random.i64(1..100));
        let was = self.state(&key);
        let sum = was.counter.unwrap_or(0) + by;
        let state = State { counter: Some(sum), ..was };
        let outcome = self.table.increment(&context(), Increment::new(key.clone())?.column(FAMILY, COUNTER, by)?).await;
        match self.settle(&key, outcome, state).await? {
            Some(row) if row.value(FAMILY, COUNTER) != Some(&sum.to_be_bytes()[..]) => {
                Err(format!("{} was increased to {row:?}, expected: {sum}", key.escape_ascii()).into())
            }
            _ => Ok(()),
        }
    }

    async fn multi(&mut self) -> Result<(), AnyError> {
        let (mut actions, mut expected) = (Vec::new(), Vec::new());
        let first = self.random.u64(..ROWS);
        // A row occurs once: actions have no order.
        for number in 0..self.random.u64(1..60) {
            let key = key(self.number, (first + number * 7) % ROWS);
            if expected.iter().any(|(other, _)| *other == key) {
                continue;
            }
            let was = self.state(&key);
            let (action, state) = match self.random.u8(0..4) {
                0 => (Action::from(Get::new(key.clone())), None),
                1 => (Action::from(Delete::new(key.clone())?), Some(State::default())),
                _ => {
                    let value = self.value();
                    (Action::from(put(&key, value)?), Some(State { value: Some(value), ..was }))
                }
            };
            actions.push(action);
            expected.push((key, state));
        }
        let outcomes = self.table.multi(&context(), actions).await;
        for ((key, state), outcome) in expected.into_iter().zip(outcomes) {
            match (state, outcome) {
                (None, outcome) => self.compare(&key, &outcome.into_result()?)?,
                (Some(state), outcome) => {
                    self.settle(&key, outcome, state).await?;
                }
            }
        }
        Ok(())
    }
}

fn wrong(key: &[u8], is: State, expected: State) -> AnyError {
    format!("the row {} is {is:?}, expected {expected:?}", key.escape_ascii()).into()
}
