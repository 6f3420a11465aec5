//! Changes of Phoenix's catalog: the rows that describe a table, and the calls of the catalog's server that write them.

mod added_columns;
mod call;
mod catalog_row;
mod catalog_value;
mod column_rows;
mod dropped_columns;
mod message;
mod new_table;
mod numbers;
mod reply;
mod type_code;

pub use added_columns::added_columns;
pub use call::{CatalogCall, dropped_table};
pub use catalog_row::{CatalogRow, RowChange};
pub use dropped_columns::dropped_columns;
pub use new_table::{NewTable, TableProperties, new_table};
pub use numbers::numbered_columns;
pub use reply::{CatalogReply, RefusedChange};
