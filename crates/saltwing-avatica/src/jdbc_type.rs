//! Saltwing's types as JDBC and Phoenix number and name them.
//!
//! | of a type | is |
//! |---|---|
//! | `id` | the number in `java.sql.Types` of a result's column; unsigned types have that of the type that they are a half of |
//! | `phoenix_id` | Phoenix's own number, of a parameter and in `TYPE_ID` of metadata: 9 for UNSIGNED_INT; arrays are 3000 and their element |
//! | `rep` | the form in which values travel |
//! | `column_rep` | the form that a signature declares, from which the thin JDBC driver makes its values |

use std::borrow::Cow;

use saltwing::SqlType;

use crate::messages::Rep;

/// The number of arrays in `java.sql.Types`.
const ARRAY: i32 = 2003;
/// Phoenix's number of an array is that of its element and this.
const PHOENIX_ARRAY: i32 = 3000;
/// The characters that a client shows of a text without a limit.
const TEXT_SHOWN: u32 = 40;

/// A type as clients know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JdbcType {
    /// The number in `java.sql.Types`.
    pub(crate) id: i32,
    /// Phoenix's number.
    pub(crate) phoenix_id: i32,
    /// Phoenix's name, without a length.
    pub(crate) name: Cow<'static, str>,
    /// The class of values in Java.
    pub(crate) class_name: &'static str,
    /// The form of values on the wire; of arrays, of the whole.
    pub(crate) rep: Rep,
    /// The form that a signature declares.
    pub(crate) column_rep: Rep,
    /// Digits, characters or bytes; 0 without a limit.
    pub(crate) precision: u32,
    /// Digits after the point.
    pub(crate) scale: u32,
    /// The characters that a client shows. CHAR is padded to it.
    pub(crate) display_size: u32,
    /// Whether it is a number that may be negative.
    pub(crate) signed: bool,
}

/// A type without a length: its numbers, its name, its class and its forms.
type Plain = (i32, i32, &'static str, &'static str, Rep, Rep);

impl JdbcType {
    /// The type of a column or a parameter. UUID, JSON and INTERVAL are VARCHAR with their texts, and so is a bare NULL.
    pub(crate) fn of(ty: SqlType) -> Self {
        if let Some(element) = ty.element() {
            return Self::array(&Self::of(element));
        }
        let (id, phoenix_id, name, class_name, rep, column_rep) = plain(ty);
        let (precision, scale) = lengths(ty);
        let signed = (ty.is_integer() || ty.is_float() || matches!(ty, SqlType::Decimal(_))) && !ty.is_unsigned();
        let name = Cow::Borrowed(name);
        Self {
            id,
            phoenix_id,
            name,
            class_name,
            rep,
            column_rep,
            precision,
            scale,
            display_size: display_size(ty),
            signed,
        }
    }

    fn array(element: &Self) -> Self {
        Self {
            id: ARRAY,
            phoenix_id: PHOENIX_ARRAY + element.phoenix_id,
            name: Cow::Owned(format!("{} ARRAY", element.name)),
            class_name: "java.sql.Array",
            rep: Rep::Array,
            column_rep: Rep::Array,
            precision: 0,
            scale: 0,
            display_size: TEXT_SHOWN,
            signed: false,
        }
    }

    /// The number of a parameter: Phoenix's. The Python driver does not know that of UNSIGNED_TIME, 18, and gets TIME's.
    pub(crate) fn parameter_id(&self) -> i32 {
        const UNSIGNED_TIME: i32 = 18;
        const TIME: i32 = 92;
        match self.phoenix_id {
            UNSIGNED_TIME => TIME,
            id if id == PHOENIX_ARRAY + UNSIGNED_TIME => PHOENIX_ARRAY + TIME,
            id => id,
        }
    }
}

/// Java's numbers may be negative; the messages have their 32 bits.
pub(crate) fn bits(id: i32) -> u32 {
    id.cast_unsigned()
}

