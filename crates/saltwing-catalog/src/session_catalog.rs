//! The catalog of one session: its temporary tables and the databases that it has attached, over the definitions of all sessions.
//!
//! The rows of temporary tables lie in the store as those of any table, under ids of their own. Their definitions are kept in memory alone. With a
//! table comes the note that its rows are to be deleted (`_dropped`), and [`Catalog::finish_drops`] leaves out the tables that
//! sessions have. So what a killed process leaves is deleted after the next opening.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use saltwing_access::{Durability, Table, WriteBatch};
use saltwing_types::table::is_same_name;
use saltwing_types::{IndexState, SequenceDef, TableDef, TableId, TableName, ViewDef};

use crate::arrow_table::ArrowTable;
use crate::attached::AttachedTables;
use crate::boot::{Catalog, check_definition, ids_without, set_version};
use crate::definitions::{Definitions, Dependents};
use crate::removal::{DropList, GivenName, ListError, Listed};
use crate::{CatalogError, CatalogReader, INFORMATION_SCHEMA, TEMPORARY_SCHEMA};

/// The temporary tables and the attached databases of a session. They end with it: see [`SessionCatalog::end`].
pub struct SessionCatalog {
    catalog: Arc<Catalog>,
    /// Whether there is something: every statement asks, and takes no lock for it.
    is_any: AtomicBool,
    state: Mutex<State>,
}

/// By lower-case name.
type Tables = BTreeMap<String, Arc<Table>>;

#[derive(Default)]
struct State {
    tables: Tables,
    attached: Vec<Arc<AttachedTables>>,
    /// The catalog of the session, as it was last asked for.
    overlaid: Option<Arc<Overlaid>>,
}

impl SessionCatalog {
    /// Nothing of the session's own yet.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog, is_any: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Whether it is the catalog of all sessions.
    pub fn is_empty(&self) -> bool {
        !self.is_any.load(Ordering::Acquire)
    }

    /// The catalog as it is now, with what the session has before what all sessions have.
    pub fn snapshot(&self) -> Arc<dyn CatalogReader> {
        let mut state = self.state.lock();
        let stored = self.catalog.definitions();
        if state.is_empty() {
            return stored;
        }
        let known = state.overlaid.as_ref().filter(|known| known.stored.version == stored.version);
        if let Some(known) = known {
            return known.clone();
        }
        let version = self.catalog.held.lock().next_version();
        let (tables, attached) = (state.tables.clone(), state.attached.clone());
        let overlaid = Arc::new(Overlaid { version, stored, tables, attached });
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

    /// The temporary tables.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.state.lock().tables.values().cloned().collect()
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
        self.put(vec![table], writes)
    }

