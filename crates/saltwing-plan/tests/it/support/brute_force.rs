//! The laws of a plan, held against rows by the scalar evaluator.

use proptest::prelude::*;
use saltwing_plan::{Access, Buckets, Condition, KeyRegion, ScanRange, Skip, Use};
use saltwing_types::{Direction, Value, eval};

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
    access.skip.as_ref().map_or(Ok(()), |skip| check_skip(access, skip, conditions, stored))
}

/// The laws of skipping: no stretch that is passed over has a wanted row, each advances from the requested key, and
/// in a wanted one a condition holds that is exact and used for skipping alone.
fn check_skip(access: &Access, skip: &Skip, conditions: &[Condition], stored: &[Stored]) -> Result<(), TestCaseError> {
    let is_exact = |why: &str| why.contains(", skipping over ") && !why.contains(", wider than the condition");
    let used = conditions.iter().zip(&access.predicates);
    let exact: Vec<&Condition> = used
        .filter(|(_, use_)| use_.use_ == Use::Both && is_exact(&use_.why))
        .map(|(condition, _)| condition)
        .collect();
    let mut sorted: Vec<&Stored> = stored.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    for reverse in [false, true] {
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let mut skip_filter = skip.regions(direction);
        for (i, from) in sorted.iter().enumerate() {
            let (is_wanted, place) = match skip_filter.at(&from.key) {
                KeyRegion::Match(place) => (true, place),
                KeyRegion::Gap(place) => (false, place),
            };
            let holds_key = |key: &[u8]| place.is_none_or(|place| if reverse { place <= key } else { key < place });
            prop_assert!(holds_key(&from.key), "{:02x?} is not before {:02x?}", from.key, place);
            let ahead = if reverse { &sorted[..=i] } else { &sorted[i..] };
            for row in ahead.iter().filter(|row| holds_key(&row.key)) {
                let about = format!("row {:?}, reverse {reverse}, from {:02x?} to {place:02x?}", row.row, from.key);
                if is_wanted {
                    let fails = |condition: &&&Condition| holds([**condition], &row.row) == Some(false);
                    let failed = exact.iter().find(fails);
                    prop_assert!(failed.is_none(), "wanted though {failed:?} does not hold: {about}");
                } else {
                    prop_assert!(holds(conditions, &row.row) != Some(true), "passed over: {about}");
                }
            }
        }
    }
    Ok(())
}
