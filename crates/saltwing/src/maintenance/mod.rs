//! Maintenance of databases: checks, backups, and salvage.
//!
//! ```text
//!   Database::backup ──> backup ──> Builder::restore ──> database
//!   Builder::check   ──> a report of the damage
//!   Builder::salvage ──> a new database of the readable rows, and a report of the losses
//! ```
//! A new database is created under a temporary name, and gets its name when it is complete (`new_place.rs`).

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
