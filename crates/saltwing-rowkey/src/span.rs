//! From typed spans to byte ranges.
//!
//! ```text
//!  prefix ('x')         78   7800..        7801
//!                       |----|-----|---|----|
//!                     First  |  Before(v)   End      places, in key order
//!                       AfterNulls  After(v)
//! ```
//!
//! Each place is one cut through the sorted keys of a table: a byte string that
//! is above all keys before it and not above any key after it. A range lies
//! between two places. Cuts that go after all keys with certain bytes add one to
//! those bytes and keep their length, as Phoenix does; where they cannot
//! (`ff`), the cut is the end of all keys, never a lost bound.

use std::borrow::Borrow;
use std::ops;

use saltwing_types::table::ROW_KEY_BYTES_MAX;
use saltwing_types::{SqlType, Value};

use crate::bound::Place;
use crate::column::{ColumnCodec, Framing};
use crate::{KEY_BYTES_EXPECTED, Key, KeyRange, RowKeyCodec, RowKeyError, merge_ranges};

/// One end of a range in **key order**, over the values of leading key columns.
#[derive(Clone, Copy, Debug)]
pub enum Bound<'a> {
    /// Open.
    Unbounded,
    /// All rows that begin with these values lie inside.
    Included(&'a [Value]),
    /// All rows that begin with these values lie outside.
    Excluded(&'a [Value]),
}

/// A span of one key column in **value order**: `lo` is the smaller value, in a
/// DESC column too.
///
/// Bounds are values, not NULL: whether NULL belongs to the span is a separate flag.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpan<'a> {
    /// Smallest value.
    pub lo: ops::Bound<&'a Value>,
    /// Largest value.
    pub hi: ops::Bound<&'a Value>,
    /// Whether NULL lies inside. Without effect in a NOT NULL column.
    pub nulls: bool,
}

/// Where to cut the keys that share a prefix, by the next column, in key order.
enum Cut<'a> {
    /// Before all of them.
    First,
    /// Between NULL and the values.
    AfterNulls,
    /// Before all rows with these stored value bytes, or where they would be.
    Before(&'a [u8]),
    /// After all rows with these stored value bytes, or where they would be.
    After(&'a [u8]),
    /// After all of them.
    End,
}

/// A byte string that cuts the keys, or the end of all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    Key(Key),
    End,
}

/// The encoded values of leading columns.
struct Prefix {
    /// With the separators that stand when more follows.
    bytes: Vec<u8>,
    /// As many of them as the key has in which only NULLs follow.
    trimmed: usize,
    /// Number of columns.
    columns: usize,
}

impl RowKeyCodec {
    /// The keys of exactly the rows whose leading columns have these values
    /// (NULL included), or `None` when no row can.
    ///
    /// All columns given, it is one key: [`KeyRange::is_point`].
    ///
    /// # Errors
    /// [`RowKeyError::Value`] for a value of another kind than its column's;
    /// [`RowKeyError::ValueCount`] for more values than key columns.
    pub fn prefix_range(&self, prefix: &[impl Borrow<Value>]) -> Result<Option<KeyRange>, RowKeyError> {
        let Some(prefix) = self.prefix(prefix)? else { return Ok(None) };
        if prefix.columns == self.columns.len() {
            return Ok(self.point(&prefix));
        }
        let (start, end) = (self.cut(&prefix, Cut::First), self.cut(&prefix, Cut::End));
        Ok(range(start, end))
    }

