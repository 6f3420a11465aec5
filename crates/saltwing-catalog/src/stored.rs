//! Implements [`CatalogStore`](crate::CatalogStore) for the stored catalog.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{Grants, SequenceDef, TableId, Value};

use crate::boot::Catalog;
use crate::{Applied, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError};

impl CatalogStore for Catalog {
    fn version(&self) -> u64 {
        self.current_version()
    }

    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError> {
        Ok(self.definitions())
    }

    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError> {
        match change {
            CatalogChange::CreateTable { def, temporary: true, .. } => {
                return Err(CatalogError::NoSession(def.name.to_string()).into());
            }
            CatalogChange::CreateTable { def, sequences, temporary: false } => self.create_table(def, sequences)?,
            CatalogChange::AlterTable { old, new } => self.alter_table(&old, new)?,
            CatalogChange::TruncateTables(names) => return self.truncate_tables(names),
            CatalogChange::DropTables(list) => return self.drop_tables(&list),
            CatalogChange::ReplaceTable { old, by } => self.replace_table(&old, &by)?,
            CatalogChange::CreateSequence { def, position } => self.create_sequence(def, position)?,
            CatalogChange::AlterSequence { old, new, position } => self.alter_sequence(&old, &new, position)?,
            CatalogChange::DropSequences(list) => self.drop_sequences(&list)?,
            CatalogChange::CreateView { def, replaces, version } => self.create_view(def, replaces, version)?,
            CatalogChange::AlterView { def, version } => self.alter_view(def, version)?,
            CatalogChange::DropViews(list) => self.drop_views(&list)?,
            CatalogChange::CreateSchema(name) => self.create_schema(name)?,
            CatalogChange::RestoreSchema(name) => self.restore_schema(name)?,
            CatalogChange::DropSchemas(list) => self.drop_schemas(&list)?,
            CatalogChange::CreateUser { def, secret } => self.create_user(def, secret)?,
            CatalogChange::AlterUser { name, verifier } => self.alter_user(name, verifier)?,
            CatalogChange::DropUser(name) => self.drop_user(name)?,
            CatalogChange::Grant(list) => self.change_grants(&list, Grants::grant)?,
            CatalogChange::Revoke(list) => {
                self.change_grants(&list, |grants, object, privileges| grants.revoke(&object, privileges))?;
            }
            CatalogChange::RegisterArrow(table) => self.register_arrow(table)?,
            CatalogChange::UnregisterArrow(name) => self.unregister_arrow(name)?,
        }
        Ok(Applied::default())
    }

    fn next_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError> {
        self.take_values(def, count, rows)
    }

    fn next_value_of(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError> {
        self.peek_value(def)
    }

    fn return_sequence_values(&self) -> Result<(), CatalogError> {
        self.give_back_values()
    }

    fn lease_ids(&self, count: usize) -> Result<Vec<TableId>, CatalogError> {
        self.put_leased(count)
    }

    fn release_ids(&self, ids: &[TableId]) {
        self.leased.lock().retain(|leased| !ids.contains(leased));
    }

    fn purge(&self, id: TableId) -> Result<(), CatalogError> {
        self.purge_rows(id)
    }

    fn finish_drops(&self) -> Result<(), CatalogError> {
        self.purge_dropped()
    }

    fn index_progress(&self, entries: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        self.read_index_progress(entries)
    }

    fn index_progress_row(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        Some(self.progress_row(entries, last))
    }
}
