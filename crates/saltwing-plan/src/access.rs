//! A plan: the keys to read, and the conditions left to check.

use saltwing_types::KeySchema;

use crate::{Condition, Loss, OrderKind, Ranges, Skip, Verdict};

/// How one table is read.
///
/// # Laws
/// 1. A row satisfies all conditions exactly when its logical key lies in
///    [`Access::ranges`], its bucket is among [`Access::buckets`], and all of
///    [`Access::residual`] hold for it.
/// 2. When [`Access::exact`], no row outside the conditions marked key (or both)
///    lies in the ranges.
/// 3. The verdict is a function of the request alone: no statistics, no sizes.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which of [`crate::Request::keys`] is read.
    pub key_index: usize,
    /// In which way.
    pub kind: AccessKind,
    /// Byte ranges of logical keys: without the bucket byte, in key order.
    pub ranges: Ranges,
    /// The ranges in two parts, to be read one after the other in the direction of `order`: the NULLs of the first
    /// column of the order, and all other rows. If present, only this sequence gives the order.
    pub in_turn: Option<[Ranges; 2]>,
    /// The keys that may be skipped inside the ranges: by conditions on columns after a gap in the key. These
    /// conditions stay in the residual.
    pub skip: Option<Skip>,
    /// Whether the ranges hold no row that fails a condition marked key or both.
    pub exact: bool,
    /// The buckets that hold such rows.
    pub buckets: Buckets,
    /// The direction in which a scan gives the requested order.
    pub order: OrderKind,
    /// Rows after which the scan may stop, OFFSET included: those that pass the residual count.
    pub limit: Option<u64>,
    /// The conditions that the ranges do not imply.
    pub residual: Vec<Condition>,
    /// The use of each condition, in the order of the request.
    pub predicates: Vec<PredicateUse>,
    /// Whether this may run.
    pub verdict: Verdict,
    /// Whether the rows of the key have all columns of the statement. Else the rows of the table are read by its entries.
    pub covering: bool,
    /// The other keys of the request, each with the reason why it is not read; only if there are indexes.
    pub lost: Vec<(usize, Loss)>,
}

/// Most spans and ranges that EXPLAIN lists.
pub const LISTED_MAX: usize = 1000;

impl Access {
    /// The ranges as typed text in key order, at most [`LISTED_MAX`]; `None` before parameters are bound.
    pub fn spans(&self) -> Option<Vec<String>> {
        self.ranges.spans(LISTED_MAX)
    }
}

/// The way of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Whole keys are known.
    Point,
    /// One range.
    Range,
    /// Several ranges, with seeks between or inside them.
    SkipScan,
    /// Every key.
    FullScan,
    /// The alternatives of an OR, each by a key of its own: the ranges are not read.
    Union,
    /// Nothing: no row can satisfy the conditions.
    Empty,
}

impl AccessKind {
    /// The word in EXPLAIN.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Range => "range",
            Self::SkipScan => "skip_scan",
            Self::FullScan => "full_scan",
            Self::Union => "union",
            Self::Empty => "empty",
        }
    }
}

/// Buckets of a salted table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// Any of them; also for a table without salt.
    All,
    /// These, ascending. Each range says which of them is its own.
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

/// The use of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The ranges imply it.
    Key,
    /// It is checked for each row.
    Residual,
    /// It narrows the ranges, and is checked for each row.
    Both,
}

impl Use {
    /// The word in EXPLAIN.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Residual => "residual",
            Self::Both => "both",
        }
    }
}

/// A condition, its use, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateUse {
    /// The condition as shown.
    pub text: String,
    /// Its use.
    pub use_: Use,
    /// The column that it is about: the first key column, or the first at all.
    pub column: Option<String>,
    /// Why it is used so.
    pub why: String,
    /// Whether only execution knows which ranges it makes: a parameter or a subquery is in it.
    pub open: bool,
}
