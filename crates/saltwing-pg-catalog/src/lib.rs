//! PostgreSQL's catalog, made of Saltwing's own.
//!
//! Clients of PostgreSQL ask for tables, columns and keys by queries over `pg_catalog` and `information_schema`. Here such a query is
//! rewritten, and runs like any other:
//!
//! ```text
//! information_schema, SHOW ──read as the user──> definitions ──> relations: tables of a memory database, one for each user
//!                                                                      ▲
//! a client's query ──concerns──> translate: its tree in the library's words ──> prepared, described and run on that database
//! ```
//!
//! * A user finds what it sees in the library's own `information_schema`, and nothing else: its relations are made with its rights.
//! * The memory database has no files and none of the database's rows. A rewritten query names relations of the catalog alone.
//! * Relations stay while the definitions do ([`saltwing::Database::definitions_version`]); all sessions of a user share them.
//! * OIDs follow from the numbers of objects, so they stay over restarts.
//! * Relations are a user's, and temporary tables are a session's: the catalog does not list them.
//!
//! | module | has |
//! |---|---|
//! | `definitions` | what a user sees, read from `information_schema` and SHOW; OIDs |
//! | `relations` | columns and rows of each relation |
//! | `lookups`, `functions` | `pg_get_indexdef` and the like |
//! | `relation_database` | the memory database of a user |
//! | `translation` | the rewriting of queries |
//! | `concern` | which texts are queries for the catalog |
//!
//! # Left to others
//! Values are encoded by the protocol: it has the types of columns from [`CatalogQuery::columns`]. Settings are the session's.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod catalog;
mod concern;
mod definitions;
mod error;
mod functions;
mod lookups;
mod name_path;
mod pg_type;
mod relation_database;
mod relations;
mod session_facts;
mod translation;

pub use self::catalog::{CatalogQuery, PgCatalog};
pub use self::error::CatalogError;
pub use self::session_facts::{NamedCursor, NamedStatement, SessionFacts, SettingChange, SettingText};
