//! LIMIT and OFFSET.

use saltwing_types::Value;

/// The number of rows that LIMIT or OFFSET tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowCount {
    /// There is no such clause, or its value is NULL.
    #[default]
    None,
    /// This number of rows.
    Rows(u64),
    /// The value of a parameter that has none yet, by number from 0.
    Parameter(usize),
    /// The value of an uncorrelated subquery that has not run, by position.
    Subquery(usize),
}

impl RowCount {
    /// The number that a value stands for; `None` if it is no such number.
    pub fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::None),
            Value::Int(n) => u64::try_from(*n).ok().map(Self::Rows),
            _ => None,
        }
    }

    /// The number, if there is one that is known.
    pub fn rows(self) -> Option<u64> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::None | Self::Parameter(_) | Self::Subquery(_) => None,
        }
    }

    /// Whether its value comes later: from a parameter or a subquery.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Parameter(_) | Self::Subquery(_))
    }
}
