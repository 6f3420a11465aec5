//! The rows of one key range: runs of block rows, split by rows of the deltas.

pub(crate) mod overlay;
pub(crate) mod read_ahead;
pub(crate) mod segment;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::{ScanContext, TableError};
use saltwing_store::{Bytes, Direction};

use crate::engine::block_ref::BlockRef;
use crate::engine::directory::ends_in_entry;
use crate::engine::entry::Entry;
use crate::engine::table_rows::TableRows;
use crate::format::fix_part::FixPart;
use crate::format::stored_row::{RecentRow, StoredRow};
use crate::format::summary::Summary;
use crate::scan::conditions::Conditions;

use read_ahead::{Depth, ReadAhead};
pub(crate) use segment::{RowSegment, RowSegments};

/// Rows of a delta that are taken at first, where no more are wanted, and at most at once. The first is small because most
/// walks are short.
const DELTA_ROWS_MIN: usize = 8;
const DELTA_ROWS_MAX: usize = 1024;

/// Blocks that are passed over before the caller looks whether it is to stop.
const BLOCKS_PASSED_MAX: usize = 1024;

/// The state shared by the cursors of a scan: the rows, the rules for omitted ones, and the counters.
pub(crate) struct WalkContext {
    pub(crate) rows: TableRows,
    pub(crate) scan: ScanContext,
    pub(crate) direction: Direction,
    /// Rows written at or before this are expired.
    pub(crate) expired_ms: Option<i64>,
    /// Blocks without a row that can match the filter become [`RowSegment::Pruned`].
    pub(crate) zones: Option<Arc<Conditions>>,
}

/// Walks one range of row keys, never an empty one.
pub(crate) struct Walk {
    context: Arc<WalkContext>,
    start: Vec<u8>,
    end: Option<Vec<u8>>,
    /// The index of the next entry.
    index: usize,
    /// Forward scans only, once known: the entries from `index` up to this one (exclusive) have all of their keys in
    /// the range. The cursor then compares none of their keys.
    whole_until: Option<usize>,
    /// Whether an entry lay in the range altogether: then it is worth knowing how many do.
    is_long: bool,
    read_ahead: ReadAhead,
    /// The prefetched parts of the next blocks: their columns, unless the last block was pruned.
    depth: Depth,
    done: bool,
    segments: VecDeque<RowSegment>,
    recent: Vec<RecentRow>,
    recent_most: usize,
}

impl Walk {
    /// A walk over the keys from `start`, included, to `end`.
    pub(crate) fn new(context: Arc<WalkContext>, start: Vec<u8>, end: Option<Vec<u8>>) -> Self {
        let index = match context.direction {
            Direction::Forward => context.rows.directory.floor(&start),
            Direction::Reverse => context.rows.directory.last_below(end.as_deref()),
        };
        let (segments, recent) = (VecDeque::new(), Vec::new());
        let recent_most = DELTA_ROWS_MIN;
        Self {
            context,
            start,
            end,
            index,
            whole_until: None,
            is_long: false,
            read_ahead: ReadAhead::default(),
            depth: Depth::Columns,
            done: false,
            segments,
            recent,
            recent_most,
        }
    }

