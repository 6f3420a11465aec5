//! Estimates of the rows in ranges of a table, from its directory and its recent rows; no block is read.
//!
//! # Laws
//! 1. A count that is marked exact is how many rows a scan of these ranges finds.
//! 2. An estimate of a column's values is true for all rows, except for recent ones that were not looked at.
//! 3. It costs two searches of the directory for each of at most [`PLACES_MAX`] places, each with a sum over the
//!    directory's chunks between them, and a look at [`RECENT_ROWS_MAX`] recent rows at most, however many there are.
//!
//! # Left to others
//! Which part of the rows in the ranges meets a filter.

use saltwing_access::{Buckets, ColumnEstimate, Estimate, KeySet, RangeSample, ScanRange, Table};
use saltwing_types::{Decimal, SqlType, Value};

use crate::engine::entry::{Entry, Size};
use crate::engine::memtable::Delta;
use crate::engine::table_rows::TableRows;
use crate::format::zone::{decimal_of, float_of, int_of, timestamp_of};

/// Maximum of places examined, each a range in a bucket.
const PLACES_MAX: usize = 256;
/// Most recent rows that are counted one by one.
const RECENT_ROWS_MAX: usize = 1024;

/// How many rows have one of these keys.
pub(crate) fn estimate(rows: &TableRows, table: &Table, keys: &KeySet) -> Estimate {
    let def = table.def();
    let sample = &keys.sample(&def.key);
    let all = of_place(rows, &[], None, &mut RECENT_ROWS_MAX.clone());
    let buckets = sample.buckets.of(&def.key);
    let is_all =
        sample.buckets == Buckets::All && sample.ranges.iter().any(|own| own.range.is_all() && own.bucket.is_none());
    let sum = if is_all {
        all
    } else {
        of_ranges(rows, sample, &buckets).scaled_to(sample.total, sample.ranges.len() as u64)
    };
    Estimate {
        rows: sum.rows.min(all.rows),
        bytes: sum.bytes.min(all.bytes),
        is_exact: sum.is_exact && def.ttl_s.is_none(),
    }
}

/// Estimates the ranges of a sample, in as many of their buckets as the limit allows.
fn of_ranges(rows: &TableRows, sample: &RangeSample, buckets: &[Option<u8>]) -> Estimate {
    let mut recent_left = RECENT_ROWS_MAX;
    let room = (PLACES_MAX / sample.ranges.len().max(1)).clamp(1, buckets.len().max(1));
    let mut sum = Estimate { is_exact: true, ..Estimate::default() };
    for ScanRange { range, bucket: of } in &sample.ranges {
        if range.is_point() {
            sum = sum.and(of_point(rows));
            continue;
        }
        let mut of_bucket = |bucket: Option<u8>| {
            let place = range.in_bucket(bucket);
            of_place(rows, place.start(), place.end(), &mut recent_left)
        };
        if of.is_some() {
            sum = sum.and(of_bucket(*of));
            continue;
        }
        // Buckets are similar, so the examined ones represent the others.
        let step = buckets.len().div_ceil(room).max(1);
        let seen = Estimate { is_exact: true, ..Estimate::default() };
        let seen = buckets.iter().step_by(step).fold(seen, |seen, bucket| seen.and(of_bucket(*bucket)));
        sum = sum.and(seen.scaled_to(buckets.len() as u64, buckets.len().div_ceil(step) as u64));
    }
    sum
}

/// A key is taken to be there, where any is.
fn of_point(rows: &TableRows) -> Estimate {
    let size = rows.directory.size();
    if size.rows + size.run_rows == 0 && rows.active.is_empty() && rows.frozen.is_empty() {
        return Estimate { is_exact: true, ..Estimate::default() };
    }
    Estimate { rows: 1, bytes: size.bytes / size.rows.max(1), is_exact: false }
}

/// Estimates the rows between two physical keys. Recent rows are counted up to `recent_left`.
fn of_place(rows: &TableRows, start: &[u8], end: Option<&[u8]>, recent_left: &mut usize) -> Estimate {
    let in_blocks = in_blocks(rows, start, end);
    let recent = match (start, end) {
        ([], None) => Recent { rows: (rows.active.len() + rows.frozen.len()) as u64, ..Recent::default() },
        _ => Recent::between(&[&rows.active, &rows.frozen], start, end, recent_left),
    };
    let known = in_blocks.rows + recent.rows;
    Estimate {
        rows: known.saturating_sub(recent.deletions),
        bytes: in_blocks.bytes + recent.bytes,
        is_exact: in_blocks.is_exact && recent == Recent::default(),
    }
}

/// The estimated rows of blocks and runs between two keys.
fn in_blocks(rows: &TableRows, start: &[u8], end: Option<&[u8]>) -> Estimate {
    let directory = &rows.directory;
    let (first, last) = (directory.floor(start), directory.last_below(end));
    let between = directory.size_of(first + 1..last.max(first + 1));
    let mut sum = whole(between);
    let ends = if first == last { &[first][..] } else { &[first, last] };
    for entry in ends.iter().filter_map(|index| directory.entry(*index)) {
        sum = sum.and(part_of(entry, start, end));
    }
    sum
}

/// All rows of some entries. Rows of a run may be new, replace a row of a block, or be deletions.
fn whole(size: Size) -> Estimate {
    Estimate { rows: size.rows + size.run_rows, bytes: size.bytes + size.run_bytes, is_exact: size.run_rows == 0 }
}

