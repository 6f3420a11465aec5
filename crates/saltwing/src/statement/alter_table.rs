//! ALTER TABLE.

use std::sync::Arc;

use saltwing_access::{AtomicScope, Table};
use saltwing_bind::{AlterStep, ParamValues, RowChecks, alter_table, check_new_names, resolve, without_new_values};
use saltwing_exec::{ExecError, broken_row};
use saltwing_sql::statement::{AlterTable, ColumnChange, TableChange};
use saltwing_sql::{ColumnName, TableRef, parse_one};
use saltwing_types::{ErrorCode, IndexState, Rebuild, TableDef, TableId};

use super::describer::Describer;
use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target, run_statement};
use crate::Error;
use crate::computed::check_defaults;
use crate::description::Description;
use crate::indexes::{build_new_entries, discard_new_entries, discard_rebuilds};
use crate::outcome::{ExecResult, Outcome};
use crate::sequences::sequences_of_defaults;
use crate::session::Session;
use crate::statement_plans::PlanCache;
use crate::temporary::change_definition;

impl StatementKind for AlterTable {
    fn tag(&self) -> &'static str {
        "ALTER TABLE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("ALTER TABLE")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let altered = alter_table(self, &resolve(&*describer.catalog()?, &self.table)?, None)?;
        if let (TableChange::AlterColumn { .. }, Some(def)) = (&self.change, &altered.def) {
            check_defaults(describer.session(), def).map_err(|error| error.at(Some(self.table.span())))?;
            describer.sequences.extend(sequences_of_defaults(def.columns.iter())?);
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let AlterTable { table, change } = self;
        let (change, rows) = match change {
            TableChange::Add { columns, .. } => {
                let names = listed(columns.iter().map(|column| &column.name));
                let rows = match columns.iter().any(|column| column.primary_key.is_some()) {
                    true => "all are read if the last key column may have values that only the end of a key holds",
                    false => NO_ROWS,
                };
                (format!("adds columns {names} to table {table}"), rows)
            }
            TableChange::Drop { columns, .. } => {
                (format!("drops columns {} of table {table}", listed(columns)), NO_ROWS)
            }
            TableChange::AddCheck(check) => {
                let change = format!("adds CHECK ({}) to table {table}", check.text);
                (change, "all are read, until one is found that breaks the constraint")
            }
            TableChange::DropConstraint { name, .. } => {
                (format!("drops constraint {} of table {table}", name.text), NO_ROWS)
            }
            TableChange::Set { .. } => (format!("changes options of table {table}"), NO_ROWS),
            TableChange::Rename { to } => (format!("renames table {table} to {}", to.text), NO_ROWS),
            TableChange::RenameColumn { column, to } => {
                (format!("renames column {column} of table {table} to {}", to.text), NO_ROWS)
            }
            TableChange::AlterColumn { column, change } => {
                let (what, rows) = effects_on_column(change);
                (format!("{what} of column {column} of table {table}"), rows)
            }
        };
        Effects::catalog(change, rows)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let name = &self.table;
        // Adds the position of the name to an error.
        let table = resolve(&*session.catalog()?, name)?;
        check_new_names(table.def(), &new_names(&self.change), &*session.whole_catalog()?)?;
        let mut met: Option<AlterStep> = None;
        loop {
            let done = alter_once(session, self, met.as_ref()).map_err(|error| error.at(Some(name.span())))?;
            if let Some(check) = &done.new_check {
                check_stored_rows(session, name, check, None)?;
            }
            match &done.step {
                None => return Ok(ExecResult::noticed(done.notices).into()),
                Some(AlterStep::NewValues { column, set, table }) => write_new_values(run, name, (column, set, table))?,
                Some(step) => {
                    step.check().map_or(Ok(()), |check| check_stored_rows(session, name, check, Some(step)))?
                }
            }
            met = done.step;
        }
    }
}

/// What changes, and what is done with the rows.
fn effects_on_column(change: &ColumnChange) -> (&'static str, &'static str) {
    match change {
        ColumnChange::SetDefault(_) => ("changes the DEFAULT", NO_ROWS),
        ColumnChange::DropDefault => ("drops the DEFAULT", NO_ROWS),
        ColumnChange::SetNotNull => ("sets NOT NULL", "all are read, until one is found that has NULL"),
        ColumnChange::DropNotNull => ("drops NOT NULL", NO_ROWS),
        ColumnChange::Type { .. } => {
            ("changes the type", "all are written again, unless their values have the same form in the new type")
        }
    }
}