    /// The keys of exactly the rows whose leading columns have the values of
    /// `prefix` and whose next column lies in `span`: no range, one, or two
    /// sorted and disjoint ones (NULL, and values apart from it).
    ///
    /// Values that no row can have are legal bounds. CHAR compares as if padded with blanks;
    /// a short BINARY bound counts as padded, one that is too long lies just above its first n bytes.
    ///
    /// # Errors
    /// [`RowKeyError::Value`] for NULL as a bound and for a value of another kind than its
    /// column's; [`RowKeyError::ValueCount`] when `prefix` leaves no column.
    pub fn span_ranges(
        &self,
        prefix: &[impl Borrow<Value>],
        span: &ColumnSpan<'_>,
    ) -> Result<Vec<KeyRange>, RowKeyError> {
        let Some(column) = self.columns.get(prefix.len()) else {
            return Err(RowKeyError::ValueCount { given: prefix.len() + 1, expected: self.columns.len() });
        };
        // Bounds are judged even if the prefix is of no row.
        let (mut lo_bytes, mut hi_bytes) = (Vec::new(), Vec::new());
        let (lo, hi) = (column.low(span.lo, &mut lo_bytes)?, column.high(span.hi, &mut hi_bytes)?);
        let (from, to) = if column.is_desc() { (hi, lo) } else { (lo, hi) };
        let to = match (&from, to) {
            // Nothing sorts below the first value of a fixed width: not a range, rather than one without keys.
            (Cut::AfterNulls, Cut::Before(stored)) if column.is_first_value(stored) => Cut::AfterNulls,
            (_, to) => to,
        };
        let Some(prefix) = self.prefix(prefix)? else { return Ok(Vec::new()) };
        let all_values = matches!((&from, &to), (Cut::AfterNulls, Cut::End));
        if all_values && (span.nulls || !column.nullable) {
            return Ok(range(self.cut(&prefix, Cut::First), self.cut(&prefix, Cut::End)).into_iter().collect());
        }
        let mut ranges = Vec::with_capacity(2);
        if span.nulls && column.nullable && matches!(from, Cut::AfterNulls) {
            ranges.extend(range(self.cut(&prefix, Cut::First), self.cut(&prefix, to)));
            return Ok(ranges);
        }
        if span.nulls && column.nullable {
            ranges.extend(self.null_range(&prefix));
        }
        ranges.extend(range(self.cut(&prefix, from), self.cut(&prefix, to)));
        Ok(merge_ranges(ranges))
    }

    /// As [`RowKeyCodec::span_ranges`], as one range: exact unless NULL lies in the span and
    /// its first end in key order (`lo` of an ASC column, `hi` of a DESC one)
    /// is bounded; then the range also covers what lies between.
    ///
    /// # Errors
    /// As [`RowKeyCodec::span_ranges`].
    pub fn span_range(
        &self,
        prefix: &[impl Borrow<Value>],
        span: &ColumnSpan<'_>,
    ) -> Result<Option<KeyRange>, RowKeyError> {
        let mut ranges = self.span_ranges(prefix, span)?;
        let Some(last) = ranges.pop() else { return Ok(None) };
        match ranges.into_iter().next() {
            None => Ok(Some(last)),
            Some(first) => Ok(KeyRange::new(first.into_bounds().0, last.into_bounds().1)),
        }
    }

    /// The keys of exactly the rows between two bounds in key order, as
    /// [`RowKeyCodec::compare`] has it on the columns that a bound names: NULL is a value
    /// there, and comes first. For rows after a given one, and for row-value
    /// comparisons whose columns all go one way.
    ///
    /// # Errors
    /// As [`RowKeyCodec::prefix_range`].
    pub fn bounds_range(&self, lo: Bound<'_>, hi: Bound<'_>) -> Result<Option<KeyRange>, RowKeyError> {
        let start = match lo {
            Bound::Unbounded => Position::Key(Key::new()),
            Bound::Included(values) => self.position(values, false)?,
            Bound::Excluded(values) => self.position(values, true)?,
        };
        let end = match hi {
            Bound::Unbounded => Position::End,
            Bound::Included(values) => self.position(values, true)?,
            Bound::Excluded(values) => self.position(values, false)?,
        };
        Ok(range(start, end))
    }

    /// Before, or after, all rows that begin with these values.
    fn position(&self, values: &[Value], after: bool) -> Result<Position, RowKeyError> {
        self.check_prefix(values)?;
        let mut prefix = Prefix::new();
        let mut stored = Vec::new();
        for (column, value) in self.columns.iter().zip(values) {
            if value.is_null() {
                if !column.nullable {
                    return Ok(self.cut(&prefix, Cut::First));
                }
                prefix.push_null(column);
                continue;
            }
            stored.clear();
            let place = column.place(value, &mut stored).map_err(|error| column.error(error))?;
            if place != Place::At {
                // No row has this value: the rest of the bound does not matter.
                return Ok(self.cut(&prefix, column.cut_at(place, false, &stored)));
            }
            prefix.push(column, &stored);
        }
        if prefix.columns < self.columns.len() {
            return Ok(self.cut(&prefix, if after { Cut::End } else { Cut::First }));
        }
        let mut key = prefix.key();
        // A key of no bytes that no row can have has all rows after it.
        if after && (!key.is_empty() || self.allows_empty()) {
            key.push(0);
        }
        Ok(Position::Key(key))
    }

