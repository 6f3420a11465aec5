//! Functions beside those of our own language: DataFusion's by name, those that behave differently here, and aggregates.

pub(crate) mod aggregate;
pub(crate) mod at_time_zone;
pub(crate) mod bounded_function;
pub(crate) mod frame_without;
pub(crate) mod native;
pub(crate) mod neighbour;
pub(crate) mod registered;
mod result_size;
pub(crate) mod row_bytes;
pub(crate) mod table_functions;
