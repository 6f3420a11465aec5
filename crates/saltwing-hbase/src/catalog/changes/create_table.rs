//! CREATE TABLE: the HBase table first, then the rows of the catalog that make it Phoenix's. What an interruption between them leaves is an empty HBase table, which
//! the statement takes when it is repeated.

use hbase_client::TableName as PhysicalName;
use saltwing_catalog::{Applied, CatalogError, ChangeError};
use saltwing_phoenix::{CATALOG_TABLE_IN_NAMESPACE, CatalogReply, RefusedChange, TableDefinition, new_table};
use saltwing_types::table::SPLIT_KEYS;
use saltwing_types::text::unhex;
use saltwing_types::{SequenceDef, TableDef, Value};

use super::super::definitions::Definitions;
use super::catalog_server::{refused, send};
use super::folded_name::name_of;
use super::hbase_tables::{create, descriptor};
use super::left_tables::LeftTables;
use super::new_definition::{NewDefinition, new_definition};
use super::refusal::not_defined;
use crate::cluster::Place;

impl Definitions {
    /// Creates a table.
    pub(in super::super) fn create_table(
        &self,
        def: &TableDef,
        sequences: &[SequenceDef],
        left: &LeftTables,
    ) -> Result<Applied, ChangeError> {
        let object = def.name.to_string();
        if let Some(sequence) = sequences.first() {
            return Err(not_defined(&object, format!("it needs a sequence of its own, {}", sequence.name)));
        }
        let namespace_mapped = self.catalog.name().as_str() == CATALOG_TABLE_IN_NAMESPACE;
        let new = new_definition(def, namespace_mapped).map_err(|reason| not_defined(&object, reason))?;
        self.check_free(def, &new.definition)?;
        let NewDefinition { definition, properties, options } = new;
        let made = new_table(&definition, &properties).map_err(|error| not_defined(&object, error.to_string()))?;
        let splits = splits(def).map_err(|reason| not_defined(&object, reason))?;
        let physical: PhysicalName = definition
            .physical_name
            .parse()
            .map_err(|error: hbase_client::Error| not_defined(&object, error.to_string()))?;
        left.finish_of(self, &physical).map_err(CatalogError::from)?;
        let (cluster, descriptor) = (self.cluster.clone(), descriptor(&physical, &definition, &options));
        let place = Place::Table(&self.catalog);
        let created =
            self.cluster.call(place, |context| async move { create(&cluster, &descriptor, &splits, &context).await });
        created.map_err(CatalogError::from)?;
        match send(self, &object, &made.call, CatalogReply::to_creation)? {
            CatalogReply::Made { .. } => {
                self.forget(&name_of(&definition));
                Ok(Applied::default())
            }
            // The HBase table is the other one's, too.
            CatalogReply::Refused(RefusedChange::Exists) => {
                let existing = Some(definition.full_name()).filter(|name| *name != object);
                Err(CatalogError::DuplicateTable { name: object, existing }.into())
            }
            CatalogReply::Refused(reason) => Err(refused(&object, reason)),
        }
    }

    /// # Errors
    /// [`CatalogError::DuplicateTable`] if a table, a view or an index has the name, in any case.
    fn check_free(&self, def: &TableDef, new: &TableDefinition) -> Result<(), ChangeError> {
        self.forget_listing();
        let listing = self.listing()?;
        // The server knows a table whose row is not read yet.
        let is_there = self.newest(&name_of(new)).map_err(CatalogError::from)?.is_some().then(|| name_of(new));
        let listed = listing.named(new.schema.as_deref(), &new.name).first().map(|found| found.name.clone());
        let Some(found) = listed.or(is_there) else { return Ok(()) };
        let (name, found) = (def.name.to_string(), found.to_string());
        Err(CatalogError::DuplicateTable { existing: Some(found).filter(|found| *found != name), name }.into())
    }
}

/// The keys at which the regions of a new table begin: those of SPLIT ON, or one for each bucket but the first.
fn splits(def: &TableDef) -> Result<Vec<Vec<u8>>, String> {
    if let Some(salt) = def.key.salt {
        return Ok((1..salt.buckets)
            .map_while(|bucket| u8::try_from(bucket).ok())
            .map(|bucket| vec![bucket])
            .collect());
    }
    let keys = def.option(SPLIT_KEYS).and_then(Value::as_text).unwrap_or_default();
    let keys = keys.split(',').filter(|key| !key.is_empty());
    keys.map(|key| unhex(key).ok_or_else(|| format!("split key {key}"))).collect()
}
