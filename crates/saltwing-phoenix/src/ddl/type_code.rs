//! Types as the catalog has them: numbers of JDBC, and Phoenix's own ones.

use saltwing_types::SqlType;

/// What the number of an array's element is added to.
const ARRAY_BASE: i32 = 3000;

/// A type in the catalog's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeCode {
    /// DATA_TYPE.
    pub(super) code: i32,
    /// COLUMN_SIZE.
    pub(super) size: Option<u32>,
    /// DECIMAL_DIGITS.
    pub(super) scale: Option<u8>,
    /// ARRAY_SIZE.
    pub(super) elements: Option<u32>,
}

/// The type in the catalog's columns; `None` if Phoenix has no such type.
pub(super) fn type_code(ty: SqlType) -> Option<TypeCode> {
    let plain = |code| Some(TypeCode { code, size: None, scale: None, elements: None });
    let sized = |code, size| Some(TypeCode { code, size, scale: None, elements: None });
    match ty {
        SqlType::Varchar(limit) => sized(12, limit),
        SqlType::Char(width) => sized(1, Some(width)),
        SqlType::Binary(width) => sized(-2, Some(width)),
        SqlType::Varbinary => plain(-3),
        SqlType::Decimal(None) => plain(3),
        SqlType::Decimal(Some((precision, scale))) => {
            Some(TypeCode { code: 3, size: Some(precision.into()), scale: Some(scale), elements: None })
        }
        SqlType::BigInt => plain(-5),
        SqlType::Integer => plain(4),
        SqlType::SmallInt => plain(5),
        SqlType::TinyInt => plain(-6),
        SqlType::Float => plain(6),
        SqlType::Double => plain(8),
        SqlType::UnsignedLong => plain(10),
        SqlType::UnsignedInt => plain(9),
        SqlType::UnsignedSmallInt => plain(13),
        SqlType::UnsignedTinyInt => plain(11),
        SqlType::UnsignedFloat => plain(14),
        SqlType::UnsignedDouble => plain(15),
        SqlType::Boolean => plain(16),
        SqlType::Date => plain(91),
        SqlType::Time => plain(92),
        SqlType::Timestamp => plain(93),
        SqlType::UnsignedDate => plain(19),
        SqlType::UnsignedTime => plain(18),
        SqlType::UnsignedTimestamp => plain(20),
        SqlType::Array(_, length) => {
            let element = type_code(ty.element()?)?;
            Some(TypeCode { code: element.code + ARRAY_BASE, elements: length.map(u32::from), ..element })
        }
        SqlType::Null
        | SqlType::VarbinaryEncoded
        | SqlType::Uuid
        | SqlType::Json
        | SqlType::Interval
        | SqlType::Opaque => None,
    }
}
