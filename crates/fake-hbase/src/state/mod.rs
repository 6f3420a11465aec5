//! The cluster's state: what its servers know and keep.

mod catalog;
mod clock;
mod cluster_state;
mod faults;
mod procedure;
mod region;
mod server;
mod table;

pub(crate) use catalog::{
    forget_region, write_daughters, write_location, write_merged, write_region, write_table_state,
};
pub(crate) use cluster_state::State;
pub(crate) use faults::Armed;
pub(crate) use procedure::{Procedure, Work};
pub(crate) use region::{Region, Status};
pub(crate) use server::{OpenScanner, Server};
pub(crate) use table::Table;
