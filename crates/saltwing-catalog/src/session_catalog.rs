//! The catalog of one session: its temporary tables and views, and the databases that it has attached, over the definitions of all sessions.
//!
//! The rows of temporary tables are in the store like those of any table, under ids that are leased from the catalog. Their definitions are
//! only in memory. So the catalog deletes the rows that a killed process has left, after the next opening.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use saltwing_access::{Table, TableStore};
use saltwing_types::table::is_same_name;
use saltwing_types::{SequenceDef, TableDef, TableId, TableName, Value, ViewDef};

use crate::attached::AttachedTables;
use crate::boot::{check_definition, check_new_indexes, give_ids, ids_without, missing_ids, set_version};
use crate::change::at;
use crate::overlaid::{Overlaid, Tables, Views, is_own};
use crate::removal::emptied_table;
use crate::{
    Applied, CatalogChange, CatalogError, CatalogReader, CatalogStore, ChangeError, Dependents, DropList, GivenName,
    INFORMATION_SCHEMA, TEMPORARY_SCHEMA,
};

/// The temporary tables and the attached databases of a session. They end with it: see [`SessionCatalog::end`].
pub struct SessionCatalog {
    catalog: Arc<dyn CatalogStore>,
    /// The store of the rows.
    store: Arc<dyn TableStore>,
    /// Whether the session has temporary tables or attached databases. Every statement reads it, so it needs no lock.
    is_any: AtomicBool,
    /// Held during a change of the session's objects, so that changes run one after the other.
    changing: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tables: Tables,
    views: Views,
    attached: Vec<Arc<AttachedTables>>,
    /// The last snapshot of the session's catalog.
    overlaid: Option<Arc<Overlaid>>,
}

/// A new version for a catalog with objects of a session. Other catalogs count from 1, and never reach these numbers.
fn next_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(1 << 63);
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

impl SessionCatalog {
    /// A session without objects of its own. The rows of its temporary tables will be in `store`.
    pub fn new(catalog: Arc<dyn CatalogStore>, store: Arc<dyn TableStore>) -> Self {
        let (is_any, changing, state) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Self { catalog, store, is_any, changing, state }
    }

    /// Whether the session has no objects of its own, so that its catalog is the catalog of all sessions.
    pub fn is_empty(&self) -> bool {
        !self.is_any.load(Ordering::Acquire)
    }

