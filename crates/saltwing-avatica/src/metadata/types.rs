//! The types. Phoenix Query Server gives an empty list; tools that make tables want to know what there is.

use saltwing::{SqlType, Value};

use crate::jdbc_type::JdbcType;

use super::listing::{BOOL, Column, INT, Listing, SHORT, TEXT, text};

const COLUMNS: [Column; 18] = [
    ("TYPE_NAME", TEXT),
    ("DATA_TYPE", INT),
    ("PRECISION", INT),
    ("LITERAL_PREFIX", TEXT),
    ("LITERAL_SUFFIX", TEXT),
    ("CREATE_PARAMS", TEXT),
    ("NULLABLE", SHORT),
    ("CASE_SENSITIVE", BOOL),
    ("SEARCHABLE", SHORT),
    ("UNSIGNED_ATTRIBUTE", BOOL),
    ("FIXED_PREC_SCALE", BOOL),
    ("AUTO_INCREMENT", BOOL),
    ("LOCAL_TYPE_NAME", TEXT),
    ("MINIMUM_SCALE", SHORT),
    ("MAXIMUM_SCALE", SHORT),
    ("SQL_DATA_TYPE", INT),
    ("SQL_DATETIME_SUB", INT),
    ("NUM_PREC_RADIX", INT),
];

/// A declaration that takes a length is here without it.
const TYPES: [SqlType; 24] = [
    SqlType::TinyInt,
    SqlType::UnsignedTinyInt,
    SqlType::BigInt,
    SqlType::UnsignedLong,
    SqlType::Varbinary,
    SqlType::Binary(0),
    SqlType::Char(0),
    SqlType::Decimal(None),
    SqlType::Integer,
    SqlType::UnsignedInt,
    SqlType::SmallInt,
    SqlType::UnsignedSmallInt,
    SqlType::Float,
    SqlType::UnsignedFloat,
    SqlType::Double,
    SqlType::UnsignedDouble,
    SqlType::Varchar(None),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::UnsignedDate,
    SqlType::Time,
    SqlType::UnsignedTime,
    SqlType::Timestamp,
    SqlType::UnsignedTimestamp,
];

/// `typeNullable` of JDBC.
const NULLABLE: i64 = 1;
/// `typeSearchable` of JDBC: in all conditions.
const SEARCHABLE: i64 = 3;
/// The most digits of a DECIMAL.
const DECIMAL_DIGITS_MAX: u32 = 38;

/// The types, by their numbers.
pub(crate) fn type_info() -> Listing {
    Listing::new(&COLUMNS, TYPES.iter().map(|ty| row(*ty)).collect())
}

fn row(ty: SqlType) -> Vec<Value> {
    let jdbc = JdbcType::of(ty);
    let is_decimal = matches!(ty, SqlType::Decimal(_));
    let is_number = ty.is_integer() || ty.is_float() || is_decimal;
    let precision = if is_decimal { DECIMAL_DIGITS_MAX } else { jdbc.precision };
    let (prefix, suffix) = match jdbc.id {
        1 | 12 => (Some("'"), Some("'")),
        -2 | -3 => (Some("X'"), Some("'")),
        91 => (Some("DATE '"), Some("'")),
        92 => (Some("TIME '"), Some("'")),
        93 => (Some("TIMESTAMP '"), Some("'")),
        _ => (None, None),
    };
    let parameters = match ty {
        SqlType::Char(_) | SqlType::Binary(_) | SqlType::Varchar(_) => Some("length"),
        SqlType::Decimal(_) => Some("precision,scale"),
        _ => None,
    };
    let scale = |digits: u32| if is_decimal { Value::Int(digits.into()) } else { Value::Null };
    vec![
        Value::text(&*jdbc.name),
        Value::Int(jdbc.id.into()),
        super::listing::nonzero(precision),
        text(prefix),
        text(suffix),
        text(parameters),
        Value::Int(NULLABLE),
        Value::Bool(matches!(jdbc.id, 1 | 12)),
        Value::Int(SEARCHABLE),
        Value::Bool(is_number && !jdbc.signed),
        Value::Bool(false),
        Value::Bool(false),
        Value::Null,
        scale(0),
        scale(DECIMAL_DIGITS_MAX),
        Value::Null,
        Value::Null,
        if is_number { Value::Int(10) } else { Value::Null },
    ]
}
