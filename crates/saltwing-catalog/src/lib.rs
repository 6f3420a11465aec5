//! Tables, schemas, sequences, views and users, stored as rows of tables whose definitions are constant.
//!
//! ```text
//! _tables    (schema, name)  -> definition as a record in JSON (`record.rs`)
//! _schemas   (name)          -> definition as a record in JSON (`record/schema.rs`)
//! _dropped   (id)            tables whose rows must still be deleted, including temporary ones (`session_catalog.rs`)
//! _settings  (name)          -> value: format version, next id (`ids.rs`)
//! _sequences (schema, name)  -> definition and position as a record in JSON (`record/sequence.rs`)
//! _views     (schema, name)  -> definition as a record in JSON (`record/view.rs`)
//! _users     (name)          -> definition with its grants as a record in JSON (`record/user.rs`)
//! ```
//!
//! # Laws
//! 1. Names match in any case; two names of one scope differ in more than case.
//! 2. A change is one synced commit: after a crash it is made completely or not at all.
//! 3. An object keeps its number for its life, and no number of an object or of stored rows is used again.
//! 4. A value of a sequence is reserved on the disk before it is returned (`sequences.rs`).
//! 5. The objects that a view uses exist, and no view uses itself, directly or through other views (`views.rs`).
//! 6. The grants on an object end with it, in the same commit: a later object of the same name has no grants (`users.rs`).
//! 7. `public.t` in a statement and `t` in a definition are one name, unless the catalog has a schema `public` (`default_schema.rs`).
//!
//! Statements use a [`CatalogStore`] and its snapshots, each a [`CatalogReader`] (`store.rs`). [`Catalog`] is the implementation that
//! stores its definitions in these rows.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod arrow_table;
mod attached;
mod boot;
mod change;
#[cfg(feature = "conformance")]
pub mod conformance;
mod default_schema;
mod definitions;
mod earlier_format;
mod error;
mod ids;
mod index_builds;
mod overlaid;
mod readable;
mod record;
mod registration;
mod removal;
mod row;
mod sequences;
mod session_catalog;
mod store;
mod stored;
mod users;
mod views;
mod visible;

pub use arrow_table::{ArrowBatches, ArrowRows, ArrowSource, ArrowSourceError, ArrowTable};
pub use attached::{AttachedTables, attached_schema};
pub use boot::{CATALOG_FORMAT, Catalog};
pub use change::{Applied, CatalogChange, ChangeError, Dependents, DropList, GivenName, GivenObject, GrantList};
pub use default_schema::{PUBLIC_SCHEMA, canonical_name};
pub use definitions::{CatalogReader, INFORMATION_SCHEMA, optional};
pub use error::CatalogError;
pub use readable::ReadableCatalog;
pub use saltwing_types::table::TEMPORARY_SCHEMA;
pub use session_catalog::SessionCatalog;
pub use store::{CatalogStore, change};
pub use visible::VisibleCatalog;
