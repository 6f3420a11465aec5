//! The SQL types, named and limited as Apache Phoenix has them.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::ValueError;
use crate::error::shorten;

/// Most significant digits of a DECIMAL.
pub const DECIMAL_PRECISION_MAX: u8 = 38;

/// The longest CHAR, VARCHAR or BINARY that may be an element of an array, in its own units.
pub const ELEMENT_LENGTH_MAX: u32 = 65_535;

/// A column's or an expression's type.
///
/// The unsigned integers use signed storage and hold only its half: 0..127,
/// 0..32767, 0..2^31-1 and 0..2^63-1 (Phoenix, PUnsigned*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SqlType {
    /// The type of a bare NULL.
    Null,
    /// 8 bits, signed.
    TinyInt,
    /// 16 bits, signed.
    SmallInt,
    /// 32 bits, signed.
    Integer,
    /// 64 bits, signed.
    BigInt,
    /// 0..127.
    UnsignedTinyInt,
    /// 0..32767.
    UnsignedSmallInt,
    /// 0..2^31-1.
    UnsignedInt,
    /// 0..2^63-1.
    UnsignedLong,
    /// 32-bit IEEE float.
    Float,
    /// 64-bit IEEE float.
    Double,
    /// 32-bit IEEE float, never negative.
    UnsignedFloat,
    /// 64-bit IEEE float, never negative.
    UnsignedDouble,
    /// DECIMAL(p,s), or bare DECIMAL: up to 38 significant digits at any place.
    Decimal(Option<(u8, u8)>),
    /// TRUE or FALSE.
    Boolean,
    /// Milliseconds since 1970, with the time of day.
    Date,
    /// The same as [`SqlType::Date`] in all but name.
    Time,
    /// Milliseconds since 1970, and nanoseconds below the millisecond.
    Timestamp,
    /// A date from 1970 on.
    UnsignedDate,
    /// A time from 1970 on.
    UnsignedTime,
    /// A timestamp from 1970 on.
    UnsignedTimestamp,
    /// Single-byte characters, blank padded to n.
    Char(u32),
    /// UTF-8 text; the limit counts UTF-16 units, as in Phoenix.
    Varchar(Option<u32>),
    /// n bytes, zero padded.
    Binary(u32),
    /// Bytes; in a key only as the last column.
    Varbinary,
    /// Bytes, escaped in keys so that they may stand anywhere.
    VarbinaryEncoded,
    /// 16 bytes, in keys as BINARY(16), with a text form of their own.
    Uuid,
    /// A text that is JSON, kept as it was written; never in a key.
    Json,
    /// A length of time in months, days and nanoseconds; never in a key.
    Interval,
    /// Any number of elements of one type. The declared length is kept and not enforced, as in Phoenix.
    Array(ElementType, Option<NonZeroU32>),
    /// A type of the relational engine that SQL has no name for: of structs, maps and arrays of arrays. No table has such a
    /// column.
    Opaque,
}

/// Families of types that compare with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeFamily {
    /// A bare NULL: meets everything.
    Null,
    /// Integers, floats and decimals.
    Number,
    /// BOOLEAN.
    Boolean,
    /// DATE, TIME, TIMESTAMP and their unsigned kin.
    Instant,
    /// CHAR, VARCHAR and JSON.
    Text,
    /// BINARY, VARBINARY, VARBINARY_ENCODED, UUID.
    Bytes,
    /// INTERVAL.
    Interval,
    /// Arrays; two of them compare if their elements do.
    Array,
    /// Values of the relational engine's types; it alone knows which of them compare.
    Opaque,
}

impl SqlType {
    /// The family whose members compare with each other.
    pub fn family(self) -> TypeFamily {
        use SqlType::*;
        match self {
            Null => TypeFamily::Null,
            Boolean => TypeFamily::Boolean,
            Date | Time | Timestamp | UnsignedDate | UnsignedTime | UnsignedTimestamp => TypeFamily::Instant,
            Char(_) | Varchar(_) | Json => TypeFamily::Text,
            Binary(_) | Varbinary | VarbinaryEncoded | Uuid => TypeFamily::Bytes,
            Interval => TypeFamily::Interval,
            Array(..) => TypeFamily::Array,
            Opaque => TypeFamily::Opaque,
            _ => TypeFamily::Number,
        }
    }

    /// The type of arrays of `element`; `None` for elements that are arrays, or longer than
    /// [`ELEMENT_LENGTH_MAX`].
    pub fn array(element: SqlType) -> Option<Self> {
        ElementType::new(element).map(|element| Self::Array(element, None))
    }

    /// The type of the elements of an array.
    pub fn element(self) -> Option<SqlType> {
        if let Self::Array(element, _) = self { Some(element.sql_type()) } else { None }
    }

    /// Whether values of the two types compare.
    pub fn compares_with(self, other: SqlType) -> bool {
        match (self.element(), other.element()) {
            (Some(a), Some(b)) => a.compares_with(b),
            _ => self.family() == other.family() || [self, other].contains(&Self::Null),
        }
    }

