//! Builds of indexes: by a statement that waits for it, and in the background.
//!
//! A build in the background belongs to a statement with ASYNC, or was cut short by the end of the process before. A build that fails leaves
//! nothing: a new index is gone, and one that was rebuilt has the entries that it had. In the background the error is logged and recorded.

use std::cell::Cell;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use saltwing_access::{Durability, Index, KeySet, ScanContext, Table, TableError, TableStore};
use saltwing_catalog::{Catalog, SessionCatalog};
use saltwing_exec::{ExecError, IndexBuild};
use saltwing_table::EmbeddedTables;
use saltwing_types::{ErrorCode, IndexState, TableDef, TableId, TableName, Value};

use crate::Error;
use crate::progress::IndexProgress;

/// The index whose entries have this number, and its table, if the entries are not complete.
fn find(definitions: &dyn BuiltTables, entries: TableId) -> Option<(Arc<Table>, Index)> {
    definitions.tables().into_iter().find_map(|table| {
        let mut indexes = table.written_indexes();
        let index = indexes.find(|index| index.def().id == entries && !index.is_complete())?.clone();
        drop(indexes);
        Some((table, index))
    })
}

/// The numbers of the entries whose build another process has left, to be built in the background. What ALTER TABLE has left that did
/// not come to another TTL is discarded.
pub(crate) fn left_builds(builder: &IndexBuilder<'_>) -> Vec<TableId> {
    let mut left = Vec::new();
    for table in builder.definitions.tables() {
        for index in &table.def().indexes {
            left.extend((index.state == IndexState::Building).then_some(index.id));
            match index.rebuild {
                Some(rebuild) if rebuild.ttl_s == table.def().ttl_s => left.push(rebuild.id),
                Some(rebuild) => builder.discard(rebuild.id),
                None => {}
            }
        }
    }
    left
}

/// The definitions of tables whose indexes are built.
pub(crate) trait BuiltTables {
    fn tables(&self) -> Vec<Arc<Table>>;

    /// The key of the last row whose entry a build that was cut short has committed.
    fn built_up_to(&self, entries: TableId) -> Result<Option<Vec<u8>>, Error>;

    /// The row, with its table, by which a build notes such a key; `None` if nothing is noted.
    fn note(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)>;

    fn alter_table(&self, name: &TableName, change: &dyn Fn(&TableDef) -> TableDef) -> Result<(), Error>;
}

impl BuiltTables for Catalog {
    fn tables(&self) -> Vec<Arc<Table>> {
        self.snapshot().tables()
    }

    fn built_up_to(&self, entries: TableId) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.index_progress(entries)?)
    }

    fn note(&self, entries: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        Some(self.index_progress_row(entries, last))
    }

    fn alter_table(&self, name: &TableName, change: &dyn Fn(&TableDef) -> TableDef) -> Result<(), Error> {
        Self::alter_table(self, name.schema.as_deref(), &name.name, |table| changed(table, change))
    }
}

/// Temporary tables end with the process, so a build that is cut short never goes on.
impl BuiltTables for SessionCatalog {
    fn tables(&self) -> Vec<Arc<Table>> {
        Self::tables(self)
    }

    fn built_up_to(&self, _: TableId) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    fn note(&self, _: TableId, _: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        None
    }

    fn alter_table(&self, name: &TableName, change: &dyn Fn(&TableDef) -> TableDef) -> Result<(), Error> {
        Self::alter_table(self, &name.name, |table| changed(table, change))
    }
}

fn changed(table: &Table, change: &dyn Fn(&TableDef) -> TableDef) -> Result<Option<TableDef>, Error> {
    Ok(Some(change(table.def())).filter(|def| def != &**table.def()))
}

/// Where indexes are built.
#[derive(Clone, Copy)]
pub(crate) struct IndexBuilder<'a> {
    pub(crate) tables: &'a dyn TableStore,
    pub(crate) definitions: &'a dyn BuiltTables,
    pub(crate) durability: Durability,
    /// Most rows whose entries are one commit.
    pub(crate) commit_rows: u64,
}

