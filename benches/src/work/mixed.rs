//! A durable batch of new rows between the questions.

use std::time::{Duration, Instant};

use crate::Result;
use crate::bench::{Bench, compare};
use crate::read::Read;
use crate::work::load::{BATCH_ROWS, same_rows};

const READS: [(Read, &str); 4] = [
    (Read::Point, "mixed_point"),
    (Read::Prefix500Arrow, "mixed_prefix"),
    (Read::Agg401, "mixed_agg"),
    (Read::Latest10, "mixed_latest10"),
];
/// The batch and the questions together.
const ALL: &str = "mixed";

pub fn names() -> Vec<String> {
    super::owned(std::iter::once(ALL).chain(READS.map(|(_, name)| name)))
}

pub fn run(bench: &mut Bench) -> Result<()> {
    // What ran before may have opened the engines anew.
    if bench.wants(ALL) || READS.iter().any(|(_, work)| bench.wants(work)) {
        bench.warm()?;
    }
    let rounds = bench.effort.of(100);
    let empty = || vec![Vec::with_capacity(rounds); bench.peers.len()];
    let (mut times, mut all) = (READS.map(|_| empty()), empty());
    for round in 0..rounds {
        turn(bench, round, &mut times, &mut all)?;
    }
    same_rows(ALL, &mut bench.peers)?;
    for ((_, work), times) in READS.iter().zip(times).chain([(&(Read::Point, ALL), all)]) {
        if bench.wants(work) {
            bench.report_times(work, times.into_iter().map(Some).collect())?;
        }
    }
    Ok(())
}

/// Each engine writes the batch and answers each question once; the first one after the batch is another each round.
fn turn(
    bench: &mut Bench,
    round: usize,
    times: &mut [Vec<Vec<Duration>>; READS.len()],
    all: &mut [Vec<Duration>],
) -> Result<()> {
    let rows = bench.log.rows(bench.next_row, bench.next_row + BATCH_ROWS);
    bench.next_row += BATCH_ROWS;
    let argument_lists = READS.map(|(read, _)| [read.arguments(bench.log, &mut bench.mix)]);
    let mut expected = READS.map(|_| None);
    let peers = bench.peers.len();
    for place in (0..peers).map(|turn| (turn + round) % peers) {
        let (Some(peer), Some(all)) = (bench.peers.get_mut(place), all.get_mut(place)) else { continue };
        let started = Instant::now();
        peer.engine.load(&rows)?;
        let mut spent = started.elapsed();
        for which in (0..READS.len()).map(|turn| (turn + round) % READS.len()) {
            let (read, work) = READS[which];
            let Some(answers) = peer.engine.ask(read, &argument_lists[which])? else { continue };
            compare(work, peer.kind, &answers, &mut expected[which])?;
            for answer in answers {
                times[which][place].push(answer.time);
                spent += answer.time;
            }
        }
        all.push(spent);
    }
    Ok(())
}
