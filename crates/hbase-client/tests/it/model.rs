//! Random operations against a model, on a cluster in this process whose regions move and whose calls fail in every way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fake_hbase::{Cluster, Exception, Fault, ScanStop};
use hbase_client::{
    Action, Client, Condition, Delete, Error, Get, Increment, Outcome, Put, Registry, Row, Scan, Table,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::scripted::{context, run};

const TABLE: &str = "t";

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Get(u8),
    Put(u8, u8),
    Delete(u8),
    PutIfAbsent(u8, u8),
    PutIfThere(u8, u8),
    Increment(u8, i8),
    Multi(Vec<(u8, Option<u8>)>),
    Scan(ScanStep),
    Disturb(Disturbance),
    Fault(&'static str, Fault),
}

#[derive(Clone, Debug)]
pub(crate) struct ScanStep {
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) reversed: bool,
    pub(crate) limit: Option<u8>,
    pub(crate) rows_per_call: u8,
    /// What happens after the answers of a scan.
    pub(crate) disturbances: Vec<Option<Disturbance>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Disturbance {
    Split(u8),
    /// The daughters come into service later.
    SlowSplit(u8),
    Merge(u8),
    Move(u8),
    /// `hbase:meta` goes on naming the old place.
    MoveUnseen(u8),
    Kill(u8),
    EndLeases,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    value: Option<u8>,
    counter: Option<i64>,
}

type Model = BTreeMap<Vec<u8>, State>;

fn key_of(prefix: char, number: u8) -> Vec<u8> {
    format!("{prefix}{number:03}").into_bytes()
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let row = 0_u8..40;
    prop_oneof![
        row.clone().prop_map(Disturbance::Split),
        row.clone().prop_map(Disturbance::SlowSplit),
        row.clone().prop_map(Disturbance::Merge),
        row.clone().prop_map(Disturbance::Move),
        row.clone().prop_map(Disturbance::MoveUnseen),
        row.prop_map(Disturbance::Kill),
        Just(Disturbance::EndLeases),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let exception = prop_oneof![
        Just(Exception::new("NotServingRegionException", "fault")),
        Just(Exception::new("RegionTooBusyException", "fault")),
        Just(Exception::new("CallQueueTooBigException", "fault")),
        Just(Exception::new("regionserver.RegionServerStoppedException", "fault")),
        Just(Exception::fatal("exceptions.OutOfOrderScannerNextException", "fault")),
        Just(Exception::fatal("UnknownScannerException", "fault")),
        Just(Exception::fatal("DoNotRetryIOException", "fault")),
        Just(Exception::new("SomethingException", "fault")),
    ];
    prop_oneof![
        exception.prop_map(Fault::Exception),
        Just(Fault::ExceptionAfter(Exception::new("SomethingException", "fault"))),
        Just(Fault::CutBefore),
        Just(Fault::CutAfter),
        (0_usize..40).prop_map(Fault::CutInside),
        (1_usize..20).prop_map(Fault::Pieces),
        Just(Fault::Bytes(Bytes::from_static(b"\0\0\0\x02\xff\xff"))),
        (0_usize..12, any::<bool>())
            .prop_map(|(cells, is_heartbeat)| Fault::ScanStops(ScanStop { cells, is_heartbeat })),
        Just(Fault::ScanMarksPartial),
        Just(Fault::TurnedResults),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let row = 0_u8..40;
    let disturbances = vec(prop::option::weighted(0.3, disturbance()), 0..6);
    let scan = (row.clone(), row.clone(), any::<bool>(), prop::option::weighted(0.3, 1_u8..20), 1_u8..12, disturbances)
        .prop_map(|(from, to, reversed, limit, rows_per_call, disturbances)| {
            let (from, to) = (from.min(to), from.max(to));
            ScanStep { from, to, reversed, limit, rows_per_call, disturbances }
        });
    prop_oneof![
        2 => row.clone().prop_map(Step::Get),
        4 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::Put(row, value)),
        1 => row.clone().prop_map(Step::Delete),
        1 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::PutIfAbsent(row, value)),
        1 => (row.clone(), any::<u8>()).prop_map(|(row, value)| Step::PutIfThere(row, value)),
        1 => (row.clone(), any::<i8>()).prop_map(|(row, by)| Step::Increment(row, by)),
        3 => vec((row, prop::option::weighted(0.8, any::<u8>())), 1..20).prop_map(Step::Multi),
        5 => scan.prop_map(Step::Scan),
        3 => disturbance().prop_map(Step::Disturb),
        4 => (prop::sample::select(vec!["Get", "Mutate", "Multi", "Scan"]), fault()).prop_map(|(m, f)| Step::Fault(m, f)),
    ]
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
    fn new() -> Self {
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

    fn key(&self, number: u8) -> Vec<u8> {
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

    /// Disturbs the cluster. What it can't do now is left out.
    fn disturb(&self, disturbance: Disturbance) {
        let cluster = &self.cluster;
        match disturbance {
            Disturbance::Split(row) => drop(cluster.split(TABLE, &self.key(row))),
            Disturbance::SlowSplit(row) => {
                if let Ok([_, one, other]) = cluster.begin_split(TABLE, &self.key(row)) {
                    let cluster = Arc::clone(cluster);
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        cluster.finish_split(&[one, other]).unwrap();
                    });
                }
            }
            Disturbance::Merge(row) => drop(cluster.merge(TABLE, &self.key(row))),
            Disturbance::Move(row) => {
                for server in cluster.servers() {
                    if cluster.server_of(TABLE, &self.key(row)) != Ok(server) {
                        drop(cluster.move_region(TABLE, &self.key(row), server));
                        return;
                    }
                }
            }
            Disturbance::MoveUnseen(row) => {
                for server in cluster.servers() {
                    if cluster.server_of(TABLE, &self.key(row)) != Ok(server) {
                        drop(cluster.move_unseen(TABLE, &self.key(row), server));
                        return;
                    }
                }
            }
            Disturbance::Kill(number) => {
                let servers = cluster.servers();
                cluster.kill(servers[usize::from(number) % servers.len()]).unwrap();
                cluster.start_server().unwrap();
                cluster.recover().unwrap();
                // What was not seen of moves to the dead server is seen now.
                cluster.catch_up().unwrap();
            }
            Disturbance::EndLeases => cluster.end_leases(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn the_cluster_is_as_the_model(steps in vec(step(), 1..80)) {
        run(async move {
            let mut world = World::new();
            for step in steps {
                world.take(step).await;
            }
            world.cluster.clear_faults();
            world.scan(ScanStep {
                from: 0,
                to: 255,
                reversed: false,
                limit: None,
                rows_per_call: 7,
                disturbances: Vec::new(),
            })
            .await;
        });
    }
}