impl IndexBuilder<'_> {
    /// Builds entries and puts them in force; whether they are. They are not if another statement has dropped them, or others are
    /// to take their place.
    ///
    /// # Errors
    /// As [`IndexBuilder::build`]; the catalog's.
    pub(crate) fn complete(
        &self,
        entries: TableId,
        context: &ScanContext,
        report: impl Fn(IndexProgress),
    ) -> Result<bool, Error> {
        if !self.build(entries, context, report)? {
            return Ok(false);
        }
        self.change(entries, &|def| def.put_in_force(entries))?;
        let tables = self.definitions.tables();
        Ok(tables.iter().flat_map(|table| &table.def().indexes).any(|index| index.id == entries))
    }

    /// Writes the entries of all rows, from where the last build stopped; whether they are there in the end. `report` hears how
    /// far the build is.
    ///
    /// # Errors
    /// As [`IndexBuild::run`]; the catalog's.
    pub(crate) fn build(
        &self,
        entries: TableId,
        context: &ScanContext,
        report: impl Fn(IndexProgress),
    ) -> Result<bool, Error> {
        let rows = Cell::new(0);
        while let Some((table, index)) = find(self.definitions, entries) {
            let behind = self.definitions.built_up_to(entries)?;
            let rows_estimated = self.tables.snapshot()?.estimate(&table, &KeySet::all())?.rows;
            let committed = |more: u64| {
                rows.set(rows.get() + more);
                report(IndexProgress { rows: rows.get(), rows_estimated });
            };
            let build = IndexBuild {
                store: self.tables,
                table: &table,
                index: &index,
                context,
                durability: self.durability,
                commit_rows: self.commit_rows,
                note: &|last| self.definitions.note(entries, last),
                committed: &committed,
            };
            match build.run(behind) {
                Ok(_) => return Ok(true),
                // The table was altered: the build goes on with its new definition.
                Err(ExecError::Table(TableError::DefinitionChanged { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Discards entries whose build has failed: an index that was rebuilt keeps those that it has, and a new one is gone. If that fails,
    /// too, the next opening of the database builds them.
    pub(crate) fn discard(&self, entries: TableId) {
        if let Err(error) = self.change(entries, &|def| def.discard_entries(entries)) {
            tracing::warn!(entries = entries.0, %error, "what a failed build of an index has left is still there");
        }
    }

    /// Changes the definition of the table to which incomplete entries belong.
    fn change(&self, entries: TableId, change: &dyn Fn(&mut TableDef)) -> Result<(), Error> {
        let Some((table, _)) = find(self.definitions, entries) else { return Ok(()) };
        self.definitions.alter_table(&table.def().name, &|def| {
            let mut def = def.clone();
            change(&mut def);
            def
        })
    }
}

/// Builds in the background. They end when it is dropped, and go on when the database is opened again.
#[derive(Default)]
pub(crate) struct BackgroundBuilds(Mutex<Vec<(ScanContext, JoinHandle<()>)>>);

/// What a build in the background needs.
pub(crate) struct BackgroundBuild {
    pub(crate) tables: Arc<dyn TableStore>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) durability: Durability,
    pub(crate) commit_rows: u64,
    /// The numbers of entries, which are built one after the other.
    pub(crate) entries: Vec<TableId>,
    /// Where failures are recorded.
    pub(crate) failures: Option<Arc<EmbeddedTables>>,
}

impl BackgroundBuild {
    fn run(self, context: &ScanContext) {
        let Self { tables, catalog, durability, commit_rows, entries, failures } = self;
        let builder = IndexBuilder { tables: &*tables, definitions: &*catalog, durability, commit_rows };
        for entries in entries {
            let name = find(&*catalog, entries).map(|(_, index)| index.def().name.clone()).unwrap_or_default();
            match builder.complete(entries, context, |_| ()) {
                Err(error) if error.code() == ErrorCode::Cancelled => return,
                Err(error) => {
                    tracing::error!(index = %name, %error, "an index was not built in the background");
                    builder.discard(entries);
                    if let Some(storage) = &failures {
                        storage.note_failure("index build", &error);
                    }
                }
                Ok(_) => {}
            }
        }
    }
}

impl BackgroundBuilds {
    /// Starts a thread for a build. It logs and records errors, and discards what failed.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] if no thread can be started.
    pub(crate) fn start(&self, build: BackgroundBuild) -> Result<(), Error> {
        let context = ScanContext::new(saltwing_access::Budget::default());
        let of_thread = context.clone();
        let build = move || build.run(&of_thread);
        let thread = std::thread::Builder::new().name("saltwing-index".into()).spawn(build).map_err(|error| {
            Error::new(ErrorCode::Io, format!("the thread that builds indexes cannot be started: {error}"))
        })?;
        let mut builds = self.0.lock();
        builds.retain(|(_, thread)| !thread.is_finished());
        builds.push((context, thread));
        Ok(())
    }
}

impl Drop for BackgroundBuilds {
    fn drop(&mut self) {
        let builds = std::mem::take(&mut *self.0.lock());
        builds.iter().for_each(|(context, _)| context.cancel());
        for (_, thread) in builds {
            if thread.join().is_err() {
                tracing::error!(task = "index build", "background work panicked");
            }
        }
    }
}
