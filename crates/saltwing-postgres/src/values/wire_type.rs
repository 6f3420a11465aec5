//! The types of columns and parameters as the protocol names them.

use std::fmt;

use saltwing::SqlType;

use super::error::WireError;
use super::pg_type::{BaseType, Declared, PgType};

/// The header that PostgreSQL counts into the length of a text and the precision of a number in a type modifier.
const MODIFIER_HEADER: i32 = 4;
/// The modifier of a type without a length or a precision.
const MODIFIER_NONE: i32 = -1;
/// The digits of a second that DATE and TIME have.
const MILLISECOND_DIGITS: i32 = 3;

/// A type as RowDescription gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireType {
    /// The number of the type in PostgreSQL's catalog.
    pub(crate) oid: u32,
    /// The bytes of a value in PostgreSQL's memory; -1 if values differ.
    pub(crate) size: i16,
    /// The length or the precision, in the form that depends on the type; -1 if it has none.
    pub(crate) modifier: i32,
}

impl WireType {
    /// The type that values of an SQL type are sent as. An array has the modifier of its elements.
    pub(crate) fn of(ty: SqlType) -> Self {
        let pg_type = PgType::of_sql(ty);
        Self { oid: pg_type.oid(), size: pg_type.size(), modifier: modifier(ty.element().unwrap_or(ty)) }
    }
}

fn modifier(ty: SqlType) -> i32 {
    match ty {
        SqlType::Decimal(Some((precision, scale))) => (i32::from(precision) << 16 | i32::from(scale)) + MODIFIER_HEADER,
        // A length that the modifier cannot hold is none: the modifier only informs.
        SqlType::Char(length) | SqlType::Varchar(Some(length)) => {
            let length = i32::try_from(length).ok().and_then(|length| length.checked_add(MODIFIER_HEADER));
            length.unwrap_or(MODIFIER_NONE)
        }
        SqlType::Date | SqlType::Time | SqlType::UnsignedDate | SqlType::UnsignedTime => MILLISECOND_DIGITS,
        _ => MODIFIER_NONE,
    }
}

impl fmt::Display for WireType {
    /// The name in SQL as PostgreSQL's `format_type` gives it: `character varying(10)[]`; `???` of a number that is not
    /// among the types that are sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, brackets) = match Declared::of_oid(self.oid) {
            Declared::Type(PgType::Base(base)) => (base, ""),
            Declared::Type(PgType::Array(base)) => (base, "[]"),
            Declared::Nothing | Declared::Unsupported => return f.write_str("???"),
        };
        let (name, modifier) = (base.name(), self.modifier);
        match (base, modifier.checked_sub(MODIFIER_HEADER)) {
            (BaseType::Bpchar | BaseType::Varchar, Some(length @ 0..)) => write!(f, "{name}({length})")?,
            // PostgreSQL reads `character` as a length of 1.
            (BaseType::Bpchar, _) => f.write_str("bpchar")?,
            (BaseType::Numeric, Some(digits @ 0..)) => write!(f, "{name}({},{})", digits >> 16, digits & 0x7ff)?,
            (BaseType::Time | BaseType::Timestamp | BaseType::Timestamptz, _) if modifier >= 0 => {
                let (word, zone) = name.split_once(' ').unwrap_or((name, ""));
                write!(f, "{word}({modifier}) {zone}")?;
            }
            _ => f.write_str(name)?,
        }
        f.write_str(brackets)
    }
}

