//! The keys of a scan, as data: a value that can be cloned, shown, and sent to another machine.
//!
//! ```text
//! KeySet ── one range of physical keys
//!        └─ KeyRanges, in each of some buckets
//!             ├─ a list of keys or ranges, or a plan's product of lists
//!             ├─ the skip: gaps inside them, by the conditions on later columns
//!             └─ the clips: a range of logical keys, a range of physical keys
//! ```
//! A store takes the ranges one at a time ([`KeyRanges::ranges`]): a product of lists is never held.

mod key_list;
mod range_list;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use saltwing_plan::{Buckets, KeyRegions, Ranges, ScanRange, Skip};
use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_types::{Direction, KeySchema};

use crate::RangeSample;

pub use key_list::KeyList;
pub use range_list::RangeList;
use walk::RangeForm;
pub use walk::RangeIter;

/// Ranges of a plan up to which they are made once, for all buckets.
const LISTED_MAX: u128 = 16;

/// The keys that a scan reads. Cheap to clone.
#[derive(Clone, Debug)]
pub enum KeySet {
    /// The keys of one range, in one bucket if the table has buckets.
    Range(BucketRange),
    /// The same ranges of logical keys in each of some buckets.
    Ranges {
        /// Ranges.
        ranges: KeyRanges,
        /// Buckets.
        buckets: Buckets,
    },
}

impl KeySet {
    /// All keys of a table.
    pub fn all() -> Self {
        Self::everywhere(KeyRanges::from_iter([KeyRange::all()]))
    }

    /// These ranges in every bucket.
    pub fn everywhere(ranges: impl Into<KeyRanges>) -> Self {
        Self::Ranges { ranges: ranges.into(), buckets: Buckets::All }
    }

    /// The buckets in which keys may lie, of a table with this key.
    pub fn buckets(&self, key: &KeySchema) -> Vec<Option<u8>> {
        match self {
            Self::Range(keys) => vec![keys.bucket],
            Self::Ranges { buckets, .. } => buckets.of(key),
        }
    }

