//! Checks a database for damage.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use saltwing_access::{Budget, Clock, Damage, Examine, Loss, ScanContext, Table};
use saltwing_catalog::ReadableCatalog;
use saltwing_store::OrderedKv;
use saltwing_table::EmbeddedTables;
use saltwing_types::{IndexDef, TableId};

use super::index_check::ExpectedEntries;
use crate::{Builder, Database, Error};

/// The findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The number of tables whose definitions can be read.
    pub tables: u64,
    /// The number of readable rows of these tables, including expired ones that are still stored.
    pub rows: u64,
    /// The number of blocks with these rows.
    pub blocks: u64,
    /// The stored bytes of these blocks, and of rows that are not in blocks yet.
    pub bytes: u64,
    /// The damage; empty for a sound database.
    pub faults: Vec<Fault>,
}

/// One defect of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The table, by name, or by number if its definition cannot be read; `None` if the defect concerns all tables.
    pub table: Option<String>,
    /// The part of the storage, with the number of its space in the store: `directory (space 4)`; or the store's own file,
    /// below the database's directory.
    pub space: String,
    /// The block, record or key in this space.
    pub place: String,
    /// The mismatch.
    pub what: String,
    /// The rows that cannot be read because of the defect.
    pub loss: Loss,
}

impl CheckReport {
    /// Whether the check found no defect.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "{table}: ")?;
        }
        write!(f, "{}, {}: {}", self.space, self.place, self.what)?;
        match &self.loss {
            Loss::Nothing => Ok(()),
            loss => write!(f, "; {loss}"),
        }
    }
}

impl Builder {
    /// Reads everything that is stored in the database's directory and verifies it: checksums,
    /// order, counts and summaries of blocks, rows against their tables, the catalog. Tables that cannot be opened are checked, too.
    ///
    /// # Errors
    /// [`saltwing_types::ErrorCode::Locked`] if the database is open for writing; an error of the store, if its files cannot be opened. All other
    /// defects are in the report.
    pub fn check(&self) -> Result<CheckReport, Error> {
        let source = self.clone().readonly(true).create(false);
        check(source.open_store()?, self.clock.clone(), &ScanContext::new(Budget::default()))
    }
}

impl Database {
    /// As [`Builder::check`], for one snapshot of an open database; statements continue meanwhile.
    ///
    /// # Errors
    /// Errors of the store. Damage is in the report.
    pub fn check(&self) -> Result<CheckReport, Error> {
        let (storage, context) = (self.shared.storage("a check")?, ScanContext::new(Budget::default()));
        storage.at_one_moment(|kv| check(kv, storage.clock().clone(), &context))
    }
}

pub(super) fn check(
    kv: Arc<dyn OrderedKv>,
    clock: Arc<dyn Clock>,
    context: &ScanContext,
) -> Result<CheckReport, Error> {
    let source = Source::open(kv, clock.clone(), context)?;
    let mut report = source.report.clone();
    for table in &source.catalog.tables {
        let mut entries = ExpectedEntries::of(table, clock.now_ms());
        let examined = source.tables.examine(table, context, &mut |row| {
            entries.add(table, &row);
            Ok(())
        })?;
        report.rows += examined.rows;
        report.blocks += examined.blocks;
        report.bytes += examined.bytes;
        report.faults.extend(examined.damages.into_iter().map(|damage| source.names.fault(damage)));
        for index in table.written_indexes() {
            let examined = source.tables.examine(index.entries(), context, &mut |_| Ok(()))?;
            report.blocks += examined.blocks;
            report.bytes += examined.bytes;
            // A damaged index entry loses no data: a rebuild writes it again from its row.
            let damages = examined.damages.into_iter().map(|damage| damage.losing(Loss::Nothing));
            report.faults.extend(damages.map(|damage| source.names.fault(damage)));
        }
        let differences = entries.differences(&source.tables, table, context)?;
        report.faults.extend(differences.into_iter().map(|damage| source.names.fault(damage)));
    }
    Ok(report)
}

/// The readable tables of a store.
pub(super) struct Source {
    pub(super) tables: EmbeddedTables,
    pub(super) catalog: ReadableCatalog,
    pub(super) names: Names,
    /// The damage outside the rows of tables.
    pub(super) report: CheckReport,
}

impl Source {
    pub(super) fn open(kv: Arc<dyn OrderedKv>, clock: Arc<dyn Clock>, context: &ScanContext) -> Result<Self, Error> {
        let (tables, damages) = EmbeddedTables::open_readable(kv, clock, context)?;
        let catalog = ReadableCatalog::read(&tables, context)?;
        let names = Names::of(&catalog);
        let own = &catalog.examined;
        let strangers = tables.strangers().into_iter().filter(|(id, _)| !catalog.dropped.contains(id));
        let unknown = strangers.map(|(id, count)| Damage {
            table: Some(id),
            space: "catalog",
            place: format!("table number {}", id.0),
            what: "no definition of it can be read".into(),
            loss: Loss::Rows { count, keys: None },
        });
        let all = damages.into_iter().chain(own.damages.iter().cloned()).chain(unknown);
        let report = CheckReport {
            tables: catalog.tables.len() as u64,
            rows: 0,
            blocks: own.blocks,
            bytes: own.bytes,
            faults: all.map(|damage| names.fault(damage)).collect(),
        };
        Ok(Self { tables, catalog, names, report })
    }
}

/// The names of tables by their numbers.
pub(super) struct Names(BTreeMap<TableId, String>);

impl Names {
    fn of(catalog: &ReadableCatalog) -> Self {
        let names = |table: &Arc<Table>| {
            let def = table.def().clone();
            let named = |index: &IndexDef| format!("index {} of {}", index.name, def.name);
            let entries = |index: &IndexDef| index.ids().map(|id| (id, named(index))).collect::<Vec<_>>();
            let indexes: Vec<(TableId, String)> = def.indexes.iter().flat_map(entries).collect();
            indexes.into_iter().chain([(def.id, def.name.to_string())])
        };
        let tables = catalog.tables.iter().flat_map(names);
        Self(tables.chain(catalog.own.clone()).collect())
    }

    pub(super) fn fault(&self, damage: Damage) -> Fault {
        let Damage { table, space, place, what, loss } = damage;
        let name = |id: TableId| self.0.get(&id).cloned().unwrap_or_else(|| format!("table number {}", id.0));
        Fault { table: table.map(name), space: space.to_owned(), place, what, loss }
    }
}
