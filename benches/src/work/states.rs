//! The same questions while rows are recent, and while little memory is there for what was read.

use crate::Result;
use crate::bench::Bench;
use crate::engine::Opening;
use crate::read::Read;
use crate::work::load::BATCH_ROWS;
use crate::work::sizes::folder_bytes;

const READS: [Read; 3] = [Read::Point, Read::Prefix500Arrow, Read::Agg401];
/// Per cent of the rows that are recent.
const DIRTY: [u64; 2] = [1, 10];
/// Least memory that engines are opened with.
const CACHE_BYTES_MIN: u64 = 1 << 20;

fn dirty(read: Read, percent: u64) -> String {
    format!("{}_dirty{percent}", read.name())
}

fn cache10(read: Read) -> String {
    format!("{}_cache10", read.name())
}

pub fn names() -> Vec<String> {
    let dirty = DIRTY.into_iter().flat_map(|percent| READS.map(|read| dirty(read, percent)));
    READS.map(cache10).into_iter().chain(dirty).collect()
}

pub fn run(bench: &mut Bench) -> Result<()> {
    if READS.iter().any(|read| bench.wants(&cache10(*read))) {
        run_cache10(bench)?;
    }
    if DIRTY.iter().any(|percent| READS.iter().any(|read| bench.wants(&dirty(*read, *percent)))) {
        run_dirty(bench)?;
    }
    let opening = bench.opening;
    bench.reopen_all(|_| Ok(opening))
}

/// Memory for a tenth of what lies in the engine's files.
fn run_cache10(bench: &mut Bench) -> Result<()> {
    bench.reopen_all(|folder| {
        let cache_bytes = (folder_bytes(folder)? / 10).max(CACHE_BYTES_MIN);
        Ok(Opening { cache_bytes: Some(cache_bytes), keep_recent: false })
    })?;
    READS.iter().try_for_each(|read| bench.measure_reopened(*read, &cache10(*read)))
}

/// Rows all over the log are written once more, as they were.
fn run_dirty(bench: &mut Bench) -> Result<()> {
    let opening = Opening { keep_recent: true, ..bench.opening };
    bench.reopen_all(|_| Ok(opening))?;
    for percent in DIRTY {
        bench.peers.iter_mut().try_for_each(|peer| peer.engine.settle())?;
        let indexes = bench.log.some(percent, &mut bench.mix);
        for batch in indexes.chunks(BATCH_ROWS as usize) {
            let rows: Vec<_> = batch.iter().map(|index| bench.log.row(*index)).collect();
            bench.peers.iter_mut().try_for_each(|peer| peer.engine.load(&rows))?;
        }
        bench.warm()?;
        READS.iter().try_for_each(|read| bench.measure_reopened(*read, &dirty(*read, percent)))?;
    }
    bench.peers.iter_mut().try_for_each(|peer| peer.engine.settle())
}
