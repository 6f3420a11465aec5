//! The progress of index builds.
//!
//! A build commits the entries of some rows together with the key of the last of these rows, so that an interrupted build continues
//! there. The key is a setting of the catalog, by the id of the entries, until the build has ended or the index is dropped.

use std::sync::Arc;

use saltwing_access::{Table, TableError, WriteBatch};
use saltwing_types::{IndexDef, IndexState, TableDef, TableId, Value, text};

use crate::CatalogError;
use crate::boot::Catalog;

fn setting_name(index: TableId) -> String {
    format!("index_build.{}", index.0)
}

impl Catalog {
    pub(crate) fn read_index_progress(&self, index: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        let Some(hex) = self.setting(&setting_name(index))? else { return Ok(None) };
        let key = text::unhex(&hex);
        key.map(Some).ok_or_else(|| CatalogError::Corrupt(format!("the build of index {} stopped at '{hex}'", index.0)))
    }

    pub(crate) fn progress_row(&self, index: TableId, last: &[u8]) -> (Arc<Table>, Vec<Value>) {
        let row = vec![Value::Text(setting_name(index)), Value::Text(text::hex(last))];
        (self.own.settings.clone(), row)
    }

    pub(crate) fn delete_index_progress(
        &self,
        writes: &mut dyn WriteBatch,
        index: TableId,
    ) -> Result<(), CatalogError> {
        let settings = &self.own.settings;
        let key = settings.codec().encode(&[Value::Text(setting_name(index))]).map_err(TableError::from)?;
        Ok(writes.delete(settings, &key)?)
    }

    /// Deletes the progress of builds that the new definition of their table ends.
    pub(crate) fn end_builds(
        &self,
        writes: &mut dyn WriteBatch,
        old: &TableDef,
        def: &TableDef,
    ) -> Result<(), CatalogError> {
        let goes_on: Vec<TableId> = built_ids(def).collect();
        let mut over = built_ids(old).filter(|id| !goes_on.contains(id));
        over.try_for_each(|id| self.delete_index_progress(writes, id))
    }
}

/// The ids of the incomplete entries of a table's indexes.
fn built_ids(def: &TableDef) -> impl Iterator<Item = TableId> {
    let of_index = |index: &IndexDef| {
        let new = (index.state == IndexState::Building).then_some(index.id);
        [new, index.rebuild.map(|rebuild| rebuild.id)].into_iter().flatten()
    };
    def.indexes.iter().flat_map(of_index)
}
