//! HBase tables of dropped tables that could not be deleted yet. They are known as long as the catalog is open.

use hbase_client::TableName as PhysicalName;
use parking_lot::Mutex;
use saltwing_access::TableError;

use super::super::definitions::Definitions;
use super::hbase_tables::delete;
use crate::cluster::Place;

/// The HBase tables of dropped tables that could not be deleted yet.
#[derive(Default)]
pub(in super::super) struct LeftTables(Mutex<Vec<PhysicalName>>);

impl LeftTables {
    /// Deletes all of them.
    ///
    /// # Errors
    /// Errors of calls: then the next call deletes those that are left.
    pub(in super::super) fn finish(&self, definitions: &Definitions) -> Result<(), TableError> {
        let names = self.0.lock().clone();
        names.iter().try_for_each(|name| self.finish_of(definitions, name))
    }

    /// Deletes one, if it is among them.
    pub(super) fn finish_of(&self, definitions: &Definitions, name: &PhysicalName) -> Result<(), TableError> {
        if !self.0.lock().contains(name) {
            return Ok(());
        }
        let (cluster, of_call) = (definitions.cluster.clone(), name.clone());
        let place = Place::Table(&definitions.catalog);
        definitions.cluster.call(place, |context| async move { delete(&cluster, &of_call, &context).await })?;
        self.0.lock().retain(|left| left != name);
        Ok(())
    }

    pub(super) fn add(&self, name: PhysicalName) {
        self.0.lock().push(name);
    }
}
