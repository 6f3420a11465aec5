//! The tables that are open, by their numbers: the catalog opens them, and reads find out whether they have another definition by now.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use saltwing_access::{Table, TableError};
use saltwing_types::TableId;

/// The tables that are open.
#[derive(Debug, Default)]
pub(crate) struct OpenTables(RwLock<HashMap<TableId, Arc<Table>>>);

impl OpenTables {
    /// Opens a table, or puts its next definition in the place of the one before.
    pub(crate) fn open(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        self.0.write().insert(table.def().id, table.clone());
        table
    }

    /// Closes a table.
    pub(crate) fn close(&self, id: TableId) {
        self.0.write().remove(&id);
    }

    /// The newest definition of a table.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`].
    pub(crate) fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.0.read().get(&id).cloned().ok_or(TableError::NoSuchTable(id.0))
    }

    /// Checks that rows may be read by this definition of a table: that it is the newest one that is known.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub(crate) fn check(&self, table: &Table) -> Result<(), TableError> {
        match self.0.read().get(&table.def().id) {
            Some(newest) if newest.version() > table.version() => {
                Err(TableError::DefinitionChanged { table: table.def().name.to_string() })
            }
            _ => Ok(()),
        }
    }
}
