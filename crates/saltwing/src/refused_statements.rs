//! The statements that the guard refused, by shape.

use std::collections::HashMap;

use parking_lot::Mutex;
use saltwing_planner::RefusedScans;
use saltwing_sql::Dialect;

use crate::Error;
use crate::statement_shape::Shape;

/// Most shapes that are kept; the one that was refused least recently is forgotten first.
const SHAPES_MAX: usize = 200;

/// The refusals of a database.
#[derive(Default)]
pub(crate) struct RefusedStatements(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    by_shape: HashMap<String, Refused>,
    /// The refusals so far.
    number: u64,
}

/// The refusals of one shape.
#[derive(Clone)]
pub(crate) struct Refused {
    /// Whether the shape is the whole statement.
    pub(crate) is_whole: bool,
    pub(crate) dialect: Dialect,
    pub(crate) scans: RefusedScans,
    pub(crate) reason: String,
    pub(crate) count: u64,
    pub(crate) last_ms: i64,
    /// The number of the last refusal.
    number: u64,
}

impl RefusedStatements {
    /// The guard refused a statement.
    pub(crate) fn note(&self, Shape { text, is_whole }: Shape, dialect: Dialect, error: &Error, now_ms: i64) {
        let Some(scans) = error.refused_scans().map(without_conditions) else { return };
        let mut noted = self.0.lock();
        noted.number += 1;
        let number = noted.number;
        let count = noted.by_shape.get(&text).map_or(0, |refused| refused.count) + 1;
        if count == 1 && noted.by_shape.len() >= SHAPES_MAX {
            let oldest = noted.by_shape.iter().min_by_key(|(_, refused)| refused.number);
            let oldest = oldest.map(|(shape, _)| shape.clone());
            oldest.and_then(|shape| noted.by_shape.remove(&shape));
        }
        let refused = Refused { is_whole, dialect, scans, reason: error.to_string(), count, last_ms: now_ms, number };
        noted.by_shape.insert(text, refused);
    }

    /// All, the most frequent first.
    pub(crate) fn list(&self) -> Vec<(String, Refused)> {
        let mut list: Vec<_> =
            self.0.lock().by_shape.iter().map(|(shape, refused)| (shape.clone(), refused.clone())).collect();
        list.sort_by_key(|(_, refused)| std::cmp::Reverse((refused.count, refused.number)));
        list
    }
}

/// The refused scans without the texts of conditions, which contain literals.
fn without_conditions(scans: &RefusedScans) -> RefusedScans {
    let mut scans = scans.clone();
    for refusal in scans.tables.iter_mut().filter_map(|table| table.refusal.as_mut()) {
        refusal.bound.clear();
        refusal.others.clear();
        refusal.limit = None;
    }
    scans
}