    /// The next visible rows, `most` at most, where that many are wanted, or `usize::MAX`; `None` at the end.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<RowSegment>, TableError> {
        loop {
            if let Some(segment) = self.segments.front_mut() {
                if segment.len() > most {
                    return Ok(Some(segment.split(most, self.context.direction)));
                }
                return Ok(self.segments.pop_front());
            }
            if self.done {
                return Ok(None);
            }
            if !self.read_whole_entry()? {
                self.read_entry(most)?;
            }
        }
    }

    /// Adds segments that were found already to `out`, of `most` rows at most.
    pub(crate) fn add_found(&mut self, mut most: usize, out: &mut RowSegments) {
        out.reserve(self.segments.len().min(most));
        while self.segments.front().is_some_and(|segment| segment.len() <= most)
            && let Some(segment) = self.segments.pop_front()
        {
            most -= segment.len();
            out.push(segment);
        }
    }

    /// Whether the range continues after a place, in the direction of the scan.
    pub(crate) fn reaches(&self, place: &[u8]) -> bool {
        match self.context.direction {
            Direction::Forward => self.end.as_deref().is_none_or(|end| place < end),
            Direction::Reverse => *self.start < *place,
        }
    }

    /// Leaves out the rows before a place that the walk [reaches](Walk::reaches): forward those below it, in reverse
    /// the others.
    pub(crate) fn seek(&mut self, place: &[u8]) -> Result<(), TableError> {
        let direction = self.context.direction;
        // Segments already found are used up to the place; they are not merged again.
        while let Some(segment) = self.segments.front_mut().filter(|segment| !matches!(segment, RowSegment::Pruned(_)))
        {
            let before = segment.rows_before(place, direction)?;
            if before < segment.len() {
                // Its keys were read, or the rows before those that are left.
                self.context.scan.counters.count_blocks(u64::from(segment.is_uncounted()));
                if before > 0 {
                    segment.split(before, direction);
                }
                segment.set_counted();
                return Ok(());
            }
            self.segments.pop_front();
        }
        match direction {
            Direction::Forward => {
                self.index = self.context.rows.directory.floor(place);
                (self.whole_until, self.is_long) = (None, false);
                self.start = place.to_vec();
            }
            Direction::Reverse => {
                self.index = self.context.rows.directory.last_below(Some(place));
                self.end = Some(place.to_vec());
            }
        }
        self.segments.clear();
        self.recent_most = DELTA_ROWS_MIN;
        self.done = false;
        Ok(())
    }

    /// Skips the next blocks as long as all of their rows are visible and `takes` accepts their summaries, at most
    /// [`BLOCKS_PASSED_MAX`]; returns their row count. None of them is read.
    pub(crate) fn pass_blocks(&mut self, mut takes: impl FnMut(&Summary) -> bool) -> u64 {
        if self.context.direction == Direction::Reverse || self.done || !self.segments.is_empty() {
            return 0;
        }
        let mut rows = 0;
        let mut whole = self.whole_entries();
        whole.end = whole.end.min(whole.start + BLOCKS_PASSED_MAX);
        for index in whole.clone() {
            self.read_ahead.prefetch(&self.context.rows.directory, self.index, Depth::Summary, whole.end - index);
            let Some(entry) = self.context.rows.directory.entry(index) else { break };
            let is_alive = |block: &&Arc<BlockRef>| {
                self.context.expired_ms.is_none_or(|limit_ms| block.summary.times_ms.0 > limit_ms)
            };
            match entry.lone_block().filter(is_alive) {
                Some(block) if takes(&block.summary) => rows += u64::from(block.summary.rows),
                _ => break,
            }
            self.index = index + 1;
        }
        rows
    }

    /// The next entries known to have all of their keys in the range; never the last one of the range.
    fn whole_entries(&mut self) -> Range<usize> {
        let (directory, none) = (&self.context.rows.directory, self.index..self.index);
        if let Some(until) = self.whole_until {
            return self.index..until;
        }
        match directory.owned(self.index) {
            Some((entry, Some(entry_end))) if *self.start <= *entry.fence => match self.end.as_deref() {
                Some(end) if end <= &**entry_end => none,
                end => self.index..*self.whole_until.insert(directory.last_below(end)),
            },
            _ => none,
        }
    }

    /// Returns the segments of the next entry if they are all rows of its block, known to be in the range, without
    /// comparing keys; else `false`.
    fn read_whole_entry(&mut self) -> Result<bool, TableError> {
        if !self.is_long {
            return Ok(false);
        }
        let whole = self.whole_entries();
        if whole.is_empty() {
            return Ok(false);
        }
        self.read_ahead.prefetch(&self.context.rows.directory, self.index, self.depth, whole.len());
        let entry = self.context.rows.directory.entry(self.index);
        let Some(block) = entry.and_then(|entry| entry.lone_block()).cloned() else { return Ok(false) };
        self.add_run(&block, None, 0..block.summary.rows as usize)?;
        self.pass_over(&block);
        self.index += 1;
        Ok(true)
    }

    /// Finds the segments of the next entry, or only a part of it if its delta rows reach `wanted` rows.
    fn read_entry(&mut self, wanted: usize) -> Result<(), TableError> {
        let context = self.context.clone();
        let Some((entry, entry_end)) = context.rows.directory.owned(self.index) else {
            self.done = true;
            return Ok(());
        };
        let (walk_start, walk_end) = (std::mem::take(&mut self.start), self.end.take());
        let entry_end = entry_end.map(|end| &**end);
        let begins_inside = *walk_start <= *entry.fence;
        let start = if begins_inside { entry.fence.as_ref() } else { &walk_start[..] };
        // Whether the range does not reach the next entry.
        let ends_here = ends_in_entry(walk_end.as_deref(), entry_end);
        let end = if ends_here { walk_end.as_deref() } else { entry_end };
        self.recent.clear();
        // Where the rest of the entry begins, or in reverse ends, when its delta rows are taken in parts.
        let mut rest = None;
        if entry.is_dirty() && end.is_none_or(|end| start < end) {
            let direction = self.context.direction;
            // Deleted rows may be many: each time more are taken.
            let wanted = if wanted == usize::MAX { 0 } else { wanted };
            let most = self.recent_most.max(wanted).min(DELTA_ROWS_MAX);
            let complete = context.rows.collect(start, end, direction, most, &mut self.recent);
            self.recent_most = (2 * self.recent_most).min(DELTA_ROWS_MAX);
            if let (false, Some((last, _))) = (complete, self.recent.last()) {
                rest = Some(match direction {
                    Direction::Forward => [&last[..], &[0]].concat(),
                    Direction::Reverse => last.to_vec(),
                });
            }
            if direction == Direction::Reverse {
                self.recent.reverse();
            }
        }
        let (start, end) = match self.context.direction {
            Direction::Forward => (start, rest.as_deref().or(end)),
            Direction::Reverse => (rest.as_deref().unwrap_or(start), end),
        };
        let found = match entry.runs.is_empty() {
            true => self.merge_with_recent(entry, start, end, ends_here),
            false => self.merge_with_runs(entry, start, end),
        };
        (self.start, self.end) = (walk_start, walk_end);
        found?;
        match (self.context.direction, rest) {
            (Direction::Forward, None) => {
                self.done = ends_here;
                self.index += 1;
                self.is_long = begins_inside && !self.done;
            }
            (Direction::Reverse, None) => {
                self.done = self.index == 0 || *self.start >= *entry.fence;
                self.index = self.index.saturating_sub(1);
            }
            (Direction::Forward, Some(rest)) => self.start = rest,
            (Direction::Reverse, Some(rest)) => self.end = Some(rest),
        }
        Ok(())
    }

    /// Merges the rows of a block from `start` to `end` with the recent ones, which are all from there. `ends_here` says
    /// whether the range is known to end in this entry.
    fn merge_with_recent(
        &mut self,
        entry: &Entry,
        start: &[u8],
        end: Option<&[u8]>,
        ends_here: bool,
    ) -> Result<(), TableError> {
        let block = entry.block.as_ref();
        let mut recent = std::mem::take(&mut self.recent);
        let alone = recent.is_empty();
        let mut lead = None;
        let mut at = 0;
        let mut until = 0;
        if let Some(block) = block {
            let count = block.summary.rows as usize;
            // A block's keys are at or after its fence, where most scans start.
            let whole_start = start <= &*entry.fence;
            // The last key is seldom in a cache: of a short range, the keys are searched if they are in memory.
            let is_short = alone && ends_here && !(whole_start && end.is_none());
            let near = if is_short { block.in_memory().and_then(|parts| parts.lead()) } else { None };
            if let Some(keys) = near {
                at = if whole_start { 0 } else { keys.lower_bound(start) };
                until = end.map_or(count, |end| keys.lower_bound_in(end, at..count));
                lead = Some(keys).filter(|_| at > 0 || until < count);
            } else if start <= &*block.summary.last_key {
                let whole_end = end.is_none_or(|end| *block.summary.last_key < *end);
                (at, until) = (0, count);
                if !(alone && whole_start && whole_end) {
                    let keys = block.lead()?;
                    (at, until) = (
                        if whole_start { 0 } else { keys.lower_bound(start) },
                        end.filter(|_| !whole_end).map_or(count, |end| keys.lower_bound(end)),
                    );
                    lead = Some(keys);
                }
            }
        }
        if let (true, Some(block)) = (alone, block) {
            if at < until {
                self.add_run(block, lead.as_ref(), at..until)?;
            }
            self.pass_over(block);
            self.recent = recent;
            return Ok(());
        }
        self.segments.reserve(2 * recent.len() + 1);
        let mut seeker = lead.as_ref().map(|keys| keys.seeker(at..until));
        for (key, row) in recent.drain(..) {
            if let (Some(block), Some(seeker)) = (block, &mut seeker) {
                let below = seeker.pass(&key);
                if !below.is_empty() {
                    self.add_run(block, lead.as_ref(), below)?;
                }
            }
            self.add_recent(key, row);
        }
        if let (Some(block), Some(seeker)) = (block, seeker)
            && !seeker.rest().is_empty()
        {
            self.add_run(block, lead.as_ref(), seeker.rest())?;
        }
        self.order_segments();
        if lead.is_some() {
            self.context.scan.counters.blocks_read.fetch_add(1, Relaxed);
        }
        self.recent = recent;
        Ok(())
    }

    /// Puts the segments of an entry, which were found in key order, into the order of the scan.
    fn order_segments(&mut self) {
        if self.context.direction == Direction::Reverse {
            self.segments.make_contiguous().reverse();
        }
    }

    /// Adds a row of a delta, unless it is deleted or expired.
    fn add_recent(&mut self, key: Bytes, row: Option<StoredRow>) {
        if let Some(row) = row
            && self.context.expired_ms.is_none_or(|limit_ms| row.time_ms() > limit_ms)
        {
            self.segments.push_back(RowSegment::Row { key, row });
        }
    }

    /// Adds the unexpired rows among some of a block.
    fn add_run(
        &mut self,
        block: &Arc<BlockRef>,
        lead: Option<&Arc<FixPart>>,
        rows: Range<usize>,
    ) -> Result<(), TableError> {
        let (oldest, newest) = block.summary.times_ms;
        let Some(limit_ms) = self.context.expired_ms.filter(|limit_ms| oldest <= *limit_ms) else {
            match self.segments.back_mut() {
                Some(RowSegment::Block { block: before, rows: added, .. })
                    if before.id == block.id && added.end == rows.start =>
                {
                    added.end = rows.end;
                }
                _ => {
                    let is_counted = lead.is_some();
                    self.segments.push_back(RowSegment::Block { block: block.clone(), rows, is_counted });
                }
            }
            return Ok(());
        };
        if newest <= limit_ms {
            return Ok(());
        }
        let keys = match lead {
            Some(lead) => lead.clone(),
            None => block.lead()?,
        };
        let mut start = rows.start;
        for row in rows.clone() {
            if keys.time_ms(row) <= limit_ms {
                if start < row {
                    self.push_counted(block, start..row);
                }
                start = row + 1;
            }
        }
        if start < rows.end {
            self.push_counted(block, start..rows.end);
        }
        Ok(())
    }

    /// Adds rows of a block whose keys were read.
    fn push_counted(&mut self, block: &Arc<BlockRef>, rows: Range<usize>) {
        self.segments.push_back(RowSegment::Block { block: block.clone(), rows, is_counted: true });
    }

    /// The segments are those of one block alone: they are not read when its summary rules them out.
    fn pass_over(&mut self, block: &Arc<BlockRef>) {
        if self.segments.is_empty() {
            return;
        }
        let counters = &self.context.scan.counters;
        if self.context.zones.as_ref().is_some_and(|zones| zones.excludes(&block.summary)) {
            let rows = self.segments.drain(..).map(|segment| segment.len()).sum();
            self.segments.push_back(RowSegment::Pruned(rows));
            counters.blocks_skipped.fetch_add(1, Relaxed);
            self.depth = Depth::Summary;
            return;
        }
        self.depth = Depth::Columns;
        // If no part was read here, the reader of the rows counts the block.
        counters.count_blocks(u64::from(!self.segments.iter().any(RowSegment::is_uncounted)));
        self.order_segments();
    }
}
