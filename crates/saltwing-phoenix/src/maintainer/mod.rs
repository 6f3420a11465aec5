//! What the region servers need to keep the indexes of a table: an attribute of each mutation of its rows.

mod attributes;
mod key_schema;
mod message;
mod writing;

pub use attributes::index_attributes;
