//! DROP and TRUNCATE of a list of objects. All names are resolved and checked first, and the whole list is one change of the
//! catalog: an error leaves all of them as they are.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::{Durability, Table, TableError, WriteBatch};
use saltwing_types::{SequenceDef, TableDef, TableName, Value, ViewDef};

use crate::boot::Catalog;
use crate::definitions::{Definitions, Dependents, key};
use crate::{CatalogError, CatalogReader};

/// The schema, if it is said, and the name of an object.
pub type GivenName<'n> = (Option<&'n str>, &'n str);

/// The objects that a statement drops.
#[derive(Clone, Copy, Debug)]
pub struct DropList<'n> {
    /// Their names; one may stand there twice.
    pub names: &'n [GivenName<'n>],
    /// Whether the names of nothing are left out.
    pub if_exists: bool,
    /// What becomes of the views that use them.
    pub dependents: Dependents,
}

/// Why no object of a list was dropped or emptied.
#[derive(Debug)]
pub struct ListError {
    /// The reason.
    pub error: CatalogError,
    /// Which name of the list it is about, from 0, if it is about one.
    pub place: Option<usize>,
}

impl From<CatalogError> for ListError {
    fn from(error: CatalogError) -> Self {
        Self { error, place: None }
    }
}

impl From<TableError> for ListError {
    fn from(error: TableError) -> Self {
        CatalogError::from(error).into()
    }
}

/// Adds the place in the list to an error.
fn at(place: usize) -> impl Fn(CatalogError) -> ListError {
    move |error| ListError { error, place: Some(place) }
}

/// An object, and the place of its name in the list.
pub(crate) type Listed<T> = (usize, Arc<T>);

impl DropList<'_> {
    /// The objects of the list, each once.
    pub(crate) fn found<T>(
        &self,
        find: impl Fn(Option<&str>, &str) -> Result<Arc<T>, CatalogError>,
        name_of: impl Fn(&T) -> &TableName,
    ) -> Result<Vec<Listed<T>>, ListError> {
        let (mut found, mut known) = (Vec::new(), BTreeSet::new());
        for (place, (schema, name)) in self.names.iter().enumerate() {
            match find(*schema, name) {
                Err(error) if self.if_exists && is_missing(&error) => {}
                object => {
                    let object = object.map_err(at(place))?;
                    let name = name_of(&object);
                    if known.insert(key(name.schema.as_deref(), &name.name)) {
                        found.push((place, object));
                    }
                }
            }
        }
        Ok(found)
    }
}

fn is_missing(error: &CatalogError) -> bool {
    matches!(
        error,
        CatalogError::NoSuchTable { .. }
            | CatalogError::NoSuchView { .. }
            | CatalogError::NoSuchSequence { .. }
            | CatalogError::NoSuchSchema(_)
    )
}

impl Catalog {
    /// Drops a table, then deletes its rows. Returns whether the space was freed. The drop stands even if that failed;
    /// [`Catalog::finish_drops`] then frees the space.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::Used`]; the store's: then the table is there, unless nobody knows whether
    /// the store has the change ([`saltwing_types::ErrorCode::CommitUnknown`]).
    pub fn drop_table(&self, schema: Option<&str>, name: &str, views: Dependents) -> Result<bool, CatalogError> {
        let _one_by_one = self.changing.lock();
        let table = self.definitions().resolve(schema, name)?;
        self.drop_definitions(&[(0, table.clone())], views).map_err(|listed| listed.error)?;
        Ok(table.def().stored_ids().all(|id| self.purge(id).is_ok()))
    }

    /// Drops tables in one commit, with the sequences that are theirs alone. The caller changes the catalog alone, and
    /// deletes the rows.
    pub(crate) fn drop_definitions(&self, tables: &[Listed<Table>], views: Dependents) -> Result<(), ListError> {
        let mut view = Definitions::clone(&self.definitions());
        let mut writes = self.store.batch();
        for (place, table) in tables {
            let def: &TableDef = table.def();
            writes.delete(&self.own.tables, self.table_key(&def.name)?)?;
            self.drop_dependents(&mut view, &mut *writes, &def.name, views).map_err(at(*place))?;
            self.delete_sequences(&mut view, &mut *writes, def.own_sequences())?;
            def.stored_ids().try_for_each(|id| self.put_dropped(&mut *writes, id))?;
            view.tables.remove(&key(def.name.schema.as_deref(), &def.name.name));
        }
        writes.free_space();
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }

