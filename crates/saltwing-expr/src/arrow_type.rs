//! SQL types as Arrow types and back.

use std::sync::Arc;

use arrow::datatypes::{DECIMAL256_MAX_PRECISION, DataType, Field, IntervalUnit, TimeUnit};
use saltwing_types::SqlType;
use saltwing_types::sql_type::DECIMAL_PRECISION_MAX;

/// Places after the point of a bare DECIMAL's column; as many digits stand before it.
pub(crate) const BARE_DECIMAL_SCALE: i8 = 38;

/// The Arrow type of a column of this SQL type.
///
/// DATE and TIME have milliseconds, TIMESTAMP nanoseconds, both without a time
/// zone; unsigned integers have the signed type of their width; a bare DECIMAL
/// is Decimal256(76, 38); an INTERVAL has months, days and nanoseconds; an array is a List of nullable items.
pub fn arrow_type(ty: SqlType) -> DataType {
    use SqlType::*;
    match ty {
        // The values have a type of the engine, which the engine alone knows.
        Null | Opaque => DataType::Null,
        TinyInt | UnsignedTinyInt => DataType::Int8,
        SmallInt | UnsignedSmallInt => DataType::Int16,
        Integer | UnsignedInt => DataType::Int32,
        BigInt | UnsignedLong => DataType::Int64,
        Float | UnsignedFloat => DataType::Float32,
        Double | UnsignedDouble => DataType::Float64,
        Decimal(Some((precision, scale))) => DataType::Decimal128(precision, scale as i8),
        Decimal(None) => DataType::Decimal256(DECIMAL256_MAX_PRECISION, BARE_DECIMAL_SCALE),
        Boolean => DataType::Boolean,
        Date | Time | UnsignedDate | UnsignedTime => DataType::Timestamp(TimeUnit::Millisecond, None),
        Timestamp | UnsignedTimestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
        Char(_) | Varchar(_) | Json => DataType::Utf8,
        Binary(_) | Varbinary | VarbinaryEncoded | Uuid => DataType::Binary,
        Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        Array(element, _) => DataType::List(Arc::new(Field::new_list_field(arrow_type(element.sql_type()), true))),
    }
}

/// The SQL type of a column that the relational engine made; `None` where SQL
/// has no such type.
///
/// An unsigned integer becomes the next wider signed one (64 bits stay BIGINT, and [`crate::value_at()`] refuses larger
/// values); milliseconds are DATE, all other units of time TIMESTAMP; a decimal beyond every DECIMAL(p,s) is a bare
/// one.
pub fn sql_type(data_type: &DataType) -> Option<SqlType> {
    use SqlType::*;
    Some(match data_type {
        DataType::Null => Null,
        DataType::Boolean => Boolean,
        DataType::Int8 => TinyInt,
        DataType::Int16 | DataType::UInt8 => SmallInt,
        DataType::Int32 | DataType::UInt16 => Integer,
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => BigInt,
        DataType::Float32 => Float,
        DataType::Float64 => Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Decimal(limits(*precision, *scale)),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => Date,
        DataType::Timestamp(_, _) => Timestamp,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Varchar(None),
        DataType::FixedSizeBinary(width) => Binary(u32::try_from(*width).ok()?),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Varbinary,
        DataType::Interval(_) => Interval,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            SqlType::array(sql_type(item.data_type())?)?
        }
        _ => return None,
    })
}

/// Precision and scale as DECIMAL(p,s) has them.
fn limits(precision: u8, scale: i8) -> Option<(u8, u8)> {
    let scale = u8::try_from(scale).ok()?;
    (precision <= DECIMAL_PRECISION_MAX && scale <= precision).then_some((precision, scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::generators::ALL_TYPES;

    /// What we put out comes back as a type with the same values: signedness,
    /// lengths and the name TIME are not Arrow's business.
    #[test]
    fn arrow_types_come_back() {
        for ty in ALL_TYPES {
            let back = sql_type(&arrow_type(ty)).unwrap();
            assert_eq!(back.family(), ty.family(), "{ty}");
            assert_eq!(arrow_type(back), arrow_type(ty), "{ty}");
        }
    }

    #[test]
    fn types_of_the_engine() {
        for (data_type, ty) in [
            (DataType::Utf8View, Some(SqlType::Varchar(None))),
            (DataType::UInt64, Some(SqlType::BigInt)),
            (DataType::UInt8, Some(SqlType::SmallInt)),
            (DataType::Date32, Some(SqlType::Date)),
            (DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), Some(SqlType::Timestamp)),
            (DataType::Decimal128(10, 2), Some(SqlType::Decimal(Some((10, 2))))),
            (DataType::Decimal128(10, -2), Some(SqlType::Decimal(None))),
            (DataType::Decimal256(50, 2), Some(SqlType::Decimal(None))),
            (DataType::FixedSizeBinary(4), Some(SqlType::Binary(4))),
            (DataType::Time32(TimeUnit::Second), None),
            (DataType::Duration(TimeUnit::Second), None),
            (DataType::new_large_list(DataType::Int64, false), SqlType::array(SqlType::BigInt)),
            (DataType::new_list(DataType::new_list(DataType::Int64, true), true), None),
        ] {
            assert_eq!(sql_type(&data_type), ty, "{data_type}");
        }
    }
}
