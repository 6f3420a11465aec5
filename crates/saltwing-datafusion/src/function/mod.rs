//! Functions beside those of our own language: DataFusion's by name, those that behave differently here, and aggregates.

pub(crate) mod aggregate;
pub(crate) mod bounded_function;
pub(crate) mod function_names;
pub(crate) mod native;
mod result_size;
