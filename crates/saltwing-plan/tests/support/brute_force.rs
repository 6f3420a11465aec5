//! The laws of a plan, held against rows by the scalar evaluator.

use proptest::prelude::*;
use saltwing_plan::{Access, Buckets, Condition, ScanRange, Use};
use saltwing_types::{Value, eval};

/// A row, its logical key and its bucket.
pub struct Stored {
    pub row: Vec<Value>,
    pub key: Vec<u8>,
    pub bucket: u8,
}

/// Whether all conditions hold; `None` when one raises an error.
pub fn holds<'c>(conditions: impl IntoIterator<Item = &'c Condition>, row: &[Value]) -> Option<bool> {
    let mut all = true;
    for condition in conditions {
        all &= eval::holds(&condition.expr, row).ok()?;
    }
    Some(all)
}

fn is_read(ranges: &[ScanRange], buckets: &Buckets, stored: &Stored) -> bool {
    let in_bucket = match buckets {
        Buckets::All => true,
        Buckets::Some(list) => list.contains(&stored.bucket),
    };
    in_bucket
        && ranges
            .iter()
            .any(|scan| scan.range.contains(&stored.key) && scan.bucket.is_none_or(|bucket| bucket == stored.bucket))
}

/// No row is lost, none too many is kept, and where the plan is exact none too many is read.
pub fn check_rows(access: &Access, conditions: &[Condition], stored: &[Stored]) -> Result<(), TestCaseError> {
    let ranges: Vec<ScanRange> = access.ranges.iter().collect();
    for row in stored {
        let read = is_read(&ranges, &access.buckets, row);
        prop_assert_eq!(access.ranges.contains(&row.key), ranges.iter().any(|scan| scan.range.contains(&row.key)));
        let (Some(wanted), Some(kept)) = (holds(conditions, &row.row), holds(&access.residual, &row.row)) else {
            continue;
        };
        prop_assert_eq!(read && kept, wanted, "row {:?}, key {:02x?}, read {}, kept {}", row.row, row.key, read, kept);
        if !read {
            continue;
        }
        for (condition, predicate) in conditions.iter().zip(&access.predicates) {
            let must_hold = predicate.use_ == Use::Key || (access.exact && predicate.use_ == Use::Both);
            prop_assert!(
                !must_hold || holds([condition], &row.row).unwrap_or(true),
                "{:?} does not hold for {:?}",
                predicate,
                row.row
            );
        }
    }
    Ok(())
}
