//! Buckets by turns: rows of a salted table in row-key order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use saltwing_access::TableError;
use saltwing_store::Direction;

use crate::format::row_order::{nth, take_first};
use crate::scan::bucket::BucketScan;
use crate::scan::cursor::segment::RowSegment;

/// Merges buckets in row-key order.
pub(crate) struct Merge {
    scans: Vec<BucketScan>,
    heads: BinaryHeap<Head>,
    direction: Direction,
    /// Buckets without a head that may have more rows; all of them at first.
    to_fill: Vec<usize>,
    /// A head's key while it is compared.
    key: Vec<u8>,
}

/// Rows of one bucket that are put out next, and the key of their first without the bucket byte.
struct Head {
    segment: RowSegment,
    key: Vec<u8>,
    bucket: usize,
    direction: Direction,
}

impl Ord for Head {
    /// The heap returns its greatest element: the first row in the direction of the scan. Segments without keys come
    /// first.
    fn cmp(&self, other: &Self) -> Ordering {
        let passed = |head: &Self| matches!(head.segment, RowSegment::Pruned(_));
        let by_key = self.key.cmp(&other.key);
        let by_key = if self.direction == Direction::Forward { by_key.reverse() } else { by_key };
        passed(self).cmp(&passed(other)).then(by_key).then(other.bucket.cmp(&self.bucket))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl Merge {
    pub(crate) fn new(scans: Vec<BucketScan>, direction: Direction) -> Self {
        let to_fill = (0..scans.len()).collect();
        Self { scans, heads: BinaryHeap::new(), direction, to_fill, key: Vec::new() }
    }

    pub(crate) fn next(&mut self, most: usize) -> Result<Option<RowSegment>, TableError> {
        while let Some(bucket) = self.to_fill.pop() {
            if let Some(scan) = self.scans.get_mut(bucket)
                && let Some(segment) = scan.next(usize::MAX)?
            {
                let mut key = Vec::new();
                logical_key(&segment, self.direction, &mut key)?;
                self.heads.push(Head { segment, key, bucket, direction: self.direction });
            }
        }
        let Some(mut head) = self.heads.pop() else { return Ok(None) };
        let count = self.rows_before_others(&head, most)?;
        if count == head.segment.len() {
            self.to_fill.push(head.bucket);
            return Ok(Some(head.segment));
        }
        let taken = head.segment.split(count, self.direction);
        logical_key(&head.segment, self.direction, &mut head.key)?;
        self.heads.push(head);
        Ok(Some(taken))
    }

    /// How many rows of a head, one at least, come before those of all other buckets.
    fn rows_before_others(&mut self, head: &Head, most: usize) -> Result<usize, TableError> {
        let count = head.segment.len().min(most.max(1));
        let (RowSegment::Block { block, rows, .. }, Some(other)) = (&head.segment, self.heads.peek()) else {
            return Ok(count);
        };
        let rows = take_first(&mut rows.clone(), self.direction, count);
        // The position of the other bucket's first row in this one: only the bucket byte differs.
        let lead = block.lead()?;
        lead.key_into(nth(&rows, self.direction, count - 1), &mut self.key);
        if self.direction.is_before(self.key.get(1..).unwrap_or_default(), &other.key) {
            return Ok(count);
        }
        self.key.truncate(1);
        self.key.extend_from_slice(&other.key);
        let place = lead.search_in(&self.key, rows.clone());
        let before = match (self.direction, place) {
            (Direction::Forward, Ok(row) | Err(row)) => row - rows.start,
            (Direction::Reverse, Ok(row)) => rows.end - row - 1,
            (Direction::Reverse, Err(row)) => rows.end - row,
        };
        Ok(before.max(1))
    }
}

/// The key of the first row without its bucket byte: what order across buckets goes by.
fn logical_key(segment: &RowSegment, direction: Direction, key: &mut Vec<u8>) -> Result<(), TableError> {
    segment.first_key(direction, key)?;
    if !key.is_empty() {
        key.remove(0);
    }
    Ok(())
}
