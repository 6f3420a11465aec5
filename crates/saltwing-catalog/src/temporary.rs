//! Temporary tables: those of one session, over the tables of all sessions.
//!
//! Their rows lie in the store as those of any table, under ids of their own. Their definitions are kept in memory alone. With a
//! table comes the note that its rows are to be deleted (`_dropped`), and [`Catalog::finish_drops`] leaves out the tables that
//! sessions have. So what a killed process leaves is deleted after the next opening.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use saltwing_access::{Durability, Table, WriteBatch};
use saltwing_types::table::is_same_name;
use saltwing_types::{SequenceDef, TableDef, TableId, TableName, ViewDef};

use crate::arrow_table::ArrowTable;
use crate::boot::{Catalog, check_definition};
use crate::definitions::{Definitions, TEMPORARY_SCHEMA};
use crate::{CatalogError, CatalogReader};

/// The temporary tables of a session. They end with it: see [`TemporaryTables::end`].
pub struct TemporaryTables {
    catalog: Arc<Catalog>,
    /// Whether there are any: every statement asks, and takes no lock for it.
    is_any: AtomicBool,
    state: Mutex<State>,
}

/// By lower-case name.
type Tables = BTreeMap<String, Arc<Table>>;

#[derive(Default)]
struct State {
    tables: Tables,
    /// The catalog of the session, as it was last asked for.
    overlaid: Option<Arc<Overlaid>>,
}

impl TemporaryTables {
    /// No tables yet.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog, is_any: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.is_any.load(Ordering::Acquire)
    }

    /// The catalog as it is now, with these tables before those of all sessions.
    pub fn snapshot(&self) -> Arc<dyn CatalogReader> {
        let mut state = self.state.lock();
        let stored = self.catalog.definitions();
        if state.tables.is_empty() {
            return stored;
        }
        let known = state.overlaid.as_ref().filter(|known| known.stored.version == stored.version);
        if let Some(known) = known {
            return known.clone();
        }
        let version = self.catalog.held.lock().next_version();
        let overlaid = Arc::new(Overlaid { version, stored, tables: state.tables.clone() });
        state.overlaid = Some(overlaid.clone());
        overlaid
    }

    /// The temporary table that a statement means by this name.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Option<Arc<Table>> {
        if self.is_empty() || !is_own(schema) {
            return None;
        }
        self.state.lock().tables.get(&name.to_lowercase()).cloned()
    }

    /// Adds a table. The definition's id and schema are given here.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateTable`]; the store's.
    pub fn create_table(&self, mut def: TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.catalog.changing.lock();
        def.name.schema = Some(TEMPORARY_SCHEMA.to_owned());
        self.check_free(&def.name)?;
        let mut writes = self.catalog.store.batch();
        def.id = self.catalog.take_id(&mut *writes)?;
        check_definition(&def)?;
        let table = Table::new(Arc::new(def))?;
        self.put(table, writes)
    }

    /// Gives a table another definition: the one that `change` makes of the one it has, or none.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::DuplicateTable`] if the new name is taken; what `change` fails with.
    pub fn alter_table<E: From<CatalogError>>(
        &self,
        name: &str,
        change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, E>,
    ) -> Result<(), E> {
        let _one_by_one = self.catalog.changing.lock();
        let old = self.existing(name)?;
        let Some(mut def) = change(&old)? else { return Ok(()) };
        if !is_same_name(&old.def().name.name, &def.name.name) {
            self.check_free(&def.name)?;
        }
        def.history.version = old.def().history.version.saturating_add(1);
        check_definition(&def)?;
        let table = Table::new(Arc::new(def)).map_err(CatalogError::from)?;
        // Held while the table changes, so that a writer refused for its old definition waits here for the new one.
        let mut state = self.state.lock();
        let table = self.catalog.store.open_table(table);
        state.tables.remove(&old.def().name.name.to_lowercase());
        state.insert(table);
        Ok(())
    }

    /// Removes all rows of a table at once: it gets a new id. Returns whether their space was given back; else
    /// [`Catalog::finish_drops`] does it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; the store's.
    pub fn truncate_table(&self, name: &str) -> Result<bool, CatalogError> {
        let _one_by_one = self.catalog.changing.lock();
        let old = self.existing(name)?;
        let mut writes = self.catalog.store.batch();
        let id = self.catalog.take_id(&mut *writes)?;
        writes.free_space();
        let next = Table::new(Arc::new(TableDef { id, ..TableDef::clone(old.def()) }))?;
        self.put(next, writes)?;
        Ok(self.let_go(old.def().id))
    }

    /// Drops a table, then deletes its rows. Returns whether the space was freed; else [`Catalog::finish_drops`] does it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn drop_table(&self, name: &str) -> Result<bool, CatalogError> {
        let _one_by_one = self.catalog.changing.lock();
        let table = self.existing(name)?;
        let mut state = self.state.lock();
        state.tables.remove(&name.to_lowercase());
        state.overlaid = None;
        self.is_any.store(!state.tables.is_empty(), Ordering::Release);
        drop(state);
        Ok(self.let_go(table.def().id))
    }

    /// Drops all tables. [`Catalog::finish_drops`] deletes their rows. Returns whether there were any.
    pub fn end(&self) -> bool {
        let mut state = self.state.lock();
        let mut held = self.catalog.held.lock();
        self.is_any.store(false, Ordering::Release);
        state.overlaid = None;
        let ended = std::mem::take(&mut state.tables);
        for table in ended.values() {
            held.ids.remove(&table.def().id);
        }
        !ended.is_empty()
    }

    /// Stores the note that the rows of a table are to be deleted, and adds it.
    fn put(&self, table: Table, mut writes: Box<dyn WriteBatch + '_>) -> Result<(), CatalogError> {
        let id = table.def().id;
        self.catalog.put_dropped(&mut *writes, id)?;
        // Before the note is there: who finds it finds that a session has the table.
        self.catalog.held.lock().ids.insert(id);
        let table = self.catalog.store.open_table(table);
        if let Err(error) = writes.commit(Durability::Synced) {
            self.catalog.store.close_table(id);
            self.catalog.held.lock().ids.remove(&id);
            return Err(error.into());
        }
        self.state.lock().insert(table);
        self.is_any.store(true, Ordering::Release);
        Ok(())
    }

    /// Deletes the rows of a table that the session no longer has; whether that came to its end.
    fn let_go(&self, id: TableId) -> bool {
        self.catalog.held.lock().ids.remove(&id);
        self.catalog.purge(id).is_ok()
    }

    fn existing(&self, name: &str) -> Result<Arc<Table>, CatalogError> {
        self.find(None, name).ok_or_else(|| no_such_table(&self.state.lock().tables, name))
    }

    fn check_free(&self, name: &TableName) -> Result<(), CatalogError> {
        match self.find(None, &name.name) {
            None => Ok(()),
            Some(table) => {
                let existing = Some(table.def().name.to_string()).filter(|existing| *existing != name.to_string());
                Err(CatalogError::DuplicateTable { name: name.to_string(), existing })
            }
        }
    }
}

