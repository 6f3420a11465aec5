//! DROP and TRUNCATE of a list of objects. All names are resolved and checked first, and the whole list is one change of the
//! catalog: after an error, no object is changed.

use std::sync::Arc;

use saltwing_access::{Durability, Table, TableError, WriteBatch};
use saltwing_types::{IndexState, SequenceDef, TableDef, TableId, TableName, Value, ViewDef};

use crate::boot::{Catalog, set_version};
use crate::change::{Applied, ChangeError, Dependents, DropList, GivenName, Listed, at};
use crate::definitions::{Definitions, key, optional};
use crate::{CatalogError, CatalogReader};

impl Catalog {
    pub(crate) fn drop_tables(&self, list: &DropList<'_>) -> Result<Applied, ChangeError> {
        let _one_by_one = self.changing.lock();
        let definitions = self.definitions();
        let found = list.found(|schema, name| definitions.resolve(schema, name), |table| &table.def().name)?;
        if !found.is_empty() {
            self.drop_definitions(&found, list.dependents)?;
        }
        Ok(self.delete_rows(&found))
    }

    /// Drops a table, and gives its name to another one.
    pub(crate) fn replace_table(&self, old: &TableDef, by: &TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let definitions = self.definitions();
        for known in [old, by] {
            let table = definitions.resolve(known.name.schema.as_deref(), &known.name.name)?;
            if **table.def() != *known {
                return Err(CatalogError::Changed(format!("table {}", known.name)));
            }
        }
        let mut new = TableDef { name: old.name.clone(), ..by.clone() };
        set_version(by, &mut new);
        definitions.check_columns_kept(old, &new)?;
        let table = Table::new(Arc::new(new))?;
        let mut view = Definitions::clone(&definitions);
        let mut writes = self.store.batch();
        writes.delete(&self.own.tables, self.table_key(&by.name)?)?;
        self.put_definition(&mut *writes, table.def())?;
        self.delete_sequences(&mut view, &mut *writes, old.own_sequences())?;
        old.stored_ids().try_for_each(|id| self.put_dropped(&mut *writes, id))?;
        view.tables.remove(&key(by.name.schema.as_deref(), &by.name.name));
        self.end_grants(&mut view, &mut *writes)?;
        writes.reclaims_space();
        writes.commit(Durability::Synced)?;
        let Definitions { sequences, users, .. } = view;
        self.redefine([(by, table)], |view| (view.sequences, view.users) = (sequences, users));
        self.purge_entries(old.stored_ids());
        Ok(())
    }

