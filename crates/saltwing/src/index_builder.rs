//! Builds indexes: in a statement, which waits for the build, and in the background.
//!
//! A background build was started by a statement with ASYNC, or continues a build that the end of an earlier process has interrupted. A failed
//! build leaves nothing: a new index is dropped, and a rebuilt one keeps its old entries. Errors of background builds are logged and recorded.

use std::cell::Cell;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use saltwing_access::{Durability, Index, KeySet, ScanContext, Table, TableError, TableStore};
use saltwing_catalog::{CatalogChange, CatalogError, CatalogReader, CatalogStore, change};
use saltwing_exec::{ExecError, IndexBuild};
use saltwing_table::EmbeddedTables;
use saltwing_types::{ErrorCode, IndexState, TableDef, TableId};

use crate::Error;
use crate::progress::IndexProgress;

/// The index whose incomplete entries have this number, and its table; `None` if the entries are complete or do not exist.
fn find(catalog: &dyn CatalogReader, entries: TableId) -> Result<Option<(Arc<Table>, Index)>, CatalogError> {
    Ok(catalog.tables()?.into_iter().find_map(|table| {
        let mut indexes = table.written_indexes();
        let index = indexes.find(|index| index.def().id == entries && !index.is_complete())?.clone();
        drop(indexes);
        Some((table, index))
    }))
}

/// The numbers of incomplete entries that an earlier process has left, for background builds. Entries of an ALTER TABLE that did not
/// set its TTL are discarded.
pub(crate) fn left_builds(builder: &IndexBuilder<'_>) -> Result<Vec<TableId>, Error> {
    let mut left = Vec::new();
    for table in builder.catalog.snapshot()?.tables()? {
        for index in &table.def().indexes {
            left.extend((index.state == IndexState::Building).then_some(index.id));
            match index.rebuild {
                Some(rebuild) if rebuild.ttl_s == table.def().ttl_s => left.push(rebuild.id),
                Some(rebuild) => builder.discard(rebuild.id),
                None => {}
            }
        }
    }
    Ok(left)
}

/// Builds indexes in a store and a catalog.
#[derive(Clone, Copy)]
pub(crate) struct IndexBuilder<'a> {
    pub(crate) tables: &'a dyn TableStore,
    pub(crate) catalog: &'a dyn CatalogStore,
    pub(crate) durability: Durability,
    /// Most rows whose entries are one commit.
    pub(crate) commit_rows: u64,
}

impl IndexBuilder<'_> {
    /// Builds entries and puts them in force; returns whether they are. They are not if another statement has dropped or replaced
    /// them meanwhile.
    ///
    /// # Errors
    /// As [`IndexBuilder::build`]; errors of the catalog.
    pub(crate) fn complete(
        &self,
        entries: TableId,
        context: &ScanContext,
        report: impl Fn(IndexProgress),
    ) -> Result<bool, Error> {
        if !self.build(entries, context, report)? {
            return Ok(false);
        }
        let mut is_in_force = false;
        let is_it = |def: &TableDef| def.indexes.iter().any(|index| index.id == entries);
        change(self.catalog, |catalog| -> Result<_, Error> {
            let Some((table, _)) = find(catalog, entries)? else {
                is_in_force = catalog.tables()?.iter().any(|table| is_it(table.def()));
                return Ok(None);
            };
            let (old, mut new) = (table.def().clone(), TableDef::clone(table.def()));
            new.put_in_force(entries);
            is_in_force = is_it(&new);
            Ok((new != *old).then_some(CatalogChange::AlterTable { old, new }))
        })?;
        Ok(is_in_force)
    }

    /// Writes the entries of all rows, from the point where the last build stopped; returns whether the entries exist at the end.
    /// `report` receives the progress.
    ///
    /// # Errors
    /// As [`IndexBuild::run`]; errors of the catalog.
    pub(crate) fn build(
        &self,
        entries: TableId,
        context: &ScanContext,
        report: impl Fn(IndexProgress),
    ) -> Result<bool, Error> {
        let rows = Cell::new(0);
        while let Some((table, index)) = find(&*self.catalog.snapshot()?, entries)? {
            let behind = self.catalog.index_progress(entries)?;
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
                note: &|last| self.catalog.index_progress_row(entries, last),
                committed: &committed,
            };
            match build.run(behind) {
                Ok(_) => return Ok(true),
                // The table was altered: the build continues with the new definition.
                Err(ExecError::Table(TableError::DefinitionChanged { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Discards the entries of a failed build: a rebuilt index keeps its old entries, and a new index is dropped. If the discarding fails,
    /// too, the next opening of the database builds the entries.
    pub(crate) fn discard(&self, entries: TableId) {
        let discarded = change(self.catalog, |catalog| -> Result<_, Error> {
            let Some((table, _)) = find(catalog, entries)? else { return Ok(None) };
            let (old, mut new) = (table.def().clone(), TableDef::clone(table.def()));
            new.discard_entries(entries);
            Ok((new != *old).then_some(CatalogChange::AlterTable { old, new }))
        });
        if let Err(error) = discarded {
            tracing::warn!(entries = entries.0, %error, "what a failed build of an index has left is still there");
        }
    }
}

/// The background builds. Dropping this value stops them; they continue when the database is opened again.
#[derive(Default)]
pub(crate) struct BackgroundBuilds(Mutex<Vec<(ScanContext, JoinHandle<()>)>>);

/// The input of a background build.
pub(crate) struct BackgroundBuild {
    pub(crate) tables: Arc<dyn TableStore>,
    pub(crate) catalog: Arc<dyn CatalogStore>,
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
        let builder = IndexBuilder { tables: &*tables, catalog: &*catalog, durability, commit_rows };
        for entries in entries {
            // The lookup is only for the log.
            let known = catalog.snapshot().and_then(|snapshot| find(&*snapshot, entries)).ok().flatten();
            let name = known.map(|(_, index)| index.def().name.clone()).unwrap_or_default();
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
    /// Starts a thread for a build. The thread logs and records errors, and discards failed builds.
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