impl State {
    fn insert(&mut self, table: Arc<Table>) {
        self.tables.insert(table.def().name.name.to_lowercase(), table);
        self.overlaid = None;
    }
}

/// Whether a name with this schema may be that of a temporary table.
fn is_own(schema: Option<&str>) -> bool {
    schema.is_none_or(|schema| is_same_name(schema, TEMPORARY_SCHEMA))
}

fn no_such_table(tables: &Tables, name: &str) -> CatalogError {
    let names: Vec<String> = tables.values().map(|table| table.def().name.to_string()).collect();
    let name = format!("{TEMPORARY_SCHEMA}.{name}");
    let nearest = saltwing_types::suggest(&name, names.iter().map(String::as_str)).map(str::to_owned);
    CatalogError::NoSuchTable { name, nearest }
}

/// The catalog of a session with temporary tables at one moment.
struct Overlaid {
    /// No other catalog of the database has this number.
    version: u64,
    stored: Arc<Definitions>,
    tables: Tables,
}

impl Overlaid {
    fn own(&self, schema: Option<&str>, name: &str) -> Option<&Arc<Table>> {
        is_own(schema).then(|| self.tables.get(&name.to_lowercase())).flatten()
    }
}

impl CatalogReader for Overlaid {
    fn version(&self) -> u64 {
        self.version
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        match (self.own(schema, name), schema) {
            (Some(table), _) => Ok(table.clone()),
            (None, Some(written)) if is_own(schema) && !self.stored.has_schema(written) => {
                Err(no_such_table(&self.tables, name))
            }
            (None, _) => self.stored.resolve(schema, name),
        }
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.stored.arrow_table(name).filter(|_| !self.hides(name))
    }

    fn has_schema(&self, schema: &str) -> bool {
        is_own(Some(schema)) || self.stored.has_schema(schema)
    }

    fn tables(&self) -> Vec<Arc<Table>> {
        self.stored.tables.values().chain(self.tables.values()).cloned().collect()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        self.stored.sequence(schema, name)
    }

    fn sequences(&self) -> Vec<Arc<SequenceDef>> {
        self.stored.sequences()
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Option<Arc<ViewDef>> {
        self.stored.view(schema, name).filter(|_| self.own(schema, name).is_none())
    }

    fn views(&self) -> Vec<Arc<ViewDef>> {
        self.stored.views()
    }

    fn has_views(&self) -> bool {
        self.stored.has_views()
    }

    fn schemas(&self) -> Vec<String> {
        self.stored.schemas()
    }

    fn hides(&self, name: &str) -> bool {
        self.own(None, name).is_some()
    }

    fn is_temporary(&self, table: TableId) -> bool {
        self.tables.values().any(|own| own.def().id == table)
    }
}
