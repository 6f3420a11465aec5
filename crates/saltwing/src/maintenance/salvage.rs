//! A new database from the readable part of a damaged one.

use std::path::Path;
use std::sync::Arc;

use saltwing_access::{Budget, Durability, Examine, OldRow, RowChange, ScanContext, Table, TableError, WriteBatch};
use saltwing_bind::{index_text, table_path};
use saltwing_catalog::{CatalogChange, CatalogError, PUBLIC_SCHEMA, ReadableCatalog};
use saltwing_sql::quote_name;
use saltwing_store::{Access, LeftOut};
use saltwing_types::table::{TableHistory, is_same_name};
use saltwing_types::{ErrorCode, IndexState, TableDef, TableName};

use super::check::{Fault, Source};
use super::new_place::NewPlace;
use crate::password::fill_randomly;
use crate::{Builder, Database, Error, Loss};

/// Bytes of rows in one commit.
const COMMIT_BYTES: usize = 4 << 20;

/// The saved rows, and the losses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvageReport {
    /// The tables that were created.
    pub tables: Vec<SalvagedTable>,
    /// The losses, with their causes.
    pub lost: Vec<Fault>,
    /// Damage that lost no row.
    pub mended: Vec<Fault>,
}

/// A table of a salvaged database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvagedTable {
    /// The name.
    pub name: String,
    /// The number of copied rows.
    pub rows: u64,
}

impl Builder {
    /// Creates the database from the readable part of a damaged one, which is not changed. The directory must not exist
    /// or must be empty; it appears after everything is copied. By default the new database has the same kind of store as
    /// the damaged one.
    ///
    /// Rows keep their write times; expired rows are left out.
    ///
    /// # Errors
    /// [`ErrorCode::BadArgument`] if the directory is not empty; [`ErrorCode::Locked`] if the damaged database is open for writing;
    /// an error of the store, if nothing can be read from the damaged database's files; [`ErrorCode::DiskFull`]. Losses are not errors.
    pub fn salvage(self, damaged: impl AsRef<Path>) -> Result<SalvageReport, Error> {
        let Some(path) = self.path.clone() else {
            return Err(Error::new(ErrorCode::BadArgument, "a database is salvaged into a directory"));
        };
        let source = Self::new(Some(damaged.as_ref().to_owned())).readonly(true).create(false);
        let kind = source.kind_at(damaged.as_ref())?;
        let context = ScanContext::new(Budget::default());
        let store = source.open_store_for(Access::Salvage)?;
        let left_out = store.left_out().iter().map(of_files).collect();
        let source = Source::open(store, self.clock.clone(), &context)?;
        let place = NewPlace::begin(&path)?;
        let kind = self.store.unwrap_or(kind);
        let target = Self { path: Some(place.unfinished().to_path_buf()), ..self }.store(kind).sweep_every(None);
        let target = target.open()?;
        let report = Copying {
            source: &source,
            target: &target,
            context,
            report: SalvageReport { lost: left_out, ..SalvageReport::default() },
        };
        let report = report.run()?;
        target.close()?;
        place.finish()?;
        Ok(report)
    }
}

/// A running salvage.
pub(super) struct Copying<'a> {
    pub(super) source: &'a Source,
    pub(super) target: &'a Database,
    pub(super) context: ScanContext,
    pub(super) report: SalvageReport,
}

