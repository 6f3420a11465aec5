//! The types of the tree, which sqlparser has read.

use std::num::NonZeroU32;

use saltwing_types::SqlType;
use sqlparser::ast::{ArrayElemTypeDef, BinaryLength, CharacterLength, DataType, ExactNumberInfo, TimezoneInfo};

/// Our type for the type of a CAST, which sqlparser has read; `None` if we have none for it.
///
/// Lengths are not checked here: a CAST to `CHAR(0)` is the caller's to refuse.
pub fn cast_type(data_type: &DataType) -> Option<SqlType> {
    let characters = |length: &Option<CharacterLength>| match length {
        None => Some(None),
        Some(CharacterLength::IntegerLength { length, .. }) => Some(Some(u32::try_from(*length).ok()?)),
        Some(CharacterLength::Max) => Some(None),
    };
    let decimal = |info: &ExactNumberInfo| match info {
        ExactNumberInfo::None => Some(None),
        ExactNumberInfo::Precision(p) => Some(Some((u8::try_from(*p).ok()?, 0))),
        ExactNumberInfo::PrecisionAndScale(p, s) => Some(Some((u8::try_from(*p).ok()?, u8::try_from(*s).ok()?))),
    };
    Some(match data_type {
        DataType::TinyInt(None) => SqlType::TinyInt,
        DataType::SmallInt(None) | DataType::Int2(None) => SqlType::SmallInt,
        DataType::Int(None) | DataType::Integer(None) | DataType::Int4(None) => SqlType::Integer,
        DataType::BigInt(None) | DataType::Int8(None) => SqlType::BigInt,
        DataType::Float(ExactNumberInfo::None) | DataType::Real | DataType::Float4 => SqlType::Float,
        DataType::Double(ExactNumberInfo::None) | DataType::DoublePrecision | DataType::Float8 => SqlType::Double,
        DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info) => SqlType::Decimal(decimal(info)?),
        DataType::Boolean | DataType::Bool => SqlType::Boolean,
        DataType::Date => SqlType::Date,
        DataType::Time(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => SqlType::Time,
        DataType::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) | DataType::Datetime(None) => {
            SqlType::Timestamp
        }
        DataType::Char(length) | DataType::Character(length) => SqlType::Char(characters(length)?.unwrap_or(1)),
        DataType::Varchar(length) | DataType::CharacterVarying(length) | DataType::CharVarying(length) => {
            SqlType::Varchar(characters(length)?)
        }
        DataType::Text | DataType::String(None) => SqlType::Varchar(None),
        DataType::Binary(Some(length)) => SqlType::Binary(u32::try_from(*length).ok()?),
        DataType::Varbinary(None | Some(BinaryLength::Max)) | DataType::Bytea | DataType::Blob(None) => {
            SqlType::Varbinary
        }
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, length)) => {
            let length = length.map(|length| u32::try_from(length).ok().and_then(NonZeroU32::new).ok_or(()));
            array_of(cast_type(element)?, length.transpose().ok()?)?
        }
        DataType::JSON => SqlType::Json,
        DataType::Uuid => SqlType::Uuid,
        DataType::Interval { fields: None, precision: None } => SqlType::Interval,
        // The longest whole numbers that there are.
        DataType::HugeInt => SqlType::Decimal(Some((38, 0))),
        DataType::Custom(name, modifiers)
            if modifiers.is_empty() && name.to_string().eq_ignore_ascii_case("HUGEINT") =>
        {
            SqlType::Decimal(Some((38, 0)))
        }
        // Phoenix's own type names.
        DataType::Custom(name, modifiers) if modifiers.is_empty() => name.to_string().to_uppercase().parse().ok()?,
        _ => return None,
    })
}

/// The array of elements of a type; `None` if there is none.
pub(crate) fn array_of(element: SqlType, length: Option<NonZeroU32>) -> Option<SqlType> {
    match SqlType::array(element)? {
        SqlType::Array(element, _) => Some(SqlType::Array(element, length)),
        other => Some(other),
    }
}
