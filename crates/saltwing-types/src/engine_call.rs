//! Calls of what only the relational engine computes.

use std::fmt;

use crate::function::Volatility;
use crate::{Expr, SqlType};

/// A call that no evaluator of ours runs: only a plan of the relational engine may hold one.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineCall {
    /// What is called.
    pub operation: EngineOperation,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// The type of the value.
    pub ty: SqlType,
    /// Whether the value can be NULL.
    pub nullable: bool,
    /// How long the value stays the same.
    pub volatility: Volatility,
}

/// What an [`EngineCall`] calls.
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

impl fmt::Display for EngineCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, separator: &str| {
            for (place, arg) in self.args.iter().enumerate() {
                write!(f, "{}{arg}", if place == 0 { "" } else { separator })?;
            }
            Ok(())
        };
        match &self.operation {
            EngineOperation::Function(name) => {
                write!(f, "{name}(")?;
                list(f, ", ")?;
                f.write_str(")")
            }
            EngineOperation::Cast(ty) | EngineOperation::TryCast(ty) => {
                let tries = matches!(self.operation, EngineOperation::TryCast(_));
                f.write_str(if tries { "TRY_CAST(" } else { "CAST(" })?;
                list(f, ", ")?;
                write!(f, " AS {ty})")
            }
            EngineOperation::Bits(operator) => {
                f.write_str("(")?;
                list(f, &format!(" {} ", operator.as_str()))?;
                f.write_str(")")
            }
        }
    }
}
