//! The types of PostgreSQL that the catalog knows, by their numbers, and the types of Saltwing's columns as such.
//!
//! Every client knows the numbers of built-in types by heart, so they are PostgreSQL's own.

use saltwing::SqlType;

/// The number (OID) of a type of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PgType(pub(crate) u32);

impl PgType {
    pub(crate) const BOOL: Self = Self(16);
    pub(crate) const CHAR: Self = Self(18);
    pub(crate) const NAME: Self = Self(19);
    pub(crate) const INT8: Self = Self(20);
    pub(crate) const INT2: Self = Self(21);
    pub(crate) const INT2VECTOR: Self = Self(22);
    pub(crate) const INT4: Self = Self(23);
    pub(crate) const TEXT: Self = Self(25);
    pub(crate) const OID: Self = Self(26);
    pub(crate) const XID: Self = Self(28);
    pub(crate) const OIDVECTOR: Self = Self(30);
    pub(crate) const JSON: Self = Self(114);
    pub(crate) const FLOAT8: Self = Self(701);
    pub(crate) const UNKNOWN: Self = Self(705);
    pub(crate) const BPCHAR: Self = Self(1042);
    pub(crate) const VARCHAR: Self = Self(1043);
    pub(crate) const TIMESTAMP: Self = Self(1114);
    pub(crate) const NUMERIC: Self = Self(1700);
    pub(crate) const REGCLASS: Self = Self(2205);
    pub(crate) const REGTYPE: Self = Self(2206);
    pub(crate) const REGROLE: Self = Self(4096);
    pub(crate) const REGNAMESPACE: Self = Self(4089);
    pub(crate) const VOID: Self = Self(2278);

    /// What is known of the type.
    pub(crate) fn entry(self) -> Option<&'static BuiltIn> {
        BUILT_IN.iter().find(|entry| entry.oid == self.0)
    }

    /// The type of this name in `pg_type`, or of arrays of it: `int4`, `_int4`.
    pub(crate) fn by_catalog_name(name: &str) -> Option<Self> {
        let element = |name: &str| BUILT_IN.iter().find(|entry| entry.name == name);
        match name.strip_prefix('_') {
            Some(name) => element(name).map(|entry| Self(entry.array)).filter(|array| array.0 != 0),
            None => element(name).map(|entry| Self(entry.oid)),
        }
    }

    /// The type that SQL names so, in any case: `int`, `character varying`, `pg_catalog.text`, `"char"`, `varchar(5)`, `int4[]`.
    pub(crate) fn by_sql_name(name: &str) -> Option<Self> {
        let name = name.trim();
        let name = name.strip_prefix("pg_catalog.").unwrap_or(name);
        if let Some(element) = name.strip_suffix("[]") {
            return Self::by_sql_name(element)?.array();
        }
        if let Some(quoted) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            return Self::by_catalog_name(quoted);
        }
        let name = name.to_lowercase();
        let (before, rest) = name.split_once('(').unwrap_or((&name, ""));
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        let plain = format!("{}{after}", before.trim_end());
        // `char` is character(1) in SQL; the type of that name in the catalog needs quotes.
        let named = BUILT_IN.iter().find(|entry| entry.sql_name == plain && entry.oid != Self::CHAR.0);
        let named = named.map(|entry| Self(entry.oid));
        named.or_else(|| SYNONYMS.iter().find(|(synonym, _)| *synonym == plain).map(|(_, ty)| *ty)).or_else(|| {
            let is_type_of_catalog = plain != "char";
            Self::by_catalog_name(&plain).filter(|_| is_type_of_catalog)
        })
    }

    /// The type of arrays of this one.
    pub(crate) fn array(self) -> Option<Self> {
        self.entry().map(|entry| Self(entry.array)).filter(|array| array.0 != 0)
    }

    /// The type of the elements, if this is a type of arrays or vectors.
    pub(crate) fn element(self) -> Option<Self> {
        match self {
            Self::INT2VECTOR => Some(Self::INT2),
            Self::OIDVECTOR => Some(Self::OID),
            _ => BUILT_IN.iter().find(|entry| entry.array != 0 && entry.array == self.0).map(|entry| Self(entry.oid)),
        }
    }

    /// Whether values are numbers of objects, which are written as the names of these.
    pub(crate) fn is_object(self) -> bool {
        self.object_kind().is_some()
    }

    /// The word for the kind of object in the names of functions that convert such values.
    pub(crate) fn object_kind(self) -> Option<&'static str> {
        match self.0 {
            2205 => Some("regclass"),
            2206 => Some("regtype"),
            24 | 2202 => Some("regproc"),
            4089 => Some("regnamespace"),
            4096 => Some("regrole"),
            _ => None,
        }
    }

    /// Whether values are kept as texts.
    pub(crate) fn is_text(self) -> bool {
        matches!(self.storage(), Storage::Text)
    }

    /// How values are kept in the relations.
    pub(crate) fn storage(self) -> Storage {
        match self.0 {
            16 => Storage::Boolean,
            21 => Storage::Int2,
            23 | 29 => Storage::Int4,
            20 | 24 | 26 | 28 | 2202..=2206 | 4089 | 4096 | 3734 | 3769 | 4191 => Storage::Int8,
            700 => Storage::Float4,
            701 => Storage::Float8,
            1114 | 1184 => Storage::Timestamp,
            22 | 1005 => Storage::Int2Array,
            1007 => Storage::Int4Array,
            30 | 1028 | 1016 | 2210 | 2211 | 1008 => Storage::Int8Array,
            1000 => Storage::BooleanArray,
            1002 | 1003 | 1009 | 1014 | 1015 | 1034 => Storage::TextArray,
            _ => Storage::Text,
        }
    }
}

