//! Kills: a process that runs transactions is killed at a random time, and its database is opened by the next one.
//!
//! Each round leaves a log: the rows at its opening, each transaction before its COMMIT is sent, and again once it has ended. The
//! rows at the next opening are a transaction behind all of them. If snapshot isolation explains that, what was acknowledged is
//! there, and what was in flight is there as a whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use history_tests::{Clock, End, History, Load, Random, Span, State, Transaction, check, contents, create_tables};
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
    /// The rows at the opening.
    Opened(State),
    /// A transaction of a thread. A later line about the same one replaces it.
    Transaction(usize, Transaction),
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
    let mut before: Option<(State, History)> = None;
    let (mut is_well, mut counts) = (true, BTreeMap::<String, usize>::new());
    for round in 0..=plan.rounds {
        let is_last = round == plan.rounds;
        let told = home.join(format!("told-{round}"));
        let mut process = child::role("transact", &plan.store, plan.seed + round, plan.threads, &database)?;
        process.arg(&told).args(["--transactions", &if is_last { 0 } else { TRANSACTIONS_MAX }.to_string()]);
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
        let Some((rows, history)) = read(&told, plan.threads)? else { continue };
        if let Some((initial, mut history)) = before.replace((rows.clone(), history)) {
            let span = Span { sent: u64::MAX - 1, answered: u64::MAX };
            history.iter().flatten().for_each(|t| *counts.entry(format!("{:?}", t.end)).or_default() += 1);
            history.push(vec![Transaction::reading(&rows, span)]);
            if let Err(anomaly) = check(&initial, &history) {
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
fn read(told: &Path, threads: u64) -> io::Result<Option<(State, History)>> {
    let text = fs::read_to_string(told).unwrap_or_default();
    let (mut opened, mut history) = (None, vec![BTreeMap::new(); threads as usize]);
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        match serde_json::from_str(line)? {
            Line::Opened(rows) => opened = Some(rows),
            Line::Transaction(thread, transaction) => drop(history[thread].insert(transaction.began.sent, transaction)),
        }
    }
    let history = history.into_iter().map(|transactions| transactions.into_values().collect()).collect();
    Ok(opened.map(|rows| (rows, history)))
}

/// The process that is killed.
///
/// # Errors
/// Those of files, and of a database that cannot be opened.
pub fn transact(setup: &Setup, path: &Path, told: &Path, transactions: usize, clock: u64) -> io::Result<()> {
    let log = OpenOptions::new().create(true).append(true).open(told)?;
    let database = setup.builder(path).open().map_err(io::Error::other)?;
    create_tables(&database).map_err(io::Error::other)?;
    tell(&log, &Line::Opened(contents(&database).map_err(io::Error::other)?));
    let told = |thread: usize, transaction: &Transaction| tell(&log, &Line::Transaction(thread, transaction.clone()));
    let (seed, threads) = (setup.seed, setup.threads as usize);
    Load { database: &database, seed, threads, transactions, may_fail: false, told: &told }
        .run(&Clock::starting_at(clock));
    Ok(())
}

/// Writes a line at once. A history with a line missing cannot be judged.
fn tell(mut log: &File, line: &Line) {
    let written = serde_json::to_string(line)
        .map_err(io::Error::other)
        .and_then(|line| log.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("crash-tests: the log cannot be written: {error}");
        std::process::exit(2);
    }
}
