#![doc = include_str!("../README.md")]
//!
//! # Modules
//! The types of the crate's root are all that a program needs. The modules below it are for those who write another side of the protocol,
//! such as a server for tests.
//!
//! | module | has |
//! |---|---|
//! | [`proto`] | messages of HBase's protocol, of both sides |
//! | [`cell`] | cells, and their bytes in cell blocks |
//! | [`frame`] | what goes over a connection: its preamble, requests and responses, for both sides |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod address;
mod admin;
pub mod cell;
mod client;
mod cluster;
mod connection;
mod context;
mod error;
pub mod frame;
#[cfg(test)]
mod hostile;
mod locator;
mod outcome;
pub mod proto;
mod region;
mod registry;
mod request;
mod retries;
mod row;
mod scanner;
mod server_error;
mod table;
mod table_name;
mod wire_error;

pub use address::{Address, AddressError};
pub use admin::{Admin, Family, Procedure, TableDescriptor};
pub use client::Client;
pub use connection::Settings;
pub use context::{ATTEMPT, CallContext, RETRIES};
pub use error::Error;
pub use outcome::Outcome;
pub use region::{Place, Region};
pub use registry::Registry;
pub use request::{Comparator, Condition, Delete, Filter, Get, Increment, Mutation, Put, RowRange, Scan};
pub use row::Row;
pub use scanner::{ScanCounts, Scanner};
pub use server_error::{Reaction, ServerError};
pub use table::{Action, BufferedWriter, CoprocessorCall, Failure, Table, Written};
pub use table_name::TableName;
pub use wire_error::WireError;
