//! The call of the catalog's server that gives a definition, as bytes.

use prost::Message;

use super::error::DefinitionError;
use super::message::{GetTableRequest, MetaDataResponse, MutationCode};
use super::table::TableDefinition;

/// 5.2.0 in the form of Phoenix: this is also what clients of 5.2.1 say.
pub(crate) const CLIENT_VERSION: i32 = 5 << 16 | 2 << 8;

/// Asks for a table: `getTable` of `MetaDataService`, sent to the region of `SYSTEM.CATALOG` that has
/// [`TableRequest::catalog_row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRequest<'a> {
    /// The tenant; empty for none.
    pub tenant: &'a str,
    /// The schema; empty for none.
    pub schema: &'a str,
    /// The name.
    pub name: &'a str,
    /// The time of the definition that is known, 0 for none. If it is the newest, the reply has no table.
    pub known_timestamp: i64,
}

/// What the server says of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableReply {
    /// The newest definition.
    Table(Box<TableDefinition>),
    /// The definition that is known is the newest.
    Unchanged,
    /// There is no such table.
    NotFound,
}

impl TableRequest<'_> {
    /// The row of the catalog with the table's header.
    pub fn catalog_row(&self) -> Vec<u8> {
        [self.tenant, self.schema, self.name].join("\0").into_bytes()
    }

    /// The message to send.
    pub fn to_bytes(&self) -> Vec<u8> {
        let request = GetTableRequest {
            tenant: self.tenant.into(),
            schema: self.schema.into(),
            name: self.name.into(),
            table_timestamp: self.known_timestamp,
            client_timestamp: i64::MAX,
            client_version: Some(CLIENT_VERSION),
        };
        request.encode_to_vec()
    }

    /// The definition in the reply to this request, as bytes: other requests give it back to the server. `None` if it has none.
    ///
    /// # Errors
    /// [`DefinitionError::Message`].
    pub fn definition_bytes(reply: &[u8]) -> Result<Option<Vec<u8>>, DefinitionError> {
        Ok(MetaDataResponse::decode(reply).map_err(DefinitionError::damaged)?.table)
    }

    /// Reads the reply to this request.
    ///
    /// # Errors
    /// [`DefinitionError`] for damaged bytes, and for a table that is not understood.
    pub fn read_reply(&self, bytes: &[u8]) -> Result<TableReply, DefinitionError> {
        let reply = MetaDataResponse::decode(bytes).map_err(DefinitionError::damaged)?;
        let code = reply.code.map(MutationCode::try_from);
        match (code, reply.table) {
            (Some(Ok(MutationCode::Exists)), Some(table)) => {
                TableDefinition::from_bytes(&table).map(|table| TableReply::Table(Box::new(table)))
            }
            (Some(Ok(MutationCode::Exists)), None) => Ok(TableReply::Unchanged),
            (Some(Ok(MutationCode::NotFound)), _) => Ok(TableReply::NotFound),
            (Some(Ok(MutationCode::NotInRegion)), _) => {
                Err(DefinitionError::WrongRegion { table: self.name.to_owned() })
            }
            (Some(Err(_)) | None, _) => Err(DefinitionError::Message(match reply.code {
                Some(code) => format!("it has code {code}"),
                None => "it has no code".into(),
            })),
        }
    }
}