/// How the values of a type are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Boolean,
    Int2,
    Int4,
    /// Numbers of objects, too: they have 32 bits without a sign.
    Int8,
    Float4,
    Float8,
    Text,
    Timestamp,
    BooleanArray,
    Int2Array,
    Int4Array,
    Int8Array,
    TextArray,
}

/// A type that PostgreSQL has without anybody creating it.
pub(crate) struct BuiltIn {
    pub(crate) oid: u32,
    /// In `pg_type`.
    pub(crate) name: &'static str,
    /// In SQL.
    pub(crate) sql_name: &'static str,
    /// Bytes; -1 of values of any length, -2 of texts that end with a zero byte.
    pub(crate) length: i16,
    pub(crate) category: char,
    /// The number of the type of its arrays; 0 if there is none.
    pub(crate) array: u32,
}

impl BuiltIn {
    /// Whether it stands for types, and no column has it.
    pub(crate) fn is_pseudo(&self) -> bool {
        matches!(self.category, 'P' | 'X')
    }

    /// The alignment: `c`, `s`, `i` or `d`, for 1, 2, 4 or 8 bytes.
    pub(crate) fn alignment(&self) -> char {
        match (self.oid, self.length) {
            (18 | 19 | 2950, _) | (_, 1 | -2) => 'c',
            (_, 2 | 6) => 's',
            (_, 8) | (1186 | 1266, _) => 'd',
            _ => 'i',
        }
    }

    /// Whether values are passed by value.
    pub(crate) fn is_by_value(&self) -> bool {
        matches!(self.length, 1 | 2 | 4 | 8) && self.oid != PgType::UNKNOWN.0
    }

    /// Whether the type is the one that others of its category become.
    pub(crate) fn is_preferred(&self) -> bool {
        matches!(self.oid, 16 | 25 | 26 | 701 | 869 | 1184 | 1186)
    }

    /// The collation: the default one (100) of texts, `C` (950) of names.
    pub(crate) fn collation(&self) -> u32 {
        match self.oid {
            19 => 950,
            25 | 194 | 1042 | 1043 => 100,
            _ => 0,
        }
    }

    /// The name of the function that reads a text of the type, before its suffix: `int4` of `int4in`, `int4out`.
    pub(crate) fn function_stem(&self) -> String {
        match self.oid {
            18 => "char".to_owned(),
            1700 | 1082 | 1083 | 1114 | 1184 | 1186 | 1266 | 114 | 142 | 2950 | 3802 | 2249 | 2276 | 2277 | 2278 => {
                format!("{}_", self.name)
            }
            _ => self.name.to_owned(),
        }
    }
}

const fn built_in(
    oid: u32,
    name: &'static str,
    sql_name: &'static str,
    length: i16,
    category: char,
    array: u32,
) -> BuiltIn {
    BuiltIn { oid, name, sql_name, length, category, array }
}

