//! Random operations on the rows of one worker.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hbase_client::{
    Action, CallContext, Comparator, Condition, Delete, Filter, Get, Increment, Mutation, Outcome, Row, RowRange, Scan,
    Table,
};

use crate::model::{COUNTER, FAMILY, Model, ROWS, State, VALUE, key, prefix, put, state_of};
use crate::{AnyError, Options};

/// What happened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    operations: u64,
    rows_scanned: u64,
    refused: u64,
    unknown: u64,
    scanners_reopened: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.rows_scanned += other.rows_scanned;
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.scanners_reopened += other.scanners_reopened;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, rows_scanned, refused, unknown, scanners_reopened } = self;
        write!(
            f,
            "{operations} operations, {rows_scanned} rows scanned, {refused} writes refused, {unknown} unknown, "
        )?;
        write!(f, "{scanners_reopened} failures that scans survived")
    }
}

struct Worker {
    table: Table,
    number: u64,
    random: fastrand::Rng,
    model: Model,
    next_value: u64,
    counts: Counts,
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
fn read_context() -> CallContext {
    context().with_attempts_of(Duration::from_secs(3))
}

impl Worker {
    fn key(&mut self) -> Vec<u8> {
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

    async fn some_scan(&mut self) -> Result<(), AnyError> {
        let (mut from, mut to) = (self.key(), self.key());
        if self.random.u8(0..3) == 0 {
            (from, to) = (prefix(self.number), prefix(self.number + 1));
        }
        if from > to {
            std::mem::swap(&mut from, &mut to);
        }
        let mut scan =
            if self.random.bool() { Scan::range(&from[..]..&to[..]) } else { Scan::range(&from[..]..=&to[..]) };
        let includes_end = scan == Scan::range(&from[..]..=&to[..]);
        let in_range = move |key: &[u8]| key >= &from[..] && (key < &to[..] || includes_end && key == &to[..]);
        if self.random.bool() {
            scan = scan.reversed();
        }
        // Small answers, so that rows come in pieces, and scanners live long.
        if self.random.bool() {
            scan = scan.bytes_per_call(self.random.u64(500..20_000)).rows_per_call(self.random.u32(1..50));
        }
        let limit = (self.random.u8(0..3) == 0).then(|| self.random.u64(1..100));
        if let Some(limit) = limit {
            scan = scan.limit(limit);
        }
        match self.random.u8(0..4) {
            0 => {
                let (low, high) = (self.key(), self.key());
                let end = prefix(self.number + 1);
                let ranges = [RowRange::new(..&low[..]), RowRange::new(&high[..]..=&end[..])];
                let filter = move |key: &[u8], _: State| in_range(key) && (key < &low[..] || key >= &high[..]);
                self.scan(scan.filter(Filter::row_ranges(ranges)), filter, limit).await
            }
            1 => {
                let value = self.random.u64(..self.next_value + 1);
                let comparator = Comparator::bytes(value.to_be_bytes().to_vec());
                let compare = hbase_client::proto::CompareType::GreaterOrEqual;
                let filter = Filter::column_value(FAMILY, VALUE, compare, comparator, false);
                let holds = move |key: &[u8], state: State| in_range(key) && state.value.is_some_and(|is| is >= value);
                self.scan(scan.filter(filter), holds, limit).await
            }
            _ => self.scan(scan, move |key, _| in_range(key), limit).await,
        }
    }

    /// Scans, and compares with the rows of the model.
    async fn scan(
        &mut self,
        scan: Scan,
        holds: impl Fn(&[u8], State) -> bool,
        limit: Option<u64>,
    ) -> Result<(), AnyError> {
        let mut expected: Vec<(Vec<u8>, State)> = self
            .model
            .iter()
            .filter(|(key, state)| holds(key, **state))
            .map(|(key, state)| (key.clone(), *state))
            .collect();
        if scan.is_backward() {
            expected.reverse();
        }
        expected.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        let text = format!("{scan:?}");
        let mut scanner = self.table.scan(scan);
        let mut expected = expected.into_iter();
        while let Some(row) = scanner.next_row(&read_context()).await? {
            let is = state_of(&row)?;
            match expected.next() {
                Some((key, state)) if key == row.key() && state == is => {}
                other => {
                    let got = row.key().escape_ascii();
                    return Err(format!("a scan got {got} {is:?}, expected {other:?}: {text}").into());
                }
            }
            if self.random.u16(0..500) == 0 {
                tokio::time::sleep(Duration::from_millis(self.random.u64(0..3_000))).await;
            }
        }
        if let Some((key, _)) = expected.next() {
            return Err(format!("a scan left out {}: {text}", key.escape_ascii()).into());
        }
        self.counts.rows_scanned += scanner.counts().rows;
        self.counts.scanners_reopened += scanner.counts().failures;
        Ok(())
    }
}

fn wrong(key: &[u8], is: State, expected: State) -> AnyError {
    format!("the row {} is {is:?}, expected {expected:?}", key.escape_ascii()).into()
}