    pub(crate) fn truncate_tables(&self, names: &[GivenName<'_>]) -> Result<Applied, ChangeError> {
        let _one_by_one = self.changing.lock();
        let definitions = self.definitions();
        let list = DropList { names, if_exists: false, dependents: Dependents::Refuse };
        let found = list.found(|schema, name| definitions.resolve(schema, name), |table| &table.def().name)?;
        let (mut writes, mut new) = (self.store.batch(), self.new_ids()?);
        let count = found.iter().flat_map(|(_, table)| table.def().stored_ids()).count();
        let mut ids = new.tables(count)?.into_iter();
        self.put_ids(&mut *writes, new)?;
        let mut emptied = Vec::with_capacity(found.len());
        for (_, old) in &found {
            let table = emptied_table(old.def(), &mut ids)?;
            self.put_definition(&mut *writes, table.def())?;
            old.def().stored_ids().try_for_each(|id| self.put_dropped(&mut *writes, id))?;
            emptied.push(table);
        }
        writes.reclaims_space();
        writes.commit(Durability::Synced)?;
        self.redefine(found.iter().map(|(_, old)| &**old.def()).zip(emptied), |_| {});
        Ok(self.delete_rows(&found))
    }

    /// Deletes the rows of dropped or emptied tables.
    fn delete_rows(&self, tables: &[Listed<Table>]) -> Applied {
        let is_left = |(_, table): &&Listed<Table>| table.def().stored_ids().any(|id| self.purge_rows(id).is_err());
        Applied { left: tables.iter().filter(is_left).map(|(place, _)| *place).collect() }
    }

    /// Drops tables in one commit, with the sequences of their identity columns. The caller must hold the lock of changes, and
    /// delete the rows.
    pub(crate) fn drop_definitions(&self, tables: &[Listed<Table>], views: Dependents) -> Result<(), ChangeError> {
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
        self.end_grants(&mut view, &mut *writes)?;
        writes.reclaims_space();
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }

    /// Drops views, which may use each other.
    pub(crate) fn drop_views(&self, list: &DropList<'_>) -> Result<(), ChangeError> {
        self.drop_listed(
            list,
            Definitions::existing_view,
            |view| &view.name,
            |view, writes, found| {
                for (_, def) in found {
                    self.delete_view(view, writes, &def.name)?;
                }
                // The views of the list are already removed from `view`.
                for (place, def) in found {
                    self.drop_dependents(view, writes, &def.name, list.dependents).map_err(at(*place))?;
                }
                Ok(())
            },
        )
    }

    pub(crate) fn drop_sequences(&self, list: &DropList<'_>) -> Result<(), ChangeError> {
        self.drop_listed(
            list,
            Definitions::sequence,
            |sequence: &SequenceDef| &sequence.name,
            |view, writes, found| Ok(self.delete_sequences(view, writes, found.iter().map(|(_, def)| &def.name))?),
        )
    }

    /// Drops empty schemas; the names in the list are without a schema part.
    pub(crate) fn drop_schemas(&self, list: &DropList<'_>) -> Result<(), ChangeError> {
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

    /// Removes the objects of a list from the catalog by `delete`, in one commit.
    fn drop_listed<T>(
        &self,
        list: &DropList<'_>,
        find: impl Fn(&Definitions, Option<&str>, &str) -> Result<Arc<T>, CatalogError>,
        name_of: impl Fn(&T) -> &TableName,
        delete: impl FnOnce(&mut Definitions, &mut dyn WriteBatch, &[Listed<T>]) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        let found = list.found(|schema, name| find(&view, schema, name), name_of)?;
        if found.is_empty() {
            return Ok(());
        }
        let mut writes = self.store.batch();
        delete(&mut view, &mut *writes, &found)?;
        self.end_grants(&mut view, &mut *writes)?;
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }
}

/// The same table without rows, under new ids.
pub(crate) fn emptied_table(old: &TableDef, ids: &mut impl Iterator<Item = TableId>) -> Result<Table, CatalogError> {
    let mut def = TableDef::clone(old);
    // Without rows, each index is complete.
    for index in &mut def.indexes {
        index.rebuild = None;
        if index.state == IndexState::Building {
            index.state = IndexState::Ready;
        }
    }
    def.stored_ids_mut().zip(ids).for_each(|(id, next)| *id = next);
    Ok(Table::new(Arc::new(def))?)
}

impl Definitions {
    /// # Errors
    /// [`CatalogError::IsTable`], [`CatalogError::NoSuchView`].
    pub(crate) fn existing_view(&self, schema: Option<&str>, name: &str) -> Result<Arc<ViewDef>, CatalogError> {
        if let Some(def) = self.view(schema, name)? {
            return Ok(def);
        }
        if let Some(table) = optional(self.resolve(schema, name))? {
            return Err(CatalogError::IsTable(table.def().name.to_string()));
        }
        let (name, nearest) = self.nearest(schema, name, self.views.values().map(|view| &view.name))?;
        Err(CatalogError::NoSuchView { name, nearest })
    }

    /// The spelling of an empty schema.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::SchemaNotEmpty`], [`CatalogError::DefaultSchema`].
    fn empty_schema(&self, name: &str) -> Result<Arc<TableName>, CatalogError> {
        let lower = name.to_lowercase();
        let Some(spelt) = self.schemas.get(&lower) else {
            return Err(match self.canonical(name).is_empty() {
                true => CatalogError::DefaultSchema(name.into()),
                false => CatalogError::NoSuchSchema(name.into()),
            });
        };
        let is_in = |(schema, _): &&(String, String)| *schema == lower;
        let tables = self.tables.keys().filter(is_in).count();
        let sequences = self.sequences.keys().filter(is_in).count();
        let views = self.views.keys().filter(is_in).count();
        match tables + sequences + views {
            0 => Ok(Arc::new(TableName::bare(&spelt.name))),
            _ => Err(CatalogError::SchemaNotEmpty { name: spelt.name.clone(), tables, sequences, views }),
        }
    }
}