/// All of them, without the types of their arrays.
pub(crate) static BUILT_IN: &[BuiltIn] = &[
    built_in(16, "bool", "boolean", 1, 'B', 1000),
    built_in(17, "bytea", "bytea", -1, 'U', 1001),
    built_in(18, "char", "\"char\"", 1, 'Z', 1002),
    built_in(19, "name", "name", 64, 'S', 1003),
    built_in(20, "int8", "bigint", 8, 'N', 1016),
    built_in(21, "int2", "smallint", 2, 'N', 1005),
    built_in(22, "int2vector", "int2vector", -1, 'A', 1006),
    built_in(23, "int4", "integer", 4, 'N', 1007),
    built_in(24, "regproc", "regproc", 4, 'N', 1008),
    built_in(25, "text", "text", -1, 'S', 1009),
    built_in(26, "oid", "oid", 4, 'N', 1028),
    built_in(27, "tid", "tid", 6, 'U', 1010),
    built_in(28, "xid", "xid", 4, 'U', 1011),
    built_in(29, "cid", "cid", 4, 'U', 1012),
    built_in(30, "oidvector", "oidvector", -1, 'A', 1013),
    built_in(114, "json", "json", -1, 'U', 199),
    built_in(142, "xml", "xml", -1, 'U', 143),
    built_in(194, "pg_node_tree", "pg_node_tree", -1, 'Z', 0),
    built_in(650, "cidr", "cidr", -1, 'I', 651),
    built_in(700, "float4", "real", 4, 'N', 1021),
    built_in(701, "float8", "double precision", 8, 'N', 1022),
    built_in(705, "unknown", "unknown", -2, 'X', 0),
    built_in(790, "money", "money", 8, 'N', 791),
    built_in(829, "macaddr", "macaddr", 6, 'U', 1040),
    built_in(869, "inet", "inet", -1, 'I', 1041),
    built_in(1033, "aclitem", "aclitem", 12, 'U', 1034),
    built_in(1042, "bpchar", "character", -1, 'S', 1014),
    built_in(1043, "varchar", "character varying", -1, 'S', 1015),
    built_in(1082, "date", "date", 4, 'D', 1182),
    built_in(1083, "time", "time without time zone", 8, 'D', 1183),
    built_in(1114, "timestamp", "timestamp without time zone", 8, 'D', 1115),
    built_in(1184, "timestamptz", "timestamp with time zone", 8, 'D', 1185),
    built_in(1186, "interval", "interval", 16, 'T', 1187),
    built_in(1266, "timetz", "time with time zone", 12, 'D', 1270),
    built_in(1560, "bit", "bit", -1, 'V', 1561),
    built_in(1562, "varbit", "bit varying", -1, 'V', 1563),
    built_in(1700, "numeric", "numeric", -1, 'N', 1231),
    built_in(1790, "refcursor", "refcursor", -1, 'U', 2201),
    built_in(2202, "regprocedure", "regprocedure", 4, 'N', 2207),
    built_in(2203, "regoper", "regoper", 4, 'N', 2208),
    built_in(2204, "regoperator", "regoperator", 4, 'N', 2209),
    built_in(2205, "regclass", "regclass", 4, 'N', 2210),
    built_in(2206, "regtype", "regtype", 4, 'N', 2211),
    built_in(2249, "record", "record", -1, 'P', 2287),
    built_in(2275, "cstring", "cstring", -2, 'P', 1263),
    built_in(2276, "any", "\"any\"", 4, 'P', 0),
    built_in(2277, "anyarray", "anyarray", -1, 'P', 0),
    built_in(2278, "void", "void", 4, 'P', 0),
    built_in(2279, "trigger", "trigger", 4, 'P', 0),
    built_in(2281, "internal", "internal", 8, 'P', 0),
    built_in(2283, "anyelement", "anyelement", 4, 'P', 0),
    built_in(2950, "uuid", "uuid", 16, 'U', 2951),
    built_in(3220, "pg_lsn", "pg_lsn", 8, 'U', 3221),
    built_in(3614, "tsvector", "tsvector", -1, 'U', 3643),
    built_in(3615, "tsquery", "tsquery", -1, 'U', 3645),
    built_in(3734, "regconfig", "regconfig", 4, 'N', 3735),
    built_in(3769, "regdictionary", "regdictionary", 4, 'N', 3770),
    built_in(3802, "jsonb", "jsonb", -1, 'U', 3807),
    built_in(4089, "regnamespace", "regnamespace", 4, 'N', 4090),
    built_in(4096, "regrole", "regrole", 4, 'N', 4097),
    built_in(4191, "regcollation", "regcollation", 4, 'N', 4192),
    built_in(5069, "xid8", "xid8", 8, 'U', 271),
];

