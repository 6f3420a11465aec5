//! What to read of a table.

use std::sync::Arc;

use saltwing_rowkey::{BucketRange, KeyRange};
use saltwing_store::Direction;
use saltwing_types::KeySchema;

/// Key ranges in the order of travel.
pub type RangeIter = Box<dyn RangeWalk>;

/// Key ranges in the order of travel, some of which can be left out.
pub trait RangeWalk: Iterator<Item = KeyRange> + Send {
    /// The scan knows that no row lies between the range given last and `key`:
    /// ranges there need not be made. Those that are made all the same are passed over.
    fn skip_to(&mut self, key: &[u8]) {
        let _ = key;
    }

    /// Where the next range is one key: it is added to `out`, and passed over. Otherwise nothing happens. It is quicker
    /// than asking for the range.
    fn take_key(&mut self, out: &mut Vec<u8>) -> bool {
        let _ = out;
        false
    }

    /// Whether the range given last is the rest of one that another scan begins: positioning there is nothing that the
    /// plan asks for.
    fn continues(&self) -> bool {
        false
    }
}

impl RangeWalk for std::iter::Empty<KeyRange> {}
impl RangeWalk for std::iter::Once<KeyRange> {}
impl RangeWalk for std::vec::IntoIter<KeyRange> {}
impl RangeWalk for std::iter::Rev<std::vec::IntoIter<KeyRange>> {}

/// Where a scan's ranges come from: made as they are read, so that a product of
/// lists is never held.
pub trait RangeSource: Send + Sync {
    /// The ranges, without the bucket byte, that are read in `bucket` (`None`: the
    /// table has no salt), in key order or against it; disjoint.
    fn ranges(&self, bucket: Option<u8>, direction: Direction) -> RangeIter;

    /// Which keys inside the ranges are wanted. `None`: all of them may be.
    ///
    /// The scan may hand out unwanted rows all the same: its filter must leave them out.
    fn skip_filter(&self, direction: Direction) -> Option<Box<dyn SkipFilter>> {
        let _ = direction;
        None
    }
}

/// Which buckets a scan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// All of the table.
    All,
    /// These, ascending.
    Some(Vec<u8>),
}

impl Buckets {
    /// The buckets of a table with this key, ascending; `None` stands for those of a table without a salt.
    pub fn of(&self, key: &KeySchema) -> Vec<Option<u8>> {
        match (key.salt, self) {
            (None, _) => vec![None],
            (Some(salt), Self::All) => (0..salt.buckets).map(|bucket| Some(bucket as u8)).collect(),
            (Some(_), Self::Some(list)) => list.iter().copied().map(Some).collect(),
        }
    }
}

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// Bucket after bucket.
    ByBucket,
    /// Row-key order over all buckets, which are merged row by row.
    Merged,
}

/// The keys that a scan reads.
#[derive(Clone)]
pub enum KeySet {
    /// The keys of one range, in one bucket where the table has such.
    Range(BucketRange),
    /// Ranges that are made as they are read, in each of these buckets.
    Ranges {
        /// Ranges.
        ranges: Arc<dyn RangeSource>,
        /// Buckets.
        buckets: Buckets,
    },
}

impl KeySet {
    /// All keys of a table.
    pub fn all() -> Self {
        Self::Ranges { ranges: Arc::new(AllKeys), buckets: Buckets::All }
    }
}

struct AllKeys;

impl RangeSource for AllKeys {
    fn ranges(&self, _: Option<u8>, _: Direction) -> RangeIter {
        Box::new(std::iter::once(KeyRange::all()))
    }
}

/// Which rows of a table a scan reads, and in which order.
#[derive(Clone)]
pub struct ScanRoute {
    /// Keys.
    pub keys: KeySet,
    /// Direction.
    pub direction: Direction,
    /// Order.
    pub order: ScanOrder,
    /// Most rows put out.
    pub limit: Option<u64>,
    /// Rows of the first batch, where few may be enough: each later one reads twice as many. `None` leaves it
    /// to the limit.
    pub first_batch: Option<u64>,
}

impl ScanRoute {
    /// These keys forward, bucket after bucket, to the end.
    pub fn of(keys: KeySet) -> Self {
        Self { keys, direction: Direction::Forward, order: ScanOrder::ByBucket, limit: None, first_batch: None }
    }
}

/// How a scan is divided: by rows in blocks, all of an entry where a range begins or ends inside.
#[derive(Clone, Copy, Debug)]
pub struct SplitTarget {
    /// Rows of a part.
    pub rows_each: u64,
    /// Rows from which on a scan is divided at all.
    pub rows_min: u64,
}

/// Keys that lie side by side, from one that was asked for in the direction of travel.
///
/// A place is a byte string that lies above all keys before it and not above any key behind it. Forward the stretch has the
/// keys below its place; in reverse it has those from the place on. `None` is where all keys end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRegion<'p> {
    /// All of them may be wanted.
    Match(Option<&'p [u8]>),
    /// None of them is.
    Gap(Option<&'p [u8]>),
}

/// Tells which keys inside a scan's ranges are wanted, in one direction.
pub trait SkipFilter: Send {
    /// The stretch that a logical key, which holds it, begins.
    fn at(&mut self, logical: &[u8]) -> KeyRegion<'_>;
}
