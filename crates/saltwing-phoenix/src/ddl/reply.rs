//! What the catalog's server answers to a change.

use prost::Message;

use super::message::ChangeResponse;
use crate::DefinitionError;

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogReply {
    /// It is made. HBase tables that are of no use any more are to be deleted.
    Made {
        /// Their names.
        to_delete: Vec<String>,
    },
    /// It is not made.
    Refused(RefusedChange),
}

/// Why a change is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedChange {
    /// There is a table, a view or an index of this name.
    Exists,
    /// There is no table of this name.
    NotFound,
    /// Another client has changed the table meanwhile.
    Changed,
    /// There is such a column.
    ColumnExists,
    /// There is no such column.
    ColumnNotFound,
    /// Views or indexes need it as it is.
    Used,
    /// The region that was asked has not the table's row: it is to be looked up again.
    WrongRegion,
    /// Another reason: the number of its code.
    Other(i32),
}

impl CatalogReply {
    /// Reads the reply to `createTable`: the server says that there was no such table.
    ///
    /// # Errors
    /// [`DefinitionError::Message`].
    pub fn to_creation(bytes: &[u8]) -> Result<Self, DefinitionError> {
        let reply = ChangeResponse::decode(bytes).map_err(|error| DefinitionError::Message(error.to_string()))?;
        match reply.code {
            Some(1) => Ok(Self::Made { to_delete: Vec::new() }),
            Some(0) => Ok(Self::Refused(RefusedChange::Exists)),
            code => refused(code),
        }
    }

    /// Reads the reply to a change of a table that is there: the server says that there was one.
    ///
    /// # Errors
    /// [`DefinitionError::Message`].
    pub fn to_change(bytes: &[u8]) -> Result<Self, DefinitionError> {
        let reply = ChangeResponse::decode(bytes).map_err(|error| DefinitionError::Message(error.to_string()))?;
        let name = |bytes: Vec<u8>| {
            String::from_utf8(bytes).map_err(|_| DefinitionError::Message("a name that is not UTF-8".to_owned()))
        };
        match reply.code {
            Some(0) => {
                let to_delete = reply.tables_to_delete.into_iter().map(name).collect::<Result<_, _>>()?;
                Ok(Self::Made { to_delete })
            }
            Some(1) => Ok(Self::Refused(RefusedChange::NotFound)),
            code => refused(code),
        }
    }
}

fn refused(code: Option<i32>) -> Result<CatalogReply, DefinitionError> {
    let code = code.ok_or_else(|| DefinitionError::Message("it has no code".to_owned()))?;
    Ok(CatalogReply::Refused(match code {
        2 => RefusedChange::ColumnNotFound,
        3 => RefusedChange::ColumnExists,
        4 => RefusedChange::Changed,
        5 => RefusedChange::WrongRegion,
        6 => RefusedChange::Exists,
        7 => RefusedChange::Used,
        other => RefusedChange::Other(other),
    }))
}
