//! Views: their definitions, and the tables and views that they use.
//!
//! A view is stored with the names of the tables and views that it uses, so the catalog can refuse to drop these. Every change checks
//! them under the lock of all changes: no view can be added while its table is dropped.

use saltwing_access::{Durability, TableError, WriteBatch};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ObjectId, TableDef, TableName, Value, ViewColumn, ViewDef};

use crate::boot::Catalog;
use crate::change::Dependents;
use crate::definitions::{Definitions, key};
use crate::row::name_values;
use crate::{CatalogError, CatalogReader, record};

impl Catalog {
    pub(crate) fn create_view(&self, mut def: ViewDef, replaces: bool, version: u64) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let view = self.definitions();
        check_version(&view, &def.name, version)?;
        view.settle(&mut def.name);
        def.uses.iter_mut().for_each(|used| view.settle(&mut used.name));
        match view.views.get(&key(def.name.schema.as_deref(), &def.name.name)).filter(|_| replaces) {
            Some(replaced) => {
                (def.id, def.name) = (replaced.id, replaced.name.clone());
                check_replaced(replaced, &def)?;
            }
            None => {
                view.check_free(&def.name)?;
                def.id = ObjectId::NEW;
            }
        }
        view.check_uses(&def)?;
        self.store_view(Definitions::clone(&view), def)
    }

    pub(crate) fn alter_view(&self, mut def: ViewDef, version: u64) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let view = self.definitions();
        check_version(&view, &def.name, version)?;
        let old = view.existing_view(def.name.schema.as_deref(), &def.name.name)?;
        (def.id, def.name) = (old.id, old.name.clone());
        for column in old.columns.iter().filter(|column| def.column_index(&column.name).is_none()) {
            view.check_unused(&old.name, &column.name)?;
        }
        self.store_view(Definitions::clone(&view), def)
    }

    /// Stores a view; a new one gets its number here.
    fn store_view(&self, mut view: Definitions, mut def: ViewDef) -> Result<(), CatalogError> {
        let (mut writes, mut ids) = (self.store.batch(), self.new_ids()?);
        self.put_schema_of(&mut view, &mut *writes, &mut ids, &mut def.name)?;
        if def.id == ObjectId::NEW {
            def.id = ids.object()?;
        }
        self.put_ids(&mut *writes, ids)?;
        self.put_view_row(&mut *writes, &def)?;
        writes.commit(Durability::Synced)?;
        view.insert_view(def);
        self.publish(view);
        Ok(())
    }

    pub(crate) fn put_view_row(&self, writes: &mut dyn WriteBatch, def: &ViewDef) -> Result<(), CatalogError> {
        let [schema, name] = name_values(&def.name);
        Ok(writes.put(&self.own.views, vec![schema, name, Value::Text(record::view::write(def)?)])?)
    }

    /// Drops the views that use a table or view.
    ///
    /// # Errors
    /// [`CatalogError::Used`] if there is such a view and it must not be dropped.
    pub(crate) fn drop_dependents(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        used: &TableName,
        dependents: Dependents,
    ) -> Result<(), CatalogError> {
        // Other views may use a dropped view.
        while let Some(found) = view.user_of(used).cloned() {
            if dependents == Dependents::Refuse {
                return Err(CatalogError::Used { used: used.to_string(), view: found.to_string() });
            }
            self.drop_dependents(view, writes, &found, dependents)?;
            self.delete_view(view, writes, &found)?;
        }
        Ok(())
    }

    pub(crate) fn delete_view(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        name: &TableName,
    ) -> Result<(), CatalogError> {
        let row_key = self.own.views.codec().encode(&name_values(name)).map_err(TableError::from)?;
        writes.delete(&self.own.views, row_key)?;
        view.views.remove(&key(name.schema.as_deref(), &name.name));
        Ok(())
    }
}

