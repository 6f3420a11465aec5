//! The blocks in front of a long walk, which are prefetched some at a time.
//!
//! ```text
//! directory -> entry -> block -> its summary
//!                             -> its parts -> columns -> values
//! ```

use smallvec::SmallVec;

use crate::engine::block_ref::{BlockRef, PartsInMemory};
use crate::engine::directory::Directory;
use crate::format::prefetch::{PrefetchStep, prefetch};

/// Blocks that are prefetched together.
const BLOCKS_AHEAD: usize = 8;

type Several<T> = SmallVec<[T; BLOCKS_AHEAD]>;

/// How far blocks were prefetched, and what of them.
#[derive(Default)]
pub(crate) struct ReadAhead {
    /// The entry after those that were prefetched.
    until: usize,
    depth: Depth,
}

/// How much of a block is prefetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// The block's summary in the directory.
    #[default]
    Summary,
    /// The first values of its columns, too.
    Columns,
}

impl ReadAhead {
    /// Prefetches the blocks of the entries from `index` on, `most` and [`BLOCKS_AHEAD`] at most, unless that one was.
    #[inline]
    pub(crate) fn prefetch(&mut self, directory: &Directory, index: usize, depth: Depth, most: usize) {
        if index >= self.until || depth > self.depth {
            let count = prefetch_blocks(directory, index, depth, most.min(BLOCKS_AHEAD));
            *self = Self { until: index + count, depth };
        }
    }
}

/// Prefetches the blocks of the entries that stand together from `index` on: how many entries these are.
fn prefetch_blocks(directory: &Directory, index: usize, depth: Depth, most: usize) -> usize {
    let entries = directory.neighbours(index, most);
    let blocks: Several<&BlockRef> = entries.iter().filter_map(|entry| entry.block.as_deref()).collect();
    prefetch(blocks.iter().map(|block| block.prefetch()));
    prefetch(blocks.iter().map(|block| block.summary.prefetch()));
    if depth == Depth::Columns {
        let held: Several<PartsInMemory<'_>> = blocks.iter().filter_map(|block| block.in_memory()).collect();
        prefetch(held.iter().map(|parts| parts.prefetch(PrefetchStep::Columns)));
        prefetch(held.iter().map(|parts| parts.prefetch(PrefetchStep::Row(0))));
    }
    entries.len()
}
