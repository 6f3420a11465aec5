//! All functions, made known to a database.

use saltwing::{Error, blocking};

use super::comments::comments;
use super::objects::objects;
use super::plain::plain;
use super::rights::rights;
use super::shared::Shared;
use super::sizes::sizes;
use super::texts::texts;

/// Makes all functions known to a database.
///
/// # Errors
/// The database's.
pub(crate) fn register(connection: &blocking::Connection, shared: &Shared) -> Result<(), Error> {
    objects(connection, shared)?;
    texts(connection, shared)?;
    comments(connection, shared)?;
    sizes(connection, shared)?;
    rights(connection, shared)?;
    plain(connection)
}