    /// The rows whose next column is NULL.
    fn null_range(&self, prefix: &Prefix) -> Option<KeyRange> {
        let column = self.columns.get(prefix.columns)?;
        let mut with_null = prefix.clone_bytes();
        with_null.push_null(column);
        if column.last {
            return self.point(&with_null);
        }
        range(self.cut(&with_null, Cut::First), self.cut(&with_null, Cut::End))
    }

    /// Encodes leading values; `None` when no row has them.
    fn prefix(&self, values: &[impl Borrow<Value>]) -> Result<Option<Prefix>, RowKeyError> {
        self.check_prefix(values)?;
        let mut prefix = Prefix::new();
        let mut stored = Vec::with_capacity(KEY_BYTES_EXPECTED);
        let mut possible = true;
        for (column, value) in self.columns.iter().zip(values.iter().map(Borrow::borrow)) {
            if value.is_null() {
                possible &= column.nullable;
                prefix.push_null(column);
                continue;
            }
            stored.clear();
            possible &= column.place(value, &mut stored).map_err(|error| column.error(error))? == Place::At;
            prefix.push(column, &stored);
        }
        possible &= prefix.trimmed + self.bucket_bytes() <= ROW_KEY_BYTES_MAX;
        Ok(possible.then_some(prefix))
    }

    fn check_prefix<V>(&self, values: &[V]) -> Result<(), RowKeyError> {
        let (given, expected) = (values.len(), self.columns.len());
        if given <= expected { Ok(()) } else { Err(RowKeyError::ValueCount { given, expected }) }
    }

    /// The place of a cut by the column after the prefix, which must exist.
    fn cut(&self, prefix: &Prefix, cut: Cut<'_>) -> Position {
        let Some(column) = self.columns.get(prefix.columns) else { return Position::End };
        // With room for a terminator and a separator.
        let with = |parts: &[&[u8]]| {
            let mut key =
                Key::with_capacity(prefix.bytes.len() + parts.iter().map(|part| part.len()).sum::<usize>() + 4);
            key.extend_from_slice(&prefix.bytes);
            parts.iter().for_each(|part| key.extend_from_slice(part));
            key
        };
        match cut {
            Cut::First => Position::Key(self.first(prefix)),
            Cut::AfterNulls => Position::Key(with(&[column.first_value_bytes()])),
            Cut::End => after(prefix.bytes.clone()),
            Cut::Before(stored) => {
                let mut key = with(&[stored]);
                column.write_terminator(&mut key);
                Position::Key(key)
            }
            // Nothing follows such a value, so the next key is the cut.
            Cut::After(stored) if column.last && column.may_be_empty() => Position::Key(with(&[stored, &[0]])),
            Cut::After(stored) => {
                let mut key = with(&[stored]);
                column.write_terminator(&mut key);
                column.write_separator(&mut key);
                after(key)
            }
        }
    }

    /// The first key that can have this prefix: when only NULLs may follow, they
    /// are left out together with the NULLs and separators in front of them.
    fn first(&self, prefix: &Prefix) -> Key {
        let may_end = self.columns.iter().skip(prefix.columns).all(|column| column.nullable);
        if may_end && (prefix.trimmed > 0 || self.allows_empty()) { prefix.key() } else { prefix.bytes.clone() }
    }

    /// The key in which nothing but NULL follows; `None` if it has no bytes and needs some.
    fn point(&self, prefix: &Prefix) -> Option<KeyRange> {
        (prefix.trimmed > 0 || self.allows_empty()).then(|| KeyRange::point(prefix.key()))
    }
}

