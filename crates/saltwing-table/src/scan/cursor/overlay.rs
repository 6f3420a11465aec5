//! An entry that has runs: its block's rows, and above them those of runs and deltas, merged by their keys.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::TableError;

use crate::engine::block_ref::BlockRef;
use crate::engine::entry::Entry;
use crate::format::fix_part::FixPart;
use crate::scan::cursor::Walk;
use crate::scan::cursor::segment::RowSegment;

/// Rows of a block or a run in the scan's range, and the position of the merge in them.
struct Rows {
    block: Arc<BlockRef>,
    keys: Arc<FixPart>,
    at: usize,
    until: usize,
    /// The key at `at`; not kept for the block, among whose rows the others' keys are looked for.
    key: Vec<u8>,
}

impl Rows {
    /// Those of some rows of a block from `start` to `end`; `None` where there are none.
    fn between(
        block: &Arc<BlockRef>,
        rows: Range<usize>,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> Result<Option<Self>, TableError> {
        if start > &*block.summary.last_key {
            return Ok(None);
        }
        let keys = block.lead()?;
        let at = keys.lower_bound_in(start, rows.clone());
        let until = end.map_or(rows.end, |end| keys.lower_bound_in(end, at..rows.end));
        Ok((at < until).then(|| Self { block: block.clone(), keys, at, until, key: Vec::new() }))
    }

    /// The next row.
    fn step(&mut self) {
        self.at += 1;
        self.load_key();
    }

    fn load_key(&mut self) {
        if self.at < self.until {
            self.keys.key_into(self.at, &mut self.key);
        }
    }

    fn head(&self) -> Option<&[u8]> {
        (self.at < self.until).then_some(&self.key[..])
    }
}

impl Walk {
    /// Merges the rows of an entry's block and runs from `start` to `end` with the recent ones, which are all from
    /// there. Keys of all of them are read; of blocks that no row can match nothing else is.
    pub(crate) fn merge_with_runs(
        &mut self,
        entry: &Entry,
        start: &[u8],
        end: Option<&[u8]>,
    ) -> Result<(), TableError> {
        let mut runs = Vec::with_capacity(entry.runs.len());
        for part in &entry.runs {
            runs.extend(Rows::between(&part.run.block, part.rows(), start, end)?);
        }
        runs.iter_mut().for_each(Rows::load_key);
        let base = match &entry.block {
            Some(block) => Rows::between(block, 0..block.summary.rows as usize, start, end)?,
            None => None,
        };
        let mut seeker = base.as_ref().map(|base| base.keys.seeker(base.at..base.until));
        let mut recent = std::mem::take(&mut self.recent);
        let mut next_recent = recent.drain(..).peekable();
        let mut key = Vec::new();
        loop {
            // Of equal keys the first one counts: the row of a delta, then that of the newest run.
            let mut newest = None;
            let mut least = next_recent.peek().map(|(key, _)| &key[..]);
            for (i, run) in runs.iter().enumerate() {
                if let Some(head) = run.head()
                    && least.is_none_or(|least| head < least)
                {
                    (newest, least) = (Some(i), Some(head));
                }
            }
            let Some(least) = least else { break };
            key.clear();
            key.extend_from_slice(least);
            if let (Some(base), Some(seeker)) = (&base, &mut seeker) {
                let below = seeker.pass(&key);
                if !below.is_empty() {
                    self.add_run(&base.block, Some(&base.keys), below)?;
                }
            }
            match newest.and_then(|i| runs.get(i)) {
                None => next_recent.next().into_iter().for_each(|(key, row)| self.add_recent(key, row)),
                Some(run) if run.keys.is_deleted(run.at) => {}
                Some(run) => self.add_run(&run.block, Some(&run.keys), run.at..run.at + 1)?,
            }
            runs.iter_mut().filter(|run| run.head() == Some(&key[..])).for_each(Rows::step);
        }
        if let (Some(base), Some(seeker)) = (&base, seeker)
            && !seeker.rest().is_empty()
        {
            self.add_run(&base.block, Some(&base.keys), seeker.rest())?;
        }
        drop(next_recent);
        self.recent = recent;
        let read: Vec<Arc<BlockRef>> = runs.into_iter().chain(base).map(|rows| rows.block).collect();
        self.pass_over_among(&read);
        self.order_segments();
        Ok(())
    }

    /// Prunes the blocks whose rows are all visible and cannot match the filter, so that they are not read.
    fn pass_over_among(&mut self, blocks: &[Arc<BlockRef>]) {
        let counters = &self.context.scan.counters;
        for block in blocks {
            if !self.context.zones.as_ref().is_some_and(|zones| zones.excludes(&block.summary)) {
                counters.blocks_read.fetch_add(1, Relaxed);
                continue;
            }
            counters.blocks_skipped.fetch_add(1, Relaxed);
            for segment in &mut self.segments {
                if let RowSegment::Block { block: of, rows, .. } = segment
                    && of.id == block.id
                {
                    *segment = RowSegment::Pruned(rows.len());
                }
            }
        }
    }
}
