//! Scans over regions.

mod arrival;
mod assembler;
mod counts;
mod flight;
mod limits;
mod open_scanner;
mod opening;
mod position;
mod progress;
mod rows;
mod stop;

pub use counts::ScanCounts;
pub use rows::Scanner;
