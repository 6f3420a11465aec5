//! Which of several keys is read.
//!
//! # Law
//! The choice is a pure function of the keys and the statement: no statistics, no sizes. The first difference decides:
//!
//! 1. an INDEX hint, then the order of a page
//! 2. no row can satisfy the conditions
//! 3. whole keys are known
//! 4. conditions bound the key
//! 5. more leading columns are fixed, then more columns are bounded
//! 6. the ranges hold no other rows
//! 7. LIMIT stops early, because rows come in the order of the statement
//! 8. all columns of the statement are in the key's own rows
//! 9. rows come in the order of the statement
//! 10. the key of the table before those of its indexes, an older index before a newer one

/// How good a key is; larger is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) hinted: bool,
    pub(crate) pages: bool,
    pub(crate) empty: bool,
    pub(crate) point: bool,
    pub(crate) bounded: bool,
    pub(crate) fixed_columns: usize,
    pub(crate) bounded_columns: usize,
    pub(crate) exact: bool,
    pub(crate) stops_early: bool,
    pub(crate) covering: bool,
    pub(crate) ordered: bool,
}

/// Why a key is not the one that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It is a partial index, and the conditions do not imply its predicate.
    NotImplied,
    /// The key has no form for a value of the conditions.
    NoKeyForm,
    /// Another one is hinted.
    NotHinted,
    /// The rows are a page, and do not come in its order.
    NotOfPage,
    /// The other key shows that there is no row.
    MayHaveRows,
    /// The other one is read by whole keys.
    NotByPoints,
    /// Nothing bounds it.
    Unbounded,
    /// Fewer of its leading columns have known values.
    FewerFixed,
    /// Fewer of its columns are bounded.
    FewerBounded,
    /// Its ranges hold rows that fail the conditions.
    Wider,
    /// LIMIT would not stop early.
    ReadsAll,
    /// Its entries do not have all columns of the statement.
    NotCovering,
    /// Rows would have to be sorted.
    NotOrdered,
    /// Rows of one group do not follow each other.
    NotGrouped,
    /// It is as good as the other one, which comes first.
    Later,
}

impl Loss {
    /// The reason as a part of a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotImplied => "the conditions do not imply its predicate",
            Self::NoKeyForm => "its key has no form for a value of the conditions",
            Self::NotHinted => "the hint INDEX names another one",
            Self::NotOfPage => "its rows are not in the order of the page",
            Self::MayHaveRows => "another key shows that no row meets the conditions",
            Self::NotByPoints => "another key is read by whole keys",
            Self::Unbounded => "no condition bounds its first column",
            Self::FewerFixed => "fewer of its leading columns have known values",
            Self::FewerBounded => "fewer of its columns are bounded",
            Self::Wider => "its ranges hold rows that fail the conditions",
            Self::ReadsAll => "LIMIT would not stop early, as rows would have to be sorted",
            Self::NotCovering => "its entries do not have all columns of the statement",
            Self::NotOrdered => "its rows would have to be sorted",
            Self::NotGrouped => "its rows of one group do not follow each other",
            Self::Later => "it is as good, and comes later",
        }
    }
}

impl Rank {
    /// Why a key of this rank is not read, but one of a rank at least as good.
    pub(crate) fn loss_to(&self, best: &Self) -> Loss {
        let Self {
            hinted,
            pages,
            empty,
            point,
            bounded,
            fixed_columns,
            bounded_columns,
            exact,
            stops_early,
            covering,
            ordered,
        } = best;
        let differences = [
            (self.hinted != *hinted, Loss::NotHinted),
            (self.pages != *pages, Loss::NotOfPage),
            (self.empty != *empty, Loss::MayHaveRows),
            (self.point != *point, Loss::NotByPoints),
            (self.bounded != *bounded, Loss::Unbounded),
            (self.fixed_columns != *fixed_columns, Loss::FewerFixed),
            (self.bounded_columns != *bounded_columns, Loss::FewerBounded),
            (self.exact != *exact, Loss::Wider),
            (self.stops_early != *stops_early, Loss::ReadsAll),
            (self.covering != *covering, Loss::NotCovering),
            (self.ordered != *ordered, Loss::NotOrdered),
        ];
        let otherwise = if self.bounded { Loss::Later } else { Loss::Unbounded };
        differences.into_iter().find_map(|(differs, loss)| differs.then_some(loss)).unwrap_or(otherwise)
    }
}