    /// Gives a table another definition: the one that `change` makes of the one it has, or none. New indexes get their ids here.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::DuplicateTable`] and its like if a new name is taken; what `change` fails with;
    /// the store's.
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
        set_version(old.def(), &mut def);
        check_definition(&def)?;
        let mut writes = self.catalog.store.batch();
        self.catalog.put_new_indexes(&mut *writes, &mut def, |name| self.check_free(name))?;
        let table = Table::new(Arc::new(def)).map_err(CatalogError::from)?;
        let (new, gone) = (ids_without(table.def(), old.def()), ids_without(old.def(), table.def()));
        if !new.is_empty() {
            self.hold(&new, writes)?;
        }
        self.redefine(&old, table);
        self.catalog.held.lock().ids.retain(|held| !gone.contains(held));
        self.catalog.purge_entries(gone);
        Ok(())
    }

    fn redefine(&self, old: &Table, table: Table) {
        // Held while the table changes, so that a writer refused for its old definition waits here for the new one.
        let mut state = self.state.lock();
        let table = self.catalog.store.open_with_indexes(table);
        state.tables.remove(&old.def().name.name.to_lowercase());
        state.insert(table);
    }

    /// Removes all rows of tables at once, in constant time: each gets a new id. Readers see all rows of a table or none, and
    /// writers that use the earlier definition are retried.
    ///
    /// Returns the places of those whose space was not given back; [`Catalog::finish_drops`] does it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; the store's: then the rows are there, unless nobody knows whether the store has
    /// the change ([`saltwing_types::ErrorCode::CommitUnknown`]).
    pub fn truncate_tables(&self, names: &[GivenName<'_>]) -> Result<Vec<usize>, ListError> {
        let _one_by_one = self.catalog.changing.lock();
        let listed = self.listed(&DropList { names, if_exists: false, dependents: Dependents::Refuse })?;
        let mut writes = self.catalog.store.batch();
        let tables = || listed.own.iter().chain(&listed.stored).map(|(_, table)| table.def());
        let first = self.catalog.take_ids(&mut *writes, tables().flat_map(|def| def.stored_ids()).count())?;
        let mut ids = (first.0..).map(TableId);
        let emptied = |old: &Arc<TableDef>| {
            let mut def = TableDef::clone(old);
            // Without rows each index is complete.
            for index in &mut def.indexes {
                index.rebuild = None;
                if index.state == IndexState::Building {
                    index.state = IndexState::Ready;
                }
            }
            def.stored_ids_mut().zip(&mut ids).for_each(|(id, next)| *id = next);
            Table::new(Arc::new(def))
        };
        let mut own = tables().map(emptied).collect::<Result<Vec<_>, _>>()?;
        let stored = own.split_off(listed.own.len());
        for (table, (_, old)) in stored.iter().zip(&listed.stored) {
            self.catalog.put_definition(&mut *writes, table.def())?;
            old.def().stored_ids().try_for_each(|id| self.catalog.put_dropped(&mut *writes, id))?;
        }
        writes.free_space();
        self.put(own, writes)?;
        if !stored.is_empty() {
            let old = listed.stored.iter().map(|(_, old)| &**old.def());
            self.catalog.redefine(old.zip(stored), |_| {});
        }
        Ok(self.delete_rows(&listed))
    }

    /// Drops tables, temporary ones first, then deletes their rows. Returns the places of those whose space was not freed;
    /// [`Catalog::finish_drops`] does it.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::Used`]; the store's: then the tables are there, unless nobody knows whether
    /// the store has the change ([`saltwing_types::ErrorCode::CommitUnknown`]).
    pub fn drop_tables(&self, list: &DropList<'_>) -> Result<Vec<usize>, ListError> {
        let _one_by_one = self.catalog.changing.lock();
        let listed = self.listed(list)?;
        if !listed.stored.is_empty() {
            self.catalog.drop_definitions(&listed.stored, list.dependents)?;
        }
        if !listed.own.is_empty() {
            let mut state = self.state.lock();
            for (_, table) in &listed.own {
                state.tables.remove(&table.def().name.name.to_lowercase());
            }
            self.changed(&mut state);
        }
        Ok(self.delete_rows(&listed))
    }

    /// Attaches the tables of a database. `open` gives them; nobody changes the catalog meanwhile.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateSchema`] for an alias that a schema or another such database has; [`CatalogError::ReservedName`].
    pub fn attach<E: From<CatalogError>>(
        &self,
        alias: &str,
        open: impl FnOnce() -> Result<AttachedTables, E>,
    ) -> Result<(), E> {
        let _one_by_one = self.catalog.changing.lock();
        if is_own(Some(alias)) || is_same_name(alias, INFORMATION_SCHEMA) {
            return Err(CatalogError::ReservedName(alias.to_owned()).into());
        }
        if alias.contains('.') {
            return Err(CatalogError::AliasWithDot(alias.to_owned()).into());
        }
        if self.snapshot().has_schema(alias) {
            return Err(CatalogError::DuplicateSchema(alias.to_owned()).into());
        }
        let tables = Arc::new(open()?);
        let mut state = self.state.lock();
        state.attached.push(tables);
        self.changed(&mut state);
        Ok(())
    }

    /// Detaches a database.
    ///
    /// # Errors
    /// [`CatalogError::NotAttached`].
    pub fn detach(&self, alias: &str) -> Result<(), CatalogError> {
        let mut state = self.state.lock();
        let place = state.attached.iter().position(|attached| is_same_name(attached.alias(), alias));
        let Some(place) = place else { return Err(CatalogError::NotAttached(alias.to_owned())) };
        state.attached.remove(place);
        self.changed(&mut state);
        Ok(())
    }

    /// The attached databases, in the order of ATTACH.
    pub fn attached(&self) -> Vec<Arc<AttachedTables>> {
        self.state.lock().attached.clone()
    }

    /// Whether a schema is an attached database, or a schema of one.
    pub fn is_attached(&self, schema: &str) -> bool {
        !self.is_empty() && self.state.lock().attached.iter().any(|attached| attached.has(schema))
    }

    fn changed(&self, state: &mut State) {
        state.overlaid = None;
        self.is_any.store(!state.is_empty(), Ordering::Release);
    }

    /// Drops all tables, and detaches all databases. [`Catalog::finish_drops`] deletes the rows. Returns whether there were tables.
    pub fn end(&self) -> bool {
        let mut state = self.state.lock();
        let mut held = self.catalog.held.lock();
        state.attached.clear();
        let ended = std::mem::take(&mut state.tables);
        self.changed(&mut state);
        let ids = ended.values().flat_map(|table| table.def().stored_ids());
        for id in ids {
            held.ids.remove(&id);
        }
        !ended.is_empty()
    }

    /// Commits a change, with the notes that the rows of temporary tables are to be deleted, and adds these tables.
    fn put(&self, tables: Vec<Table>, writes: Box<dyn WriteBatch + '_>) -> Result<(), CatalogError> {
        let ids: Vec<TableId> = tables.iter().flat_map(|table| table.def().stored_ids()).collect();
        self.hold(&ids, writes)?;
        let mut state = self.state.lock();
        for table in tables {
            state.insert(self.catalog.store.open_with_indexes(table));
        }
        self.changed(&mut state);
        Ok(())
    }

    /// Commits a change, with the notes that the rows under new ids of the session are to be deleted.
    fn hold(&self, ids: &[TableId], mut writes: Box<dyn WriteBatch + '_>) -> Result<(), CatalogError> {
        for id in ids {
            self.catalog.put_dropped(&mut *writes, *id)?;
        }
        // Before the notes are there: who finds one finds that a session has the table.
        self.catalog.held.lock().ids.extend(ids);
        if let Err(error) = writes.commit(Durability::Synced) {
            self.catalog.held.lock().ids.retain(|held| !ids.contains(held));
            return Err(error.into());
        }
        Ok(())
    }

    /// The tables of a list: those of the session, and the others.
    fn listed(&self, list: &DropList<'_>) -> Result<ListedTables, ListError> {
        let stored = self.catalog.definitions();
        let find = |schema: Option<&str>, name: &str| match self.find(schema, name) {
            Some(own) => Ok(own),
            None => stored.resolve(schema, name),
        };
        let found = list.found(find, |table: &Table| &table.def().name)?;
        let is_own = |listed: &Listed<Table>| self.catalog.held.lock().ids.contains(&listed.1.def().id);
        let (own, stored) = found.into_iter().partition(is_own);
        Ok(ListedTables { own, stored })
    }

    /// Deletes the rows of dropped or emptied tables; the places of those for which that did not come to its end.
    fn delete_rows(&self, listed: &ListedTables) -> Vec<usize> {
        let left = |(place, table): &Listed<Table>| {
            self.catalog.held.lock().ids.retain(|held| !table.def().stored_ids().any(|id| id == *held));
            let is_left = table.def().stored_ids().any(|id| self.catalog.purge(id).is_err());
            is_left.then_some(*place)
        };
        let mut places: Vec<usize> = listed.own.iter().chain(&listed.stored).filter_map(left).collect();
        places.sort_unstable();
        places
    }

    fn existing(&self, name: &str) -> Result<Arc<Table>, CatalogError> {
        self.find(None, name).ok_or_else(|| no_such_table(&self.state.lock().tables, name))
    }

    fn check_free(&self, name: &TableName) -> Result<(), CatalogError> {
        let spelt = |existing: &TableName| (existing != name).then(|| existing.to_string());
        if let Some(table) = self.find(None, &name.name) {
            let existing = spelt(&table.def().name);
            return Err(CatalogError::DuplicateTable { name: name.to_string(), existing });
        }
        let state = self.state.lock();
        let mut indexes = state.tables.values().flat_map(|table| &table.def().indexes);
        if let Some(index) = indexes.find(|index| is_same_name(&index.name, &name.name)) {
            let existing = spelt(&TableName { schema: name.schema.clone(), name: index.name.clone() });
            return Err(CatalogError::DuplicateIndex { name: name.to_string(), existing });
        }
        Ok(())
    }
}

