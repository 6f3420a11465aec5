//! Sizes: where rows are cut into blocks, and which neighbouring blocks are so small that a compaction joins them.
//!
//! # Laws
//! 1. A block has at most the rows and bytes of the limits, unless it has one row.
//! 2. Sparse blocks become fewer when they are rewritten, so compacted blocks are left alone.

use crate::engine::options::BlockLimits;

/// Neighbouring blocks that are cut together.
pub(super) const WINDOW_BLOCKS: usize = 16;
/// Blocks are sparse if their rows fit into at most 3 of 4 of them.
const SPARSE_SHARE: (usize, usize) = (3, 4);

/// The ends of the blocks that rows of these bytes are cut into: as few as their sum allows where rows are about equal, and evenly
/// full.
pub(super) fn block_ends(limits: BlockLimits, rows: impl Iterator<Item = usize> + Clone) -> Vec<usize> {
    let (mut rows_left, mut bytes_left) = rows.clone().fold((0, 0), |(rows, bytes), row| (rows + 1, bytes + row));
    let mut parts = limits.parts(rows_left, bytes_left);
    let mut ends = Vec::with_capacity(parts);
    let (mut start, mut bytes) = (0, 0);
    for (at, row) in rows.enumerate() {
        let rows_max = rows_left.div_ceil(parts.max(1)).min(limits.rows);
        let bytes_max = bytes_left.div_ceil(parts.max(1)).max(limits.bytes / 2).min(limits.bytes);
        if at > start && (at - start >= rows_max || bytes + row > bytes_max) {
            ends.push(at);
            (rows_left, bytes_left) = (rows_left - (at - start), bytes_left - bytes);
            parts = parts.saturating_sub(1);
            (start, bytes) = (at, 0);
        }
        bytes += row;
    }
    if rows_left > 0 {
        ends.push(start + rows_left);
    }
    ends
}

/// Rows of a block, and bytes of each of them.
pub(super) type BlockSize = (usize, usize);

impl BlockLimits {
    /// Minimum of blocks for this many rows and bytes.
    fn parts(self, rows: usize, bytes: usize) -> usize {
        rows.div_ceil(self.rows).max(bytes.div_ceil(self.bytes).min(rows))
    }

    /// Whether the rows of some neighbouring blocks would fit into `count` blocks, split as usual.
    fn fit(self, blocks: &[BlockSize], count: usize) -> bool {
        let (rows, bytes) = blocks.iter().fold((0, 0), |(all, bytes), (rows, row)| (all + rows, bytes + rows * row));
        let each = || blocks.iter().flat_map(|(rows, row)| std::iter::repeat_n(*row, *rows));
        self.parts(rows, bytes) <= count && block_ends(self, each()).len() <= count
    }

    /// Whether a block is so full that it is left alone where that can be.
    fn is_full(self, (rows, row): BlockSize) -> bool {
        let (most, of) = SPARSE_SHARE;
        of * rows > most * self.rows || of * rows * row > most * self.bytes
    }

