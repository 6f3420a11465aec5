//! Real clients against the server: nothing is mocked, every byte goes through a socket.
//!
//! ```text
//! server-tests                      starts `saltwing serve` over a temporary database and runs every client
//! server-tests --client psql        one of them
//! server-tests --server URL         against a server that runs, such as PostgreSQL
//! server-load --server a=URL ..     how fast servers answer the same client
//! ```
//!
//! | module | has |
//! |---|---|
//! | `target` | where a server listens, and of which kind it is |
//! | `server_process` | a `saltwing serve` of our own: start, kill, start again, its metrics |
//! | `addresses` | where a server listens, of the lines that it prints |
//! | `clients` | the list of clients |
//! | `client_program` | the program of a client in another language: how it is built and run |
//! | `packages` | the clients' packages, in a cache outside the repository |
//! | `program` | a client's process with a limit on its time |
//! | `report` | what a client's checks came to |
//! | `tokio_client` | the client of Rust, which is a part of this program |
//! | `hostile` | connections that break the protocol, guess passwords, or do not read |
//! | `fuzz` | random conversations, valid, hostile and damaged |
//! | `kill` | a server that is killed while clients write |
//! | `wire` | connections that send bytes as they like |
//! | `measurement` | tasks of `server-load`, and how their times are counted |
//! | `random` | numbers for keys and garbage, the same in each run |
//!
//! The other clients' programs lie in `clients/NAME`. Each gets `SERVER_URL` and `SERVER_KIND` and prints a line for each check: `ok NAME` or
//! `not ok NAME: detail`. The statements are such that PostgreSQL takes them, too: a client is tried against that first.
//!
//! Phoenix's clients get `SERVER_AVATICA` besides, and `OWN_AVATICA`, a server for the client alone: the tests that its package ships want a clean database
//! and queries that read whole tables. `clients/NAME/expected_failures.txt` has those that must fail, with the reasons; a test that fails and is not there
//! is a failure of the client, and so is one that is there and passes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod addresses;
mod client_program;
mod clients;
mod error;
mod fuzz;
mod hostile;
mod kill;
pub mod measurement;
mod packages;
mod program;
mod random;
mod report;
mod server_process;
mod target;
mod tokio_client;
mod wire;

pub use clients::{Client, Run, Surroundings};
pub use error::TestError;
pub use fuzz::FuzzOptions;
pub use packages::Packages;
pub use report::Report;
pub use server_process::ServerProcess;
pub use target::{Kind, Target};