impl Definitions {
    /// A view that uses a table or view.
    fn user_of(&self, used: &TableName) -> Option<&TableName> {
        self.views.values().find(|view| view.use_of(used).is_some()).map(|view| &view.name)
    }

    /// Checks that all tables and views that a view uses exist, and that it does not use itself.
    fn check_uses(&self, def: &ViewDef) -> Result<(), CatalogError> {
        let mut open = vec![def.clone()];
        while let Some(view) = open.pop() {
            for used in &view.uses {
                let (schema, name) = (used.name.schema.as_deref(), used.name.name.as_str());
                match self.view(schema, name)? {
                    Some(view) if view.name == def.name => {
                        return Err(CatalogError::RecursiveView(def.name.to_string()));
                    }
                    Some(view) => open.push(ViewDef::clone(&view)),
                    None => drop(self.resolve(schema, name)?),
                }
            }
        }
        Ok(())
    }

    /// # Errors
    /// [`CatalogError::Used`] if a view uses the table by its old name; [`CatalogError::DuplicateTable`] and its like if the
    /// new name is taken.
    pub(crate) fn check_renamed(&self, old: &TableName, new: &TableName) -> Result<(), CatalogError> {
        if old == new {
            return Ok(());
        }
        if let Some(view) = self.user_of(old) {
            return Err(CatalogError::Used { used: old.to_string(), view: view.to_string() });
        }
        match is_same_name(&old.name, &new.name) {
            true => Ok(()),
            false => self.check_free(new),
        }
    }

    /// # Errors
    /// [`CatalogError::Used`] if a view uses a column that the new definition of a table does not have, or has in another type.
    pub(crate) fn check_columns_kept(&self, old: &TableDef, new: &TableDef) -> Result<(), CatalogError> {
        let is_gone = |column: &&ColumnDef| {
            let is_same = |other: &ColumnDef| {
                is_same_name(&other.name, &column.name)
                    && new.family_name(other) == old.family_name(column)
                    && other.ty == column.ty
            };
            !new.columns.iter().any(is_same)
        };
        for column in old.columns.iter().filter(is_gone) {
            self.check_unused(&old.name, &column.name)?;
        }
        Ok(())
    }

    /// # Errors
    /// [`CatalogError::Used`] if a view uses a column of a table or view.
    fn check_unused(&self, of: &TableName, column: &str) -> Result<(), CatalogError> {
        let uses_it = |view: &&std::sync::Arc<ViewDef>| {
            view.use_of(of).is_some_and(|used| used.columns.iter().any(|known| known == column))
        };
        match self.views.values().find(uses_it) {
            None => Ok(()),
            Some(view) => Err(CatalogError::Used { used: format!("{of}.{column}"), view: view.name.to_string() }),
        }
    }
}

/// # Errors
/// [`CatalogError::Changed`] if the definition of a view was made from another version: the objects that it reads may have changed.
fn check_version(view: &Definitions, name: &TableName, version: u64) -> Result<(), CatalogError> {
    match view.version == version {
        true => Ok(()),
        false => Err(CatalogError::Changed(format!("what view {name} is made of"))),
    }
}

/// # Errors
/// [`CatalogError::ViewColumnChanged`] unless the new view begins with the columns of the old one: the views over it read
/// these columns.
fn check_replaced(old: &ViewDef, new: &ViewDef) -> Result<(), CatalogError> {
    let same = |a: &ViewColumn, b: &ViewColumn| is_same_name(&a.name, &b.name) && a.ty == b.ty;
    for (place, column) in old.columns.iter().enumerate() {
        let found = new.columns.get(place);
        if !found.is_some_and(|found| same(column, found)) {
            let text = |it: &ViewColumn| format!("{} {}", it.name, it.ty);
            let (view, column, found) = (old.name.to_string(), text(column), found.map(text));
            return Err(CatalogError::ViewColumnChanged { view, column, found });
        }
    }
    Ok(())
}