#[rustfmt::skip] // one line a type
fn plain(ty: SqlType) -> Plain {
    use SqlType as S;
    const BYTES: &str = "[B";
    match ty {
        S::TinyInt => (-6, -6, "TINYINT", "java.lang.Byte", Rep::Byte, Rep::PrimitiveByte),
        S::UnsignedTinyInt => (-6, 11, "UNSIGNED_TINYINT", "java.lang.Byte", Rep::Byte, Rep::PrimitiveByte),
        S::SmallInt => (5, 5, "SMALLINT", "java.lang.Short", Rep::Short, Rep::PrimitiveShort),
        S::UnsignedSmallInt => (5, 13, "UNSIGNED_SMALLINT", "java.lang.Short", Rep::Short, Rep::PrimitiveShort),
        S::Integer => (4, 4, "INTEGER", "java.lang.Integer", Rep::Integer, Rep::PrimitiveInt),
        S::UnsignedInt => (4, 9, "UNSIGNED_INT", "java.lang.Integer", Rep::Integer, Rep::PrimitiveInt),
        S::BigInt => (-5, -5, "BIGINT", "java.lang.Long", Rep::Long, Rep::PrimitiveLong),
        S::UnsignedLong => (-5, 10, "UNSIGNED_LONG", "java.lang.Long", Rep::Long, Rep::PrimitiveLong),
        // As DOUBLE: FLOAT would be the bits of the number, which the drivers of Python and Go misread.
        S::Float => (6, 6, "FLOAT", "java.lang.Float", Rep::Double, Rep::PrimitiveDouble),
        S::UnsignedFloat => (6, 14, "UNSIGNED_FLOAT", "java.lang.Float", Rep::Double, Rep::PrimitiveDouble),
        S::Double => (8, 8, "DOUBLE", "java.lang.Double", Rep::Double, Rep::PrimitiveDouble),
        S::UnsignedDouble => (8, 15, "UNSIGNED_DOUBLE", "java.lang.Double", Rep::Double, Rep::PrimitiveDouble),
        S::Decimal(_) => (3, 3, "DECIMAL", "java.math.BigDecimal", Rep::BigDecimal, Rep::Number),
        S::Boolean => (16, 16, "BOOLEAN", "java.lang.Boolean", Rep::Boolean, Rep::PrimitiveBoolean),
        S::Date => (91, 91, "DATE", "java.sql.Date", Rep::Integer, Rep::PrimitiveInt),
        S::UnsignedDate => (91, 19, "UNSIGNED_DATE", "java.sql.Date", Rep::Integer, Rep::PrimitiveInt),
        S::Time => (92, 92, "TIME", "java.sql.Time", Rep::Integer, Rep::PrimitiveInt),
        S::UnsignedTime => (92, 18, "UNSIGNED_TIME", "java.sql.Time", Rep::Integer, Rep::PrimitiveInt),
        S::Timestamp => (93, 93, "TIMESTAMP", "java.sql.Timestamp", Rep::Long, Rep::PrimitiveLong),
        S::UnsignedTimestamp => (93, 20, "UNSIGNED_TIMESTAMP", "java.sql.Timestamp", Rep::Long, Rep::PrimitiveLong),
        S::Char(_) => (1, 1, "CHAR", "java.lang.String", Rep::String, Rep::String),
        S::Binary(_) => (-2, -2, "BINARY", BYTES, Rep::ByteString, Rep::ByteString),
        S::Varbinary | S::VarbinaryEncoded => (-3, -3, "VARBINARY", BYTES, Rep::ByteString, Rep::ByteString),
        S::Null | S::Varchar(_) | S::Uuid | S::Json | S::Interval | S::Opaque | S::Array(..) => {
            debug_assert!(ty.element().is_none(), "arrays have a form of their own");
            (12, 12, "VARCHAR", "java.lang.String", Rep::String, Rep::String)
        }
    }
}

