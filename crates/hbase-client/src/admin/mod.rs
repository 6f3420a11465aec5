//! The calls of the master.

mod descriptor;
mod master;
mod procedures;
mod regions;
mod tables;

pub use descriptor::{Family, TableDescriptor};
pub use master::Admin;
pub use procedures::Procedure;