impl Copying<'_> {
    pub(super) fn run(mut self) -> Result<SalvageReport, Error> {
        self.source.report.faults.iter().for_each(|fault| self.tell(fault.clone()));
        let catalog = &self.target.shared.catalog;
        for schema in schemas(&self.source.catalog) {
            catalog.apply(CatalogChange::RestoreSchema(schema))?;
        }
        for (def, position) in &self.source.catalog.sequences {
            let change = CatalogChange::CreateSequence { def: def.clone(), position: *position };
            if let Err(failed) = catalog.apply(change) {
                self.refused("sequence", &def.name, failed.error)?;
            }
        }
        for table in &self.source.catalog.tables {
            let (def, name) = (as_new(table.def()), &table.def().name);
            let change = CatalogChange::CreateTable { def, sequences: Vec::new(), temporary: false };
            match catalog.apply(change) {
                Ok(_) => {
                    let target = catalog.snapshot()?.resolve(name.schema.as_deref(), &name.name)?;
                    self.copy(table, &target)?;
                    self.indexes(table.def());
                }
                Err(failed) => self.refused("table", name, failed.error)?,
            }
        }
        self.views()?;
        self.users()?;
        Ok(self.report)
    }

    /// Creates the views, each after the views that it uses.
    fn views(&mut self) -> Result<(), Error> {
        let catalog = &self.target.shared.catalog;
        let mut waiting = self.source.catalog.views.clone();
        while !waiting.is_empty() {
            let (count, mut refused) = (waiting.len(), Vec::new());
            for view in waiting {
                let change =
                    CatalogChange::CreateView { def: view.clone(), replaces: false, version: catalog.version() };
                if let Err(failed) = catalog.apply(change) {
                    refused.push((view, failed.error));
                }
            }
            if refused.len() == count {
                for (view, error) in refused {
                    self.refused("view", &view.name, error)?;
                }
                return Ok(());
            }
            waiting = refused.into_iter().map(|(view, _)| view).collect();
        }
        Ok(())
    }

    /// Creates the users, after the objects of their grants. Grants on lost objects are lost.
    fn users(&mut self) -> Result<(), Error> {
        let mut secret = [0; 32];
        fill_randomly(&mut secret)?;
        for def in &self.source.catalog.users {
            let change = CatalogChange::CreateUser { def: def.clone(), secret };
            if let Err(failed) = self.target.shared.catalog.apply(change) {
                self.refused("user", &TableName::bare(&def.name), failed.error)?;
            }
        }
        Ok(())
    }

    /// Records an object that the new catalog refuses.
    fn refused(&mut self, kind: &str, name: &TableName, error: CatalogError) -> Result<(), Error> {
        if let CatalogError::Table(_) = error {
            return Err(error.into());
        }
        self.tell(Fault {
            table: Some(name.to_string()),
            space: "catalog".into(),
            place: "definition".into(),
            what: format!("the {kind} cannot be made: {error}"),
            loss: Loss::Unknown,
        });
        Ok(())
    }

    fn tell(&mut self, fault: Fault) {
        let Fault { loss, .. } = &fault;
        if *loss == Loss::Nothing { self.report.mended.push(fault) } else { self.report.lost.push(fault) }
    }

    /// Creates the indexes of a table after its rows are copied. The entries are built from these rows, not copied from the old database.
    fn indexes(&mut self, def: &TableDef) {
        let connection = self.target.connect().blocking();
        for index in &def.indexes {
            let (name, table) = (quote_name(&index.name), table_path(&def.name));
            let is_disabled = index.state == IndexState::Disabled;
            let disable = is_disabled.then(|| format!("ALTER INDEX {name} ON {table} DISABLE"));
            let mut statements = [index_text(def, index)].into_iter().chain(disable);
            if let Err(error) = statements.try_for_each(|sql| connection.execute(&sql, ()).map(drop)) {
                self.tell(Fault {
                    table: Some(def.name.to_string()),
                    space: "catalog".into(),
                    place: format!("index {}", index.name),
                    what: format!("the index cannot be made: {error}"),
                    loss: Loss::Nothing,
                });
            }
        }
    }

    fn copy(&mut self, table: &Arc<Table>, target: &Arc<Table>) -> Result<(), Error> {
        let store = &self.target.shared.tables;
        let ttl_ms = table.def().ttl_s.and_then(|seconds| i64::try_from(seconds).ok()?.checked_mul(1000));
        let expired_ms = ttl_ms.and_then(|ttl_ms| store.now_ms().checked_sub(ttl_ms));
        let (mut writes, mut rows, mut refused) = (store.batch(), 0u64, Vec::new());
        let commit = |writes: &mut Box<dyn WriteBatch>| -> Result<(), TableError> {
            std::mem::replace(writes, store.batch()).commit(Durability::Buffered).map(drop)
        };
        let examined = self.source.tables.examine(table, &self.context, &mut |row| {
            if expired_ms.is_some_and(|limit_ms| row.written_ms <= limit_ms) {
                return Ok(());
            }
            let change = RowChange::Put { new: &row.values, old: OldRow::Unknown, written_ms: Some(row.written_ms) };
            match writes.apply(target, change, None) {
                Ok(()) => rows += 1,
                Err(error) => refused.push(error),
            }
            if writes.bytes() >= COMMIT_BYTES { commit(&mut writes) } else { Ok(()) }
        })?;
        commit(&mut writes)?;
        let name = table.def().name.to_string();
        for error in refused {
            let loss = Loss::Rows { count: 1, keys: None };
            let (space, place) = ("rows".into(), "a row".into());
            self.tell(Fault { table: Some(name.clone()), space, place, what: error.to_string(), loss });
        }
        examined.damages.into_iter().for_each(|damage| self.tell(self.source.names.fault(damage)));
        self.report.tables.push(SalvagedTable { name, rows });
        Ok(())
    }
}

/// The schemas to create before the objects in them. Without its own schema, an object in a schema `public` would be one in the default schema,
/// so that schema is created also if its definition is lost.
fn schemas(source: &ReadableCatalog) -> Vec<&str> {
    let is_public = |schema: &&str| is_same_name(schema, PUBLIC_SCHEMA);
    let mut schemas: Vec<&str> = source.schemas.iter().map(|schema| schema.name.as_str()).collect();
    if !schemas.iter().any(is_public) {
        let tables = source.tables.iter().map(|table| &table.def().name);
        let sequences = source.sequences.iter().map(|(def, _)| &def.name);
        let names = tables.chain(sequences).chain(source.views.iter().map(|view| &view.name));
        schemas.extend(names.filter_map(|name| name.schema.as_deref()).find(is_public));
    }
    schemas
}

/// Damage of the store's own files. Reading the rows shows which tables are concerned.
fn of_files(left_out: &LeftOut) -> Fault {
    let LeftOut { file, place, what } = left_out.clone();
    Fault { table: None, space: file, place, what, loss: Loss::Unknown }
}

/// The definition of a table without its history, because all rows are rewritten, and without indexes, which are created later.
fn as_new(def: &TableDef) -> TableDef {
    let mut new = TableDef { history: TableHistory::default(), indexes: Vec::new(), ..def.clone() };
    for family in 0..def.families.len() {
        let slots = def.slots(family).into_iter().filter_map(|(_, column)| column);
        for (slot, column) in (0..).zip(slots) {
            new.columns.get_mut(column).into_iter().for_each(|column| column.slot = slot);
        }
    }
    new
}
