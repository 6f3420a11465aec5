//! Where a cluster begins: which server has `hbase:meta`, and which master is active.

mod rpc;
mod source;
mod wanted;
mod zookeeper;

pub use source::Registry;
