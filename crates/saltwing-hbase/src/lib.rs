//! Apache Phoenix's tables on an HBase cluster, behind Saltwing's border between statements and storage.
//!
//! ```text
//!  statements ── saltwing-access ──> PhoenixStore: snapshots, scans          ── hbase-client ──> region servers: rows
//!             ── saltwing-catalog ─> PhoenixCatalog: names, definitions  ──────────────────────> SYSTEM.CATALOG, MetaDataService
//! ```
//!
//! [`open`] gives both. Calls run on threads of the cluster's own, and never on those of a caller, who waits for them and is woken when its
//! statement must stop. A scan reads several regions side by side; each has an answer ahead, and no more, so that memory is bounded however slowly
//! the rows are taken.
//!
//! # What statements see
//! * A row is whole. There is no view of the cluster at one instant: a scan reads each row as it is when a server comes to it.
//! * Phoenix's tables and views have their names, in any case; names that differ in case alone are found as they are written. Views are tables here.
//! * A definition that is not understood makes one table unreadable, and the error says why.
//! * A definition that another client changes is noticed within a second
//!   ([`Options::definitions_checked_every`]), by statements that begin after it.
//!
//! # What statements write
//! Each row by itself, as cells that Phoenix reads as its own: a commit counts the rows that are written, those that are not, and those of which nobody
//! knows. A row that the statement has read is written if its cells are still those that were read. UPSERT of some columns reads nothing. Servers stamp
//! the cells, but for those of a row with a ROW_TIMESTAMP.
//!
//! # Definitions that statements change
//! CREATE TABLE, ALTER TABLE ADD and DROP COLUMN, DROP TABLE and DROP VIEW. A new HBase table comes before the rows of the catalog, and one that is dropped goes
//! after them; what an interruption between the two leaves is taken, or deleted, when the statement is repeated.
//!
//! # What is refused by name
//! Writes to tables with indexes that the servers are not asked to keep
//! ([`saltwing_phoenix::index_attributes`]), to read-only views and to tables of Phoenix itself; some columns of a row whose columns share a cell; claims of unique
//! values; all other changes of the catalog, values of sequences, temporary tables, users; views whose conditions are more than equalities, views that have
//! dropped a column, views of tenants, and entries of indexes.
//!
//! | module | has |
//! |---|---|
//! | `options`, `error` | what a program gives, and what can go wrong |
//! | `cluster` | the client, its threads, and the wait for an answer |
//! | `phoenix_table`, `rows` | how the rows of a table lie in HBase, and rows as values |
//! | `open_tables` | tables by number |
//! | `scan` | the ranges of a route as scans of regions, and their rows |
//! | `aggregate` | groups of rows that Phoenix's coprocessors make where the rows are |
//! | `snapshot`, `store`, `writes` | the border's store |
//! | `catalog` | the border's catalog |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod catalog;
mod cluster;
mod error;
mod open_tables;
mod opening;
mod options;
mod phoenix_table;
mod rows;
mod scan;
mod snapshot;
mod store;
mod writes;

pub use error::HbaseError;
pub use opening::{Opened, open};
pub use options::Options;