    /// As [`KeyRanges::ranges`].
    pub fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        match self {
            Self::Range(keys) if keys.bucket == bucket => RangeIter::one(keys.logical()),
            Self::Range(_) => RangeIter::none(),
            Self::Ranges { ranges, .. } => ranges.ranges(bucket, direction),
        }
    }

    /// Those of the keys that lie in a range of physical keys. `None` if no bucket has a key in it.
    #[must_use]
    pub fn within(&self, key: &KeySchema, part: &KeyRange) -> Option<Self> {
        match self {
            _ if part.is_all() => Some(self.clone()),
            Self::Range(BucketRange { bucket, range }) => {
                Some(Self::Range(BucketRange { bucket: *bucket, range: range.intersect(part)? }))
            }
            Self::Ranges { ranges, buckets } => {
                let buckets = match key.salt {
                    None => buckets.clone(),
                    Some(_) => {
                        let all = buckets.of(key).into_iter().flatten();
                        Buckets::Some(all.filter(|&bucket| logical_part(part, Some(bucket)).is_some()).collect())
                    }
                };
                let ranges = ranges.within(part)?;
                (buckets != Buckets::Some(Vec::new())).then_some(Self::Ranges { ranges, buckets })
            }
        }
    }

    /// Those of the keys that lie in a range of logical keys, in place of an earlier such range. Reading them begins with a
    /// seek of its own. `None` if they are known to be none.
    #[must_use]
    pub fn rest(&self, rest: &KeyRange) -> Option<Self> {
        Some(match self {
            Self::Range(BucketRange { bucket, range }) => {
                Self::Range(BucketRange { bucket: *bucket, range: range.intersect(&rest.in_bucket(*bucket))? })
            }
            Self::Ranges { ranges, buckets } => {
                Self::Ranges { ranges: ranges.clone().rest(rest.clone()), buckets: buckets.clone() }
            }
        })
    }

    /// Those of the keys that lie in these buckets, in which the set has keys; `None` if there are no buckets.
    #[must_use]
    fn in_buckets(&self, buckets: &[Option<u8>]) -> Option<Self> {
        match self {
            _ if buckets.is_empty() => None,
            Self::Range(_) => Some(self.clone()),
            Self::Ranges { ranges, .. } => {
                let buckets = Buckets::Some(buckets.iter().copied().flatten().collect());
                Some(Self::Ranges { ranges: ranges.clone(), buckets })
            }
        }
    }

    /// The keys that a scan reads bucket by bucket after a key of `bucket`, if `rest` has the later keys of that bucket: those of
    /// its own bucket, and those of later buckets.
    pub(crate) fn remaining_after(&self, key: &KeySchema, bucket: u8, rest: &KeyRange) -> [Option<Self>; 2] {
        let buckets = self.buckets(key);
        let mut from_own = buckets.iter().copied().skip_while(|other| *other != Some(bucket));
        let own: Vec<Option<u8>> = from_own.by_ref().take(1).collect();
        let later: Vec<Option<u8>> = from_own.collect();
        [self.in_buckets(&own).and_then(|keys| keys.rest(rest)), self.in_buckets(&later)]
    }

    /// Some of the ranges, by which a store estimates how many rows all of them have.
    pub fn sample(&self, key: &KeySchema) -> RangeSample {
        match self {
            Self::Range(keys) => RangeSample { ranges: vec![keys.clone().into()], total: 1, buckets: Buckets::All },
            Self::Ranges { ranges, buckets } if ranges.clip.is_none() => ranges.sample(buckets.clone()),
            Self::Ranges { ranges, buckets } => {
                let in_bucket = |bucket| {
                    let ranges = ranges.ranges(bucket, Direction::Forward);
                    ranges.map(move |range| ScanRange { range, bucket })
                };
                let each = buckets.of(key);
                // A clip leaves at most as many ranges in a bucket as there are without it.
                let total = || ranges.sample(Buckets::All).total.saturating_mul(each.len() as u64);
                sample_of(each.iter().copied().flat_map(in_bucket), total, Buckets::All)
            }
        }
    }
}

/// Ranges of logical keys, which are read in each bucket of a [`KeySet`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KeyRanges {
    form: RangeForm,
    skip: Option<Skip>,
    clip: Option<Arc<Clip>>,
}

/// The bounds of the keys that are read.
#[derive(Clone, Debug, Default)]
struct Clip {
    /// Logical keys, of any bucket.
    rest: Option<KeyRange>,
    /// Physical keys.
    part: Option<KeyRange>,
}

/// Each key in its bucket.
impl From<KeyList> for KeySet {
    fn from(keys: KeyList) -> Self {
        let buckets = keys.buckets().map_or(Buckets::All, Buckets::Some);
        Self::Ranges { ranges: keys.into(), buckets }
    }
}

/// Each range in its bucket, or in every bucket if it names none.
impl From<RangeList> for KeySet {
    fn from(ranges: RangeList) -> Self {
        let buckets = ranges.buckets().map_or(Buckets::All, Buckets::Some);
        Self::Ranges { ranges: ranges.into(), buckets }
    }
}

impl From<KeyList> for KeyRanges {
    fn from(keys: KeyList) -> Self {
        Self::new(RangeForm::Keys(Arc::new(keys)))
    }
}

impl From<RangeList> for KeyRanges {
    fn from(ranges: RangeList) -> Self {
        Self::new(RangeForm::List(Arc::new(ranges)))
    }
}

/// Ranges in every bucket, which are the same or have no key in common.
impl FromIterator<KeyRange> for KeyRanges {
    fn from_iter<I: IntoIterator<Item = KeyRange>>(ranges: I) -> Self {
        RangeList::new(ranges.into_iter().map(|range| ScanRange { range, bucket: None }).collect()).into()
    }
}

