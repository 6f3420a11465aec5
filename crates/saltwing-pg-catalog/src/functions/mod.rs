//! The functions of the catalog, which rewritten queries call.
//!
//! They look objects up in the current definitions. A number that belongs to no object gives NULL.

mod comments;
mod objects;
mod plain;
mod registration;
mod rights;
mod shared;
mod sizes;
mod texts;

pub(crate) use self::registration::register;
pub(crate) use self::shared::Shared;
