//! Blocks that lie ahead of a walk.
//!
//! ```text
//! directory -> entry -> block -> what is known of it
//!                             -> its parts -> columns -> values
//! ```
//! Each of these steps waits for the one before, and of a large table nothing is in a near cache. So what is needed of several
//! blocks is looked at side by side before the first of them is read: they are waited for once.

use smallvec::SmallVec;

use crate::engine::block_ref::{BlockRef, PartsInMemory};
use crate::engine::directory::Directory;

/// Blocks that are looked at side by side.
const BLOCKS_AHEAD: usize = 8;

type Several<T> = SmallVec<[T; BLOCKS_AHEAD]>;

/// How far blocks were prefetched, and what of them.
#[derive(Default)]
pub(crate) struct Prefetch {
    /// The entry behind those that were looked at.
    until: usize,
    at: Look,
}

/// What is looked at of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// What the directory knows of it.
    #[default]
    Summary,
    /// The first values of its columns, too.
    Columns,
}

impl Prefetch {
    /// Looks at the blocks of the entries from `index` on, `most` and [`BLOCKS_AHEAD`] at most, unless that one was looked at.
    #[inline]
    pub(crate) fn look(&mut self, directory: &Directory, index: usize, at: Look, most: usize) {
        if index >= self.until || at > self.at {
            let count = look_at_blocks(directory, index, at, most.min(BLOCKS_AHEAD));
            *self = Self { until: index + count, at };
        }
    }
}

/// How many entries were looked at: those that stand together.
fn look_at_blocks(directory: &Directory, index: usize, at: Look, most: usize) -> usize {
    let entries = directory.neighbours(index, most);
    let blocks: Several<&BlockRef> = entries.iter().filter_map(|entry| entry.block.as_deref()).collect();
    see(blocks.iter().map(|block| block.look_at_itself()));
    see(blocks.iter().map(|block| block.summary.look()));
    if at == Look::Columns {
        let held: Several<PartsInMemory<'_>> = blocks.iter().filter_map(|block| block.in_memory()).collect();
        see(held.iter().map(|parts| parts.look_at_columns()));
        see(held.iter().map(|parts| parts.look_at_row(0)));
    }
    entries.len()
}

/// What is seen is of no use: it is the looking that counts.
fn see(seen: impl Iterator<Item = usize>) {
    std::hint::black_box(seen.fold(0, |all, seen| all ^ seen));
}