    /// The number of neighbouring blocks, from the first on, to rewrite because they become fewer: as many as are
    /// sparse together, or as many as a block less than half full needs to share a block.
    pub(super) fn sparse(self, blocks: &[BlockSize]) -> Option<usize> {
        let first = *blocks.first()?;
        let (most, of) = SPARSE_SHARE;
        let are_few = |all: &&[BlockSize]| self.fit(all, most * all.len() / of);
        let windows = || (2..=blocks.len()).filter_map(|len| blocks.get(..len));
        let ends_well = |all: &&[BlockSize]| all.last().is_some_and(|last| !self.is_full(*last));
        let few = windows().rev().filter(ends_well).find(are_few).or_else(|| windows().rev().find(are_few));
        let Some(few) = few else {
            let is_small = !self.is_half(first.0, first.0 * first.1);
            return windows().find(|all| is_small && self.fit(all, all.len() - 1)).map(<[_]>::len);
        };
        // Blocks after a full one will be cut without it, if they are few by themselves.
        (!self.is_full(first) || !few.get(1..).is_some_and(|others| are_few(&others))).then_some(few.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits() -> impl Strategy<Value = BlockLimits> {
        (1usize..20, 1usize..200).prop_map(|(rows, bytes)| BlockLimits { rows, bytes })
    }

    fn blocks() -> impl Strategy<Value = Vec<BlockSize>> {
        prop::collection::vec((1usize..25, prop_oneof![Just(10usize), 0usize..150]), 0..60)
    }

    /// The blocks after a rewrite, as one pass of COMPACT does it.
    fn compacted(limits: BlockLimits, blocks: &[BlockSize]) -> (Vec<BlockSize>, bool) {
        let (mut new, mut at, mut is_done) = (Vec::new(), 0, false);
        while at < blocks.len() {
            let window = &blocks[at..blocks.len().min(at + WINDOW_BLOCKS)];
            let Some(len) = limits.sparse(window) else {
                new.push(blocks[at]);
                at += 1;
                continue;
            };
            let rows: Vec<usize> =
                window[..len].iter().flat_map(|(rows, row)| std::iter::repeat_n(*row, *rows)).collect();
            let mut start = 0;
            for end in block_ends(limits, rows.iter().copied()) {
                new.push((end - start, rows[start..end].iter().sum::<usize>() / (end - start)));
                start = end;
            }
            (at, is_done) = (at + len, true);
        }
        (new, is_done)
    }

    proptest! {
        #[test]
        fn blocks_are_no_larger_than_the_limits(limits in limits(), rows in prop::collection::vec(0usize..300, 0..100)) {
            let ends = block_ends(limits, rows.iter().copied());
            prop_assert_eq!(ends.last().copied().unwrap_or(0), rows.len());
            let mut start = 0;
            for end in ends {
                let block = &rows[start..end];
                prop_assert!(!block.is_empty());
                prop_assert!(block.len() == 1 || block.len() <= limits.rows && block.iter().sum::<usize>() <= limits.bytes);
                start = end;
            }
        }

        #[test]
        fn equal_rows_are_cut_evenly(limits in limits(), count in 1usize..200) {
            // Where bytes do not count.
            let ends = block_ends(limits, std::iter::repeat_n(0, count));
            prop_assert_eq!(ends.len(), count.div_ceil(limits.rows));
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let lengths: Vec<usize> = starts.zip(&ends).map(|(start, end)| end - start).collect();
            prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
        }

        #[test]
        fn compacting_comes_to_an_end(limits in limits(), mut blocks in blocks()) {
            loop {
                let (new, is_done) = compacted(limits, &blocks);
                let is_as_it_should = if is_done { new.len() < blocks.len() } else { new == blocks };
                prop_assert!(is_as_it_should);
                if !is_done {
                    break;
                }
                blocks = new;
            }
        }
    }

    #[test]
    fn those_are_sparse_that_would_be_three_quarters() {
        let limits = BlockLimits { rows: 10, bytes: 1000 };
        let of_rows = |rows: &[usize]| rows.iter().map(|rows| (*rows, 10)).collect::<Vec<_>>();
        assert_eq!(limits.sparse(&of_rows(&[8; 16])), None);
        assert_eq!(limits.sparse(&of_rows(&[7; 16])), Some(16));
        assert_eq!(limits.sparse(&of_rows(&[7; 3])), None, "three of them are no fewer");
        assert_eq!(limits.sparse(&of_rows(&[5, 5, 10])), Some(2));
        assert_eq!(limits.sparse(&of_rows(&[10, 5, 5])), None, "the first is full");
        assert_eq!(limits.sparse(&of_rows(&[1])), None);
        // By bytes: the rows of one are as large as more than half a block, and no two go together.
        assert_eq!(limits.sparse(&[(1, 600); 8]), None);
        assert_eq!(limits.sparse(&[(1, 300); 8]), Some(8));
    }
}