    /// Drops views, which may use each other.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchView`], [`CatalogError::IsTable`], [`CatalogError::Used`]; the store's.
    pub fn drop_views(&self, list: &DropList<'_>) -> Result<(), ListError> {
        self.drop_listed(
            list,
            Definitions::existing_view,
            |view| &view.name,
            |view, writes, found| {
                for (_, def) in found {
                    self.delete_view(view, writes, &def.name)?;
                }
                // Those of the list are no longer among them.
                for (place, def) in found {
                    self.drop_dependents(view, writes, &def.name, list.dependents).map_err(at(*place))?;
                }
                Ok(())
            },
        )
    }

    /// Drops sequences.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSequence`]; the store's.
    pub fn drop_sequences(&self, list: &DropList<'_>) -> Result<(), ListError> {
        self.drop_listed(
            list,
            Definitions::sequence,
            |sequence: &SequenceDef| &sequence.name,
            |view, writes, found| Ok(self.delete_sequences(view, writes, found.iter().map(|(_, def)| &def.name))?),
        )
    }

    /// Drops empty schemas: their names have no schema of their own.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::SchemaNotEmpty`]; the store's.
    pub fn drop_schemas(&self, list: &DropList<'_>) -> Result<(), ListError> {
        let find = |view: &Definitions, _: Option<&str>, name: &str| view.empty_schema(name);
        self.drop_listed(
            list,
            find,
            |name| name,
            |view, writes, found| {
                for (_, schema) in found {
                    let values = [Value::Text(schema.name.clone())];
                    let row_key = self.own.schemas.codec().encode(&values).map_err(TableError::from)?;
                    writes.delete(&self.own.schemas, row_key)?;
                    view.schemas.remove(&schema.name.to_lowercase());
                }
                Ok(())
            },
        )
    }

    /// Takes the objects of a list out of the catalog, as `delete` does it, in one commit.
    fn drop_listed<T>(
        &self,
        list: &DropList<'_>,
        find: impl Fn(&Definitions, Option<&str>, &str) -> Result<Arc<T>, CatalogError>,
        name_of: impl Fn(&T) -> &TableName,
        delete: impl FnOnce(&mut Definitions, &mut dyn WriteBatch, &[Listed<T>]) -> Result<(), ListError>,
    ) -> Result<(), ListError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        let found = list.found(|schema, name| find(&view, schema, name), name_of)?;
        if found.is_empty() {
            return Ok(());
        }
        let mut writes = self.store.batch();
        delete(&mut view, &mut *writes, &found)?;
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }
}

impl Definitions {
    /// # Errors
    /// [`CatalogError::IsTable`], [`CatalogError::NoSuchView`].
    pub(crate) fn existing_view(&self, schema: Option<&str>, name: &str) -> Result<Arc<ViewDef>, CatalogError> {
        if let Some(def) = self.view(schema, name) {
            return Ok(def);
        }
        if let Ok(table) = self.resolve(schema, name) {
            return Err(CatalogError::IsTable(table.def().name.to_string()));
        }
        let (name, nearest) = self.nearest(schema, name, self.views.values().map(|view| &view.name))?;
        Err(CatalogError::NoSuchView { name, nearest })
    }

    /// The spelling of a schema in which nothing is.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::SchemaNotEmpty`].
    fn empty_schema(&self, name: &str) -> Result<Arc<TableName>, CatalogError> {
        let lower = name.to_lowercase();
        let Some(spelt) = self.schemas.get(&lower) else { return Err(CatalogError::NoSuchSchema(name.into())) };
        let is_in = |(schema, _): &&(String, String)| *schema == lower;
        let tables = self.tables.keys().filter(is_in).count();
        let sequences = self.sequences.keys().filter(is_in).count();
        let views = self.views.keys().filter(is_in).count();
        match tables + sequences + views {
            0 => Ok(Arc::new(TableName::bare(spelt))),
            _ => Err(CatalogError::SchemaNotEmpty { name: spelt.clone(), tables, sequences, views }),
        }
    }
}
