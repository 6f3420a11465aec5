//! Registers Arrow tables of the program.

use std::sync::Arc;

use saltwing_types::TableName;

use crate::arrow_table::ArrowTable;
use crate::boot::Catalog;
use crate::definitions::{Definitions, key};
use crate::error::CatalogError;

impl Catalog {
    pub(crate) fn register_arrow(&self, table: ArrowTable) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        view.check_free(&TableName { schema: None, name: table.name.clone() })?;
        view.arrow_tables.insert(table.name.to_lowercase(), Arc::new(table));
        self.publish(view);
        Ok(())
    }

    pub(crate) fn unregister_arrow(&self, name: &str) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        if view.arrow_tables.remove(&key(None, name).1).is_none() {
            return Err(CatalogError::NoSuchTable { name: name.to_owned(), nearest: None });
        }
        self.publish(view);
        Ok(())
    }
}