/// # Errors
/// A store that writes each row by itself: rows of the new type would stand beside rows of the old one.
fn check_rewritable(session: &Session, column: &str) -> Result<(), Error> {
    if session.shared().tables.capabilities().atomic == AtomicScope::Store {
        return Ok(());
    }
    let text =
        format!("not supported: another type for {column}, for which all rows are written again, over this store");
    let help = "ALTER TABLE t ADD a column of the type, UPDATE t SET new = old, and DROP COLUMN old";
    Err(Error::new(ErrorCode::NotSupported, text).with_help(Some(help)))
}

/// Writes all rows again, so that the hidden column gets its values. Rows that other statements write meanwhile have them, too. If that fails, the
/// hidden column is dropped.
fn write_new_values(run: &Run<'_>, name: &TableRef, (hidden, set, table): (&str, &str, &str)) -> Result<(), Error> {
    let update = parse_one(&format!("UPDATE /*+ FULL_SCAN */ {table} SET {set} = {set}"))?.statement;
    let written = run_statement(run.session, &update, ParamValues::NONE, &PlanCache::default());
    let Err(error) = written else { return Ok(()) };
    let undone = change_definition(run.session, name, |table| Ok(without_new_values(table.def(), hidden)));
    if let Err(failed) = undone {
        tracing::warn!(table = %name, column = hidden, error = %failed, "the hidden column of a failed ALTER COLUMN is still there");
    }
    // Its position is that of a text that the user has not written.
    Err(error.at_instead(Some(name.span())))
}

/// The new names of columns.
fn new_names(change: &TableChange) -> Vec<ColumnName> {
    match change {
        TableChange::Add { columns, .. } => columns.iter().map(|column| column.name.clone()).collect(),
        TableChange::RenameColumn { column, to } => {
            vec![ColumnName { family: column.family.clone(), name: to.clone() }]
        }
        _ => Vec::new(),
    }
}

/// Whether a new TTL would make entries visible that do not match the rows. Expired rows and their entries are deleted independently of each
/// other, and without a TTL the time of an entry does not follow that of its row. A shorter TTL makes no such entry visible.
fn outdates_entries(old: &TableDef, new: &TableDef) -> bool {
    let is_shorter = matches!((old.ttl_s, new.ttl_s), (Some(old), Some(new)) if new <= old);
    old.ttl_s != new.ttl_s && !is_shorter && !new.indexes.is_empty()
}

/// The definition with a rebuild of each index.
fn with_rebuilds(def: &TableDef, ttl_s: Option<u64>) -> TableDef {
    let mut def = def.clone();
    for index in &mut def.indexes {
        index.rebuild = Some(Rebuild { id: TableId(0), ttl_s });
    }
    def
}

/// A definition with another TTL and the entries that were built for it; `None` if the entries of an index are not in `built`.
fn with_new_entries(mut def: TableDef, built: &[TableId]) -> Option<TableDef> {
    for index in &mut def.indexes {
        let rebuild = index.rebuild.filter(|rebuild| built.contains(&rebuild.id))?;
        (index.id, index.rebuild) = (rebuild.id, None);
        // A disabled index stays disabled.
        if index.state == IndexState::Building {
            index.state = IndexState::Ready;
        }
    }
    Some(def)
}

/// The definition with a TTL that needs no rebuild. A rebuild that already runs continues with the new TTL.
fn with_shorter_ttl(mut def: TableDef, old: &TableDef) -> TableDef {
    for rebuild in def.indexes.iter_mut().filter_map(|index| index.rebuild.as_mut()) {
        if rebuild.ttl_s == old.ttl_s {
            rebuild.ttl_s = def.ttl_s;
        }
    }
    def
}

fn changed_meanwhile(def: &TableDef) -> Error {
    let text = format!("another statement has changed table {} or its indexes meanwhile", def.name);
    Error::new(ErrorCode::Conflict, text)
}

