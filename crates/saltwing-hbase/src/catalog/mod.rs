//! Phoenix's catalog as Saltwing's: names by the rows of SYSTEM.CATALOG, a table's definition by a call of the server that has it.

mod calls;
mod changes;
mod default_value;
mod definitions;
mod known_tables;
mod listing;
mod phoenix_catalog;
mod reader;
mod table_of_definition;

pub(crate) use calls::find_catalog_table;
pub(crate) use phoenix_catalog::PhoenixCatalog;
