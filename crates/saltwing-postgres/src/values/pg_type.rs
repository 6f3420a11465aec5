//! The built-in types of PostgreSQL that values are sent and taken as.
//!
//! Drivers know the numbers of these types by heart and look up all others, so no other types are sent.

use std::fmt;

use saltwing::SqlType;

/// The number that stands for no type: the server is to infer it.
const OID_UNSPECIFIED: u32 = 0;
/// The number of `unknown`, the type of a literal that is not resolved yet.
const OID_UNKNOWN: u32 = 705;

/// Makes the types: of each its number, the number of its arrays, the bytes of a value (-1 if values differ) and its name.
macro_rules! base_types {
    ($($base:ident = $oid:literal, $array_oid:literal, $size:literal, $name:literal;)*) => {
        /// A type that is no array.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // each is its own word
        pub(crate) enum BaseType {
            $($base,)*
        }

        impl BaseType {
            /// All of them.
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$base,)*];

            /// Its number.
            pub(super) fn oid(self) -> u32 {
                match self {
                    $(Self::$base => $oid,)*
                }
            }

            /// The number of its arrays.
            pub(super) fn array_oid(self) -> u32 {
                match self {
                    $(Self::$base => $array_oid,)*
                }
            }

            /// The bytes of a value in PostgreSQL's memory; -1 if values differ.
            pub(super) fn size(self) -> i16 {
                match self {
                    $(Self::$base => $size,)*
                }
            }

            /// Its name in SQL, without length or precision.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$base => $name,)*
                }
            }
        }

        impl PgType {
            /// The type of a number; `None` for the numbers of types that are not here.
            fn built_in(oid: u32) -> Option<Self> {
                match oid {
                    $($oid => Some(Self::Base(BaseType::$base)),)*
                    $($array_oid => Some(Self::Array(BaseType::$base)),)*
                    _ => None,
                }
            }
        }
    };
}

base_types! {
    Bool = 16, 1000, 1, "boolean";
    Bytea = 17, 1001, -1, "bytea";
    Char = 18, 1002, 1, "\"char\"";
    Name = 19, 1003, 64, "name";
    Int8 = 20, 1016, 8, "bigint";
    Int2 = 21, 1005, 2, "smallint";
    Int4 = 23, 1007, 4, "integer";
    Text = 25, 1009, -1, "text";
    Oid = 26, 1028, 4, "oid";
    Json = 114, 199, -1, "json";
    Float4 = 700, 1021, 4, "real";
    Float8 = 701, 1022, 8, "double precision";
    Bpchar = 1042, 1014, -1, "character";
    Varchar = 1043, 1015, -1, "character varying";
    Date = 1082, 1182, 4, "date";
    Time = 1083, 1183, 8, "time without time zone";
    Timestamp = 1114, 1115, 8, "timestamp without time zone";
    Timestamptz = 1184, 1185, 8, "timestamp with time zone";
    Interval = 1186, 1187, 16, "interval";
    Numeric = 1700, 1231, -1, "numeric";
    Uuid = 2950, 2951, 16, "uuid";
    Jsonb = 3802, 3807, -1, "jsonb";
}

/// A type, or the arrays of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PgType {
    /// The type itself.
    Base(BaseType),
    /// Its arrays, of any number of dimensions.
    Array(BaseType),
}

/// What a parameter's number says of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// Nothing: the statement decides.
    Nothing,
    /// A type of which parameters are taken.
    Type(PgType),
    /// A type of which none are taken.
    Unsupported,
}

impl Declared {
    /// That of a number in Parse.
    pub(super) fn of_oid(oid: u32) -> Self {
        match oid {
            OID_UNSPECIFIED | OID_UNKNOWN => Self::Nothing,
            oid => PgType::built_in(oid).map_or(Self::Unsupported, Self::Type),
        }
    }
}

