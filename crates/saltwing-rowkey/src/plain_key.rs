//! Encodes the most common keys and ranges in one pass: leading columns have values, and the next column may have a
//! range.
//!
//! # Law
//! A result equals that of [`RowKeyCodec::encode`], or of [`RowKeyCodec::prefix_range`] or [`RowKeyCodec::span_range`] in the
//! bucket of [`RowKeyCodec::bucket_of_prefix`]. `None` means that this short way does not apply: use those.

use std::ops::Bound;

use saltwing_types::Value;
use saltwing_types::table::ROW_KEY_BYTES_MAX;

use crate::column::ColumnCodec;
use crate::key_range::end_of_bucket;
use crate::span::increment;
use crate::{KEY_BYTES_EXPECTED, Key, KeyRange, RowKeyCodec, salt};

/// A physical key whose leading columns are written.
pub struct PlainKey<'c> {
    codec: &'c RowKeyCodec,
    /// Without what would follow if another column came.
    bytes: Key,
    columns: usize,
    /// End of the bytes that the bucket depends on.
    salted_end: usize,
    /// Whether the keys may lie in any bucket.
    in_any_bucket: bool,
}

/// Keys that lie in one bucket, or in any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketRange {
    /// The bucket; `None` where the table has none, or the keys are those [of any](PlainKey::in_any_bucket).
    pub bucket: Option<u8>,
    /// The physical keys; the logical ones if the keys lie in any bucket.
    pub range: KeyRange,
}

impl BucketRange {
    /// The keys without the bucket byte.
    pub fn logical(&self) -> KeyRange {
        self.range.out_of_bucket(self.bucket)
    }
}

impl RowKeyCodec {
    /// A key without columns.
    pub fn plain_key(&self) -> PlainKey<'_> {
        let mut bytes = Key::with_capacity(KEY_BYTES_EXPECTED);
        bytes.resize(self.bucket_bytes(), 0);
        PlainKey { codec: self, columns: 0, salted_end: bytes.len(), in_any_bucket: false, bytes }
    }
}

impl<'c> PlainKey<'c> {
    /// Adds the value of the next column; `None` where no row has it just so, or it is NULL.
    pub fn push(&mut self, value: &Value) -> Option<()> {
        let column = self.codec.columns.get(self.columns)?;
        if let Some(before) = self.columns.checked_sub(1).and_then(|before| self.codec.columns.get(before)) {
            before.write_separator(&mut self.bytes);
        }
        write(column, value, &mut self.bytes)?;
        self.columns += 1;
        if self.columns == self.codec.salt_column_count() {
            self.salted_end = self.bytes.len();
        }
        Some(())
    }

    /// Ranges of it are of logical keys, in every bucket.
    #[must_use]
    pub fn in_any_bucket(self) -> Self {
        Self { in_any_bucket: true, ..self }
    }

    /// The key of the one row, all of whose columns were pushed.
    pub fn row_key(mut self) -> Option<Key> {
        let is_whole = self.columns == self.codec.columns.len() && !self.bytes.is_empty() && !self.in_any_bucket;
        self.put_bucket()?;
        (is_whole && self.bytes.len() <= ROW_KEY_BYTES_MAX).then_some(self.bytes)
    }

    /// The keys of the rows that have the values pushed, not of all columns.
    pub fn prefix_range(mut self) -> Option<BucketRange> {
        let bucket = self.put_bucket()?;
        let may_be_key = !self.bytes.is_empty() || self.codec.allows_empty();
        let may_end = may_be_key && self.codec.columns.iter().skip(self.columns).all(|column| column.nullable);
        let whole = may_end.then(|| self.bytes.clone());
        self.last()?.write_separator(&mut self.bytes);
        // If only NULLs may follow, keys omit them together with the separator before them.
        let start = whole.unwrap_or_else(|| self.bytes.clone());
        bucket_range(bucket, start, after(self.bytes, bucket))
    }

