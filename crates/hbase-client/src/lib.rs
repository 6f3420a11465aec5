//! An asynchronous client of Apache HBase.
//!
//! | module | has |
//! |---|---|
//! | [`proto`] | messages of HBase's protocol, of both sides |
//! | [`cell`] | cells, and their bytes in cell blocks |
//! | [`frame`] | what goes over a connection: its preamble, requests and responses, for both sides |

pub mod cell;
pub mod frame;
pub mod proto;
mod wire_error;

pub use wire_error::WireError;