/// The declared length, or the digits of a number, and the digits after the point.
fn lengths(ty: SqlType) -> (u32, u32) {
    use SqlType as S;
    match ty {
        S::TinyInt | S::UnsignedTinyInt => (3, 0),
        S::SmallInt | S::UnsignedSmallInt => (5, 0),
        S::Integer | S::UnsignedInt => (10, 0),
        S::BigInt | S::UnsignedLong => (19, 0),
        S::Float | S::UnsignedFloat => (7, 0),
        S::Double | S::UnsignedDouble => (15, 0),
        S::Decimal(Some((precision, scale))) => (precision.into(), scale.into()),
        S::Char(length) | S::Binary(length) | S::Varchar(Some(length)) => (length, 0),
        S::Uuid => (36, 0),
        _ => (0, 0),
    }
}

fn display_size(ty: SqlType) -> u32 {
    use SqlType as S;
    match ty {
        S::Boolean => 5,
        S::Date | S::UnsignedDate => 10,
        S::Time | S::UnsignedTime => 12,
        S::Timestamp | S::UnsignedTimestamp => 29,
        S::Float | S::UnsignedFloat | S::Double | S::UnsignedDouble => 24,
        S::Binary(length) => length.saturating_mul(2),
        _ => match lengths(ty).0 {
            0 => TEXT_SHOWN,
            // A sign, and a point.
            digits if ty.is_integer() || matches!(ty, S::Decimal(_)) => digits.saturating_add(2),
            length => length,
        },
    }
}

#[cfg(test)]
mod tests {
    use saltwing::SqlType;

    use super::{JdbcType, bits};
    use crate::messages::Rep;

    fn numbers(ty: SqlType) -> (i32, i32, i32) {
        let jdbc = JdbcType::of(ty);
        (jdbc.id, jdbc.phoenix_id, jdbc.parameter_id())
    }

    #[test]
    fn unsigned_columns_have_standard_numbers_and_parameters_those_of_phoenix() {
        let cases = [
            (SqlType::UnsignedInt, (4, 9, 9)),
            (SqlType::UnsignedLong, (-5, 10, 10)),
            (SqlType::UnsignedTinyInt, (-6, 11, 11)),
            (SqlType::UnsignedSmallInt, (5, 13, 13)),
            (SqlType::UnsignedFloat, (6, 14, 14)),
            (SqlType::UnsignedDouble, (8, 15, 15)),
            (SqlType::UnsignedTime, (92, 18, 92)),
            (SqlType::UnsignedDate, (91, 19, 19)),
            (SqlType::UnsignedTimestamp, (93, 20, 20)),
            (SqlType::Varchar(None), (12, 12, 12)),
            (SqlType::array(SqlType::UnsignedTime).unwrap(), (2003, 3018, 3092)),
            (SqlType::array(SqlType::BigInt).unwrap(), (2003, 2995, 2995)),
        ];
        for (ty, expected) in cases {
            assert_eq!(numbers(ty), expected, "{ty}");
        }
        assert_eq!(bits(JdbcType::of(SqlType::BigInt).id), 4_294_967_291);
    }

    #[test]
    fn signatures_declare_the_forms_that_the_thin_driver_reads() {
        for (ty, rep) in [
            (SqlType::Date, Rep::PrimitiveInt),
            (SqlType::Time, Rep::PrimitiveInt),
            (SqlType::Timestamp, Rep::PrimitiveLong),
            (SqlType::BigInt, Rep::PrimitiveLong),
            (SqlType::Float, Rep::PrimitiveDouble),
            (SqlType::Decimal(None), Rep::Number),
            (SqlType::Varbinary, Rep::ByteString),
        ] {
            assert_eq!(JdbcType::of(ty).column_rep, rep, "{ty}");
        }
    }

    #[test]
    fn a_char_is_shown_in_its_declared_length() {
        assert_eq!(JdbcType::of(SqlType::Char(7)).display_size, 7);
        let money = JdbcType::of(SqlType::Decimal(Some((12, 2))));
        assert_eq!((money.precision, money.scale, money.display_size, money.signed), (12, 2, 14, true));
        assert!(!JdbcType::of(SqlType::UnsignedLong).signed);
    }
}
