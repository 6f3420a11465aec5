//! The rows of one bucket (or of a table without salt), range after range.

use std::sync::Arc;

use saltwing_rowkey::KeyRange;
use saltwing_store::{Bytes, Cursor, Direction};

use crate::layout::{PREFIX_BYTES, range_bounds, store_key};
use crate::row_format::write_time_ms;
use crate::scan::RangeIter;
use crate::{ReadView, ScanContext, Table, TableError};

/// Ranges in a row that held no row, after which the scan looks where the next row is: lists of keys that
/// are mostly not there, and products of lists above all, then cost as many steps as there are rows at most.
const MISSES_MAX: u32 = 1024;
/// Ranges after which cancel and time are looked at.
const CHECK_RANGES: u32 = 1024;

/// One row as stored: its physical key and the stored form of each family asked for.
pub(crate) struct StoredPair {
    /// Store key; the row key follows [`PREFIX_BYTES`].
    store_key: Bytes,
    /// By family; `None` where the family has no pair or was not asked for.
    pub(crate) families: Vec<Option<Bytes>>,
}

impl StoredPair {
    /// The physical row key, bucket byte included.
    pub(crate) fn row_key(&self) -> &[u8] {
        self.store_key.get(PREFIX_BYTES..).unwrap_or_default()
    }

    /// The row key without the bucket byte: what order across buckets goes by.
    pub(crate) fn logical_key(&self, salted: bool) -> &[u8] {
        self.row_key().get(usize::from(salted)..).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.store_key.len() + self.families.iter().flatten().map(|f| f.len()).sum::<usize>()) as u64
    }
}

/// Walks the ranges of one bucket in one direction.
pub(crate) struct BucketScan {
    view: Arc<ReadView>,
    table: Arc<Table>,
    bucket: Option<u8>,
    direction: Direction,
    ranges: RangeIter,
    /// Families beyond the first whose values are wanted.
    other_families: Vec<u8>,
    /// Rows written at or before this are expired.
    expired_ms: Option<i64>,
    context: ScanContext,
    walk: Option<Walk>,
    /// Ranges entered since the last row.
    misses: u32,
    /// Ranges taken, for [`CHECK_RANGES`].
    ranges_taken: u32,
    ahead: Ahead,
}

/// What a look ahead has found.
enum Ahead {
    /// Nothing was looked for.
    Unknown,
    /// The next row has this logical key.
    Row(Vec<u8>),
    /// There is no row any more.
    End,
}

/// The cursors of one range: the first family leads, the others follow.
struct Walk {
    rows: Box<dyn Cursor>,
    others: Vec<Follower>,
}

struct Follower {
    family: u8,
    cursor: Box<dyn Cursor>,
    /// The pair that the cursor stands on, not yet used.
    ahead: Option<(Bytes, Bytes)>,
}

impl BucketScan {
    pub(crate) fn new(
        view: Arc<ReadView>,
        table: Arc<Table>,
        bucket: Option<u8>,
        direction: Direction,
        ranges: RangeIter,
        other_families: Vec<u8>,
        context: ScanContext,
    ) -> Self {
        let expired_ms = table.expired_ms(view.now_ms());
        Self {
            view,
            table,
            bucket,
            direction,
            ranges,
            other_families,
            expired_ms,
            context,
            walk: None,
            misses: 0,
            ranges_taken: 0,
            ahead: Ahead::Unknown,
        }
    }

    /// The next visible row.
    pub(crate) fn next(&mut self) -> Result<Option<StoredPair>, TableError> {
        loop {
            if let Some(walk) = &mut self.walk {
                while let Some((store_key, value)) = walk.rows.next()? {
                    if self.expired_ms.is_some_and(|limit| write_time_ms(&value).is_some_and(|t| t <= limit)) {
                        continue;
                    }
                    let mut families = vec![None; self.table.family_count()];
                    for other in &mut walk.others {
                        let found = other.take(&store_key, self.direction)?;
                        if let Some(place) = families.get_mut(usize::from(other.family)) {
                            *place = found;
                        }
                    }
                    if let Some(first) = families.first_mut() {
                        *first = Some(value);
                    }
                    self.misses = 0;
                    return Ok(Some(StoredPair { store_key, families }));
                }
                self.walk = None;
            }
            let Some(range) = self.next_range()? else { return Ok(None) };
            if let Some(pair) = self.enter(range)? {
                self.misses = 0;
                return Ok(Some(pair));
            }
        }
    }

