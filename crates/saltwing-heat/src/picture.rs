//! Counts as a picture: rows of keys, columns of time.

use crate::key_prefix::KeyPrefix;
use crate::slot::{Slot, Span};

/// The time of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The start, in seconds since 1970.
    pub start_s: i64,
    /// The length in seconds.
    pub seconds: u64,
    /// The length of the longest slot that the column has counts of, in seconds; at least its own length.
    pub known_seconds: u64,
}

/// Reads and writes by column and row.
///
/// # Laws
/// 1. The weights of slots inside the columns' time are all in the picture, and nothing else is.
/// 2. The weights of a span are in rows that it overlaps, those of a slot in columns that it overlaps: in equal parts by row, and by
///    time.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The columns, the oldest first, without gaps.
    pub columns: Vec<Column>,
    /// Reads by `[column][row]`.
    pub reads: Vec<Vec<f64>>,
    /// Writes by `[column][row]`.
    pub writes: Vec<Vec<f64>>,
}

impl Picture {
    /// The last `seconds` before `end_s`, in at most `columns_max` columns of equal length. Row `i` has the keys from cut `i - 1` up to cut `i`,
    /// exclusive: there is one row more than cuts, which ascend.
    pub fn of(slots: &[Slot], cuts: &[KeyPrefix], end_s: i64, seconds: u64, columns_max: usize) -> Self {
        let length = seconds.div_ceil(columns_max.max(1) as u64).max(1);
        let count = seconds.div_ceil(length).max(1);
        let start_s = |column: u64| end_s.saturating_sub_unsigned(length.saturating_mul(count - column));
        let columns: Vec<Column> = (0..count)
            .map(|column| Column { start_s: start_s(column), seconds: length, known_seconds: length })
            .collect();
        let field = vec![vec![0.0; cuts.len() + 1]; columns.len()];
        let mut picture = Self { columns, reads: field.clone(), writes: field };
        slots.iter().for_each(|slot| picture.add(slot, cuts));
        picture
    }

    fn add(&mut self, slot: &Slot, cuts: &[KeyPrefix]) {
        let fields = self.reads.iter_mut().zip(&mut self.writes);
        for (column, (reads, writes)) in self.columns.iter_mut().zip(fields) {
            let end_s = column.start_s.saturating_add_unsigned(column.seconds);
            let common = slot.end_s().min(end_s).saturating_sub(slot.start_s.max(column.start_s));
            if common <= 0 {
                continue;
            }
            column.known_seconds = column.known_seconds.max(slot.seconds.into());
            let of_time = common as f64 / f64::from(slot.seconds.max(1));
            for span in &slot.spans {
                add_span(span, cuts, of_time, reads, writes);
            }
        }
    }
}

/// Adds a part of a span's weights to the rows that it overlaps.
fn add_span(span: &Span, cuts: &[KeyPrefix], part: f64, reads: &mut [f64], writes: &mut [f64]) {
    let row_of = |key: &KeyPrefix| cuts.partition_point(|cut| cut <= key);
    let (first, last) = (row_of(&span.first), row_of(&span.last));
    let each = part / (last - first + 1) as f64;
    for row in first..=last {
        if let (Some(reads), Some(writes)) = (reads.get_mut(row), writes.get_mut(row)) {
            *reads += span.weights.reads as f64 * each;
            *writes += span.weights.writes as f64 * each;
        }
    }
}

/// Cuts that divide the counted keys into at most `rows_max` rows, where the weights are: the heaviest row that has several keys is divided
/// in the middle of its weight, again and again.
pub fn cuts_by_weight(slots: &[Slot], rows_max: usize) -> Vec<KeyPrefix> {
    let mut keys: Vec<(KeyPrefix, u64)> =
        slots.iter().flat_map(|slot| &slot.spans).map(|span| (span.first, span.weights.sum())).collect();
    keys.sort_unstable();
    keys.dedup_by(|next, kept| {
        let is_equal = next.0 == kept.0;
        if is_equal {
            kept.1 = kept.1.saturating_add(next.1);
        }
        is_equal
    });
    let mut rows = vec![keys.as_slice()];
    while rows.len() < rows_max {
        let weight = |row: &[(KeyPrefix, u64)]| row.iter().map(|(_, weight)| *weight).fold(0, u64::saturating_add);
        let heaviest = rows.iter().enumerate().filter(|(_, row)| row.len() > 1).max_by_key(|(_, row)| weight(row));
        let Some((index, row)) = heaviest.map(|(index, row)| (index, *row)) else { break };
        let (left, right) = row.split_at(middle(row, weight(row)));
        rows.splice(index..=index, [left, right]);
    }
    rows.iter().skip(1).filter_map(|row| row.first()).map(|(key, _)| *key).collect()
}

/// The place in a row of several keys at which its weight is divided most evenly: at least 1, and less than its length.
fn middle(row: &[(KeyPrefix, u64)], weight: u64) -> usize {
    let mut before = 0_u64;
    let uneven = row.iter().enumerate().map(|(at, (_, own))| {
        let uneven =
            weight.saturating_sub(before.saturating_mul(2)).max(before.saturating_mul(2).saturating_sub(weight));
        before = before.saturating_add(*own);
        (uneven, at)
    });
    uneven.skip(1).min().map_or(1, |(_, at)| at)
}
