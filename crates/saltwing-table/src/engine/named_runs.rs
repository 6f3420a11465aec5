//! Which runs the entries of a directory name, at opening: runs say whose rows they have by the numbers of blocks.
//!
//! # Law
//! An entry references a run if the run has rows for the entry's current block, and no newer run of the entry absorbed
//! it. An entry whose block was rewritten has none of the earlier runs, because the new block has another id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::engine::chunk::{CHUNK_ENTRIES_MAX, NamedRuns};
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
    let (indexes, mut near) = (Indexes::new(chunks), Near::default());
    // Of each entry, from which run on all are in those that were gone through: the newest come first.
    let mut absorbed_from: Vec<Vec<u64>> = chunks.iter().map(|chunk| vec![u64::MAX; chunk.len()]).collect();
    for (run, parts) in runs.iter().rev() {
        let (mut start, mut count) = (0, 0);
        for PartRecord { block, rows, oldest } in parts {
            let end = start + rows;
            if let Some((chunk, index)) = indexes.get(*block, &mut near)
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

/// Where the entry of a block stands, by the block's number. Neighbours among entries were mostly written together, and have
/// neighbouring numbers: so these stand together too.
struct Indexes(HashMap<u64, Together, BuildHasherDefault<IdHasher>>);

/// Those of some neighbouring numbers.
type Together = [u32; NUMBERS_TOGETHER as usize];

const NUMBERS_TOGETHER: u64 = 16;

/// The numbers that were looked up last: the next one is mostly among them.
#[derive(Default)]
struct Near<'a> {
    numbers: Option<u64>,
    together: Option<&'a Together>,
}

/// The number of a chunk times this, and the index of an entry in it, make one number.
const CHUNK: u32 = 2 * CHUNK_ENTRIES_MAX as u32;

/// No entry.
const NONE: u32 = u32::MAX;

impl Indexes {
    fn new(chunks: &[StoredChunk]) -> Self {
        let len: usize = chunks.iter().map(StoredChunk::len).sum();
        let mut all = HashMap::with_capacity_and_hasher(len / 8, BuildHasherDefault::default());
        for (chunk, entries) in (0..NONE / CHUNK).zip(chunks) {
            for (index, id) in (chunk * CHUNK..).zip(entries.ids()) {
                let together = all.entry(id / NUMBERS_TOGETHER).or_insert([NONE; NUMBERS_TOGETHER as usize]);
                if let Some(place) = together.get_mut((id % NUMBERS_TOGETHER) as usize) {
                    *place = index;
                }
            }
        }
        Self(all)
    }

    /// A chunk, and the index in it.
    fn get<'a>(&'a self, id: u64, near: &mut Near<'a>) -> Option<(usize, u32)> {
        let numbers = id / NUMBERS_TOGETHER;
        if near.numbers != Some(numbers) {
            *near = Near { numbers: Some(numbers), together: self.0.get(&numbers) };
        }
        let index = *near.together?.get((id % NUMBERS_TOGETHER) as usize)?;
        (index != NONE).then_some(((index / CHUNK) as usize, index % CHUNK))
    }
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