    /// The keys among these whose next column lies between two values; one of the two may be missing.
    pub fn span_range(mut self, lo: Bound<&Value>, hi: Bound<&Value>) -> Option<BucketRange> {
        let column = self.codec.columns.get(self.columns)?;
        let bucket = self.put_bucket()?;
        if let Some(last) = self.last() {
            last.write_separator(&mut self.bytes);
        }
        // Forward in the key, which goes against the values where they descend. A place is after its value or before it.
        let (lo, hi) = (bound(lo, true), bound(hi, false));
        let (from, to) = if column.is_desc() { (hi, lo) } else { (lo, hi) };
        let place = |value: &Value, is_above: bool| {
            let mut key = Key::with_capacity(self.bytes.len() + KEY_BYTES_EXPECTED);
            key.extend_from_slice(&self.bytes);
            write(column, value, &mut key)?;
            Some(match is_above != column.is_desc() {
                false => Some(key),
                true if column.last && column.may_be_empty() => {
                    key.push(0);
                    Some(key)
                }
                true => {
                    column.write_separator(&mut key);
                    after(key, bucket)
                }
            })
        };
        let start = match from {
            Some((value, is_above)) => place(value, is_above)??,
            None => [&self.bytes, column.first_value_bytes()].concat(),
        };
        let end = match to {
            Some((value, is_above)) => place(value, is_above)?,
            None if from.is_none() => return None,
            None => after(self.bytes, bucket),
        };
        // The general encoding handles a range that ends at the smallest value of all.
        let ends_at_first = |end: &Key| from.is_none() && end.iter().skip(start.len()).all(|byte| *byte == 0);
        if end.as_ref().is_some_and(ends_at_first) {
            return None;
        }
        bucket_range(bucket, start, end)
    }

    /// The column pushed last.
    fn last(&self) -> Option<&'c ColumnCodec> {
        self.codec.columns.get(self.columns.checked_sub(1)?)
    }

    /// Puts the bucket first, if keys have one; `None` if it is needed and the columns do not determine it.
    fn put_bucket(&mut self) -> Option<Option<u8>> {
        let Some(salt) = self.codec.salt else { return Some(None) };
        if self.in_any_bucket {
            self.bytes.drain(..self.codec.bucket_bytes());
            return Some(None);
        }
        if self.codec.rows.is_some() || self.columns < self.codec.salt_column_count() {
            return None;
        }
        let bucket = salt::bucket(self.bytes.get(1..self.salted_end)?, salt.buckets);
        *self.bytes.first_mut()? = bucket;
        Some(Some(bucket))
    }
}

/// Value and terminator of a column; `None` where no row has just this value.
fn write(column: &ColumnCodec, value: &Value, out: &mut Vec<u8>) -> Option<()> {
    if value.is_null() {
        return None;
    }
    column.encode(value, out).ok()?;
    column.write_terminator(out);
    Some(())
}

/// A bound's value, and whether the rows of the span lie above its place: a place is above the value, or below it.
fn bound(bound: Bound<&Value>, is_low: bool) -> Option<(&Value, bool)> {
    match bound {
        Bound::Included(value) => Some((value, !is_low)),
        Bound::Excluded(value) => Some((value, is_low)),
        Bound::Unbounded => None,
    }
}

/// The end of all keys with this prefix, in the bucket, in the same form as the ends of other ranges.
fn after(key: Key, bucket: Option<u8>) -> Option<Key> {
    increment(key, usize::from(bucket.is_some())).or_else(|| end_of_bucket(bucket?))
}

fn bucket_range(bucket: Option<u8>, start: Key, end: Option<Key>) -> Option<BucketRange> {
    let is_short = |key: &Key| key.len() <= ROW_KEY_BYTES_MAX;
    if !is_short(&start) || !end.iter().all(is_short) {
        return None;
    }
    Some(BucketRange { bucket, range: KeyRange::new(start, end)? })
}
