//! Concurrent transactions on every store, over the fake cluster, and over a store that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use fake_remote::{AtomicScope, Faults, RemoteStore};
use history_tests::{
    Answer, Clock, End, History, INDEX_CHANGES, Index, Load, Random, State, Statement, Transaction, change_indexes,
    check, contents, create_indexes, create_tables, found_by_indexes,
};
use saltwing::{Builder, Database, Row, StoreKind};
use saltwing_access::SystemClock;
use saltwing_store::MemoryStore;
use saltwing_store::conformance::fault::{Call, Failure, Fault, Faults as StoreFaults, Lasting, Outcome};
use saltwing_table::{EmbeddedTables, LayoutOptions};

const THREADS: usize = 8;

/// A seed of these tests, shifted by the variable that fixes the cases of property tests.
fn shifted(seed: u64) -> u64 {
    let shift = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok());
    seed.wrapping_add(shift.unwrap_or(0))
}

fn load(database: &Database, seed: u64, transactions: usize, may_fail: bool) -> Load<'_> {
    let seed = shifted(seed);
    Load { database, seed, threads: THREADS, transactions, indexed: false, may_fail, report: &|_, _| {} }
}

/// What the database has at last, as a transaction after all others.
fn last(database: &Database, clock: &Clock, indexed: bool) -> Vec<Transaction> {
    let (rows, span) = clock.timed(|| contents(database).unwrap());
    let mut transaction = Transaction::reading(&rows, span);
    if indexed {
        transaction.statements.extend(found_by_indexes(database).unwrap());
    }
    vec![transaction]
}

fn explained(name: &str, initial: &State, history: &History) {
    if let Err(anomaly) = check(initial, history) {
        panic!("{name}: {anomaly}");
    }
}

/// How many transactions ended this way.
fn count(history: &History, end: End) -> usize {
    history.iter().flatten().filter(|transaction| transaction.end == end).count()
}

/// Rows that there are before all transactions.
fn initial(indexed: bool) -> State {
    if indexed { State::default().indexed() } else { State::default() }
}

fn create(database: &Database, indexed: bool) -> Result<(), saltwing::Error> {
    create_tables(database)?;
    if indexed { create_indexes(database) } else { Ok(()) }
}

#[track_caller]
fn run(name: &str, database: &Database, seed: u64, indexed: bool) {
    const TRANSACTIONS: usize = 60;
    create(database, indexed).unwrap();
    let clock = Clock::default();
    let mut history = Load { indexed, ..load(database, seed, TRANSACTIONS, false) }.run(&clock);
    let (committed, conflicts) = (count(&history, End::Committed), count(&history, End::Conflict));
    assert!(committed > THREADS * TRANSACTIONS / 4 && conflicts > 10, "{name}: {committed}, {conflicts}");
    assert!(!indexed || refused(&history) > 10, "{name}: {} refused", refused(&history));
    history.push(last(database, &clock, indexed));
    explained(name, &initial(indexed), &history);
}

fn refused(history: &History) -> usize {
    let statements = history.iter().flatten().flat_map(|transaction| &transaction.statements);
    statements.filter(|(_, answer)| *answer == Answer::Refused).count()
}

fn on_every_store(indexed: bool) {
    for kind in [StoreKind::Memory, StoreKind::Redb, StoreKind::Sled] {
        let folder = tempfile::tempdir().unwrap();
        let of = |layout: &str| match kind {
            StoreKind::Memory => Database::memory_builder(),
            _ => Database::builder(folder.path().join(layout)).store(kind).buffered(),
        };
        let layouts: [(&str, Builder); 2] = [("default", of("default")), ("tiny", of("tiny").tiny_layout())];
        for (seed, (layout, builder)) in (1..).zip(layouts) {
            let (name, database) = (format!("{kind:?}, {layout}"), builder.open().unwrap());
            // A panic of a thread does not say it.
            println!("{name}");
            run(&name, &database, seed, indexed);
            let report = database.check().unwrap();
            assert!(report.is_sound(), "{name}: {:#?}", report.faults);
        }
    }
}

#[test]
fn transactions_are_isolated_on_every_store() {
    on_every_store(false);
}

#[test]
fn what_is_read_by_indexes_is_isolated_on_every_store() {
    on_every_store(true);
}

/// The histories are of use only if the plans read the indexes.
#[test]
fn statements_by_an_index_read_it() {
    let database = Database::memory().unwrap();
    create(&database, true).unwrap();
    let connection = database.connect().blocking();
    for index in Index::ALL {
        let (from, to, value) = (1, 9, 5);
        let statements = [
            Statement::ByIndex { index, from, to },
            Statement::Page { index, from, to },
            Statement::TotalsByIndex { index, from, to },
            Statement::SetByIndex { index, from, to, value },
            Statement::DeleteByIndex { index, from, to },
        ];
        for statement in statements {
            let (sql, parameters) = statement.sql();
            let rows = connection.query(&format!("EXPLAIN {sql}"), parameters).unwrap();
            let lines: Vec<String> = rows.map(|row: Result<Row, _>| row.unwrap().get(0).unwrap()).collect();
            let read = format!(", index {}", index.name());
            assert!(lines.iter().any(|line| line.contains(&read)), "{sql}: {lines:#?}");
        }
    }
}

