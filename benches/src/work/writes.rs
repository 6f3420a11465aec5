//! Single durable writes and transactions, by one thread and by eight.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::Result;
use crate::bench::{Bench, Peer};
use crate::engine::{Transaction, Worker};
use crate::report::Figures;
use crate::rows::LogRow;

const WRITERS: u64 = 8;
const COUNTERS: u64 = 100;

pub fn names() -> Vec<String> {
    super::owned(["upsert1", "delete1", "counter8", "counter", "upsert8", "transaction1", "transaction8"])
}

pub fn run(bench: &mut Bench) -> Result<()> {
    if bench.wants("upsert1") {
        let (first, log) = (bench.next_row, bench.log);
        bench.next_row += writes(bench);
        in_turns(bench, "upsert1", |peer, i| peer.engine.load(&[log.row(first + i)]).map(|()| Some(0)))?;
    }
    if bench.wants("delete1") {
        run_delete(bench)?;
    }
    if bench.wants("counter8") {
        run_counter8(bench)?;
    }
    // It also compares what the threads before it have counted.
    if bench.wants("counter") {
        let ids: Vec<i64> = (0..writes(bench)).map(|_| bench.mix.below(COUNTERS) as i64).collect();
        in_turns(bench, "counter", |peer, i| peer.engine.count_up(ids.get(i as usize).copied().unwrap_or_default()))?;
    }
    if bench.wants("upsert8") {
        run_upsert8(bench)?;
    }
    for (work, threads) in [("transaction1", 1), ("transaction8", WRITERS)] {
        if bench.wants(work) {
            run_transactions(bench, work, threads)?;
        }
    }
    Ok(())
}

/// How many writes of a kind an engine does.
fn writes(bench: &Bench) -> u64 {
    (rounds(bench) * asks(bench)) as u64
}

fn rounds(bench: &Bench) -> usize {
    bench.effort.of(50)
}

fn asks(bench: &Bench) -> usize {
    bench.effort.of(8)
}

/// Lets each engine do some writes in turn, by number, and reports their times; they must come to the same.
fn in_turns(bench: &mut Bench, work: &str, write: impl Fn(&mut Peer, u64) -> Result<Option<i64>>) -> Result<()> {
    let (rounds, asks) = (rounds(bench), asks(bench) as u64);
    let mut times = vec![Some(Vec::new()); bench.peers.len()];
    for round in 0..rounds as u64 {
        for i in round * asks..(round + 1) * asks {
            let mut expected = None;
            for (peer, times) in bench.peers.iter_mut().zip(&mut times) {
                let started = Instant::now();
                let result = write(peer, i)?;
                let time = started.elapsed();
                match (result, expected) {
                    (None, _) => *times = None,
                    (Some(result), Some(before)) if result != before => {
                        return Err(
                            format!("{work}: {} comes to {result}, others to {before}", peer.kind.name()).into()
                        );
                    }
                    _ => times.iter_mut().for_each(|times| times.push(time)),
                }
                expected = expected.or(result);
            }
        }
    }
    bench.report_times(work, times)
}

/// Deletes rows all over the log; afterwards they are put back.
fn run_delete(bench: &mut Bench) -> Result<()> {
    let log = bench.log;
    let step = (log.rows / writes(bench)).max(1);
    in_turns(bench, "delete1", |peer, i| peer.engine.delete(&log.phone(i * step), log.ts(i * step)).map(|()| Some(0)))?;
    super::load::same_rows("delete1", &mut bench.peers)?;
    let rows: Vec<LogRow> = (0..writes(bench)).map(|i| log.row(i * step)).collect();
    bench.peers.iter_mut().try_for_each(|peer| peer.engine.load(&rows))
}