    /// The temporary table that a statement means by this name.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Option<Arc<Table>> {
        if self.is_empty() || !is_own(schema) {
            return None;
        }
        self.state.lock().tables.get(&name.to_lowercase()).cloned()
    }

    /// Attaches the tables of a database, which `open` opens.
    ///
    /// # Errors
    /// [`CatalogError::DuplicateSchema`] for an alias that is the name of a schema or of an attached database; [`CatalogError::ReservedName`].
    pub fn attach<E: From<CatalogError>>(
        &self,
        alias: &str,
        open: impl FnOnce() -> Result<AttachedTables, E>,
    ) -> Result<(), E> {
        let _one_by_one = self.changing.lock();
        if is_own(Some(alias)) || is_same_name(alias, INFORMATION_SCHEMA) {
            return Err(CatalogError::ReservedName(alias.to_owned()).into());
        }
        if alias.contains('.') {
            return Err(CatalogError::AliasWithDot(alias.to_owned()).into());
        }
        if self.snapshot()?.has_schema(alias)? {
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

    /// Drops all tables, and detaches all databases. [`CatalogStore::finish_drops`] deletes the rows. Returns whether there were tables.
    pub fn end(&self) -> bool {
        let mut state = self.state.lock();
        state.attached.clear();
        let (tables, views) = (std::mem::take(&mut state.tables), std::mem::take(&mut state.views));
        self.changed(&mut state);
        let of_tables = tables.values().flat_map(|table| table.def().stored_ids());
        let ids: Vec<TableId> = of_tables.chain(views.values().map(|view| TableId(view.id.0))).collect();
        if !ids.is_empty() {
            self.catalog.release_ids(&ids);
        }
        !ids.is_empty()
    }

    fn create_table(&self, mut def: TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        def.name.schema = Some(TEMPORARY_SCHEMA.to_owned());
        self.check_free(&def.name)?;
        check_definition(&def)?;
        let ids = self.catalog.lease_ids(1)?;
        ids.iter().for_each(|id| (def.id, def.object_id) = (*id, (*id).into()));
        let table = self.or_release(&ids, || Table::new(Arc::new(def)))?;
        self.put([table]);
        Ok(())
    }

    /// Changes the definition of a table of the session. New indexes get their ids here.
    fn alter_table(&self, old: &TableDef, mut new: TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        if !self.find(None, &old.name.name).is_some_and(|table| **table.def() == *old) {
            return Err(CatalogError::Changed(format!("table {}", old.name)));
        }
        if !is_same_name(&old.name.name, &new.name.name) {
            self.check_free(&new.name)?;
        }
        set_version(old, &mut new);
        check_definition(&new)?;
        check_new_indexes(&new, |name| self.check_free(name))?;
        let missing = missing_ids(&new);
        let ids = if missing == 0 { Vec::new() } else { self.catalog.lease_ids(missing)? };
        give_ids(&mut new, ids.iter().copied());
        let table = self.or_release(&ids, || Table::new(Arc::new(new)))?;
        let gone = ids_without(old, table.def());
        {
            // Locked while the table changes, so that a writer that is refused for its old definition waits for the new one.
            let mut state = self.state.lock();
            let table = self.store.open_with_indexes(table);
            state.tables.remove(&old.name.name.to_lowercase());
            state.insert(table);
        }
        self.delete_rows(gone);
        Ok(())
    }

    fn replace_table(&self, old: &TableDef, by: &TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        for known in [old, by] {
            if !self.find(None, &known.name.name).is_some_and(|table| **table.def() == *known) {
                return Err(CatalogError::Changed(format!("table {}", known.name)));
            }
        }
        let mut new = TableDef { name: old.name.clone(), ..by.clone() };
        set_version(by, &mut new);
        let table = Table::new(Arc::new(new))?;
        {
            // Locked while the table changes, so that a writer that is refused for its old definition waits for the new one.
            let mut state = self.state.lock();
            let table = self.store.open_with_indexes(table);
            state.tables.remove(&by.name.name.to_lowercase());
            state.insert(table);
        }
        self.delete_rows(old.stored_ids().collect());
        Ok(())
    }

    fn truncate_tables(&self, names: &[GivenName<'_>]) -> Result<Applied, ChangeError> {
        let _one_by_one = self.changing.lock();
        let (own, stored) = self.listed(names);
        let count = own.iter().flat_map(|(_, table)| table.def().stored_ids()).count();
        let ids = if count == 0 { Vec::new() } else { self.catalog.lease_ids(count)? };
        let mut next = ids.iter().copied();
        let (emptied, applied) = self.or_release(&ids, || {
            let emptied: Result<Vec<Table>, _> =
                own.iter().map(|(_, old)| emptied_table(old.def(), &mut next)).collect();
            Ok::<_, ChangeError>((emptied?, stored.apply(&*self.catalog, CatalogChange::TruncateTables)?))
        })?;
        self.put(emptied);
        Ok(self.applied(applied, &own))
    }

    fn drop_tables(&self, list: &DropList<'_>) -> Result<Applied, ChangeError> {
        let _one_by_one = self.changing.lock();
        let (own, stored) = self.listed(list.names);
        let mut using = Vec::new();
        for (place, table) in &own {
            using.extend(self.users_of(&table.def().name, &[], list.dependents).map_err(at(*place))?);
        }
        let applied = stored.apply(&*self.catalog, |names| CatalogChange::DropTables(DropList { names, ..*list }))?;
        self.remove_views(&using);
        if !own.is_empty() {
            let mut state = self.state.lock();
            for (_, table) in &own {
                state.tables.remove(&table.def().name.name.to_lowercase());
            }
            self.changed(&mut state);
        }
        Ok(self.applied(applied, &own))
    }

    /// Adds a view of the session, or puts it in the place of the one of its name. It reads what its names mean when it is read: stored tables
    /// may go away meanwhile.
    fn create_view(&self, mut def: ViewDef, replaces: bool) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        def.name.schema = Some(TEMPORARY_SCHEMA.to_owned());
        let key = def.name.name.to_lowercase();
        let mut replaced = self.state.lock().views.get(&key).cloned();
        if !replaces || replaced.is_none() {
            self.check_free(&def.name)?;
            replaced = None;
        }
        self.check_not_recursive(&def)?;
        def.id = match replaced {
            Some(replaced) => replaced.id,
            None => self.catalog.lease_ids(1)?.first().map_or(def.id, |id| (*id).into()),
        };
        let mut state = self.state.lock();
        state.views.insert(key, Arc::new(def));
        self.changed(&mut state);
        Ok(())
    }

    /// # Errors
    /// [`CatalogError::RecursiveView`] of a view that reads itself by way of others.
    fn check_not_recursive(&self, def: &ViewDef) -> Result<(), CatalogError> {
        let state = self.state.lock();
        let mut open: Vec<Arc<ViewDef>> = vec![Arc::new(def.clone())];
        while let Some(view) = open.pop() {
            for used in view.uses.iter().filter(|used| used.name.schema == def.name.schema) {
                if is_same_name(&used.name.name, &def.name.name) {
                    return Err(CatalogError::RecursiveView(def.name.to_string()));
                }
                open.extend(state.views.get(&used.name.name.to_lowercase()).cloned());
            }
        }
        Ok(())
    }

    fn drop_views(&self, list: &DropList<'_>) -> Result<Applied, ChangeError> {
        let _one_by_one = self.changing.lock();
        let (mut own, mut others): (Vec<(usize, Arc<ViewDef>)>, _) = (Vec::new(), Others::default());
        for (place, (schema, name)) in list.names.iter().enumerate() {
            let view = self.state.lock().views.get(&name.to_lowercase()).filter(|_| is_own(*schema)).cloned();
            match view {
                Some(view) => own.push((place, view)),
                None => {
                    others.names.push((*schema, *name));
                    others.places.push(place);
                }
            }
        }
        let names: Vec<&str> = own.iter().map(|(_, view)| view.name.name.as_str()).collect();
        let mut gone: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        for (place, view) in &own {
            gone.extend(self.users_of(&view.name, &names, list.dependents).map_err(at(*place))?);
        }
        let applied = others.apply(&*self.catalog, |names| CatalogChange::DropViews(DropList { names, ..*list }))?;
        self.remove_views(&gone);
        Ok(applied)
    }

    /// Removes views of the session by their names in lower case, and gives their ids back.
    fn remove_views(&self, names: &[String]) {
        let mut state = self.state.lock();
        let gone: Vec<Arc<ViewDef>> = names.iter().filter_map(|name| state.views.remove(name)).collect();
        if gone.is_empty() {
            return;
        }
        self.changed(&mut state);
        drop(state);
        self.delete_rows(gone.iter().map(|view| TableId(view.id.0)).collect());
    }

    /// The views of the session, in lower case, that read a temporary table or view, those that stand on them among them; but for these names.
    ///
    /// # Errors
    /// [`CatalogError::Used`] if there are some, and they are not to be dropped.
    fn users_of(
        &self,
        name: &TableName,
        without: &[&str],
        dependents: Dependents,
    ) -> Result<Vec<String>, CatalogError> {
        let state = self.state.lock();
        let (mut found, mut open): (Vec<String>, _) = (Vec::new(), vec![name.name.clone()]);
        while let Some(used) = open.pop() {
            let reads = |view: &&Arc<ViewDef>| {
                let mut uses = view.uses.iter().map(|it| &it.name);
                uses.any(|it| it.schema.is_some() && is_own(it.schema.as_deref()) && is_same_name(&it.name, &used))
            };
            for view in state.views.values().filter(reads) {
                let own = &view.name.name;
                if without.iter().any(|name| is_same_name(name, own)) || found.contains(&own.to_lowercase()) {
                    continue;
                }
                if dependents == Dependents::Refuse {
                    return Err(CatalogError::Used { used: name.to_string(), view: view.name.to_string() });
                }
                found.push(own.to_lowercase());
                open.push(own.clone());
            }
        }
        Ok(found)
    }

    /// Whether a name in a definition is the name of a view of the session.
    fn has_view(&self, name: &TableName) -> bool {
        name.schema.is_some()
            && is_own(name.schema.as_deref())
            && self.state.lock().views.contains_key(&name.name.to_lowercase())
    }

    /// The version of the catalog of all sessions that belongs to this version of the session's catalog.
    ///
    /// # Errors
    /// [`CatalogError::Changed`] if the session's catalog has another version by now.
    fn version_below(&self, version: u64) -> Result<u64, CatalogError> {
        let state = self.state.lock();
        match &state.overlaid {
            Some(known) if known.version == version => Ok(known.stored.version()),
            _ if state.is_empty() => Ok(version),
            _ => Err(CatalogError::Changed("the catalog of the session".to_owned())),
        }
    }

    fn changed(&self, state: &mut State) {
        state.overlaid = None;
        self.is_any.store(!state.is_empty(), Ordering::Release);
    }

    /// The result of `make`, which uses leased ids; they are released if it fails.
    fn or_release<T, E>(&self, ids: &[TableId], make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        make().inspect_err(|_| self.catalog.release_ids(ids))
    }

    /// Opens tables and adds them.
    fn put(&self, tables: impl IntoIterator<Item = Table>) {
        let mut state = self.state.lock();
        for table in tables {
            state.insert(self.store.open_with_indexes(table));
        }
        self.changed(&mut state);
    }

    /// Splits a list into the tables of the session, each once with its position, and the other names.
    fn listed<'n>(&self, names: &[GivenName<'n>]) -> (Vec<(usize, Arc<Table>)>, Others<'n>) {
        let (mut own, mut others): (Vec<(usize, Arc<Table>)>, _) = (Vec::new(), Others::default());
        for (place, (schema, name)) in names.iter().enumerate() {
            match self.find(*schema, name) {
                None => {
                    others.names.push((*schema, *name));
                    others.places.push(place);
                }
                Some(table) if own.iter().all(|(_, known)| known.def().id != table.def().id) => {
                    own.push((place, table));
                }
                Some(_) => {}
            }
        }
        (own, others)
    }

    /// The result of a change of a whole list, of which tables of the session were dropped.
    fn applied(&self, mut others: Applied, own: &[(usize, Arc<Table>)]) -> Applied {
        let is_left = |(_, table): &&(usize, Arc<Table>)| !self.delete_rows(table.def().stored_ids().collect());
        others.left.extend(own.iter().filter(is_left).map(|(place, _)| *place));
        others.left.sort_unstable();
        others
    }

    /// Deletes the rows under ids that the session no longer needs; returns whether all are deleted.
    fn delete_rows(&self, ids: Vec<TableId>) -> bool {
        if ids.is_empty() {
            return true;
        }
        self.catalog.release_ids(&ids);
        let mut is_done = true;
        for id in ids {
            if let Err(error) = self.catalog.purge(id) {
                tracing::warn!(table = id.0, %error, "the rows of a temporary table or its index are deleted later");
                is_done = false;
            }
        }
        is_done
    }

    fn check_free(&self, name: &TableName) -> Result<(), CatalogError> {
        let spelt = |existing: &TableName| (existing != name).then(|| existing.to_string());
        if let Some(table) = self.find(None, &name.name) {
            let existing = spelt(&table.def().name);
            return Err(CatalogError::DuplicateTable { name: name.to_string(), existing });
        }
        let state = self.state.lock();
        if let Some(view) = state.views.get(&name.name.to_lowercase()) {
            return Err(CatalogError::DuplicateView { name: name.to_string(), existing: spelt(&view.name) });
        }
        let mut indexes = state.tables.values().flat_map(|table| &table.def().indexes);
        if let Some(index) = indexes.find(|index| is_same_name(&index.name, &name.name)) {
            let existing = spelt(&TableName { schema: name.schema.clone(), name: index.name.clone() });
            return Err(CatalogError::DuplicateIndex { name: name.to_string(), existing });
        }
        Ok(())
    }

    /// Whether a name in a definition is the name of a table of the session.
    fn has(&self, name: &TableName) -> bool {
        // A name without a schema is that of a stored table, even if a temporary table hides it.
        name.schema.is_some() && self.find(name.schema.as_deref(), &name.name).is_some()
    }

    /// Whether the rows under an id are those of a table of the session, or of an index of one.
    fn has_id(&self, id: TableId) -> bool {
        !self.is_empty() && self.state.lock().tables.values().any(|table| table.def().stored_ids().any(|own| own == id))
    }
}