/// The estimated rows of an entry between two keys, as if its keys were uniform.
fn part_of(entry: &Entry, start: &[u8], end: Option<&[u8]>) -> Estimate {
    let Some(block) = &entry.block else { return whole(Size::default()) };
    let all = whole(entry.size());
    let last_key: &[u8] = &block.summary.last_key;
    let (from_first, to_last) = (start <= &*entry.fence, end.is_none_or(|end| last_key < end));
    // Rows of runs may be after the block's last row.
    let has_runs = !entry.runs.is_empty();
    if last_key < start && !has_runs {
        return whole(Size::default());
    }
    if from_first && to_last && (end.is_none() || !has_runs) {
        return all;
    }
    let place = |key: &[u8]| place_between(&entry.fence, last_key, key);
    let (low, high) = (if from_first { 0.0 } else { place(start) }, if to_last { 1.0 } else { end.map_or(1.0, place) });
    let share = |amount: u64| ((amount as f64) * (high - low).clamp(0.0, 1.0)) as u64;
    // A requested range is assumed to have at least a row.
    Estimate { rows: share(all.rows).max(1), bytes: share(all.bytes), is_exact: false }
}

/// The relative position of a key between two others, from 0 to 1, by the bytes after their common prefix.
fn place_between(low: &[u8], high: &[u8], key: &[u8]) -> f64 {
    if key <= low {
        return 0.0;
    }
    if key > high {
        return 1.0;
    }
    // The first entry also owns all keys before its block, and their start is unknown.
    if low.is_empty() {
        return 0.5;
    }
    let common = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    let number = |key: &[u8]| {
        let mut first = [0; 8];
        first.iter_mut().zip(key.get(common..).unwrap_or_default()).for_each(|(to, from)| *to = *from);
        u64::from_be_bytes(first) as f64
    };
    let (low, high) = (number(low), number(high));
    if low < high { (number(key) - low) / (high - low) } else { 0.5 }
}

/// Recent rows between two keys. A row that is in blocks too counts twice: nobody has looked there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recent {
    /// Those that are not deletions.
    rows: u64,
    deletions: u64,
    bytes: u64,
}

impl Recent {
    /// Counts one row after the other, as long as `left` allows; from there on as if keys lay evenly.
    fn between(deltas: &[&Delta], start: &[u8], end: Option<&[u8]>, left: &mut usize) -> Self {
        let mut sum = Self::default();
        for delta in deltas {
            let (mut counted, mut last) = (Self::default(), None);
            for (key, row) in delta.range(start, end) {
                match row {
                    Some(row) => {
                        counted.rows += 1;
                        counted.bytes += (key.len() + row.0.len()) as u64;
                    }
                    None => counted.deletions += 1,
                }
                *left = left.saturating_sub(1);
                if *left == 0 {
                    last = Some(key);
                    break;
                }
            }
            let most = delta.last_key().map(|key| &**key);
            let share = match (last, end.or(most)) {
                (Some(last), Some(end)) => place_between(start, end, last),
                _ => 1.0,
            };
            let all = |counted: u64| ((counted as f64 / share) as u64).clamp(counted, delta.len() as u64 + counted);
            let (rows, deletions) = (all(counted.rows), all(counted.deletions));
            sum.rows += rows;
            sum.deletions += deletions;
            // The share may be as small as 0, so bytes grow as the rows do, which have a limit.
            let growth = rows as f64 / counted.rows.max(1) as f64;
            sum.bytes += (counted.bytes as f64 * growth) as u64;
        }
        sum
    }
}

/// The statistics of these columns, by index, from their zones.
pub(crate) fn estimate_columns(rows: &TableRows, table: &Table, columns: &[usize]) -> Vec<ColumnEstimate> {
    let zones = rows.directory.zones();
    let unseen = (rows.active.len() + rows.frozen.len()) as u64;
    let estimate = |index: &usize| -> Option<ColumnEstimate> {
        let column = table.def().columns.get(*index)?;
        let zone = zones.column(u8::try_from(column.family?).ok()?, column.slot)?;
        let value = |number: u128| value_of(number, column.ty);
        let (min, max) = zone.bounds.map_or((None, None), |(min, max)| (value(min), value(max)));
        Some(ColumnEstimate { min, max, nulls: (!zone.has_null).then_some(0), unseen })
    };
    columns.iter().map(|index| estimate(index).unwrap_or_default()).collect()
}

/// The value of a zone's number; `None` for a type whose numbers do not determine the values.
fn value_of(number: u128, ty: SqlType) -> Option<Value> {
    use SqlType::{
        BigInt, Date, Double, Float, Integer, SmallInt, Time, Timestamp, TinyInt, UnsignedDate, UnsignedDouble,
        UnsignedFloat, UnsignedInt, UnsignedLong, UnsignedSmallInt, UnsignedTime, UnsignedTimestamp, UnsignedTinyInt,
    };
    Some(match ty {
        TinyInt | UnsignedTinyInt | SmallInt | UnsignedSmallInt | Integer | UnsignedInt | BigInt | UnsignedLong => {
            Value::Int(int_of(number)?)
        }
        Date | Time | UnsignedDate | UnsignedTime => Value::Date(int_of(number)?),
        Float | UnsignedFloat => Value::Float(float_of(number)? as f32),
        Double | UnsignedDouble => Value::Double(float_of(number)?),
        Timestamp | UnsignedTimestamp => Value::Timestamp(timestamp_of(number)?),
        SqlType::Decimal(Some((_, scale))) => Value::Decimal(Decimal::new(decimal_of(number), scale.into()).ok()?),
        _ => return None,
    })
}
