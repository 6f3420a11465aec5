//! Loading the log, in durable batches of 1,000 rows.
//!
//! An engine loads all its rows in one turn, so that its background work falls into its own time.

use std::time::{Duration, Instant};

use crate::Result;
use crate::bench::{Bench, Peer, compare_rows};
use crate::engine::EngineKind;
use crate::process;
use crate::read::Read;
use crate::report::Figures;
use crate::rows::{Log, row_bytes};

/// Rows of one durable batch.
pub const BATCH_ROWS: u64 = 1000;

pub fn names() -> Vec<String> {
    super::owned(["load", "load_settled", "write_amp"])
}

/// What came of a load.
pub struct Loaded {
    /// Of each batch.
    times: Vec<Duration>,
    /// Until the engine had also brought everything to where it stays.
    settled: Duration,
    /// Bytes written for each byte of the rows.
    write_amp: Option<f64>,
}

impl Loaded {
    /// The figures of the load itself.
    pub fn figures(&self, log: Log) -> Figures {
        Figures::of_times(self.times.clone()).with_rate(log.rows, self.times.iter().sum())
    }
}

/// Loads the log into all engines, compares what they have, and reports what is wanted of it.
pub fn run(bench: &mut Bench) -> Result<()> {
    let mut loads = Vec::new();
    for peer in &mut bench.peers {
        loads.push((peer.kind, load(peer, bench.log)?));
    }
    same_rows("load", &mut bench.peers)?;
    let log = bench.log;
    let figures = |of: &dyn Fn(&Loaded) -> Option<Figures>| -> Vec<(EngineKind, Figures)> {
        loads.iter().filter_map(|(kind, loaded)| Some((*kind, of(loaded)?))).collect()
    };
    if bench.wants("load") {
        bench.report.work("load", log.rows, figures(&|loaded| Some(loaded.figures(log))))?;
    }
    if bench.wants("load_settled") {
        let settled = |loaded: &Loaded| Some(Figures::default().with_rate(log.rows, loaded.settled));
        bench.report.work("load_settled", log.rows, figures(&settled))?;
    }
    if bench.wants("write_amp") {
        let amplified = |loaded: &Loaded| Some(Figures::of_value(loaded.write_amp?, "x"));
        bench.report.work("write_amp", log.rows, figures(&amplified))?;
    }
    Ok(())
}

/// Loads the log into one engine.
pub fn load(peer: &mut Peer, log: Log) -> Result<Loaded> {
    let written_before = process::bytes_written();
    let mut times = Vec::with_capacity((log.rows / BATCH_ROWS) as usize + 1);
    let mut bytes = 0;
    for from in (0..log.rows).step_by(BATCH_ROWS as usize) {
        let rows = log.rows(from, (from + BATCH_ROWS).min(log.rows));
        bytes += rows.iter().map(row_bytes).sum::<u64>();
        let started = Instant::now();
        peer.engine.load(&rows)?;
        times.push(started.elapsed());
    }
    let started = Instant::now();
    peer.engine.settle()?;
    let settled = times.iter().sum::<Duration>() + started.elapsed();
    let written = process::bytes_written().zip(written_before).map(|(now, before)| now - before);
    // What is in memory is not written anywhere.
    let write_amp = written.filter(|_| peer.kind.is_persistent()).map(|written| written as f64 / bytes as f64);
    Ok(Loaded { times, settled, write_amp })
}

/// Holds the engines' rows to each other: every value of each, in key order.
pub fn same_rows(work: &str, peers: &mut [Peer]) -> Result<()> {
    compare_rows(work, peers, Read::AllRows, &Vec::new())
}
