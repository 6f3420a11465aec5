//! Row values that the first columns of a key have together: `(a, b) IN ((1, 2), (3, 4), ..)`.
//!
//! A list of 500 rows is one box with the list, not 500 boxes, so its cost is linear in its values.
//!
//! # Laws
//! 1. Rows are in key order, each once.
//! 2. `intersect` holds the rows that begin both lists; `is_within` implies that every row of the one is in the other.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use saltwing_types::Value;

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::key_space::KeySpace;
use crate::value_set::ValueSet;

/// Rows of values, NULL not among them, of columns from the first on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowList {
    /// In key order, all of one length.
    rows: Vec<Vec<Value>>,
    /// The values of each column.
    sets: Vec<ColumnSet>,
}

impl Hash for RowList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.len().hash(state);
        self.rows.first().hash(state);
    }
}

impl RowList {
    /// The list of these rows of values of the first columns, which come in any order.
    pub(crate) fn new(mut rows: Vec<Vec<Value>>, space: &KeySpace) -> Self {
        if !rows.is_sorted_by(|a, b| compare(a, b, space).is_lt()) {
            rows.sort_by(|a, b| compare(a, b, space));
            rows.dedup_by(|a, b| compare(a, b, space).is_eq());
        }
        Self::of_sorted(rows, space)
    }

    fn of_sorted(rows: Vec<Vec<Value>>, space: &KeySpace) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let set = |position: usize| {
            let values = rows.iter().filter_map(|row| row.get(position).cloned()).collect();
            ValueSet::points(values, space.domain(position)).into()
        };
        Self { sets: (0..width).map(set).collect(), rows }
    }

    /// The rows, in key order.
    pub(crate) fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// The rows, in key order.
    pub(crate) fn into_rows(self) -> Vec<Vec<Value>> {
        self.rows
    }

    /// The set of each of the first columns in these rows.
    pub(crate) fn sets(&self) -> &[ColumnSet] {
        &self.sets
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.sets.len()
    }

    /// The rows that pass a test.
    pub(crate) fn filtered(&self, space: &KeySpace, test: impl Fn(&[Value]) -> bool) -> Self {
        Self::of_sorted(self.rows.iter().filter(|row| test(row)).cloned().collect(), space)
    }

    /// The rows of the wider list that begin with a row of the other.
    pub(crate) fn intersect(&self, other: &RowList, space: &KeySpace) -> Self {
        let (wide, narrow) = if self.width() >= other.width() { (self, other) } else { (other, self) };
        wide.filtered(space, |row| narrow.holds(row, space))
    }

    /// Whether every row begins with a row of `other`.
    pub(crate) fn is_within(&self, other: &RowList, space: &KeySpace) -> bool {
        self.width() >= other.width() && self.rows.iter().all(|row| other.holds(row, space))
    }

    /// Whether a row begins with one of these.
    pub(crate) fn holds(&self, row: &[Value], space: &KeySpace) -> bool {
        // Rows of the list are shorter or as long: comparing ends with the shorter.
        self.rows.binary_search_by(|own| compare(own, row, space)).is_ok()
    }
}

/// Key order of two rows, as far as both go.
fn compare(a: &[Value], b: &[Value], space: &KeySpace) -> Ordering {
    let pairs = a.iter().zip(b).enumerate();
    let mut orders = pairs.map(|(position, (a, b))| compare_in_key(a, b, space.domain(position)));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Order of two values of a column as keys have it, NULL first.
pub(crate) fn compare_in_key(a: &Value, b: &Value, domain: &Domain) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (false, false) if domain.is_ascending() => domain.compare(a, b),
        (false, false) => domain.compare(b, a),
        (a, b) => b.cmp(&a),
    }
}
