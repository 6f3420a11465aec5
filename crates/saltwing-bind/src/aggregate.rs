//! Calls of aggregate functions.

use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{Expr, SqlType, ValueError};

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: AggregateFunction,
    /// The argument; `None` counts rows.
    pub argument: Option<Expr>,
    /// Whether equal values count once.
    pub distinct: bool,
    /// FILTER: the rows that count.
    pub filter: Option<Expr>,
    /// The result's type.
    pub ty: SqlType,
}

impl AggregateCall {
    /// The expressions that it computes for each row: its argument and its filter.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.argument.iter().chain(&self.filter)
    }

    /// The same, to change them.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.argument.iter_mut().chain(&mut self.filter)
    }
}

/// The aggregate functions of the direct path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Count, Self::Sum, Self::WrappingSum, Self::Min, Self::Max, Self::Avg];

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name().eq_ignore_ascii_case(name))
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "COUNT",
            Self::Sum => "SUM",
            Self::WrappingSum => "WRAPPING_SUM",
            Self::Min => "MIN",
            Self::Max => "MAX",
            Self::Avg => "AVG",
        }
    }

    /// The type of the result over values of `ty`: sums of integers are BIGINT, those of decimals and
    /// their averages bare DECIMAL, both of intervals INTERVAL, other averages DOUBLE.
    pub(crate) fn result_type(self, argument: &Expr, ty: SqlType) -> Result<SqlType, ValueError> {
        let is_number = ty.family() == TypeFamily::Number;
        Ok(match (self, ty) {
            (Self::Count, _) => SqlType::BigInt,
            (Self::Min | Self::Max, _) => ty,
            (_, SqlType::Decimal(_)) => SqlType::Decimal(None),
            (_, SqlType::Interval) => SqlType::Interval,
            (Self::Sum | Self::WrappingSum, _) if ty.is_integer() => SqlType::BigInt,
            _ if is_number => SqlType::Double,
            (function, _) => {
                let text = format!("{} takes numbers or intervals, and {argument} is {ty}", function.name());
                return Err(ValueError::TypeMismatch(text));
            }
        })
    }
}