impl KeyRanges {
    /// Ranges of this form, without skips.
    fn new(form: RangeForm) -> Self {
        Self { form, skip: None, clip: None }
    }

    /// The ranges of a plan, which are known: no parameter is in them.
    pub fn planned(ranges: &Ranges) -> Self {
        match ranges.total_max() {
            Some(most) if most <= LISTED_MAX => RangeList::new(ranges.walk(Direction::Forward).collect()).into(),
            _ => Self::new(RangeForm::Product(ranges.clone())),
        }
    }

    /// The same ranges, with gaps inside them that a scan may pass over: its filter leaves out their rows.
    #[must_use]
    pub fn skipping(self, skip: Option<Skip>) -> Self {
        Self { skip, ..self }
    }

    /// The logical keys in `rest`, of every bucket. Reading them begins with a seek of its own.
    #[must_use]
    pub fn rest(self, rest: KeyRange) -> Self {
        let clip = Clip { rest: Some(rest), ..self.clip.as_deref().cloned().unwrap_or_default() };
        Self { clip: Some(Arc::new(clip)), ..self }
    }

    /// Those of the keys that lie in a range of physical keys: scans of the parts seek as often together as the scan of
    /// the whole does. `None` if they are none.
    #[must_use]
    fn within(&self, part: &KeyRange) -> Option<Self> {
        let Clip { rest, part: own } = self.clip.as_deref().cloned().unwrap_or_default();
        let part = match own {
            Some(own) => own.intersect(part)?,
            None => part.clone(),
        };
        Some(Self { clip: Some(Arc::new(Clip { rest, part: Some(part) })), ..self.clone() })
    }

    /// The ranges, without the bucket byte, that are read in `bucket` (`None`: the table has no salt), in key order or
    /// against it; disjoint.
    pub fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter {
        let all = RangeIter::of(&self.form, bucket, direction);
        let Some(Clip { rest, part }) = self.clip.as_deref() else { return all };
        match part.as_ref().map_or(Some(KeyRange::all()), |part| logical_part(part, bucket)) {
            None => RangeIter::none(),
            Some(part) if part.is_all() && rest.is_none() => all,
            Some(part) => all.clipped(rest.as_ref(), part),
        }
    }

    /// Tells which keys inside the ranges are wanted. `None`: all of them may be.
    ///
    /// The scan may still return unwanted rows; its filter must reject them.
    pub fn skip_filter(&self, direction: Direction) -> Option<KeyRegions> {
        self.skip.as_ref().map(|skip| skip.regions(direction))
    }

    /// Some of the ranges; they are not clipped.
    fn sample(&self, buckets: Buckets) -> RangeSample {
        match &self.form {
            RangeForm::Keys(list) => sample_of(list.scan_ranges(), || list.len() as u64, buckets),
            RangeForm::List(list) => sample_of(list.iter().cloned(), || list.len() as u64, buckets),
            RangeForm::Product(ranges) => {
                let total = || ranges.total_max().and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX);
                sample_of(ranges.walk(Direction::Forward), total, buckets)
            }
        }
    }
}

/// The first of some ranges; `total` tells how many there are if not all of them are taken.
fn sample_of(mut all: impl Iterator<Item = ScanRange>, total: impl FnOnce() -> u64, buckets: Buckets) -> RangeSample {
    let ranges: Vec<ScanRange> = all.by_ref().take(RangeSample::RANGES_MAX).collect();
    let has_more = ranges.len() == RangeSample::RANGES_MAX && all.next().is_some();
    RangeSample { total: if has_more { total() } else { ranges.len() as u64 }, ranges, buckets }
}

/// The logical keys that a range of physical keys has in a bucket.
fn logical_part(part: &KeyRange, bucket: Option<u8>) -> Option<KeyRange> {
    Some(part.intersect(&KeyRange::all().in_bucket(bucket))?.out_of_bucket(bucket))
}