/// Eight threads, each with a connection and rows of its own.
fn run_upsert8(bench: &mut Bench) -> Result<()> {
    let each = bench.effort.of(100) as u64;
    let first = bench.next_row;
    bench.next_row += WRITERS * each;
    let mut figures = Vec::new();
    for peer in &mut bench.peers {
        let mut workers = Vec::new();
        for writer in 0..WRITERS {
            let from = first + writer * each;
            workers.push((peer.engine.writer()?, bench.log.rows(from, from + each)));
        }
        figures.extend(figures_of(workers)?.map(|of_peer| (peer.kind, of_peer)));
    }
    super::load::same_rows("upsert8", &mut bench.peers)?;
    bench.report.work("upsert8", bench.log.rows, figures)
}

/// Eight threads count up the same counters.
fn run_counter8(bench: &mut Bench) -> Result<()> {
    let each = bench.effort.of(100);
    let ids: Vec<i64> = (0..WRITERS as usize * each).map(|_| bench.mix.below(COUNTERS) as i64).collect();
    let mut figures = Vec::new();
    for peer in &mut bench.peers {
        let mut workers = Vec::new();
        for ids in ids.chunks(each) {
            let Some(worker) = peer.engine.counter()? else { break };
            workers.push((worker, ids.to_vec()));
        }
        figures.extend(figures_of(workers)?.map(|of_peer| (peer.kind, of_peer)));
    }
    bench.report.work("counter8", bench.log.rows, figures)
}

/// Transactions of ten points and two writes, on threads with a connection and rows of their own.
fn run_transactions(bench: &mut Bench, work: &str, threads: u64) -> Result<()> {
    const POINTS: usize = 10;
    const WRITES: u64 = 2;
    let each = bench.effort.of(200) as u64;
    let first = bench.next_row;
    bench.next_row += threads * each * WRITES;
    let points: Vec<u64> = (0..threads * each * POINTS as u64).map(|_| bench.mix.below(bench.log.rows)).collect();
    let mut figures = Vec::new();
    for peer in &mut bench.peers {
        let mut workers = Vec::new();
        for (thread, points) in (0..threads).zip(points.chunks(each as usize * POINTS)) {
            let transaction = |(number, points): (u64, &[u64])| {
                let from = first + (thread * each + number) * WRITES;
                let points = points.iter().map(|index| bench.log.row(*index)).collect();
                Transaction { points, writes: bench.log.rows(from, from + WRITES) }
            };
            let Some(worker) = peer.engine.transactor()? else { break };
            workers.push((worker, (0..).zip(points.chunks(POINTS)).map(transaction).collect()));
        }
        figures.extend(figures_of(workers)?.map(|of_peer| (peer.kind, of_peer)));
    }
    bench.report.work(work, bench.log.rows, figures)
}

/// The times of the work that these workers do at once, and their rate; `None` without workers.
fn figures_of<T: Sync + Send>(workers: Vec<(Worker<T>, Vec<T>)>) -> Result<Option<Figures>> {
    if workers.is_empty() {
        return Ok(None);
    }
    let pieces: usize = workers.iter().map(|(_, work)| work.len()).sum();
    let (times, spent) = at_once(workers)?;
    Ok(Some(Figures::of_times(times).with_rate(pieces as u64, spent)))
}

/// Lets each worker do its work on a thread of its own, all at once: the time of each piece, and of all.
fn at_once<T: Sync + Send>(workers: Vec<(Worker<T>, Vec<T>)>) -> Result<(Vec<Duration>, Duration)> {
    let ready = Barrier::new(workers.len() + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .into_iter()
            .map(|(worker, work)| {
                let ready = &ready;
                scope.spawn(move || {
                    ready.wait();
                    do_all(worker, &work)
                })
            })
            .collect();
        ready.wait();
        let started = Instant::now();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a worker panicked")??);
        }
        Ok((times, started.elapsed()))
    })
}

fn do_all<T>(mut worker: Worker<T>, work: &[T]) -> Result<Vec<Duration>> {
    let timed = |piece: &T| {
        let started = Instant::now();
        worker(piece)?;
        Ok(started.elapsed())
    };
    work.iter().map(timed).collect()
}