    /// The next range that a row may lie in.
    fn next_range(&mut self) -> Result<Option<KeyRange>, TableError> {
        loop {
            let Some(range) = self.ranges.next() else { return Ok(None) };
            self.ranges_taken = self.ranges_taken.wrapping_add(1);
            if self.ranges_taken.is_multiple_of(CHECK_RANGES) {
                self.context.check()?;
            }
            let is_past =
                matches!(&self.ahead, Ahead::Row(key) if !self.lies_before(&range, key) && !range.contains(key));
            if self.misses >= MISSES_MAX && (is_past || matches!(self.ahead, Ahead::Unknown)) {
                self.look_ahead(&range)?;
            }
            match &self.ahead {
                Ahead::End => return Ok(None),
                Ahead::Row(key) if self.lies_before(&range, key) => {}
                _ => {
                    self.misses = self.misses.saturating_add(1);
                    return Ok(Some(range));
                }
            }
        }
    }

    /// Whether the whole range comes before `key` in the direction of travel.
    fn lies_before(&self, range: &KeyRange, key: &[u8]) -> bool {
        match self.direction {
            Direction::Forward => range.end().is_some_and(|end| end <= key),
            Direction::Reverse => range.start() > key,
        }
    }

    /// Finds the first row in or behind a range, and leaves out the ranges before it.
    fn look_ahead(&mut self, range: &KeyRange) -> Result<(), TableError> {
        let rest = match self.direction {
            Direction::Forward => KeyRange::new(range.start().to_vec(), None),
            Direction::Reverse => KeyRange::new(Vec::new(), range.end().map(<[u8]>::to_vec)),
        };
        // A range has an end behind its start, so that the rest is never empty.
        let rest = rest.unwrap_or_else(KeyRange::all);
        self.context.counters.seeks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let bounds = range_bounds(self.table.def().id, 0, self.bucket, &rest);
        self.ahead = match self.view.cursor(bounds, self.direction)?.next()? {
            None => Ahead::End,
            Some((store_key, _)) => {
                let logical = store_key.get(PREFIX_BYTES + usize::from(self.bucket.is_some())..).unwrap_or_default();
                self.ranges.skip_to(logical);
                Ahead::Row(logical.to_vec())
            }
        };
        Ok(())
    }

    /// Positions at a range: a point is got at once, for anything else a walk begins.
    fn enter(&mut self, range: KeyRange) -> Result<Option<StoredPair>, TableError> {
        self.context.counters.seeks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.context.counters.touch_bucket(self.bucket.unwrap_or(0));
        if let Some(key) = point_key(&range) {
            let physical: Vec<u8> = self.bucket.into_iter().chain(key.iter().copied()).collect();
            return get_row(&self.view, &self.table, &physical, &self.other_families);
        }
        let id = self.table.def().id;
        let open = |family| self.view.cursor(range_bounds(id, family, self.bucket, &range), self.direction);
        let rows = open(0)?;
        let others = self
            .other_families
            .iter()
            .map(|&family| Ok(Follower { family, cursor: open(family)?, ahead: None }))
            .collect::<Result<_, TableError>>()?;
        self.walk = Some(Walk { rows, others });
        Ok(None)
    }
}

/// The key of a range that holds just one.
fn point_key(range: &KeyRange) -> Option<&[u8]> {
    match range.end()?.split_last()? {
        (0, key) if key == range.start() => Some(key),
        _ => None,
    }
}

impl Follower {
    /// This family's pair of the row whose first pair has `lead`, if there is one.
    fn take(&mut self, lead: &[u8], direction: Direction) -> Result<Option<Bytes>, TableError> {
        let row_key = |key: &[u8]| key.get(PREFIX_BYTES..).unwrap_or_default().to_vec();
        let wanted = row_key(lead);
        loop {
            if self.ahead.is_none() {
                self.ahead = self.cursor.next()?;
            }
            let Some((key, _)) = &self.ahead else { return Ok(None) };
            let place = key.get(PREFIX_BYTES..).unwrap_or_default().cmp(&wanted);
            let place = if direction == Direction::Reverse { place.reverse() } else { place };
            match place {
                std::cmp::Ordering::Greater => return Ok(None),
                std::cmp::Ordering::Equal => return Ok(self.ahead.take().map(|(_, value)| value)),
                std::cmp::Ordering::Less => self.ahead = None,
            }
        }
    }
}

/// One row by its physical key, if it is there and not expired.
pub(crate) fn get_row(
    view: &ReadView,
    table: &Table,
    row_key: &[u8],
    other_families: &[u8],
) -> Result<Option<StoredPair>, TableError> {
    let id = table.def().id;
    let lead = store_key(id, 0, row_key);
    let Some(value) = view.get(&lead)? else { return Ok(None) };
    if table.expired_ms(view.now_ms()).is_some_and(|limit| write_time_ms(&value).is_some_and(|t| t <= limit)) {
        return Ok(None);
    }
    let mut families = vec![None; table.family_count()];
    for &family in other_families {
        let found = view.get(&store_key(id, family, row_key))?;
        if let Some(place) = families.get_mut(usize::from(family)) {
            *place = found;
        }
    }
    if let Some(first) = families.first_mut() {
        *first = Some(value);
    }
    Ok(Some(StoredPair { store_key: Bytes::from(lead), families }))
}