/// Statements use a session's catalog like any other. The session's own objects take precedence.
impl CatalogStore for SessionCatalog {
    fn version(&self) -> u64 {
        let version = self.catalog.version();
        if self.is_empty() {
            return version;
        }
        let state = self.state.lock();
        let known = state.overlaid.as_ref().filter(|known| known.stored.version() == version);
        // The next snapshot has not been taken yet, so this version is one that no snapshot has.
        known.map_or_else(next_version, |known| known.version)
    }

    fn snapshot(&self) -> Result<Arc<dyn CatalogReader>, CatalogError> {
        let stored = self.catalog.snapshot()?;
        let mut state = self.state.lock();
        if state.is_empty() {
            return Ok(stored);
        }
        let known = state.overlaid.as_ref().filter(|known| known.stored.version() == stored.version());
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let (tables, views, attached) = (state.tables.clone(), state.views.clone(), state.attached.clone());
        let overlaid = Arc::new(Overlaid { version: next_version(), stored, tables, views, attached });
        state.overlaid = Some(overlaid.clone());
        Ok(overlaid)
    }

    fn apply(&self, change: CatalogChange<'_>) -> Result<Applied, ChangeError> {
        match change {
            CatalogChange::CreateTable { def, temporary: true, .. } => self.create_table(def)?,
            CatalogChange::AlterTable { old, new } if self.has(&old.name) => self.alter_table(&old, new)?,
            CatalogChange::TruncateTables(names) => return self.truncate_tables(names),
            CatalogChange::DropTables(list) => return self.drop_tables(&list),
            CatalogChange::ReplaceTable { old, by } if self.has(&old.name) => self.replace_table(&old, &by)?,
            CatalogChange::DropViews(list) => return self.drop_views(&list),
            CatalogChange::CreateView { def, replaces, .. }
                if def.name.schema.is_some() && is_own(def.name.schema.as_deref()) =>
            {
                self.create_view(def, replaces)?;
            }
            CatalogChange::AlterView { def, .. } if self.has_view(&def.name) => self.create_view(def, true)?,
            CatalogChange::CreateView { def, replaces, version } => {
                let version = self.version_below(version)?;
                return self.catalog.apply(CatalogChange::CreateView { def, replaces, version });
            }
            CatalogChange::AlterView { def, version } => {
                let version = self.version_below(version)?;
                return self.catalog.apply(CatalogChange::AlterView { def, version });
            }
            other => return self.catalog.apply(other),
        }
        Ok(Applied::default())
    }

