//! Where a cluster begins: which server has `hbase:meta`, and which master is active.

mod node;
mod rpc;
mod source;
mod wanted;
mod zookeeper;

#[cfg(test)]
pub(crate) use node::{answer_data, node_place};
pub use source::Registry;
#[cfg(test)]
pub(crate) use wanted::Wanted;
