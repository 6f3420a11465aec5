//! Scans over regions.

mod assembler;
mod counts;
mod limits;
mod open_scanner;
mod position;
mod rows;

pub use counts::ScanCounts;
pub use rows::Scanner;