    /// Whether this is one of the eight integer types.
    pub fn is_integer(self) -> bool {
        self.integer_range().is_some()
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_range(self) -> Option<(i64, i64)> {
        use SqlType::*;
        Some(match self {
            TinyInt => (i8::MIN.into(), i8::MAX.into()),
            SmallInt => (i16::MIN.into(), i16::MAX.into()),
            Integer => (i32::MIN.into(), i32::MAX.into()),
            BigInt => (i64::MIN, i64::MAX),
            UnsignedTinyInt => (0, i8::MAX.into()),
            UnsignedSmallInt => (0, i16::MAX.into()),
            UnsignedInt => (0, i32::MAX.into()),
            UnsignedLong => (0, i64::MAX),
            _ => return None,
        })
    }

    /// Whether this is a 32- or 64-bit float.
    pub fn is_float(self) -> bool {
        use SqlType::*;
        matches!(self, Float | Double | UnsignedFloat | UnsignedDouble)
    }

    /// Whether this is a float of 32 bits.
    pub fn is_single_float(self) -> bool {
        matches!(self, SqlType::Float | SqlType::UnsignedFloat)
    }

    /// Whether values below zero (or before 1970) do not exist.
    pub fn is_unsigned(self) -> bool {
        use SqlType::*;
        matches!(
            self,
            UnsignedTinyInt
                | UnsignedSmallInt
                | UnsignedInt
                | UnsignedLong
                | UnsignedFloat
                | UnsignedDouble
                | UnsignedDate
                | UnsignedTime
                | UnsignedTimestamp
        )
    }

    /// Whether values carry nanoseconds.
    pub fn is_timestamp(self) -> bool {
        matches!(self, SqlType::Timestamp | SqlType::UnsignedTimestamp)
    }

    /// Bytes in a row key when every value takes the same number of them, else `None`.
    pub fn fixed_key_bytes(self) -> Option<usize> {
        use SqlType::*;
        Some(match self {
            TinyInt | UnsignedTinyInt | Boolean => 1,
            SmallInt | UnsignedSmallInt => 2,
            Integer | UnsignedInt | Float | UnsignedFloat => 4,
            BigInt | UnsignedLong | Double | UnsignedDouble | Date | Time | UnsignedDate | UnsignedTime => 8,
            Timestamp | UnsignedTimestamp => 12,
            Uuid => 16,
            Char(n) | Binary(n) => n as usize,
            Null | Decimal(_) | Varchar(_) | Varbinary | VarbinaryEncoded | Json | Interval | Array(..) | Opaque => {
                return None;
            }
        })
    }
}

/// The types that their names alone tell.
const NAMES: [(&str, SqlType); 27] = [
    ("NULL", SqlType::Null),
    ("TINYINT", SqlType::TinyInt),
    ("SMALLINT", SqlType::SmallInt),
    ("INTEGER", SqlType::Integer),
    ("BIGINT", SqlType::BigInt),
    ("UNSIGNED_TINYINT", SqlType::UnsignedTinyInt),
    ("UNSIGNED_SMALLINT", SqlType::UnsignedSmallInt),
    ("UNSIGNED_INT", SqlType::UnsignedInt),
    ("UNSIGNED_LONG", SqlType::UnsignedLong),
    ("FLOAT", SqlType::Float),
    ("DOUBLE", SqlType::Double),
    ("UNSIGNED_FLOAT", SqlType::UnsignedFloat),
    ("UNSIGNED_DOUBLE", SqlType::UnsignedDouble),
    ("DECIMAL", SqlType::Decimal(None)),
    ("BOOLEAN", SqlType::Boolean),
    ("DATE", SqlType::Date),
    ("TIME", SqlType::Time),
    ("TIMESTAMP", SqlType::Timestamp),
    ("UNSIGNED_DATE", SqlType::UnsignedDate),
    ("UNSIGNED_TIME", SqlType::UnsignedTime),
    ("UNSIGNED_TIMESTAMP", SqlType::UnsignedTimestamp),
    ("VARCHAR", SqlType::Varchar(None)),
    ("VARBINARY", SqlType::Varbinary),
    ("VARBINARY_ENCODED", SqlType::VarbinaryEncoded),
    ("UUID", SqlType::Uuid),
    ("JSON", SqlType::Json),
    ("INTERVAL", SqlType::Interval),
];

/// The type of an array's elements: any type but an array.
///
/// Packed into three bytes, because [`SqlType`] is copied with every column and must stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    kind: u8,
    parameter: [u8; 2],
}

/// Kinds of the types with a parameter; every other kind is the type's place in [`NAMES`].
const DECIMAL: u8 = 255;
const CHAR: u8 = 254;
const VARCHAR: u8 = 253;
const BINARY: u8 = 252;

impl ElementType {
    /// `None` for an array, and for a length above [`ELEMENT_LENGTH_MAX`].
    pub(crate) fn new(ty: SqlType) -> Option<Self> {
        let length = |length: u32| u16::try_from(length).ok().map(u16::to_le_bytes);
        let (kind, parameter) = match ty {
            SqlType::Array(..) => return None,
            SqlType::Decimal(Some((precision, scale))) => (DECIMAL, [precision, scale]),
            SqlType::Char(n) => (CHAR, length(n)?),
            SqlType::Varchar(Some(n)) => (VARCHAR, length(n)?),
            SqlType::Binary(n) => (BINARY, length(n)?),
            plain => (NAMES.iter().position(|(_, ty)| *ty == plain)? as u8, [0; 2]),
        };
        Some(Self { kind, parameter })
    }

