//! The types that PostgreSQL has without anybody creating them.

use super::number::PgType;

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
