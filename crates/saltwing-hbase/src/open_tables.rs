//! The tables that are open, by their numbers: the catalog opens them, and reads find out whether they have another definition by now.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::RwLock;
use saltwing_access::{Table, TableError};
use saltwing_types::TableId;

/// Looks at the definition of a table again, and opens the newest one.
pub(crate) trait Refresh: Send + Sync {
    /// # Errors
    /// Errors of calls.
    fn refresh(&self, table: &Table) -> Result<(), TableError>;
}

/// The tables that are open.
#[derive(Default)]
pub(crate) struct OpenTables {
    tables: RwLock<HashMap<TableId, Arc<Table>>>,
    /// The catalog, which has these tables.
    catalog: OnceLock<Weak<dyn Refresh>>,
}

impl OpenTables {
    /// Tells which catalog has the tables; the first one counts.
    pub(crate) fn belong_to(&self, catalog: Weak<dyn Refresh>) {
        let _ = self.catalog.set(catalog);
    }

    /// As [`OpenTables::check`], by what the servers know now: an index that was made a moment ago must be kept by a write.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`], also of a table that is gone; errors of calls.
    pub(crate) fn check_newest(&self, table: &Table) -> Result<(), TableError> {
        if let Some(catalog) = self.catalog.get().and_then(Weak::upgrade) {
            catalog.refresh(table)?;
        }
        match self.table(table.def().id) {
            Ok(_) => self.check(table),
            Err(_) => Err(TableError::DefinitionChanged { table: table.def().name.to_string() }),
        }
    }

    /// Opens a table, or puts its next definition in the place of the one before.
    pub(crate) fn open(&self, table: Table) -> Arc<Table> {
        let table = Arc::new(table);
        self.tables.write().insert(table.def().id, table.clone());
        table
    }

    /// Closes a table.
    pub(crate) fn close(&self, id: TableId) {
        self.tables.write().remove(&id);
    }

    /// The newest definition of a table.
    ///
    /// # Errors
    /// [`TableError::NoSuchTable`].
    pub(crate) fn table(&self, id: TableId) -> Result<Arc<Table>, TableError> {
        self.tables.read().get(&id).cloned().ok_or(TableError::NoSuchTable(id.0))
    }

    /// Checks that rows may be read by this definition of a table: that it is the newest one that is known.
    ///
    /// # Errors
    /// [`TableError::DefinitionChanged`].
    pub(crate) fn check(&self, table: &Table) -> Result<(), TableError> {
        match self.tables.read().get(&table.def().id) {
            Some(newest) if newest.version() > table.version() => {
                Err(TableError::DefinitionChanged { table: table.def().name.to_string() })
            }
            _ => Ok(()),
        }
    }
}