/// The SQL type of a parameter that a client declares; `None` if it leaves the type to the server, by the numbers 0 and 705
/// (`unknown`).
///
/// # Errors
/// [`WireError::UnsupportedType`] for a number of which no parameters are taken.
pub(crate) fn parameter_type(oid: u32) -> Result<Option<SqlType>, WireError> {
    let unsupported = WireError::UnsupportedType { oid };
    match Declared::of_oid(oid) {
        Declared::Nothing => Ok(None),
        Declared::Type(PgType::Base(base)) => Ok(Some(base.sql_type())),
        Declared::Type(PgType::Array(base)) => SqlType::array(base.sql_type()).map(Some).ok_or(unsupported),
        Declared::Unsupported => Err(unsupported),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(element: SqlType) -> SqlType {
        SqlType::array(element).unwrap()
    }

    /// The names are what `format_type` of PostgreSQL 15 gives.
    #[test]
    fn types_of_columns() {
        for (ty, oid, size, modifier, name) in [
            (SqlType::Null, 25, -1, -1, "text"),
            (SqlType::TinyInt, 21, 2, -1, "smallint"),
            (SqlType::UnsignedSmallInt, 21, 2, -1, "smallint"),
            (SqlType::UnsignedInt, 23, 4, -1, "integer"),
            (SqlType::UnsignedLong, 20, 8, -1, "bigint"),
            (SqlType::UnsignedFloat, 700, 4, -1, "real"),
            (SqlType::Double, 701, 8, -1, "double precision"),
            (SqlType::Decimal(None), 1700, -1, -1, "numeric"),
            (SqlType::Decimal(Some((10, 2))), 1700, -1, 655_366, "numeric(10,2)"),
            (SqlType::Boolean, 16, 1, -1, "boolean"),
            (SqlType::Date, 1114, 8, 3, "timestamp(3) without time zone"),
            (SqlType::Time, 1083, 8, 3, "time(3) without time zone"),
            (SqlType::Timestamp, 1114, 8, -1, "timestamp without time zone"),
            (SqlType::Char(5), 1042, -1, 9, "character(5)"),
            (SqlType::Varchar(None), 1043, -1, -1, "character varying"),
            (SqlType::Varchar(Some(10)), 1043, -1, 14, "character varying(10)"),
            (SqlType::Binary(4), 17, -1, -1, "bytea"),
            (SqlType::VarbinaryEncoded, 17, -1, -1, "bytea"),
            (SqlType::Uuid, 2950, 16, -1, "uuid"),
            (SqlType::Json, 114, -1, -1, "json"),
            (SqlType::Interval, 1186, 16, -1, "interval"),
            (array(SqlType::Varchar(Some(10))), 1015, -1, 14, "character varying(10)[]"),
            (array(SqlType::Date), 1115, -1, 3, "timestamp(3) without time zone[]"),
            (array(SqlType::Decimal(Some((10, 2)))), 1231, -1, 655_366, "numeric(10,2)[]"),
            (array(SqlType::Char(5)), 1014, -1, 9, "character(5)[]"),
            (array(SqlType::Null), 1009, -1, -1, "text[]"),
            (SqlType::Opaque, 25, -1, -1, "text"),
        ] {
            let wire = WireType::of(ty);
            assert_eq!(wire, WireType { oid, size, modifier }, "{ty}");
            assert_eq!(wire.to_string(), name, "{ty}");
        }
        let name = |oid, modifier| WireType { oid, size: -1, modifier }.to_string();
        assert_eq!(
            [name(1042, -1), name(1014, -1), name(18, -1), name(99_999, -1)],
            ["bpchar", "bpchar[]", "\"char\"", "???"]
        );
        assert_eq!([name(1083, 0), name(1184, 6)], ["time(0) without time zone", "timestamp(6) with time zone"]);
        assert_eq!(name(1043, i32::MIN), "character varying");
        // A length beyond the modifier's 31 bits.
        assert_eq!(WireType::of(SqlType::Char(u32::MAX)).modifier, -1);
    }

    #[test]
    fn types_of_parameters() {
        for (oid, ty) in [
            (0, None),
            (705, None),
            (20, Some(SqlType::BigInt)),
            (21, Some(SqlType::SmallInt)),
            (25, Some(SqlType::Varchar(None))),
            (26, Some(SqlType::BigInt)),
            (1082, Some(SqlType::Date)),
            (1184, Some(SqlType::Timestamp)),
            (1700, Some(SqlType::Decimal(None))),
            (3802, Some(SqlType::Json)),
            (1007, Some(array(SqlType::Integer))),
            (1185, Some(array(SqlType::Timestamp))),
            (3807, Some(array(SqlType::Json))),
        ] {
            assert_eq!(parameter_type(oid).unwrap(), ty, "{oid}");
        }
        let error = parameter_type(600).unwrap_err();
        assert_eq!(
            (error.sqlstate(), error.to_string().as_str()),
            ("0A000", "parameters of type point (OID 600) are not supported")
        );
        assert!(parameter_type(99_999).unwrap_err().to_string().contains("OID 99999"));
    }
}
