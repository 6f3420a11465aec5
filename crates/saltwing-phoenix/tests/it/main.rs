//! The formats of Phoenix's tables: laws over random values, cells that a live Phoenix wrote, and damaged bytes.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod aggregates;
mod catalog;
mod ddl;
mod dml;
mod golden;
mod golden_cells;
mod golden_definitions;
mod hostile;
mod maintainers;
mod offsets;
mod qualifiers;
mod row_laws;
mod types;
mod value_laws;
mod values;
