//! An HBase cluster in a test's own process.
//!
//! [`Cluster`] listens on loopback sockets: some region servers and a master, which speak HBase's protocol with its preamble, frames and
//! cell blocks. Rows lie in memory. A test makes faults happen: regions split, merge and move, servers die, answers are late, cut or
//! damaged, and calls fail with each exception of HBase. All of it is deterministic: nothing happens that the test has not asked for.
//!
//! The servers behave as those of HBase 2.6 in what a client can see, with their traps: a scan is not checked against its region, gets
//! of a batch are answered before its puts, results come in another order than actions. What differs is said where it is:
//! a column has one version, only the classes of filters in `filter` are known, a limit of bytes counts the cells as they are sent, and
//! the calls of a connection are carried out in their order as long as the cluster has no latency.
//!
//! ```
//! use fake_hbase::{Cluster, Exception, Fault};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = Cluster::start(2)?;
//! cluster.create_table("t", &["f"], &[b"m"])?;
//! cluster.put("t", b"a", ("f", "q"), b"1")?;
//! // A client begins at `cluster.master()`. Its next get meets a busy server, and its next write is done without an answer.
//! cluster.on_next("Get", Fault::Exception(Exception::call_queue_too_big()));
//! cluster.on_next("Mutate", Fault::CutAfter);
//! // The middle of a split: the parent is offline, and its daughters have no server.
//! let [_parent, first, second] = cluster.begin_split("t", b"c")?;
//! cluster.open_regions(&[first, second])?;
//! assert_eq!(cluster.count_calls("Get", None), 0);
//! # Ok(())
//! # }
//! ```
//!
//! | module | has |
//! |---|---|
//! | `name`, `row_key`, `row`, `columns` | names of tables and regions, the order of rows, rows, and what of a row is read |
//! | `filter`, `scanner` | filters, and scanners over the rows of a region |
//! | [`Exception`], [`Fault`], [`Call`] | what a test can let happen to a call |
//! | `state` | the cluster: tables, regions, `hbase:meta`, servers |
//! | `service` | the methods of region servers and of the master |
//! | `listener` | sockets, connections, faults of answers |
//! | [`Cluster`] | all of it, for tests |
//! | [`Schedule`] | random changes of a cluster, by a seed |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod call;
mod cluster;
mod columns;
mod exception;
mod fault;
mod filter;
mod listener;
mod name;
mod operation;
mod row;
mod row_key;
mod scanner;
mod schedule;
mod server_id;
mod service;
mod state;

pub use call::{Call, ScanStep};
pub use cluster::Cluster;
pub use exception::Exception;
pub use fault::{Fault, ScanStop};
pub use name::RegionId;
pub use schedule::{Event, Kind, Schedule};
pub use server_id::ServerId;
