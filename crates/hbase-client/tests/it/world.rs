//! The rows of one client, beside a model of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use fake_hbase::Cluster;
use hbase_client::{
    Action, Client, Condition, Delete, Error, Get, Increment, Outcome, Put, Registry, Row, Scan, Table,
};

use crate::scripted::context;
use crate::steps::{ScanStep, Step};

pub(crate) const TABLE: &str = "t";

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    value: Option<u8>,
    counter: Option<i64>,
}

type Model = BTreeMap<Vec<u8>, State>;

fn key_of(prefix: char, number: u8) -> Vec<u8> {
    format!("{prefix}{number:03}").into_bytes()
}

/// The rows of one client, and what they must be.
pub(crate) struct World {
    pub(crate) cluster: Arc<Cluster>,
    table: Table,
    model: Model,
    /// The beginning of the row keys.
    prefix: char,
}

fn put(key: Vec<u8>, value: u8) -> Put {
    let put = Put::new(key).unwrap();
    put.column(b"f", b"a", &[value]).unwrap().column(b"f", b"v", &[value]).unwrap()
}

fn state_of(row: &Row) -> State {
    let value = row.value(b"f", b"v").map(|value| value[0]);
    assert_eq!(row.value(b"f", b"a").map(|value| value[0]), value, "a row is whole");
    let counter = row.value(b"f", b"c").map(|value| i64::from_be_bytes(value.try_into().unwrap()));
    State { value, counter }
}

impl World {
    pub(crate) fn new() -> Self {
        let cluster = Arc::new(Cluster::start(2).unwrap());
        cluster.create_table(TABLE, &["f"], &[b"r010", b"r020"]).unwrap();
        let master = cluster.master();
        let client = Client::new(Registry::servers([master.as_str()]).unwrap());
        Self::of(cluster, client.table_named(TABLE).unwrap(), 'r')
    }

    /// The rows of one of several clients.
    pub(crate) fn of(cluster: Arc<Cluster>, table: Table, prefix: char) -> Self {
        Self { cluster, table, model: Model::new(), prefix }
    }

    pub(crate) fn key(&self, number: u8) -> Vec<u8> {
        key_of(self.prefix, number)
    }

    fn state(&self, row: &[u8]) -> State {
        self.model.get(row).copied().unwrap_or_default()
    }

    fn set(&mut self, row: Vec<u8>, state: State) {
        if state == State::default() {
            self.model.remove(&row);
        } else {
            self.model.insert(row, state);
        }
    }

    pub(crate) async fn take(&mut self, step: Step) {
        match step {
            Step::Disturb(disturbance) => self.disturb(disturbance),
            Step::Fault(method, fault) => self.cluster.on_next(method, fault),
            Step::Scan(scan) => self.scan(scan).await,
            Step::Multi(actions) => self.multi(actions).await,
            Step::Get(row) => {
                let row = self.key(row);
                match self.table.get(&context(), Get::new(row.clone())).await {
                    Ok(is) => assert_eq!(state_of(&is), self.state(&row)),
                    Err(error) => self.is_of_a_fault(&error),
                }
            }
            Step::Put(row, value) => {
                let state = State { value: Some(value), ..self.state(&self.key(row)) };
                let outcome = self.table.mutate(&context(), put(self.key(row), value)).await;
                self.settle(row, outcome, state).await;
            }
            Step::Delete(row) => {
                let outcome = self.table.mutate(&context(), Delete::new(self.key(row)).unwrap()).await;
                self.settle(row, outcome, State::default()).await;
            }
            Step::PutIfAbsent(row, value) => {
                let was = self.state(&self.key(row));
                let holds = was.value.is_none();
                self.check(row, value, Condition::absent("f", "v"), holds).await;
            }
            Step::PutIfThere(row, value) => {
                let was = self.state(&self.key(row)).value;
                let condition = Condition::equals("f", "v", vec![was.unwrap_or(0)]);
                self.check(row, value, condition, was.is_some()).await;
            }
            Step::Increment(row, by) => {
                let was = self.state(&self.key(row));
                let sum = was.counter.unwrap_or(0) + i64::from(by);
                let increment = Increment::new(self.key(row)).unwrap().column(b"f", b"c", i64::from(by)).unwrap();
                let outcome = self.table.increment(&context(), increment).await;
                if let Outcome::Done(is) = &outcome {
                    assert_eq!(is.value(b"f", b"c"), Some(&sum.to_be_bytes()[..]));
                }
                self.settle(row, outcome, State { counter: Some(sum), ..was }).await;
            }
        }
    }

