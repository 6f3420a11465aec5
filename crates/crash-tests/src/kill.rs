//! Kills: a process that runs transactions is killed at a random time, and its database is opened by the next one.
//!
//! Each round leaves a log: the rows at its opening, each transaction before its COMMIT is sent, and again once it has ended. The
//! rows at the next opening, and what the indexes find, count as a transaction after all of them. If snapshot isolation explains
//! that, acknowledged transactions are there, and those in flight are there as a whole or not at all. Beside the transactions other
//! indexes are created, rebuilt and dropped: the kill also meets their builds, and the next process ends these.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use history_tests::{
    Answer, Clock, End, History, INDEX_CHANGES, Load, Random, Span, State, Statement, Transaction, change_indexes,
    check, contents, create_indexes, create_tables, found_by_indexes, wait_for_indexes,
};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::roles::Setup;

/// What is to be tried.
pub struct Plan {
    pub store: String,
    pub seed: u64,
    pub threads: u64,
    /// How often the process is killed.
    pub rounds: u64,
    /// The longest time before that.
    pub seconds: f64,
}

/// A line of a log.
#[derive(Serialize, Deserialize)]
enum Line {
    /// The rows at the opening, and what the indexes found then.
    Opened(State, Vec<(Statement, Answer)>),
    /// A transaction of a thread. A later line about the same one replaces it.
    Transaction(usize, Transaction),
}

/// What a process left.
struct Opening {
    rows: State,
    found: Vec<(Statement, Answer)>,
    history: History,
}

/// Ticks of the clock between the beginnings of two rounds: more than a round takes.
const ROUND_TICKS: u64 = 1 << 32;

/// Most transactions of a thread in a round.
const TRANSACTIONS_MAX: usize = 400;

/// Kills, opens and judges; whether all was well.
///
/// # Errors
/// Those of files and processes, and of a database that cannot be opened.
pub fn run(plan: &Plan, home: &Path) -> io::Result<bool> {
    let (database, mut random) = (home.join("live"), Random::new(plan.seed));
    let mut before: Option<Opening> = None;
    let (mut is_well, mut counts) = (true, BTreeMap::<String, usize>::new());
    for round in 0..=plan.rounds {
        let is_last = round == plan.rounds;
        let log = home.join(format!("log-{round}"));
        let mut process = child::role("transact", &plan.store, plan.seed + round, plan.threads, &database)?;
        process.arg(&log).args(["--transactions", &if is_last { 0 } else { TRANSACTIONS_MAX }.to_string()]);
        process.args(["--clock", &(round * ROUND_TICKS).to_string()]);
        let mut process = process.spawn()?;
        if !is_last {
            std::thread::sleep(Duration::from_secs_f64(plan.seconds).mul_f64(random.below(1_000) as f64 / 1_000.0));
            process.kill()?;
        }
        let ended = process.wait()?;
        if ended.code().is_some_and(|code| code != 0) {
            return Err(io::Error::other(format!("round {round}: the process ended with {ended}")));
        }
        // A process that is killed before it has opened leaves it to the next one.
        let Some(opening) = read(&log, plan.threads)? else { continue };
        let span = Span { sent: u64::MAX - 1, answered: u64::MAX };
        let mut last = Transaction::reading(&opening.rows, span);
        last.statements.extend(opening.found.iter().cloned());
        if let Some(Opening { rows: initial, mut history, .. }) = before.replace(opening) {
            history.iter().flatten().for_each(|t| *counts.entry(format!("{:?}", t.end)).or_default() += 1);
            history.push(vec![last]);
            if let Err(anomaly) = check(&initial.indexed(), &history) {
                is_well = false;
                println!("before the opening of round {round}: {anomaly}");
            }
        }
    }
    println!("{} kills of {}: {counts:?}", plan.rounds, plan.store);
    let has = |end: End| counts.contains_key(&format!("{end:?}"));
    Ok(is_well && has(End::Committed) && has(End::Unknown))
}

/// The rows at the opening, if there was one, and the transactions. A line that the kill cut off is none.
fn read(log: &Path, threads: u64) -> io::Result<Option<Opening>> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let (mut opened, mut history) = (None, vec![BTreeMap::new(); threads as usize]);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        match serde_json::from_str(line)? {
            Line::Opened(rows, found) => opened = Some((rows, found)),
            Line::Transaction(thread, transaction) => drop(history[thread].insert(transaction.began.sent, transaction)),
        }
    }
    let history = history.into_iter().map(|transactions| transactions.into_values().collect()).collect();
    Ok(opened.map(|(rows, found)| Opening { rows, found, history }))
}

/// The process that is killed.
///
/// # Errors
/// Those of files, and of a database that cannot be opened.
pub fn transact(setup: &Setup, path: &Path, log: &Path, transactions: usize, clock: u64) -> io::Result<()> {
    let log = OpenOptions::new().create(true).append(true).open(log)?;
    let database = setup.builder(path).open().map_err(io::Error::other)?;
    let check = || {
        let report = database.check().map_err(io::Error::other)?;
        match report.is_sound() {
            true => Ok(()),
            false => Err(io::Error::other(format!("the check of the opened database: {:?}", report.faults))),
        }
    };
    check()?;
    // An index that is not complete is not checked.
    wait_for_indexes(&database).map_err(io::Error::other)?;
    check()?;
    create_tables(&database).and_then(|()| create_indexes(&database)).map_err(io::Error::other)?;
    let rows = contents(&database).map_err(io::Error::other)?;
    append(&log, &Line::Opened(rows, found_by_indexes(&database).map_err(io::Error::other)?));
    let report =
        |thread: usize, transaction: &Transaction| append(&log, &Line::Transaction(thread, transaction.clone()));
    let (seed, threads) = (setup.seed, setup.threads as usize);
    let (database, is_over) = (&database, AtomicBool::new(false));
    std::thread::scope(|scope| {
        let changes = scope.spawn(|| change_indexes(database, &INDEX_CHANGES, || is_over.load(SeqCst)));
        Load { database, seed, threads, transactions, indexed: true, may_fail: false, report: &report }
            .run(&Clock::starting_at(clock));
        is_over.store(true, SeqCst);
        changes.join().unwrap_or(Ok(())).map_err(io::Error::other)
    })
}

/// Writes a line at once. A history with a line missing cannot be judged.
fn append(mut log: &File, line: &Line) {
    let written = serde_json::to_string(line)
        .map_err(io::Error::other)
        .and_then(|line| log.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("crash-tests: the log cannot be written: {error}");
        std::process::exit(2);
    }
}
