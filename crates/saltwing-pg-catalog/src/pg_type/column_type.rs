//! The types of Saltwing's columns as PostgreSQL's.

use saltwing::SqlType;

use super::number::PgType;

/// The type of a column as PostgreSQL has it, and its modifier (-1 if it has none): lengths of texts, digits of numbers and seconds.
///
/// A DATE carries a time of day in milliseconds, so it is a `timestamp(3)`. A TIME is sent as its time of day alone.
pub(crate) fn of_column(ty: SqlType) -> (PgType, i32) {
    use SqlType::*;
    let length = |length: u32| i32::try_from(length).unwrap_or(i32::MAX - 4).saturating_add(4);
    match ty {
        TinyInt | SmallInt | UnsignedTinyInt | UnsignedSmallInt => (PgType::INT2, -1),
        Integer | UnsignedInt => (PgType::INT4, -1),
        BigInt | UnsignedLong => (PgType::INT8, -1),
        Float | UnsignedFloat => (PgType(700), -1),
        Double | UnsignedDouble => (PgType::FLOAT8, -1),
        Decimal(None) => (PgType::NUMERIC, -1),
        Decimal(Some((precision, scale))) => (PgType::NUMERIC, ((i32::from(precision) << 16) | i32::from(scale)) + 4),
        Boolean => (PgType::BOOL, -1),
        Date | UnsignedDate => (PgType::TIMESTAMP, 3),
        Time | UnsignedTime => (PgType::TIME, 3),
        Timestamp | UnsignedTimestamp => (PgType::TIMESTAMP, -1),
        Char(n) => (PgType::BPCHAR, length(n)),
        Varchar(Some(n)) => (PgType::VARCHAR, length(n)),
        Varchar(None) => (PgType::VARCHAR, -1),
        Binary(_) | Varbinary | VarbinaryEncoded => (PgType(17), -1),
        Uuid => (PgType(2950), -1),
        Json => (PgType::JSON, -1),
        Interval => (PgType(1186), -1),
        Array(element, _) => {
            let (element, modifier) = of_column(element.sql_type());
            (element.array().unwrap_or(PgType::TEXT), modifier)
        }
        Null | Opaque => (PgType::TEXT, -1),
    }
}
