//! Types by their names in `pg_type` and in SQL, and the types of arrays.

use super::built_in::{BUILT_IN, BuiltIn};
use super::number::PgType;
use crate::name_path::name_parts;

impl PgType {
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
        if name.contains('"') {
            return match name_parts(name)?.as_slice() {
                [own] => Self::by_catalog_name(own),
                [schema, own] if schema == "pg_catalog" => Self::by_catalog_name(own),
                _ => None,
            };
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
}

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
