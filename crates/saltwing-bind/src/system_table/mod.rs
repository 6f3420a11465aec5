//! The system tables, which show the catalog as rows: `information_schema`.
//!
//! ```text
//! catalog ──SystemFacts──> objects ──a value for each column──> rows ──> queries of either executor, SHOW
//! ```
//!
//! Each table is a file: its columns, each with its value of an object, and the objects. A query names the columns that it reads by place,
//! and no other column is computed. A SHOW of tables, views and the like shows columns of such rows.

mod columns;
mod constraints;
mod definition;
mod grants;
mod indexes;
mod routines;
mod schemata;
mod sequences;
mod tables;
mod users;
mod views;

use saltwing_catalog::{CatalogError, INFORMATION_SCHEMA};

pub(crate) use self::definition::CATALOG;
pub use self::definition::{Objects, SystemColumn, SystemFacts, SystemTable};

/// `information_schema.schemata`.
pub const SCHEMATA: &dyn SystemTable = &schemata::SCHEMATA;
/// `information_schema.tables`.
pub const TABLES: &dyn SystemTable = &tables::TABLES;
/// `information_schema.columns`.
pub const COLUMNS: &dyn SystemTable = &columns::COLUMNS;
/// `information_schema.indexes`.
pub const INDEXES: &dyn SystemTable = &indexes::INDEXES;
/// `information_schema.views`.
pub const VIEWS: &dyn SystemTable = &views::VIEWS;
/// `information_schema.sequences`.
pub const SEQUENCES: &dyn SystemTable = &sequences::SEQUENCES;
/// `information_schema.users`.
pub const USERS: &dyn SystemTable = &users::USERS;
/// `information_schema.grants`.
pub const GRANTS: &dyn SystemTable = &grants::GRANTS;

/// `information_schema.table_constraints`.
pub const TABLE_CONSTRAINTS: &dyn SystemTable = &constraints::TABLE_CONSTRAINTS;
/// `information_schema.key_column_usage`.
pub const KEY_COLUMN_USAGE: &dyn SystemTable = &constraints::KEY_COLUMN_USAGE;

/// `information_schema.referential_constraints`.
pub const REFERENTIAL_CONSTRAINTS: &dyn SystemTable = &constraints::REFERENTIAL_CONSTRAINTS;

/// `information_schema.routines`.
pub const ROUTINES: &dyn SystemTable = &routines::ROUTINES;

/// The system tables, all of [`INFORMATION_SCHEMA`].
pub const SYSTEM_TABLES: &[&dyn SystemTable] = &[
    SCHEMATA,
    TABLES,
    COLUMNS,
    INDEXES,
    VIEWS,
    SEQUENCES,
    USERS,
    GRANTS,
    TABLE_CONSTRAINTS,
    KEY_COLUMN_USAGE,
    REFERENTIAL_CONSTRAINTS,
    ROUTINES,
];

fn is_their_schema(schema: Option<&str>) -> bool {
    schema.is_some_and(|schema| schema.eq_ignore_ascii_case(INFORMATION_SCHEMA))
}

/// The system table of this name, in any case.
pub fn system_table(schema: Option<&str>, name: &str) -> Option<&'static dyn SystemTable> {
    let mut tables = SYSTEM_TABLES.iter().filter(|_| is_their_schema(schema));
    tables.find(|table| table.name().eq_ignore_ascii_case(name)).copied()
}

/// The error of a name in the schema of the system tables that none of them has.
pub(crate) fn no_system_table(schema: Option<&str>, name: &str) -> Option<CatalogError> {
    if !is_their_schema(schema) || system_table(schema, name).is_some() {
        return None;
    }
    let name = format!("{INFORMATION_SCHEMA}.{name}");
    let known: Vec<String> = SYSTEM_TABLES.iter().map(|it| format!("{INFORMATION_SCHEMA}.{}", it.name())).collect();
    let nearest = saltwing_types::suggest(&name, known.iter().map(String::as_str)).map(str::to_owned);
    Some(CatalogError::NoSuchTable { name, nearest })
}