/// The tables of a statement's list.
struct ListedTables {
    /// The temporary ones of the session.
    own: Vec<Listed<Table>>,
    stored: Vec<Listed<Table>>,
}

impl State {
    fn insert(&mut self, table: Arc<Table>) {
        self.tables.insert(table.def().name.name.to_lowercase(), table);
        self.overlaid = None;
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.attached.is_empty()
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
    attached: Vec<Arc<AttachedTables>>,
}

impl Overlaid {
    fn own(&self, schema: Option<&str>, name: &str) -> Option<&Arc<Table>> {
        is_own(schema).then(|| self.tables.get(&name.to_lowercase())).flatten()
    }

    fn attached_of(&self, schema: Option<&str>) -> Option<&AttachedTables> {
        let schema = schema?;
        self.attached.iter().find(|attached| attached.has(schema)).map(|attached| &**attached)
    }
}

impl CatalogReader for Overlaid {
    fn version(&self) -> u64 {
        self.version
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        if let (Some(attached), Some(schema)) = (self.attached_of(schema), schema) {
            return attached.resolve(schema, name);
        }
        match (self.own(schema, name), schema) {
            (Some(table), _) => Ok(table.clone()),
            (None, Some(written)) if is_own(schema) && !self.tables.is_empty() && !self.stored.has_schema(written) => {
                Err(no_such_table(&self.tables, name))
            }
            (None, _) => self.stored.resolve(schema, name),
        }
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.stored.arrow_table(name).filter(|_| !self.hides(name))
    }

