//! ALTER TABLE and COMMENT ON.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{RowChecks, alter_table, check_new_names, commented, resolve, unfit_last_column};
use saltwing_catalog::CatalogError;
use saltwing_exec::{ExecError, broken_row};
use saltwing_sql::statement::{AlterTable, Comment, TableChange};
use saltwing_sql::{ColumnName, TableRef};
use saltwing_types::{ErrorCode, IndexState, TableDef, TableId};

use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;

/// The names that columns are to have.
fn new_names(change: &TableChange) -> Vec<ColumnName> {
    match change {
        TableChange::Add { columns, .. } => columns.iter().map(|column| column.name.clone()).collect(),
        TableChange::RenameColumn { column, to } => {
            vec![ColumnName { family: column.family.clone(), name: to.clone() }]
        }
        _ => Vec::new(),
    }
}

/// Whether a new TTL shows entries that are not those of the rows. Rows and their entries are deleted apart from each other when they
/// are expired, and without TTL the time of an entry does not follow that of its row. A shorter TTL shows none of them.
fn outdates_entries(old: &TableDef, new: &TableDef) -> bool {
    let is_shorter = matches!((old.ttl_s, new.ttl_s), (Some(old), Some(new)) if new <= old);
    old.ttl_s != new.ttl_s && !is_shorter && !new.indexes.is_empty()
}

fn names_of_disabled(def: &TableDef) -> Vec<String> {
    let disabled = def.indexes.iter().filter(|index| index.state == IndexState::Disabled);
    disabled.map(|index| index.name.clone()).collect()
}

/// The definition with indexes that have no entries yet.
fn with_indexes_emptied(mut def: TableDef) -> TableDef {
    for index in &mut def.indexes {
        (index.id, index.state) = (TableId(0), IndexState::Building);
    }
    def
}

impl Session {
    pub(crate) fn run_alter_table(&self, alter: &AlterTable) -> Result<Outcome, Error> {
        self.writable()?;
        let name = &alter.table;
        // Adds the position of the name to an error.
        let table = resolve(&*self.catalog(), name)?;
        check_new_names(table.def(), &new_names(&alter.change), &*self.catalog())?;
        let mut met: Option<String> = None;
        loop {
            let (mut notices, mut new_check, mut is_step, mut outdated) = (Vec::new(), None, false, None);
            let change = |table: &Arc<Table>| -> Result<_, Error> {
                let altered = alter_table(alter, table, met.as_deref())?;
                (notices, new_check, is_step) = (altered.notices, altered.new_check, altered.is_step);
                let Some(def) = altered.def else { return Ok(None) };
                if !outdates_entries(table.def(), &def) {
                    return Ok(Some(def));
                }
                outdated = Some(table.clone());
                Ok(Some(with_indexes_emptied(def)))
            };
            self.change_definition(name, change).map_err(|error| error.at(Some(name.span())))?;
            if let Some(before) = &outdated {
                self.build_indexes_anew(name, before.def()).map_err(|error| error.at(Some(name.span())))?;
            }
            if let Some(check) = &new_check {
                self.check_stored_rows(name, check, is_step)?;
            }
            if !is_step {
                return Ok(ExecResult::noticed(notices).into());
            }
            met = new_check;
        }
    }

    /// Builds the indexes of a table with another TTL. If that fails, because a row that came back has a value of another one or no
    /// entry, the table gets its old TTL back. A first TTL stays: rows may be deleted by it already, and no row came back.
    fn build_indexes_anew(&self, name: &TableRef, before: &TableDef) -> Result<(), Error> {
        let disabled = names_of_disabled(before);
        let Err(error) = self.build_indexes(name, &disabled) else { return Ok(()) };
        // A user who ends the statement waits for no other build.
        if before.ttl_s.is_some() && !matches!(error.code(), ErrorCode::Cancelled | ErrorCode::Timeout) {
            let back = |table: &Arc<Table>| {
                let def =
                    TableDef { ttl_s: before.ttl_s, options: before.options.clone(), ..TableDef::clone(table.def()) };
                Ok(Some(with_indexes_emptied(def)))
            };
            // The first error says more.
            if let Err(failed) = self.change_definition(name, back).and_then(|()| self.build_indexes(name, &disabled)) {
                tracing::warn!(table = %before.name, error = %failed, "a table whose TTL was not changed has incomplete indexes");
            }
        }
        Err(error)
    }

    /// Checks the rows of a table against a constraint that is new, and drops it again if they break it.
    ///
    /// All writes that come later obey the constraint already. So a row that breaks it was there before.
    fn check_stored_rows(&self, name: &TableRef, check: &str, is_step: bool) -> Result<(), Error> {
        let table = resolve(&*self.catalog(), name)?;
        let checks = RowChecks::of(&table)?;
        let Some(check) = checks.as_ref().and_then(|checks| checks.named(check)) else { return Ok(()) };
        let broken = self.snapshot().and_then(|rows| match is_step {
            // Another TTL would show rows that are expired now.
            true => {
                let all = Table::new(Arc::new(TableDef { ttl_s: None, ..TableDef::clone(table.def()) }))?;
                Ok(broken_row(&Arc::new(all), check, &*rows, self.begin())?)
            }
            false => Ok(broken_row(&table, check, &*rows, self.begin())?),
        });
        let error = match broken {
            Ok(None) => return Ok(()),
            Ok(Some(ExecError::Check { key, .. })) if is_step => unfit_last_column(table.def(), &key).into(),
            Ok(Some(broken)) => Error::from(broken),
            Err(error) => error,
        };
        self.change_definition(name, |table| {
            let mut def = TableDef::clone(table.def());
            def.checks.retain(|other| other.name != check.name);
            Ok(Some(def))
        })?;
        Err(error.at(Some(name.span())))
    }

    pub(crate) fn run_comment(&self, comment: &Comment) -> Result<Outcome, Error> {
        self.writable()?;
        let (catalog, text) = (&self.shared().catalog, comment.text.as_ref());
        let commented = commented(comment, &*self.catalog())?;
        let (schema, name) = commented.name.parts();
        let no_view = || CatalogError::NoSuchView { name: name.to_owned(), nearest: None };
        let done = match commented.is_view {
            true => catalog.create_view(true, |catalog| -> Result<_, Error> {
                let view = catalog.view(schema, name).ok_or_else(no_view)?;
                Ok(commented.view(&view, text)?)
            }),
            false => self.change_definition(&commented.name, |table| {
                Ok(Some(commented.table(table, text)?).filter(|def| *def != **table.def()))
            }),
        };
        done.map_err(|error| error.at(Some(commented.name.span())))?;
        Ok(ExecResult::default().into())
    }
}
