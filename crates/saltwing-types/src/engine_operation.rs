//! What only the relational engine computes.

use crate::SqlType;

/// What an [`EngineCall`](crate::EngineCall) calls.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineOperation {
    /// A function, by its name in lower case.
    Function(String),
    /// A cast of a value whose type SQL lacks.
    Cast(SqlType),
    /// `TRY_CAST`: NULL where a cast would fail.
    TryCast(SqlType),
    /// An operator on bits.
    Bits(BitOperator),
}

/// An operator on the bits of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`, which is `#` in PostgreSQL.
    Xor,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
}

impl BitOperator {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
        }
    }
}
