//! What is to be reached.

/// A goal of a work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// So many times as good as SQLite in the same run, on 1,000,000 rows.
    TimesSqlite(f64),
    /// At most so much, in the work's unit.
    AtMost(f64),
}

const TIMES_SQLITE: &[(&str, f64)] = &[
    ("point", 3.0),
    ("page1000", 3.0),
    ("in100", 3.0),
    ("prefix500_arrow", 8.0),
    ("prefix500_rows", 3.0),
    ("agg401", 15.0),
    ("latest10", 3.0),
    ("sum_all", 40.0),
    ("group_all", 50.0),
    ("filter_all", 20.0),
    ("load", 12.0),
    ("load_random", 8.0),
    ("upsert1", 1.0),
    ("counter", 0.8),
    ("counter8", 2.0),
    ("upsert8", 3.0),
    ("transaction1", 0.8),
    ("transaction8", 2.0),
    ("index_point", 1.5),
    ("load_indexes2", 5.0),
    ("mixed_point", 1.2),
    ("mixed_prefix", 4.0),
    ("mixed_agg", 8.0),
    ("mixed_latest10", 1.5),
    ("point_dirty10", 1.5),
    ("prefix500_arrow_dirty10", 4.0),
    ("agg401_dirty10", 4.0),
];

/// Microseconds of plans, milliseconds of openings, and factors.
const AT_MOST: &[(&str, f64)] = &[
    ("open", 1000.0),
    ("write_amp", 10.0),
    ("plan_point", 20.0),
    ("plan_point_template", 2.0),
    ("plan_in500", 300.0),
    ("plan_product", 1000.0),
];

/// The goal of a work, if it has one.
pub fn goal(work: &str) -> Option<Goal> {
    let find = |list: &[(&str, f64)]| list.iter().find(|(name, _)| *name == work).map(|(_, figure)| *figure);
    find(TIMES_SQLITE).map(Goal::TimesSqlite).or_else(|| find(AT_MOST).map(Goal::AtMost))
}
