//! Row estimates of a scan, by which DataFusion and [`crate::physical::join_order`] choose among allowed plans.
//!
//! # Invariants
//! 1. An estimate reads no rows.
//! 2. No estimate is marked as exact. DataFusion would answer COUNT(*) from an exact one, and the guard would never see
//!    the scan.
//! 3. Estimates below [`SMALL_ROWS`] are rounded up to it. A better plan gains nothing there, and plans over small
//!    tables keep the order of the text.

use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use saltwing_planner::TableAccess;
use saltwing_types::{SqlType, Value};

use crate::expression::literal::to_scalar;
use crate::scan::scan_request::TableUse;

/// Rows that are as good as fewer.
pub(crate) const SMALL_ROWS: u64 = 1024;
/// One row in this many is assumed to match a condition without ranges, as DataFusion assumes for its filters.
pub(crate) const FILTERED_SHARE: u64 = 5;
/// Bounds of a column are reported if at most one row in this many is recent, because recent rows are not in them.
const RECENT_SHARE: u64 = 8;

/// About how many rows an access puts out, a limit aside; `None` before its parameters have values.
pub(crate) fn rows_of(of: &TableUse, access: &TableAccess) -> Option<u64> {
    let rows = rows_read(of, access)?;
    let is_filtered = !access.access().residual.is_empty();
    Some(if is_filtered { rows.div_ceil(FILTERED_SHARE) } else { rows })
}

/// About how many rows lie in its ranges.
pub(crate) fn rows_read(of: &TableUse, access: &TableAccess) -> Option<u64> {
    // An outdated definition is reported when the rows are read.
    Some(of.snapshot().ok()?.estimate(access.key_table(), &access.keys()?).ok()?.rows)
}

/// The statistics of this many rows of these columns.
pub(crate) fn statistics(of: &TableUse, columns: &[usize], rows: u64) -> Statistics {
    let rows = rows.max(SMALL_ROWS);
    let known = of.snapshot().and_then(|snapshot| Ok(snapshot.estimate_columns(&of.table, columns)?));
    let known = known.unwrap_or_default();
    let key = &of.table.def().key.columns;
    let of_column = |(at, column): (usize, &usize)| {
        let mut statistics = ColumnStatistics::new_unknown();
        if let [only] = key.as_slice()
            && only.column() == Some(*column)
        {
            statistics.distinct_count = Precision::Inexact(count(rows));
        }
        let ty = of.table.column_type(*column);
        if let Some(known) = known.get(at).filter(|known| known.unseen.saturating_mul(RECENT_SHARE) <= rows) {
            (statistics.min_value, statistics.max_value) =
                (bound(known.min.as_ref(), ty), bound(known.max.as_ref(), ty));
            statistics.null_count = known.nulls.map_or(Precision::Absent, |nulls| Precision::Inexact(count(nulls)));
        }
        statistics
    };
    let column_statistics = columns.iter().enumerate().map(of_column).collect();
    Statistics { num_rows: Precision::Inexact(count(rows)), total_byte_size: Precision::Absent, column_statistics }
}

/// A number of rows as DataFusion counts them.
pub(crate) fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// A value as DataFusion's scalar; `None` if it has none, such as an instant beyond its limits.
fn bound(value: Option<&Value>, ty: SqlType) -> Precision<ScalarValue> {
    let scalar = value.and_then(|value| to_scalar(value, ty).ok());
    scalar.map_or(Precision::Absent, Precision::Inexact)
}
