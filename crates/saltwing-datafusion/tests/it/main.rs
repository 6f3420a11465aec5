//! SQL through the relational engine, in one binary: linking DataFusion takes its time.

#![allow(clippy::unwrap_used, clippy::panic)]

mod database;
mod errors;
mod functions;
mod guard;
mod labels;
mod lookups;
mod meaning;
mod order;
mod property;
mod pushdown;
mod shapes;
mod statistics;
mod templates;
