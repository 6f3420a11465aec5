//! Merging boxes, where an AND of ORs makes more of them than a plan takes: the nearest first.
//!
//! ```text
//! key (a, b)      a=1 b=2    a=1 b=3    a=1 b=90    a=7 b=2
//! to three           └── 1 ──┘   └── 87 ──┘   └─ a differs ─┘
//!                 a=1 b {2, 3}          a=1 b=90    a=7 b=2
//! ```
//!
//! Neighbours are those whose first rows follow each other. A gap in a later column is smaller than any in a column before it,
//! because it lies inside one prefix; of gaps in one column that between nearer values is. Pairs are merged round
//! by round, so that boxes at equal distances become groups of equal size, not one large one.
//!
//! # Law
//! [`merge_nearest`] gives at most `count` boxes, and they hold every row of those that it is given.

use std::cmp::{Ordering, Reverse};

use saltwing_types::{Value, interrupt, number, text};

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::key_box::KeyBox;
use crate::key_space::KeySpace;
use crate::span::Cut;

/// At most `count` boxes, and one at least, around all of `boxes`. If the statement must stop it is one around everything.
pub(crate) fn merge_nearest(boxes: &[KeyBox], count: usize, space: &KeySpace) -> Vec<KeyBox> {
    let mut boxes = boxes.to_vec();
    if interrupt::spend(boxes.len()).is_err() {
        return vec![KeyBox::default()];
    }
    boxes.sort_by(|a, b| compare_starts(a, b, space));
    let count = count.max(1);
    while boxes.len() > count {
        if interrupt::spend(boxes.len()).is_err() {
            return vec![KeyBox::default()];
        }
        let pairs = nearest_pairs(&boxes, boxes.len() - count, space);
        boxes = merged(boxes, &pairs, space);
    }
    boxes
}

/// Which boxes are merged with the next one: at most `wanted` of those at the `wanted` narrowest gaps, none of them twice.
fn nearest_pairs(boxes: &[KeyBox], wanted: usize, space: &KeySpace) -> Vec<bool> {
    let gaps = boxes.windows(2).map(|pair| if let [a, b] = pair { Gap::between(a, b, space) } else { Gap::NONE });
    let mut by_gap: Vec<(Gap, usize)> = gaps.zip(0..).collect();
    by_gap.sort_by(|(a, i), (b, j)| a.compare(*b).then(i.cmp(j)));
    let widest = by_gap.get(wanted.saturating_sub(1)).map(|(gap, _)| *gap);
    let narrow = by_gap.iter().take_while(|(gap, _)| widest.is_none_or(|widest| gap.compare(widest).is_le()));
    let mut taken = vec![false; boxes.len()];
    let mut pairs = vec![false; boxes.len()];
    let mut left = wanted;
    for (_, first) in narrow {
        if left == 0 {
            break;
        }
        let (Some([a, b]), Some(pair)) = (taken.get_mut(*first..*first + 2), pairs.get_mut(*first)) else { continue };
        if !*a && !*b {
            (*a, *b, *pair) = (true, true, true);
            left -= 1;
        }
    }
    pairs
}

fn merged(boxes: Vec<KeyBox>, pairs: &[bool], space: &KeySpace) -> Vec<KeyBox> {
    let mut all: Vec<KeyBox> = Vec::with_capacity(boxes.len());
    let mut joins = false;
    for (key_box, joins_next) in boxes.into_iter().zip(pairs) {
        match all.last_mut() {
            Some(last) if joins => *last = last.hull(&key_box, space),
            _ => all.push(key_box),
        }
        joins = *joins_next;
    }
    all
}

/// The distance of a box from the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap {
    /// The first column in which they differ.
    column: usize,
    /// Between the values there.
    distance: f64,
}

impl Gap {
    /// Between equal boxes.
    const NONE: Self = Self { column: usize::MAX, distance: 0.0 };

    fn between(a: &KeyBox, b: &KeyBox, space: &KeySpace) -> Self {
        let differs = |position: &usize| a.get(*position) != b.get(*position);
        let Some(column) = (0..space.len()).find(differs) else { return Self::NONE };
        let distance = match (a.get(column), b.get(column)) {
            (Some(a), Some(b)) => set_distance(a, b, space.domain(column)),
            _ => 0.0,
        };
        Self { column, distance }
    }

    /// Narrower ones first.
    fn compare(self, other: Self) -> Ordering {
        Reverse(self.column).cmp(&Reverse(other.column)).then(self.distance.total_cmp(&other.distance))
    }
}

/// From the last value of one set to the first of another; 0 where they overlap, and before their values are known.
fn set_distance(a: &ColumnSet, b: &ColumnSet, domain: &Domain) -> f64 {
    let spans = (a.known().and_then(|a| a.spans().last()), b.known().and_then(|b| b.spans().first()));
    let (Some(last), Some(first)) = spans else { return 0.0 };
    match (&last.hi, &first.lo) {
        (hi, lo) if b.has_null() || hi.compare(lo, domain).is_ge() => 0.0,
        (Cut::Before(a) | Cut::After(a), Cut::Before(b) | Cut::After(b)) => value_distance(a, b),
        _ => 0.0,
    }
}

