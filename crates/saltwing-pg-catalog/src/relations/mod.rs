//! The relations of `pg_catalog` and `information_schema`, made of the definitions of a database.
//!
//! ```text
//! definitions ──a row for each object──> cells ──by the types of the columns──> Arrow batches
//! ```
//!
//! A relation is a name, its columns as PostgreSQL 15 has them, and its rows. What Saltwing does not have is an empty relation.

mod attributes;
mod cells;
mod classes;
mod constraints;
mod dependencies;
mod descriptions;
mod empty;
mod empty_information;
mod empty_statistics;
mod functions;
mod indexes;
mod information_columns;
mod information_constraints;
mod information_lists;
mod information_privileges;
mod keywords;
mod lists;
mod namespaces;
mod numbers;
mod object_text;
mod registry;
mod relation;
mod roles;
mod session_rows;
mod statistics;
mod type_tree;
mod types;

pub(crate) use self::cells::Cell;
pub(crate) use self::classes::class_names;
pub(crate) use self::descriptions::descriptions;
pub(crate) use self::functions::function_names;
pub(crate) use self::object_text::{constraint_text, index_part_text, index_text, quoted, sequence_of};
pub(crate) use self::registry::{RELATIONS, relation_named};
pub(crate) use self::relation::{Attribute, INFORMATION_SCHEMA_NAME, PG_CATALOG_NAME, Relation};
pub(crate) use self::roles::DATABASE;
