//! Maintenance of databases: checks, backups, and salvage.
//!
//! ```text
//!   Database::backup ──> backup ──> Builder::restore ──> database
//!   Builder::check   ──> what is wrong
//!   Builder::salvage ──> a new database of what can be read, and what is lost
//! ```
//! A new database is made beside its place and takes it when it is whole (`new_place.rs`).

mod backup;
mod check;
mod index_check;
mod new_place;
mod restore;
mod salvage;
#[cfg(test)]
mod tests;

pub use check::{CheckReport, Fault};
pub use salvage::{SalvageReport, SalvagedTable};
