//! Which runs the entries of a directory name, at opening: runs say whose rows they have by the numbers of blocks.
//!
//! # Law
//! An entry references a run if the run has rows for the entry's current block, and no newer run of the entry absorbed
//! it. An entry whose block was rewritten has none of the earlier runs, because the new block has another id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::engine::chunk::NamedRuns;
use crate::engine::run::{Run, RunPart};
use crate::engine::stored_chunk::StoredChunk;
use crate::format::directory_format::PartRecord;

/// A run, and whose rows it has.
pub(crate) type StoredRun = (Arc<Run>, Vec<PartRecord>);

/// The runs referenced by the entries of some chunks, in the order of all runs, oldest first; with the number of
/// entries per run.
pub(crate) fn named_runs(chunks: &[StoredChunk], runs: &[StoredRun]) -> Vec<NamedRuns> {
    let mut named = Vec::new();
    named.resize_with(chunks.len(), Vec::new);
    if runs.is_empty() {
        return named;
    }
    let indexes = indexes(chunks);
    // Of each entry, from which run on all are in those that were gone through: the newest come first.
    let mut absorbed_from: Vec<Vec<u64>> = chunks.iter().map(|chunk| vec![u64::MAX; chunk.len()]).collect();
    for (run, parts) in runs.iter().rev() {
        let (mut start, mut count) = (0, 0);
        for PartRecord { block, rows, oldest } in parts {
            let end = start + rows;
            if let Some((chunk, index)) = indexes.get(block).copied()
                && let Some(absorbed_from) =
                    absorbed_from.get_mut(chunk).and_then(|of_chunk| of_chunk.get_mut(index as usize))
            {
                if run.block.id < *absorbed_from
                    && let Some(named) = named.get_mut(chunk)
                {
                    named.push((index, RunPart::new(run.clone(), start..end, *oldest)));
                    count += 1;
                }
                *absorbed_from = (*absorbed_from).min(*oldest);
            }
            start = end;
        }
        run.gain(count);
    }
    named
}

/// The chunk of each block's entry, and the entry's index in it, by the block's number.
type Indexes = HashMap<u64, (usize, u32), BuildHasherDefault<IdHasher>>;

fn indexes(chunks: &[StoredChunk]) -> Indexes {
    let mut all =
        Indexes::with_capacity_and_hasher(chunks.iter().map(StoredChunk::len).sum(), BuildHasherDefault::default());
    for (chunk, entries) in chunks.iter().enumerate() {
        all.extend(entries.ids().zip((0..).map(|index| (chunk, index))));
    }
    all
}

/// Numbers of blocks are a count: they need no hash that nobody can foresee.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 << 8 | u64::from(*byte)));
    }

    fn write_u64(&mut self, id: u64) {
        // An odd factor, so that low bits differ if ids do; the high bits, which hash tables also use, are mixed from
        // all.
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
