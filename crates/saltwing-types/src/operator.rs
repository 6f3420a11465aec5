//! Operators of comparison and of arithmetic.

use std::cmp::Ordering;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `IS DISTINCT FROM`: never unknown
    Distinct,
    /// `IS NOT DISTINCT FROM`: never unknown
    NotDistinct,
}

impl CompareOp {
    /// The operator with its sides exchanged: `a < b` is `b > a`.
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
            same => same,
        }
    }

    /// The operator that holds exactly when this one is false (unknown stays unknown).
    pub fn negated(self) -> Self {
        match self {
            Self::Eq => Self::NotEq,
            Self::NotEq => Self::Eq,
            Self::Lt => Self::GtEq,
            Self::LtEq => Self::Gt,
            Self::Gt => Self::LtEq,
            Self::GtEq => Self::Lt,
            Self::Distinct => Self::NotDistinct,
            Self::NotDistinct => Self::Distinct,
        }
    }

    /// Whether it says which side comes first.
    pub fn is_ordering(self) -> bool {
        matches!(self, Self::Lt | Self::LtEq | Self::Gt | Self::GtEq)
    }

    /// Without equality: `<` of `<=`.
    pub fn strict(self) -> Self {
        match self {
            Self::LtEq => Self::Lt,
            Self::GtEq => Self::Gt,
            same => same,
        }
    }

    /// Whether it holds for two values, neither of them NULL, of this order.
    #[inline]
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Eq | Self::NotDistinct => ordering.is_eq(),
            Self::NotEq | Self::Distinct => ordering.is_ne(),
            Self::Lt => ordering.is_lt(),
            Self::LtEq => ordering.is_le(),
            Self::Gt => ordering.is_gt(),
            Self::GtEq => ordering.is_ge(),
        }
    }

    /// As written in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::NotEq => "<>",
            Self::Lt => "<",
            Self::LtEq => "<=",
            Self::Gt => ">",
            Self::GtEq => ">=",
            Self::Distinct => "IS DISTINCT FROM",
            Self::NotDistinct => "IS NOT DISTINCT FROM",
        }
    }
}

/// Arithmetic on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}

impl ArithOp {
    /// As written in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
        }
    }
}