/// The result of a change of a definition.
struct Done {
    notices: Vec<String>,
    /// A new constraint, against which the stored rows must be checked.
    new_check: Option<String>,
    /// What must be done with the rows before the statement changes the definition once more.
    step: Option<AlterStep>,
}

/// Changes the definition. If another TTL needs new entries, they are built first, and put in force together with the TTL: until then, and
/// after any failure, nothing has changed.
fn alter_once(session: &Session, alter: &AlterTable, met: Option<&AlterStep>) -> Result<Done, Error> {
    if let Some(done) = change_table(session, alter, met, None)? {
        return Ok(done);
    }
    let table = session.catalog().and_then(|catalog| Ok(resolve(&*catalog, &alter.table)?));
    let table = table.inspect_err(|_| discard_rebuilds(session, &alter.table))?;
    let entries = build_new_entries(session, table.def())?;
    let done = change_table(session, alter, met, Some(&entries));
    discard_new_entries(session, &entries);
    done?.ok_or_else(|| changed_meanwhile(table.def()))
}

/// Changes the definition, with the new entries in `built`. `None` if the change needs new entries and `built` is `None`: the caller must
/// build them.
fn change_table(
    session: &Session,
    alter: &AlterTable,
    met: Option<&AlterStep>,
    built: Option<&[TableId]>,
) -> Result<Option<Done>, Error> {
    let mut done = None;
    change_definition(session, &alter.table, |table: &Arc<Table>| {
        // If another change came first, this closure runs again, and only its last result counts.
        done = None;
        let altered = alter_table(alter, table, met)?;
        if let (TableChange::AlterColumn { .. }, Some(def)) = (&alter.change, &altered.def) {
            check_defaults(session, def)?;
        }
        if let Some(AlterStep::NewValues { set, .. }) = &altered.step {
            check_rewritable(session, set)?;
        }
        let needs_entries = altered.def.as_ref().is_some_and(|def| outdates_entries(table.def(), def));
        if let (Some(def), true, None) = (&altered.def, needs_entries, built) {
            return Ok(Some(with_rebuilds(table.def(), def.ttl_s)));
        }
        done = Some(Done { notices: altered.notices, new_check: altered.new_check, step: altered.step });
        match (altered.def, built) {
            (Some(def), Some(built)) if needs_entries => match with_new_entries(def, built) {
                Some(def) => Ok(Some(def)),
                None => Err(changed_meanwhile(table.def())),
            },
            (Some(def), _) => Ok(Some(with_shorter_ttl(def, table.def()))),
            (None, _) => Ok(None),
        }
    })?;
    Ok(done)
}

/// Checks the rows of a table against a new constraint, and drops the constraint again if rows break it or cannot be checked.
///
/// All later writes already obey the constraint, so a row that breaks it is older than the constraint.
fn check_stored_rows(session: &Session, name: &TableRef, check: &str, step: Option<&AlterStep>) -> Result<(), Error> {
    let Err(error) = check_rows(session, name, check, step) else { return Ok(()) };
    change_definition(session, name, |table| {
        let mut def = TableDef::clone(table.def());
        def.checks.retain(|other| other.name != check);
        Ok(Some(def).filter(|def| *def != **table.def()))
    })?;
    Err(error.at(Some(name.span())))
}

fn check_rows(session: &Session, name: &TableRef, check: &str, step: Option<&AlterStep>) -> Result<(), Error> {
    let table = resolve(&*session.catalog()?, name)?;
    let checks = RowChecks::of(&table)?;
    let Some(check) = checks.as_ref().and_then(|checks| checks.named(check)) else { return Ok(()) };
    let rows = session.snapshot()?;
    let broken = match step {
        // Another TTL would make expired rows visible.
        Some(_) => {
            let all = Table::new(Arc::new(TableDef { ttl_s: None, ..TableDef::clone(table.def()) }))?;
            broken_row(&Arc::new(all), check, &*rows, session.begin())?
        }
        None => broken_row(&table, check, &*rows, session.begin())?,
    };
    match (broken, step) {
        (None, _) => Ok(()),
        (Some(ExecError::Check { key, .. }), Some(step)) => Err(step.broken(table.def(), &key).into()),
        (Some(broken), _) => Err(broken.into()),
    }
}
