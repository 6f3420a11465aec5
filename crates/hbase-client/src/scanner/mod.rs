//! Scans over regions.

mod assembler;
mod open_scanner;
mod position;
mod rows;

pub use rows::{ScanCounts, Scanner};
