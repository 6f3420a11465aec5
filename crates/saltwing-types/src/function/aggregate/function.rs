//! The aggregate functions that both executors compute, and their states.

/// What a partial result of a function holds: those of two parts of the rows make that of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateState {
    /// How many values, or rows, there are.
    Count,
    /// The sum, of integers in more than 64 bits; NULL without a value.
    Sum,
    /// The same, and how many values there are.
    SumAndCount,
    /// The least value; NULL without one.
    Least,
    /// The greatest value; NULL without one.
    Greatest,
}

/// The aggregate functions that both executors compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// `COUNT`: of rows, or of values that are not NULL.
    Count,
    /// `SUM`.
    Sum,
    /// `WRAPPING_SUM`: a sum of integers beyond 64 bits wraps, as in Phoenix.
    WrappingSum,
    /// `MIN`.
    Min,
    /// `MAX`.
    Max,
    /// `AVG`.
    Avg,
}

impl AggregateFunction {
    /// What a partial result holds, in both executors.
    pub fn state(self) -> AggregateState {
        match self {
            Self::Count => AggregateState::Count,
            Self::Sum | Self::WrappingSum => AggregateState::Sum,
            Self::Min => AggregateState::Least,
            Self::Max => AggregateState::Greatest,
            Self::Avg => AggregateState::SumAndCount,
        }
    }

    /// Whether it adds values up.
    pub fn sums(self) -> bool {
        matches!(self.state(), AggregateState::Sum | AggregateState::SumAndCount)
    }
}
