//! Builds of indexes: by a statement that waits for it, and in the background.
//!
//! A build in the background belongs to a statement with ASYNC, or was cut short by the end of the process before. A build that fails leaves
//! nothing: a new index is gone, and one that was rebuilt has the entries that it had. In the background the error is logged and recorded.

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

/// The index whose entries have this number, and its table, if the entries are not complete.
fn find(catalog: &dyn CatalogReader, entries: TableId) -> Result<Option<(Arc<Table>, Index)>, CatalogError> {
    Ok(catalog.tables()?.into_iter().find_map(|table| {
        let mut indexes = table.written_indexes();
        let index = indexes.find(|index| index.def().id == entries && !index.is_complete())?.clone();
        drop(indexes);
        Some((table, index))
    }))
}

/// The numbers of the entries whose build another process has left, to be built in the background. What ALTER TABLE has left that did
/// not come to another TTL is discarded.
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

/// Where indexes are built.
#[derive(Clone, Copy)]
pub(crate) struct IndexBuilder<'a> {
    pub(crate) tables: &'a dyn TableStore,
    pub(crate) catalog: &'a dyn CatalogStore,
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

/// Builds in the background. They end when it is dropped, and go on when the database is opened again.
#[derive(Default)]
pub(crate) struct BackgroundBuilds(Mutex<Vec<(ScanContext, JoinHandle<()>)>>);

/// What a build in the background needs.
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
            // It is for the log alone.
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