/// How far two values of a column are apart. Comparable within the column, and a measure of nothing else.
fn value_distance(a: &Value, b: &Value) -> f64 {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => (i128::from(*b) - i128::from(*a)) as f64,
        (Value::Text(a), Value::Text(b)) => bytes_distance(a.as_bytes(), b.as_bytes()),
        (Value::Bytes(a), Value::Bytes(b)) => bytes_distance(a, b),
        (Value::Bool(_), _) => 1.0,
        _ => match (text::instant(a), text::instant(b)) {
            (Some(a), Some(b)) => {
                (i128::from(b.ms) - i128::from(a.ms)) as f64 + (f64::from(b.nanos) - f64::from(a.nanos)) / 1e6
            }
            _ => number::to_f64(b) - number::to_f64(a),
        },
    }
}

/// Bytes as digits of a fraction: a common prefix makes the difference small.
fn bytes_distance(a: &[u8], b: &[u8]) -> f64 {
    const DIGITS: usize = 6;
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let digits = |bytes: &[u8]| {
        let padded = bytes.iter().skip(common).copied().chain(std::iter::repeat(0)).take(DIGITS);
        padded.fold(0.0, |number, byte| number * 256.0 + f64::from(byte))
    };
    // Farther down than floats reach the distance is 0, as between neighbours.
    (digits(b) - digits(a)) * 256f64.powi(-i32::try_from(common).unwrap_or(i32::MAX))
}

/// Order of boxes by where their first columns start, ascending.
fn compare_starts(a: &KeyBox, b: &KeyBox, space: &KeySpace) -> Ordering {
    fn start(key_box: &KeyBox, position: usize) -> Option<&Cut> {
        let set = key_box.get(position)?.known().filter(|set| !set.has_null())?;
        set.spans().first().map(|span| &span.lo)
    }
    for position in 0..space.len() {
        let order = match (start(a, position), start(b, position)) {
            (Some(a), Some(b)) => a.compare(b, space.domain(position)),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use saltwing_types::{KeyColumn, KeySchema, KeySource, SortOrder, SqlType};

    use super::*;

    fn schema(types: &[SqlType]) -> KeySchema {
        let column = |(index, ty): (usize, &SqlType)| KeyColumn {
            source: KeySource::Column(index),
            name: format!("k{index}"),
            ty: *ty,
            order: SortOrder::Asc,
            nullable: false,
        };
        KeySchema { columns: types.iter().enumerate().map(column).collect(), salt: None }
    }

    /// The merged boxes as the values of each column.
    fn merged(types: &[SqlType], rows: &[&[Value]], count: usize) -> Vec<Vec<Vec<Value>>> {
        let schema = schema(types);
        let space = KeySpace::new(&schema, []);
        let boxes: Vec<KeyBox> =
            rows.iter().map(|row| KeyBox::point(row.iter().cloned().enumerate().collect(), &space)).collect();
        let values = |key_box: &KeyBox| {
            key_box
                .columns()
                .map(|(at, set)| {
                    set.known().unwrap().as_points(space.domain(at)).unwrap().into_iter().cloned().collect()
                })
                .collect()
        };
        merge_nearest(&boxes, count, &space).iter().map(values).collect()
    }

    fn ints(values: &[i64]) -> Vec<Value> {
        values.iter().map(|value| Value::Int(*value)).collect()
    }

    #[test]
    fn the_nearest_are_merged() {
        let rows = [[7, 2], [1, 2], [1, 90], [1, 3]].map(|row| row.map(Value::Int));
        let rows: Vec<&[Value]> = rows.iter().map(<[Value; 2]>::as_slice).collect();
        let of = |count| merged(&[SqlType::Integer; 2], &rows, count);
        let lists = |a: &[i64], b: &[i64]| vec![ints(a), ints(b)];
        assert_eq!(of(4).len(), 4);
        assert_eq!(of(3), [lists(&[1], &[2, 3]), lists(&[1], &[90]), lists(&[7], &[2])]);
        assert_eq!(of(2), [lists(&[1], &[2, 3, 90]), lists(&[7], &[2])]);
        assert_eq!(of(1), [lists(&[1, 7], &[2, 3, 90])]);
        assert_eq!(of(0), of(1));
    }

    #[test]
    fn equal_distances_make_equal_groups() {
        let rows: Vec<[Value; 1]> = (0..64).map(|i| [Value::Int(i)]).collect();
        let rows: Vec<&[Value]> = rows.iter().map(<[Value; 1]>::as_slice).collect();
        let groups = merged(&[SqlType::Integer], &rows, 8);
        assert!(groups.iter().all(|group| group[0].len() == 8), "{groups:?}");
    }

    #[test]
    fn texts_with_more_in_common_are_nearer() {
        let rows = ["b", "user-12", "user-11", "user-31", "a"].map(|text| [Value::text(text)]);
        let rows: Vec<&[Value]> = rows.iter().map(<[Value; 1]>::as_slice).collect();
        let texts = |list: &[&str]| vec![list.iter().map(|text| Value::text(*text)).collect::<Vec<_>>()];
        assert_eq!(
            merged(&[SqlType::Varchar(None)], &rows, 3),
            [texts(&["a"]), texts(&["b"]), texts(&["user-11", "user-12", "user-31"])]
        );
    }
}
