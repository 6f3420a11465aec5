//! Aggregates, and the types of their results.

use saltwing_types::SqlType;

use super::expression::ScanExpression;
use crate::PhoenixError;
use crate::writable::write_number;

/// COUNT(*) counts the literal 1, an INTEGER that is not NULL.
const ONE: [u8; 8] = [0x03, 0x05, 0x80, 0, 0, 1, 0x06, 0x03];
/// Most digits of numbers whose sum has at most 38, whatever the rows of a table are.
const SUMMED_DIGITS_MAX: u8 = 19;

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    /// COUNT.
    Count,
    /// SUM.
    Sum,
    /// MIN.
    Min,
    /// MAX.
    Max,
}

/// A function of a column, or COUNT of all rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    function: AggregateFunction,
    argument: Option<ScanExpression>,
    result: SqlType,
}

impl Aggregate {
    /// COUNT(*).
    pub fn count_rows() -> Self {
        Self { function: AggregateFunction::Count, argument: None, result: SqlType::BigInt }
    }

    /// A function of a column's values that are not NULL.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for what the region servers compute otherwise than SQL does: sums of DECIMALs of more than 19 digits,
    /// which they round, and sums, minima and maxima of types that have none. Sums of numbers of 64 bits would wrap there: they are
    /// sums of DECIMALs.
    pub fn of(function: AggregateFunction, argument: ScanExpression) -> Result<Self, PhoenixError> {
        let ty = argument.ty;
        let place = if argument.is_descending { " in a descending key" } else { "" };
        let not_pushed = || PhoenixError::NotPushed { what: format!("{} of {ty}{place}", function.name()) };
        let result = match function {
            AggregateFunction::Count => SqlType::BigInt,
            // The server's bytes would be inverted ones.
            _ if argument.is_descending => return Err(not_pushed()),
            AggregateFunction::Sum if is_long(ty) => {
                return Ok(Self { function, argument: Some(argument.as_decimal()?), result: SqlType::Decimal(None) });
            }
            AggregateFunction::Sum => sum_type(ty).ok_or_else(not_pushed)?,
            AggregateFunction::Min | AggregateFunction::Max => match ty {
                SqlType::Array(..) | SqlType::Json => return Err(not_pushed()),
                ty => ty,
            },
        };
        Ok(Self { function, argument: Some(argument), result })
    }

    /// SUM of a BIGINT as the region servers have it: it wraps at 64 bits. It is exact if the number of values times the greatest distance of one
    /// from 0 is within 64 bits, and takes less than a sum of DECIMALs.
    ///
    /// # Errors
    /// [`PhoenixError::NotPushed`] for other types and descending key columns.
    pub fn wrapping_sum(argument: ScanExpression) -> Result<Self, PhoenixError> {
        if argument.ty != SqlType::BigInt || argument.is_descending {
            return Err(PhoenixError::NotPushed { what: format!("a wrapping SUM of {}", argument.ty) });
        }
        Ok(Self { function: AggregateFunction::Sum, argument: Some(argument), result: SqlType::BigInt })
    }

    /// The type of the result.
    pub fn result_type(&self) -> SqlType {
        self.result
    }

    /// Whether the result is never NULL.
    pub(super) fn is_count(&self) -> bool {
        self.function == AggregateFunction::Count
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_number(self.function.number(), out);
        write_number(1, out);
        match &self.argument {
            Some(argument) => out.extend_from_slice(&argument.bytes),
            None => out.extend_from_slice(&ONE),
        }
    }
}

impl AggregateFunction {
    /// The number of Phoenix's expression.
    fn number(self) -> i64 {
        match self {
            Self::Count => 24,
            Self::Sum => 25,
            Self::Min => 26,
            Self::Max => 27,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Count => "COUNT",
            Self::Sum => "SUM",
            Self::Min => "MIN",
            Self::Max => "MAX",
        }
    }
}

/// Whether a sum of two such numbers may wrap at 64 bits.
fn is_long(ty: SqlType) -> bool {
    matches!(ty, SqlType::BigInt | SqlType::UnsignedLong)
}

/// The type in which the region server sums; `None` if that is not exact, or no number.
fn sum_type(ty: SqlType) -> Option<SqlType> {
    match ty {
        ty if ty.is_integer() => Some(SqlType::BigInt),
        ty if ty.is_float() => Some(SqlType::Double),
        SqlType::Decimal(Some((precision, _))) if precision <= SUMMED_DIGITS_MAX => Some(SqlType::Decimal(None)),
        _ => None,
    }
}
