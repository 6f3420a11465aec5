//! Definitions of tables, as the server of Phoenix's catalog answers.

mod column;
mod column_type;
mod error;
mod inheritance;
mod literal;
mod message;
mod reading;
mod request;
mod row_format;
mod table;
mod view_condition;

pub use column::ColumnDefinition;
pub use error::DefinitionError;
pub use literal::literal_value;
pub(crate) use request::CLIENT_VERSION;
pub use request::{TableReply, TableRequest};
pub use table::{
    IndexDefinition, IndexEntry, IndexKind, IndexState, TableDefinition, TableKind, ViewDefinition, ViewKind,
};