/// Further names of types in SQL.
static SYNONYMS: &[(&str, PgType)] = &[
    ("int", PgType::INT4),
    ("char", PgType::BPCHAR),
    ("decimal", PgType::NUMERIC),
    ("dec", PgType::NUMERIC),
    ("float", PgType::FLOAT8),
    ("timestamp", PgType::TIMESTAMP),
    ("time", PgType(1083)),
    ("string", PgType::TEXT),
];

/// The type of a column as PostgreSQL has it, and its modifier (-1 if it has none): lengths of texts, digits of numbers and seconds.
///
/// DATE and TIME carry milliseconds and a day, so they are `timestamp(3)`.
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
        Date | Time | UnsignedDate | UnsignedTime => (PgType::TIMESTAMP, 3),
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

/// A type with its modifier as SQL writes it; `???` of a number that is no type's. Without a modifier (`None`) the type alone.
pub(crate) fn format_type(oid: i64, modifier: Option<i64>) -> String {
    let Ok(oid) = u32::try_from(oid) else { return "???".to_owned() };
    if oid == 0 {
        return "-".to_owned();
    }
    let ty = PgType(oid);
    if let (Some(element), false) = (ty.element(), matches!(ty, PgType::INT2VECTOR | PgType::OIDVECTOR)) {
        return format_type(element.0.into(), modifier) + "[]";
    }
    let Some(entry) = ty.entry() else { return "???".to_owned() };
    let name = entry.sql_name;
    let length = modifier.and_then(|modifier| modifier.checked_sub(4)).filter(|length| *length >= 0);
    match (oid, modifier, length) {
        (1042 | 1043, _, Some(length)) => format!("{name}({length})"),
        // A CHAR without a length is another type than CHAR(1).
        (1042, Some(-1), _) => "bpchar".to_owned(),
        (1700, _, Some(digits)) => format!("numeric({},{})", (digits >> 16) & 0xffff, digits & 0x7ff),
        (1083 | 1114 | 1184 | 1266, Some(seconds @ 0..), _) => {
            let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
            format!("{first}({seconds}) {rest}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_and_its_arrays_know_each_other() {
        for entry in BUILT_IN {
            let ty = PgType(entry.oid);
            assert_eq!(PgType::by_catalog_name(entry.name), Some(ty), "{}", entry.name);
            if let Some(array) = ty.array() {
                assert_eq!(array.element(), Some(ty), "{}", entry.name);
                assert_eq!(PgType::by_catalog_name(&format!("_{}", entry.name)), Some(array));
            }
            assert_eq!(PgType::by_sql_name(&format_type(entry.oid.into(), None)), Some(ty), "{}", entry.name);
        }
    }

    /// What PostgreSQL 15 prints.
    #[test]
    fn types_are_written_as_sql_has_them() {
        let cases = [
            (1043, Some(44), "character varying(40)"),
            (1043, Some(-1), "character varying"),
            (1043, None, "character varying"),
            (1042, Some(9), "character(5)"),
            (1042, Some(-1), "bpchar"),
            (1042, None, "character"),
            (1700, Some(655_366), "numeric(10,2)"),
            (1700, Some(-1), "numeric"),
            (1114, Some(3), "timestamp(3) without time zone"),
            (1114, Some(-1), "timestamp without time zone"),
            (1015, Some(44), "character varying(40)[]"),
            (22, None, "int2vector"),
            (18, Some(-1), "\"char\""),
            (0, None, "-"),
            (999_999, None, "???"),
            (-1, None, "???"),
        ];
        for (oid, modifier, text) in cases {
            assert_eq!(format_type(oid, modifier), text);
        }
    }

    #[test]
    fn names_of_types_are_found() {
        for (name, oid) in
            [("INT", 23), ("char", 1042), ("\"char\"", 18), ("pg_catalog.int2[]", 1005), ("varchar(5)", 1043)]
        {
            assert_eq!(PgType::by_sql_name(name), Some(PgType(oid)), "{name}");
        }
        assert_eq!(PgType::by_sql_name("timestamp(3) without time zone"), Some(PgType::TIMESTAMP));
        assert_eq!(PgType::by_sql_name("hstore"), None);
    }
}