impl BaseType {
    /// The type that values of an SQL type are sent as; of an array that of its elements.
    ///
    /// DATE carries milliseconds since 1970, so it is a timestamp: PostgreSQL's `date` would lose the time of day, which dates of Phoenix have.
    /// TIME carries them too, but it is sent as the time of day alone: programs store times of day in it, and drivers give and take no other form
    /// of them. A value without a type is sent as text.
    pub(super) fn of_sql(ty: SqlType) -> Self {
        use SqlType::*;
        match ty {
            Null | Opaque => Self::Text,
            TinyInt | SmallInt | UnsignedTinyInt | UnsignedSmallInt => Self::Int2,
            Integer | UnsignedInt => Self::Int4,
            BigInt | UnsignedLong => Self::Int8,
            Float | UnsignedFloat => Self::Float4,
            Double | UnsignedDouble => Self::Float8,
            Decimal(_) => Self::Numeric,
            Boolean => Self::Bool,
            Date | Timestamp | UnsignedDate | UnsignedTimestamp => Self::Timestamp,
            Time | UnsignedTime => Self::Time,
            Char(_) => Self::Bpchar,
            Varchar(_) => Self::Varchar,
            Binary(_) | Varbinary | VarbinaryEncoded => Self::Bytea,
            Uuid => Self::Uuid,
            Json => Self::Json,
            Interval => Self::Interval,
            Array(element, _) => Self::of_sql(element.sql_type()),
        }
    }

    /// The SQL type of a parameter of this type.
    pub(super) fn sql_type(self) -> SqlType {
        match self {
            Self::Bool => SqlType::Boolean,
            Self::Bytea => SqlType::Varbinary,
            Self::Char | Self::Name | Self::Text | Self::Bpchar | Self::Varchar => SqlType::Varchar(None),
            Self::Int2 => SqlType::SmallInt,
            Self::Int4 => SqlType::Integer,
            // Numbers of objects have 32 bits without a sign.
            Self::Int8 | Self::Oid => SqlType::BigInt,
            Self::Json | Self::Jsonb => SqlType::Json,
            Self::Float4 => SqlType::Float,
            Self::Float8 => SqlType::Double,
            Self::Date => SqlType::Date,
            Self::Time => SqlType::Time,
            Self::Timestamp | Self::Timestamptz => SqlType::Timestamp,
            Self::Interval => SqlType::Interval,
            Self::Numeric => SqlType::Decimal(None),
            Self::Uuid => SqlType::Uuid,
        }
    }

    /// Whether values are plain text, in both formats.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Char | Self::Name | Self::Text | Self::Bpchar | Self::Varchar)
    }
}

impl PgType {
    /// The type that values of an SQL type are sent as.
    pub(super) fn of_sql(ty: SqlType) -> Self {
        let base = BaseType::of_sql(ty);
        if let SqlType::Array(..) = ty { Self::Array(base) } else { Self::Base(base) }
    }

    /// Its number.
    pub(super) fn oid(self) -> u32 {
        match self {
            Self::Base(base) => base.oid(),
            Self::Array(base) => base.array_oid(),
        }
    }

    /// The bytes of a value in PostgreSQL's memory; -1 if values differ.
    pub(super) fn size(self) -> i16 {
        match self {
            Self::Base(base) => base.size(),
            Self::Array(_) => -1,
        }
    }
}

impl From<BaseType> for PgType {
    fn from(base: BaseType) -> Self {
        Self::Base(base)
    }
}

impl fmt::Display for PgType {
    /// The name in SQL, without length or precision, as error messages of PostgreSQL have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base(base) => f.write_str(base.name()),
            Self::Array(base) => write!(f, "{}[]", base.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pgwire::api::Type;

    use super::*;

    /// The names of drivers for the types.
    fn name_of(oid: u32) -> String {
        Type::from_oid(oid).unwrap().name().to_owned()
    }

    #[test]
    fn the_numbers_are_those_of_the_drivers() {
        for &base in BaseType::ALL {
            let short = format!("{base:?}").to_ascii_lowercase();
            assert_eq!((name_of(base.oid()), name_of(base.array_oid())), (short.clone(), format!("_{short}")));
            assert_eq!(Declared::of_oid(base.oid()), Declared::Type(PgType::Base(base)));
            assert_eq!(Declared::of_oid(base.array_oid()), Declared::Type(PgType::Array(base)));
        }
    }

    #[test]
    fn numbers_of_no_type_and_of_others() {
        assert_eq!([0, 705].map(Declared::of_oid), [Declared::Nothing; 2]);
        // void, point, record, the first number of a user's type.
        assert_eq!([2278, 600, 2249, 16384, u32::MAX].map(Declared::of_oid), [Declared::Unsupported; 5]);
    }
}