#[test]
fn indexes_come_and_go_while_transactions_run() {
    for seed in 1..4 {
        let database = Database::memory_builder().tiny_layout().open().unwrap();
        create(&database, true).unwrap();
        let (clock, is_over) = (Clock::default(), AtomicBool::new(false));
        let mut history = std::thread::scope(|scope| {
            let changes = scope.spawn(|| change_indexes(&database, &INDEX_CHANGES, || is_over.load(SeqCst)));
            let history = Load { indexed: true, ..load(&database, seed, 60, false) }.run(&clock);
            is_over.store(true, SeqCst);
            changes.join().unwrap().unwrap();
            history
        });
        history.push(last(&database, &clock, true));
        explained("indexes come and go", &initial(true), &history);
        let report = database.check().unwrap();
        assert!(report.is_sound(), "{:#?}", report.faults);
    }
}

#[test]
fn transactions_are_isolated_on_a_cluster() {
    for (seed, indexed) in [(1, false), (2, false), (3, true), (4, true)] {
        let store = RemoteStore::new(AtomicScope::Store, Faults::often(shifted(seed)));
        run("fake-remote", &Database::memory_builder().open_over(Arc::new(store)).unwrap(), seed, indexed);
    }
}

/// A commit without an answer is there as a whole or not at all.
#[test]
fn an_unknown_outcome_of_a_cluster_is_one_of_two() {
    for (seed, indexed) in [(1, false), (2, false), (3, true)] {
        let store =
            Arc::new(RemoteStore::new(AtomicScope::Store, Faults { unknown: 3, ..Faults::often(shifted(seed)) }));
        let database = Database::memory_builder().open_over(store).unwrap();
        while create(&database, indexed).is_err() {}
        let clock = Clock::default();
        let mut history = Load { indexed, ..load(&database, seed, 40, true) }.run(&clock);
        assert!(count(&history, End::Unknown) > 3, "{history:?}");
        history.push(last(&database, &clock, indexed));
        explained("fake-remote", &initial(indexed), &history);
    }
}

/// Sets failures at random until it is stopped.
fn fail_at_random(faults: &StoreFaults, seed: u64, is_over: &AtomicBool) {
    let mut random = Random::new(shifted(seed));
    while !is_over.load(SeqCst) {
        let call =
            random.pick(&[Call::Get, Call::Cursor, Call::Next, Call::Write, Call::Write, Call::Write, Call::Sync]);
        let outcome = match random.below(4) {
            // As the stores do: after a failed sync they refuse writes.
            _ if call == Call::Sync => Outcome::Unknown { done: true },
            0 => Outcome::Unknown { done: random.one_in(2) },
            _ => Outcome::Refused,
        };
        let number = random.below(12);
        faults.set(Fault::Fail(Failure { call, number, lasting: Lasting::Once, outcome }));
        std::thread::sleep(Duration::from_micros(200 + random.below(2_000)));
    }
}

/// The store fails while transactions run; then the database is opened again, and has what was acknowledged, nothing that was
/// refused, and of an unknown outcome all or nothing.
fn after_failures(indexed: bool) {
    const ROUNDS: u64 = 40;
    let (mut unknown, mut failed) = (0, 0);
    for seed in 1..=ROUNDS {
        let (memory, faults) = (MemoryStore::new(), StoreFaults::new(Fault::None));
        let open = || {
            let (kv, clock) = (Arc::new(faults.store(memory.clone())), Arc::new(SystemClock));
            let tables = EmbeddedTables::open_with(kv, clock, LayoutOptions::tiny()).unwrap();
            tables.start_merging().unwrap();
            Database::memory_builder().open_over(Arc::new(tables)).unwrap()
        };
        let database = open();
        create(&database, indexed).unwrap();
        let (clock, is_over) = (Clock::default(), AtomicBool::new(false));
        let mut history = std::thread::scope(|scope| {
            scope.spawn(|| fail_at_random(&faults, seed, &is_over));
            let history = Load { indexed, ..load(&database, seed, 12, true) }.run(&clock);
            is_over.store(true, SeqCst);
            history
        });
        faults.set(Fault::None);
        unknown += count(&history, End::Unknown);
        failed += history
            .iter()
            .flatten()
            .flat_map(|t| &t.statements)
            .filter(|(_, answer)| *answer == Answer::Failed)
            .count();
        drop(database);
        history.push(last(&open(), &clock, indexed));
        explained(&format!("seed {seed}"), &initial(indexed), &history);
    }
    assert!(unknown > 5 && failed > 50, "{unknown} unknown outcomes, {failed} failed statements");
}

#[test]
fn failures_of_the_store_leave_whole_transactions() {
    after_failures(false);
}

#[test]
fn failures_of_the_store_leave_indexes_in_step() {
    after_failures(true);
}
