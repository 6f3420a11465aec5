//! The catalog from outside: queries of clients over databases with tables, users and connections.

#![allow(clippy::unwrap_used, clippy::panic)]

mod answer;
mod clients;
mod isolation;
mod joins;
mod log;
mod oids;
mod refresh;
mod server;
