//! Calls of the catalog's server that change it.

use prost::Message;

use super::catalog_row::{CatalogRow, RowChange, TableKeys};
use super::message::{AddColumnRequest, CreateTableRequest, DropColumnRequest, DropTableRequest};
use crate::definition::CLIENT_VERSION;
use crate::{PhoenixError, TableDefinition, TableKind};

/// A call of `MetaDataService`, sent to the region of `SYSTEM.CATALOG` that has a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogCall {
    /// The method.
    pub method: &'static str,
    /// The row.
    pub row: Vec<u8>,
    /// The message to send.
    pub request: Vec<u8>,
}

/// The call that drops a table or a view, with the views over it if `cascade` says so. The server answers with the HBase tables that are of no use then.
///
/// # Errors
/// [`PhoenixError::Key`].
pub fn dropped_table(table: &TableDefinition, cascade: bool) -> Result<CatalogCall, PhoenixError> {
    let row = TableKeys::of(table)?.header()?;
    let deleted = CatalogRow { key: row.clone(), change: RowChange::Delete };
    let kind = if matches!(table.kind, TableKind::View(_)) { "v" } else { "u" };
    let request = DropTableRequest {
        mutations: vec![deleted.to_bytes()],
        table_type: kind.to_owned(),
        cascade: Some(cascade),
        client_version: Some(CLIENT_VERSION),
    };
    Ok(CatalogCall { method: "dropTable", row, request: request.encode_to_vec() })
}

fn messages(rows: &[CatalogRow]) -> Vec<Vec<u8>> {
    rows.iter().map(CatalogRow::to_bytes).collect()
}

impl CatalogCall {
    pub(super) fn create_table(row: Vec<u8>, rows: &[CatalogRow]) -> Self {
        let request = CreateTableRequest { mutations: messages(rows), client_version: Some(CLIENT_VERSION) };
        Self { method: "createTable", row, request: request.encode_to_vec() }
    }

    pub(super) fn add_columns(row: Vec<u8>, rows: &[CatalogRow]) -> Self {
        let (mutations, client_version) = (messages(rows), Some(CLIENT_VERSION));
        let request = AddColumnRequest { mutations, client_version, adding_columns: Some(true) };
        Self { method: "addColumn", row, request: request.encode_to_vec() }
    }

    pub(super) fn drop_columns(row: Vec<u8>, rows: &[CatalogRow]) -> Self {
        let request = DropColumnRequest { mutations: messages(rows), client_version: Some(CLIENT_VERSION) };
        Self { method: "dropColumn", row, request: request.encode_to_vec() }
    }
}