    fn next_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError> {
        self.catalog.next_values(def, count, rows)
    }

    fn next_value_of(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError> {
        self.catalog.next_value_of(def)
    }

    fn return_sequence_values(&self) -> Result<(), CatalogError> {
        self.catalog.return_sequence_values()
    }

    fn lease_ids(&self, count: usize) -> Result<Vec<TableId>, CatalogError> {
        self.catalog.lease_ids(count)
    }

    fn release_ids(&self, ids: &[TableId]) {
        self.catalog.release_ids(ids);
    }

    fn purge(&self, id: TableId) -> Result<(), CatalogError> {
        self.catalog.purge(id)
    }

    fn finish_drops(&self) -> Result<(), CatalogError> {
        self.catalog.finish_drops()
    }

    fn index_progress(&self, entries: TableId) -> Result<Option<Vec<u8>>, CatalogError> {
        match self.has_id(entries) {
            true => Ok(None),
            false => self.catalog.index_progress(entries),
        }
    }

    /// A temporary table ends with the process, so an interrupted build never continues.
    fn index_progress_row(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        match self.has_id(entries) {
            true => None,
            false => self.catalog.index_progress_row(entries, last),
        }
    }
}

/// The names of a list that are not temporary tables.
#[derive(Default)]
struct Others<'n> {
    names: Vec<GivenName<'n>>,
    /// The positions of the names in the list.
    places: Vec<usize>,
}

impl Others<'_> {
    /// Applies the change of these names, if there are any. The positions in the result are those in the whole list.
    fn apply<'s>(
        &'s self,
        catalog: &dyn CatalogStore,
        change: impl FnOnce(&'s [GivenName<'s>]) -> CatalogChange<'s>,
    ) -> Result<Applied, ChangeError> {
        if self.names.is_empty() {
            return Ok(Applied::default());
        }
        let place_of = |place: usize| self.places.get(place).copied();
        match catalog.apply(change(&self.names)) {
            Ok(Applied { left }) => Ok(Applied { left: left.into_iter().filter_map(place_of).collect() }),
            Err(ChangeError { error, place }) => match place.and_then(place_of) {
                Some(place) => Err(at(place)(error)),
                None => Err(error.into()),
            },
        }
    }
}

impl State {
    fn insert(&mut self, table: Arc<Table>) {
        self.tables.insert(table.def().name.name.to_lowercase(), table);
        self.overlaid = None;
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.views.is_empty() && self.attached.is_empty()
    }
}
