//! The methods of the servers: they read and change the state, and know nothing of sockets.

mod conditions;
mod dispatch;
mod exec;
mod get;
mod increment;
mod master;
mod multi;
mod mutate;
mod mutation_cells;
mod outcomes;
mod regions;
mod registry;
mod reply;
mod scan;

pub(crate) use dispatch::Request;
pub(crate) use reply::{CellForm, Reply, response};

#[cfg(test)]
mod tests;
