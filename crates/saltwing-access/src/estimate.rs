//! A store's estimates of its rows, made without reading them.

use saltwing_plan::ScanRange;
use saltwing_types::Value;

use crate::Buckets;

/// Some of the ranges of a [`KeySet`](crate::KeySet), and how many there are of them.
#[derive(Clone, Debug)]
pub struct RangeSample {
    /// Ranges; disjoint.
    pub ranges: Vec<ScanRange>,
    /// The number of ranges, those of the sample included; an estimate if there are many.
    pub total: u64,
    /// The buckets of a range that names none.
    pub buckets: Buckets,
}

impl RangeSample {
    /// Maximum of useful ranges in a sample; more are ignored.
    pub const RANGES_MAX: usize = 64;
}

/// About how much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Rows.
    pub rows: u64,
    /// Their bytes before they are packed, keys included.
    pub bytes: u64,
    /// Whether there are as many rows as that, no more and no less.
    pub is_exact: bool,
}

/// The statistics of a column's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnEstimate {
    /// A value that none is below.
    pub min: Option<Value>,
    /// A value that none is above.
    pub max: Option<Value>,
    /// How many are NULL.
    pub nulls: Option<u64>,
    /// Recent rows that were not examined: the statistics hold for all others.
    pub unseen: u64,
}

impl Estimate {
    /// The sum of two parts without a common row.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            bytes: self.bytes.saturating_add(other.bytes),
            is_exact: self.is_exact && other.is_exact,
        }
    }

    /// The sum over all parts, of which this has the part `some` of `all`.
    #[must_use]
    pub fn scaled_to(self, all: u64, some: u64) -> Self {
        if all == some {
            return self;
        }
        let scaled =
            |amount: u64| (u128::from(amount) * u128::from(all) / u128::from(some.max(1))).min(u64::MAX.into()) as u64;
        Self { rows: scaled(self.rows), bytes: scaled(self.bytes), is_exact: false }
    }
}