    fn has_schema(&self, schema: &str) -> bool {
        let is_temporary = is_own(Some(schema)) && !self.tables.is_empty();
        is_temporary || self.attached_of(Some(schema)).is_some() || self.stored.has_schema(schema)
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
        if let (Some(attached), Some(schema)) = (self.attached_of(schema), schema) {
            return attached.view(schema, name).cloned();
        }
        self.stored.view(schema, name).filter(|_| self.own(schema, name).is_none())
    }

    fn views(&self) -> Vec<Arc<ViewDef>> {
        self.stored.views()
    }

    fn has_views(&self) -> bool {
        self.stored.has_views() || self.attached.iter().any(|attached| attached.views().next().is_some())
    }

    fn schemas(&self) -> Vec<String> {
        self.stored.schemas()
    }

    fn hides(&self, name: &str) -> bool {
        self.own(None, name).is_some()
    }

    fn is_temporary(&self, table: &TableDef) -> bool {
        let own = self.own(table.name.schema.as_deref(), &table.name.name);
        own.is_some_and(|own| own.def().name == table.name && own.def().id == table.id)
    }

    fn attached_tables(&self) -> Vec<Arc<Table>> {
        self.attached.iter().flat_map(|attached| attached.tables()).cloned().collect()
    }

    fn attached_views(&self) -> Vec<Arc<ViewDef>> {
        self.attached.iter().flat_map(|attached| attached.views()).cloned().collect()
    }

    fn is_attached(&self, schema: &str) -> bool {
        self.attached_of(Some(schema)).is_some()
    }
}
