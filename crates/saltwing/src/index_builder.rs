//! Builds of indexes: by a statement that waits for it, and in the background.
//!
//! A build in the background belongs to CREATE INDEX .. ASYNC, or was cut short by the end of the process before. One that
//! fails is logged, and its index stays as it is: ALTER INDEX .. REBUILD tells the error.

use std::cell::Cell;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use saltwing_access::{Durability, KeySet, ScanContext, Table, TableError, TableStore};
use saltwing_catalog::{Catalog, SessionCatalog};
use saltwing_exec::{ExecError, IndexBuild};
use saltwing_table::EmbeddedTables;
use saltwing_types::table::is_same_name;
use saltwing_types::{ErrorCode, IndexState, TableDef, TableId, TableName, Value};

use crate::Error;
use crate::progress::IndexProgress;

/// An index by its schema and its name, which no other index of the schema has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexName {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

impl IndexName {
    fn is_schema_of(&self, def: &TableDef) -> bool {
        match (&self.schema, &def.name.schema) {
            (None, None) => true,
            (Some(a), Some(b)) => is_same_name(a, b),
            _ => false,
        }
    }

    /// The table of the index, and its place there, if it is to be built.
    fn find(&self, definitions: &impl BuiltTables) -> Option<(Arc<Table>, usize)> {
        let tables = definitions.tables().into_iter().filter(|table| self.is_schema_of(table.def()));
        let found = tables.filter_map(|table| Some((table.def().index_place(&self.name)?, table)));
        found
            .map(|(place, table)| (table, place))
            .find(|(table, place)| table.def().indexes.get(*place).is_some_and(|i| i.state == IndexState::Building))
    }
}

/// The indexes of a catalog that are not complete.
pub(crate) fn incomplete(catalog: &Catalog) -> Vec<IndexName> {
    let tables = catalog.snapshot().tables();
    let of_table = |table: &Arc<Table>| {
        let def = table.def();
        let building = def.indexes.iter().filter(|index| index.state == IndexState::Building);
        building
            .map(|index| IndexName { schema: def.name.schema.clone(), name: index.name.clone() })
            .collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

/// The definitions of tables whose indexes are built.
pub(crate) trait BuiltTables {
    fn tables(&self) -> Vec<Arc<Table>>;

    /// The key of the last row whose entry a build that was cut short has committed.
    fn built_up_to(&self, index: TableId) -> Result<Option<Vec<u8>>, Error>;

    /// The row, with its table, by which a build notes such a key; `None` if nothing is noted.
    fn note(&self, index: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)>;

    fn alter_table(
        &self,
        name: &TableName,
        change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
    ) -> Result<(), Error>;
}

impl BuiltTables for Arc<Catalog> {
    fn tables(&self) -> Vec<Arc<Table>> {
        self.snapshot().tables()
    }

    fn built_up_to(&self, index: TableId) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.index_progress(index)?)
    }

    fn note(&self, index: TableId, last: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        Some(self.index_progress_row(index, last))
    }

    fn alter_table(
        &self,
        name: &TableName,
        change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
    ) -> Result<(), Error> {
        Catalog::alter_table(self, name.schema.as_deref(), &name.name, change)
    }
}

/// Temporary tables end with the process, so a build that is cut short never goes on.
impl BuiltTables for &SessionCatalog {
    fn tables(&self) -> Vec<Arc<Table>> {
        SessionCatalog::tables(self)
    }

    fn built_up_to(&self, _: TableId) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    fn note(&self, _: TableId, _: &[u8]) -> Option<(Arc<Table>, Vec<Value>)> {
        None
    }

    fn alter_table(
        &self,
        name: &TableName,
        change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
    ) -> Result<(), Error> {
        SessionCatalog::alter_table(self, &name.name, change)
    }
}

/// Where indexes are built.
#[derive(Clone)]
pub(crate) struct IndexBuilder<D> {
    pub(crate) tables: Arc<dyn TableStore>,
    pub(crate) definitions: D,
    pub(crate) durability: Durability,
}

impl<D: BuiltTables> IndexBuilder<D> {
    /// Writes the entries of all rows, from where the last build stopped, and makes the index ready. An index that is gone or
    /// complete is left as it is. `report` hears how far the build is.
    ///
    /// # Errors
    /// As [`IndexBuild::run`]; the catalog's.
    pub(crate) fn build(
        &self,
        index: &IndexName,
        context: &ScanContext,
        report: impl Fn(IndexProgress),
    ) -> Result<(), Error> {
        let rows = Cell::new(0);
        while let Some((table, place)) = index.find(&self.definitions) {
            let Some(id) = table.def().indexes.get(place).map(|index| index.id) else { break };
            let behind = self.definitions.built_up_to(id)?;
            let rows_estimated = self.tables.snapshot()?.estimate(&table, &KeySet::all())?.rows;
            let committed = |more: u64| {
                rows.set(rows.get() + more);
                report(IndexProgress { rows: rows.get(), rows_estimated });
            };
            let build = IndexBuild {
                store: &*self.tables,
                table: &table,
                place,
                context,
                durability: self.durability,
                note: &|last| self.definitions.note(id, last),
                committed: &committed,
            };
            match build.run(behind) {
                Ok(_) => self.make_ready(index, &table, id)?,
                // The table was altered: the build goes on with its new definition.
                Err(ExecError::Table(TableError::DefinitionChanged { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sets the state of an index to ready. Does nothing if its id is no longer `id`: then another statement rebuilds it.
    fn make_ready(&self, index: &IndexName, built: &Table, id: TableId) -> Result<(), Error> {
        let name = &built.def().name;
        let ready = |table: &Arc<Table>| {
            let mut def = TableDef::clone(table.def());
            let place = def.index_place(&index.name);
            let found = place.and_then(|place| def.indexes.get_mut(place)).filter(|index| index.id == id);
            let Some(index) = found else { return Ok(None) };
            index.state = IndexState::Ready;
            Ok::<_, Error>(Some(def))
        };
        self.definitions.alter_table(name, ready)
    }
}

/// Builds in the background. They end when it is dropped, and go on when the database is opened again.
#[derive(Default)]
pub(crate) struct BackgroundBuilds(Mutex<Vec<(ScanContext, JoinHandle<()>)>>);

impl BackgroundBuilds {
    /// Starts a thread that builds the indexes one after the other. It logs errors, and records them in the storage `failures`.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] if no thread can be started.
    pub(crate) fn start(
        &self,
        builder: IndexBuilder<Arc<Catalog>>,
        indexes: Vec<IndexName>,
        failures: Option<Arc<EmbeddedTables>>,
    ) -> Result<(), Error> {
        let context = ScanContext::new(saltwing_access::Budget::default());
        let of_thread = context.clone();
        let build = move || {
            for index in indexes {
                match builder.build(&index, &of_thread, |_| ()) {
                    Err(error) if error.code() == ErrorCode::Cancelled => return,
                    Err(error) => {
                        tracing::error!(index = %index.name, %error, "an index was not built in the background");
                        if let Some(storage) = &failures {
                            storage.note_failure("index build", &error);
                        }
                    }
                    Ok(()) => {}
                }
            }
        };
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
