//! Changes of Phoenix's catalog, each with the change of the HBase table that belongs to it.

mod alter_table;
mod catalog_server;
mod create_table;
mod drop_tables;
mod family_options;
mod folded_name;
mod hbase_tables;
mod left_tables;
mod new_definition;
mod refusal;
mod table_difference;

pub(super) use left_tables::LeftTables;