    /// The elements' type.
    pub fn sql_type(self) -> SqlType {
        let length = u32::from(u16::from_le_bytes(self.parameter));
        match self.kind {
            DECIMAL => SqlType::Decimal(Some(self.parameter.into())),
            CHAR => SqlType::Char(length),
            VARCHAR => SqlType::Varchar(Some(length)),
            BINARY => SqlType::Binary(length),
            plain => NAMES.get(usize::from(plain)).map_or(SqlType::Null, |(_, ty)| *ty),
        }
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal(Some((precision, scale))) => write!(f, "DECIMAL({precision},{scale})"),
            Self::Char(length) => write!(f, "CHAR({length})"),
            Self::Varchar(Some(length)) => write!(f, "VARCHAR({length})"),
            Self::Binary(length) => write!(f, "BINARY({length})"),
            Self::Array(element, None) => write!(f, "{} ARRAY", element.sql_type()),
            Self::Array(element, Some(length)) => write!(f, "{} ARRAY[{length}]", element.sql_type()),
            Self::Opaque => f.write_str("OPAQUE"),
            plain => {
                let name = NAMES.iter().find(|(_, ty)| ty == plain).map(|(name, _)| *name);
                debug_assert!(name.is_some(), "{plain:?} has a name");
                f.write_str(name.ok_or(fmt::Error)?)
            }
        }
    }
}

impl FromStr for SqlType {
    type Err = ValueError;

    /// Reads what [`SqlType`] prints, no more: the other names that SQL has for types are the parser's.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || ValueError::BadText { text: shorten(text), target: "a type".into() };
        if let Some((_, plain)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*plain);
        }
        if let Some((element, length)) = text.split_once(" ARRAY") {
            let element = element.parse().ok().and_then(ElementType::new).ok_or_else(bad)?;
            let digits = length.strip_prefix('[').and_then(|length| length.strip_suffix(']'));
            return match (length, digits.and_then(|digits| digits.parse().ok())) {
                ("", _) => Ok(Self::Array(element, None)),
                (_, Some(length)) => Ok(Self::Array(element, Some(length))),
                _ => Err(bad()),
            };
        }
        let (name, length) = text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or_else(bad)?;
        let number = || length.parse::<u32>().map_err(|_| bad());
        Ok(match name {
            "DECIMAL" => {
                let (precision, scale) = length.split_once(',').ok_or_else(bad)?;
                let digits = precision.parse().ok().zip(scale.parse().ok());
                let fits = |(p, s): &(u8, u8)| (1..=DECIMAL_PRECISION_MAX).contains(p) && s <= p;
                Self::Decimal(Some(digits.filter(fits).ok_or_else(bad)?))
            }
            "CHAR" => Self::Char(number()?),
            "VARCHAR" => Self::Varchar(Some(number()?)),
            "BINARY" => Self::Binary(number()?),
            _ => return Err(bad()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_print() {
        let with_length =
            [SqlType::Decimal(Some((5, 2))), SqlType::Char(1), SqlType::Varchar(Some(7)), SqlType::Binary(3)];
        for ty in NAMES.into_iter().map(|(_, ty)| ty).chain(with_length) {
            assert_eq!(ty.to_string().parse::<SqlType>().unwrap(), ty, "{ty}");
            for length in [None, NonZeroU32::new(10)] {
                let array = SqlType::Array(ElementType::new(ty).unwrap(), length);
                assert_eq!(array.to_string().parse::<SqlType>().unwrap(), array, "{array}");
            }
        }
        for bad in [
            "INT",
            "CHAR",
            "VARCHAR(x)",
            "DECIMAL(5)",
            "DECIMAL(2,5)",
            "BIGINT(5)",
            "varchar",
            "DATE ARRAY[",
            "DATE ARRAY[0]",
            "DATE ARRAY ARRAY",
        ] {
            assert!(bad.parse::<SqlType>().is_err(), "{bad}");
        }
    }

    #[test]
    fn element_types_come_back() {
        let with_parameter = [
            SqlType::Decimal(Some((38, 2))),
            SqlType::Char(ELEMENT_LENGTH_MAX),
            SqlType::Varchar(Some(300)),
            SqlType::Binary(1),
        ];
        for ty in NAMES.into_iter().map(|(_, ty)| ty).chain(with_parameter) {
            assert_eq!(ElementType::new(ty).unwrap().sql_type(), ty, "{ty}");
        }
        assert_eq!(ElementType::new(SqlType::Char(ELEMENT_LENGTH_MAX + 1)), None);
        assert_eq!(ElementType::new(SqlType::array(SqlType::Date).unwrap()), None);
    }

    #[test]
    fn types_are_small() {
        assert_eq!(size_of::<SqlType>(), 12);
    }
}
