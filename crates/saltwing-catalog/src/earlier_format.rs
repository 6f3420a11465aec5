//! Numbers the schemas and views of catalogs of earlier formats, whose rows have no numbers.
//!
//! The numbers follow from the names and the next free id. So a catalog that is open for reading has in memory the same numbers that its
//! next opening for writing stores, unless an earlier version changes the catalog before.

use std::sync::Arc;

use saltwing_access::Durability;
use saltwing_types::{ObjectId, SchemaDef, ViewDef};

use crate::CatalogError;
use crate::boot::{CATALOG_FORMAT, Catalog, FORMAT_SETTING};
use crate::definitions::Definitions;
use crate::ids::NewIds;

impl Catalog {
    /// Upgrades a catalog to the newest format, if it can be written.
    pub(crate) fn bring_up_to_date(
        &self,
        view: &mut Definitions,
        format: Option<u32>,
        readonly: bool,
    ) -> Result<(), CatalogError> {
        let mut ids = self.new_ids()?;
        let numbered = view.number_objects(&mut ids)?;
        let is_new = format.is_none_or(|format| format < CATALOG_FORMAT);
        if readonly || !(is_new || numbered.is_any()) {
            return Ok(());
        }
        let mut writes = self.store.batch();
        numbered.schemas.iter().try_for_each(|schema| self.put_schema_row(&mut *writes, schema))?;
        numbered.views.iter().try_for_each(|view| self.put_view_row(&mut *writes, view))?;
        self.put_ids(&mut *writes, ids)?;
        self.put_setting(&mut *writes, FORMAT_SETTING, CATALOG_FORMAT.to_string())?;
        writes.commit(Durability::Synced)?;
        Ok(())
    }
}

/// The objects that had no number.
struct Numbered {
    schemas: Vec<Arc<SchemaDef>>,
    views: Vec<Arc<ViewDef>>,
}

impl Numbered {
    fn is_any(&self) -> bool {
        !self.schemas.is_empty() || !self.views.is_empty()
    }
}

impl Definitions {
    /// Numbers the objects that have no number, in the order of their names.
    fn number_objects(&mut self, ids: &mut NewIds) -> Result<Numbered, CatalogError> {
        let mut numbered = Numbered { schemas: Vec::new(), views: Vec::new() };
        for schema in self.schemas.values_mut().filter(|schema| schema.id == ObjectId::NEW) {
            *schema = Arc::new(SchemaDef { id: ids.object()?, ..SchemaDef::clone(schema) });
            numbered.schemas.push(schema.clone());
        }
        for view in self.views.values_mut().filter(|view| view.id == ObjectId::NEW) {
            *view = Arc::new(ViewDef { id: ids.object()?, ..ViewDef::clone(view) });
            numbered.views.push(view.clone());
        }
        Ok(numbered)
    }
}
