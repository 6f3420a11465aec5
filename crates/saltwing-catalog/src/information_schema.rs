//! The catalog's own views, with their columns, and the names of schemas that it has for itself.

use saltwing_types::SqlType;

/// The schema of the catalog's own views.
pub const INFORMATION_SCHEMA: &str = "information_schema";

const TEXT: SqlType = SqlType::Varchar(None);

/// A view of the catalog: its name, and its columns in order. All may be NULL.
#[derive(Clone, Copy, Debug)]
pub struct CatalogViewDef {
    /// Name, in lower case.
    pub name: &'static str,
    /// Names, in lower case, and types.
    pub columns: &'static [(&'static str, SqlType)],
}

/// The views of [`INFORMATION_SCHEMA`].
pub const VIEWS: [CatalogViewDef; 6] = [
    CatalogViewDef { name: "schemata", columns: &[("catalog_name", TEXT), ("schema_name", TEXT)] },
    CatalogViewDef {
        name: "tables",
        columns: &[
            ("table_catalog", TEXT),
            ("table_schema", TEXT),
            ("table_name", TEXT),
            ("table_type", TEXT),
            ("table_comment", TEXT),
        ],
    },
    CatalogViewDef {
        name: "columns",
        columns: &[
            ("table_catalog", TEXT),
            ("table_schema", TEXT),
            ("table_name", TEXT),
            ("column_name", TEXT),
            ("ordinal_position", SqlType::Integer),
            ("column_default", TEXT),
            ("is_nullable", TEXT),
            ("data_type", TEXT),
            ("key_position", SqlType::Integer),
            ("key_order", TEXT),
            ("column_family", TEXT),
            ("column_comment", TEXT),
            ("is_generated", TEXT),
            ("generation_expression", TEXT),
            ("is_identity", TEXT),
            ("identity_generation", TEXT),
        ],
    },
    CatalogViewDef {
        name: "indexes",
        columns: &[
            ("table_catalog", TEXT),
            ("table_schema", TEXT),
            ("table_name", TEXT),
            ("index_name", TEXT),
            ("kind", TEXT),
            ("is_unique", TEXT),
            ("key", TEXT),
            ("include", TEXT),
            ("predicate", TEXT),
            ("salt_buckets", SqlType::Integer),
            ("state", TEXT),
        ],
    },
    CatalogViewDef {
        name: "views",
        columns: &[
            ("table_catalog", TEXT),
            ("table_schema", TEXT),
            ("table_name", TEXT),
            ("view_definition", TEXT),
            ("is_updatable", TEXT),
        ],
    },
    CatalogViewDef {
        name: "sequences",
        columns: &[
            ("sequence_catalog", TEXT),
            ("sequence_schema", TEXT),
            ("sequence_name", TEXT),
            ("data_type", TEXT),
            ("start_value", SqlType::BigInt),
            ("minimum_value", SqlType::BigInt),
            ("maximum_value", SqlType::BigInt),
            ("increment", SqlType::BigInt),
            ("cycle_option", TEXT),
            ("cache_size", SqlType::BigInt),
        ],
    },
];

/// The view of this name, in any case, if `schema` is the catalog's own.
pub fn catalog_view(schema: Option<&str>, name: &str) -> Option<&'static CatalogViewDef> {
    let own = schema.is_some_and(|schema| schema.eq_ignore_ascii_case(INFORMATION_SCHEMA));
    VIEWS.iter().find(|view| own && view.name.eq_ignore_ascii_case(name))
}
