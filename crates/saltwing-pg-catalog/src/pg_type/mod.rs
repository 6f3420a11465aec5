//! The types of PostgreSQL that the catalog knows, by their numbers, and the types of Saltwing's columns as such.
//!
//! Every client knows the numbers of built-in types by heart, so they are PostgreSQL's own.

mod built_in;
mod column_type;
mod names;
mod number;
mod storage;
mod type_text;

pub(crate) use self::built_in::{BUILT_IN, BuiltIn};
pub(crate) use self::column_type::of_column;
pub(crate) use self::number::PgType;
pub(crate) use self::storage::Storage;
pub(crate) use self::type_text::format_type;