    async fn check(&mut self, row: u8, value: u8, condition: Condition, holds: bool) {
        let was = self.state(&self.key(row));
        let state = if holds { State { value: Some(value), ..was } } else { was };
        let outcome = self.table.check_and_mutate(&context(), condition, vec![put(self.key(row), value).into()]).await;
        if let Outcome::Done(held) = outcome {
            assert_eq!(held, holds);
        }
        self.settle(row, outcome, state).await;
    }

    /// Takes the outcome of a write after which the row would be so. An unknown outcome is read.
    async fn settle<T>(&mut self, row: u8, outcome: Outcome<T>, state: State) {
        match outcome {
            Outcome::Done(_) => self.set(self.key(row), state),
            Outcome::Refused(error) => self.is_of_a_fault(&error),
            Outcome::Unknown(error) => {
                self.is_of_a_fault(&error);
                self.cluster.clear_faults();
                let is = state_of(&self.table.get(&context(), Get::new(self.key(row))).await.unwrap());
                assert!(is == state || is == self.state(&self.key(row)), "{is:?}, expected {state:?}");
                self.set(self.key(row), is);
            }
        }
    }

    /// Calls fail because a fault makes them fail, or because their connection ends by a fault or a kill.
    fn is_of_a_fault(&self, error: &Error) {
        let text = error.to_string();
        let is_expected = text.contains("fault") || matches!(error, Error::Disconnected { .. });
        assert!(is_expected, "{error:?}");
    }

    async fn multi(&mut self, actions: Vec<(u8, Option<u8>)>) {
        // A row occurs once: actions have no order.
        let actions: BTreeMap<u8, Option<u8>> = actions.into_iter().collect();
        let wanted = actions.iter().map(|(row, value)| match value {
            Some(value) => Action::from(put(self.key(*row), *value)),
            None => Action::from(Get::new(self.key(*row))),
        });
        let outcomes = self.table.multi(&context(), wanted.collect()).await;
        assert_eq!(outcomes.len(), actions.len());
        for ((row, value), outcome) in actions.into_iter().zip(outcomes) {
            let was = self.state(&self.key(row));
            match (value, outcome) {
                (Some(value), outcome) => self.settle(row, outcome, State { value: Some(value), ..was }).await,
                (None, Outcome::Done(is)) => assert_eq!(state_of(&is), was),
                (None, other) => self.is_of_a_fault(other.error().unwrap()),
            }
        }
    }

    pub(crate) async fn scan(&mut self, step: ScanStep) {
        let (from, to) = (self.key(step.from), self.key(step.to));
        let mut expected: Vec<(Vec<u8>, State)> =
            self.model.range(from.clone()..to.clone()).map(|(row, state)| (row.clone(), *state)).collect();
        let mut scan = Scan::range(&from[..]..&to[..]).rows_per_call(u32::from(step.rows_per_call));
        if step.reversed {
            scan = scan.reversed();
            expected.reverse();
        }
        if let Some(limit) = step.limit {
            scan = scan.limit(u64::from(limit));
            expected.truncate(usize::from(limit));
        }
        let mut scanner = self.table.scan(scan);
        let mut disturbances = step.disturbances.into_iter();
        let mut rows = Vec::new();
        loop {
            match scanner.next_rows(&context()).await {
                Ok(some) if some.is_empty() => break,
                Ok(some) => rows.extend(some.iter().map(|row| (row.key().to_vec(), state_of(row)))),
                // The next call goes on after the last row that was given.
                Err(error) => self.is_of_a_fault(&error),
            }
            if let Some(Some(disturbance)) = disturbances.next() {
                self.disturb(disturbance);
            }
        }
        assert_eq!(rows, expected);
    }
}