impl ColumnCodec {
    fn low<'a>(&self, bound: ops::Bound<&Value>, stored: &'a mut Vec<u8>) -> Result<Cut<'a>, RowKeyError> {
        match bound {
            ops::Bound::Unbounded => Ok(self.cut_at(Place::BelowAll, false, &[])),
            ops::Bound::Included(value) => self.cut_by(value, false, stored),
            ops::Bound::Excluded(value) => self.cut_by(value, true, stored),
        }
    }

    fn high<'a>(&self, bound: ops::Bound<&Value>, stored: &'a mut Vec<u8>) -> Result<Cut<'a>, RowKeyError> {
        match bound {
            ops::Bound::Unbounded => Ok(self.cut_at(Place::AboveAll, false, &[])),
            ops::Bound::Included(value) => self.cut_by(value, true, stored),
            ops::Bound::Excluded(value) => self.cut_by(value, false, stored),
        }
    }

    fn cut_by<'a>(&self, value: &Value, above: bool, stored: &'a mut Vec<u8>) -> Result<Cut<'a>, RowKeyError> {
        let place = self.place(value, stored).map_err(|error| self.error(error))?;
        Ok(self.cut_at(place, above, stored))
    }

    /// The cut in key order for a place in value order; `above` tells which
    /// side of a value that rows can have.
    fn cut_at<'a>(&self, place: Place, above: bool, stored: &'a [u8]) -> Cut<'a> {
        let above = match place {
            Place::At => above,
            Place::Below | Place::BelowAll => false,
            Place::Above | Place::AboveAll => true,
        };
        match (place, above != self.is_desc()) {
            (Place::BelowAll | Place::AboveAll, false) => Cut::AfterNulls,
            (Place::BelowAll | Place::AboveAll, true) => Cut::End,
            (_, false) => Cut::Before(stored),
            (_, true) => Cut::After(stored),
        }
    }

    fn is_first_value(&self, stored: &[u8]) -> bool {
        matches!(self.framing, Framing::Fixed(_)) && stored.iter().all(|byte| *byte == 0)
    }

    /// Bytes that no value of this column sorts below, and that sort after NULL.
    pub(crate) fn first_value_bytes(&self) -> &'static [u8] {
        match (self.framing, self.value.sql_type()) {
            // The first byte of UTF-8 is at most F4, so inverted never 01; Phoenix starts here, too.
            (_, SqlType::Varchar(_)) if self.is_desc() => &[0x01, 0xff],
            _ if !self.nullable => &[],
            (_, SqlType::Decimal(_)) if self.is_desc() => &[0x01, 0xff],
            (Framing::Separated, _) => &[0x01],
            (Framing::Escaped, _) if !self.last => &[0x00, 0x02],
            // Here the key with NULL is the prefix itself, and a value has a byte at least.
            _ => &[0x00],
        }
    }
}

impl Prefix {
    fn new() -> Self {
        Self { bytes: Vec::with_capacity(KEY_BYTES_EXPECTED), trimmed: 0, columns: 0 }
    }

    fn clone_bytes(&self) -> Self {
        Self { bytes: self.bytes.clone(), ..*self }
    }

    fn push(&mut self, column: &ColumnCodec, stored: &[u8]) {
        self.bytes.extend_from_slice(stored);
        column.write_terminator(&mut self.bytes);
        self.trimmed = self.bytes.len();
        column.write_separator(&mut self.bytes);
        self.columns += 1;
    }

    fn push_null(&mut self, column: &ColumnCodec) {
        column.write_null(&mut self.bytes);
        self.columns += 1;
    }

    /// The key in which nothing but NULL follows.
    fn key(&self) -> Key {
        self.bytes.get(..self.trimmed).unwrap_or_default().to_vec()
    }
}

/// A byte string after all that begin with `key`, and not above any key after those.
///
/// The length is kept, zeros after the carry, as Phoenix does: `87ff` gives
/// `8800`. No key lies between `88` and that, as every one has as many columns
/// and `88` lacks its end. But where the carry makes an FF it has made the
/// terminator of a shorter DESC value, so the zeros go: after 'a' and 01, `9efeff`, comes
/// 'a', `9eff`.
///
/// `None` if there is none; the first `fixed` bytes stay as they are.
pub(crate) fn increment(mut key: Key, fixed: usize) -> Option<Key> {
    for index in (fixed..key.len()).rev() {
        let byte = key.get_mut(index)?;
        *byte = byte.wrapping_add(1);
        match *byte {
            0 => {}
            0xff => {
                key.truncate(index + 1);
                return Some(key);
            }
            _ => return Some(key),
        }
    }
    None
}

/// As [`increment`], as a place among all keys.
fn after(key: Key) -> Position {
    increment(key, 0).map_or(Position::End, Position::Key)
}

fn range(start: Position, end: Position) -> Option<KeyRange> {
    match (start, end) {
        (Position::End, _) => None,
        (Position::Key(start), Position::End) => KeyRange::new(clamp(start), None),
        (Position::Key(start), Position::Key(end)) => KeyRange::new(clamp(start), Some(clamp(end))),
    }
}

/// The same cut in fewer bytes: no key is longer than the limit, so the ones
/// after a longer byte string are those after its head.
fn clamp(mut key: Key) -> Key {
    if key.len() > ROW_KEY_BYTES_MAX {
        key.truncate(ROW_KEY_BYTES_MAX);
        key.push(0);
    }
    key
}
