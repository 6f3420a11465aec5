//! CREATE TABLE.

use std::sync::Arc;

use saltwing_access::{AtomicScope, Table};
use saltwing_bind::create_table_like;
use saltwing_catalog::{CatalogChange, CatalogError, CatalogStore, ChangeError, optional};
use saltwing_sql::TableRef;
use saltwing_sql::statement::CreateTable;

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::computed::check_defaults;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::sequences::sequences_of_defaults;
use crate::session::Session;
use crate::temporary::{is_there, name_of_new, replaced, take_back};

impl StatementKind for CreateTable {
    fn tag(&self) -> &'static str {
        "CREATE TABLE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        let copied = self.like.iter().map(|like| Target::relation(&like.table, Privilege::Select));
        [Target::new_table(&self.table, self.temporary)].into_iter().chain(copied).collect()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE TABLE")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let session = describer.session();
        let (create, _) = create_table_like(self, &*session.catalog()?)?;
        let bound = saltwing_bind::create_table(&create, session.shared().options.default_salt)?;
        check_defaults(session, &bound.def).map_err(|error| error.at(Some(self.table.span())))?;
        describer.sequences.extend(sequences_of_defaults(bound.def.columns.iter())?);
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("creates table {}", self.table), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        if self.if_not_exists && is_there(run.session, self)? {
            return Ok(ExecResult::noticed(vec![format!("table {} exists already", self.table)]).into());
        }
        let (create, mut notices) = create_table_like(self, &*run.session.catalog()?)?;
        // If another statement creates the table meanwhile, its indexes are not this statement's.
        let if_not_exists = create.if_not_exists && create.unique.is_empty();
        let new = NewTable::make(run.session, &CreateTable { if_not_exists, ..create.clone() })?;
        notices.extend(new.put_in_place(run.session)?);
        make_unique_indexes(&create, run)?;
        Ok(ExecResult::noticed(notices).into())
    }
}

/// Creates the indexes of UNIQUE. If that fails, the table is dropped.
fn make_unique_indexes(create: &CreateTable, run: &Run<'_>) -> Result<(), Error> {
    if create.unique.is_empty() {
        return Ok(());
    }
    let new = name_of_new(run.session, create)?;
    let made = create.unique.iter().try_for_each(|unique| unique.index_of(&new).run(run).map(drop));
    made.inspect_err(|_| {
        if let Err(failed) = take_back(run.session, &new) {
            tracing::warn!(table = %create.table, error = %failed.error, "the table of a failed CREATE TABLE is still there");
        }
    })
}

/// A table that a statement has created. OR REPLACE creates it beside the table that it replaces, so that a statement that fails loses
/// nothing.
pub(super) struct NewTable {
    /// The name by which statements find it.
    pub(super) name: TableRef,
    /// The table whose place it takes.
    replaced: Option<Arc<Table>>,
    notices: Vec<String>,
}

impl NewTable {
    pub(super) fn make(session: &Session, create: &CreateTable) -> Result<Self, Error> {
        let replaced = replaced(session, create)?;
        let beside = replaced.as_ref().map(|old| name_beside(session, create, old)).transpose()?;
        // After the table is there, no call of the catalog may fail.
        let made = CreateTable { table: beside.clone().unwrap_or_else(|| create.table.clone()), ..create.clone() };
        let name = name_of_new(session, &made)?;
        let notices = make_table(session, create, beside.as_ref())?;
        Ok(Self { name, replaced, notices })
    }

    /// Lets the table take the place of the one that it replaces; returns the notices for the user.
    pub(super) fn put_in_place(self, session: &Session) -> Result<Vec<String>, Error> {
        let Some(old) = &self.replaced else { return Ok(self.notices) };
        let put = || {
            let (schema, bare) = self.name.parts();
            let by = session.catalog()?.resolve(schema, bare)?;
            let change = CatalogChange::ReplaceTable { old: old.def().clone(), by: by.def().clone() };
            session.own.catalog.apply(change).map_err(Error::from)
        };
        put().inspect_err(|_| self.take_back(session))?;
        Ok(self.notices)
    }

    /// Drops the table again.
    pub(super) fn take_back(&self, session: &Session) {
        if let Err(failed) = take_back(session, &self.name) {
            tracing::warn!(table = %self.name, error = %failed.error, "the table of a failed CREATE TABLE is still there");
        }
    }
}

/// A free name beside the table that a statement replaces.
fn name_beside(session: &Session, create: &CreateTable, old: &Table) -> Result<TableRef, Error> {
    let catalog = session.whole_catalog()?;
    let mut name = create.table.clone();
    let stem = format!("_{}_new", old.def().name.name);
    let (schema, _) = create.table.parts();
    let is_free = |name: &String| {
        matches!(optional(catalog.resolve(schema, name)), Ok(None)) && matches!(catalog.view(schema, name), Ok(None))
    };
    let names = std::iter::once(stem.clone()).chain((1..).map(|n| format!("{stem}{n}")));
    name.name.text = names.take(100).find(is_free).unwrap_or(stem);
    Ok(name)
}

/// Creates a table, under another name if one is given; returns the notices for the user.
fn make_table(session: &Session, create: &CreateTable, name: Option<&TableRef>) -> Result<Vec<String>, Error> {
    let shared = session.shared();
    let bound = saltwing_bind::create_table(create, shared.options.default_salt)?;
    let mut bound = bound.with_free_names(&*shared.catalog.snapshot()?)?;
    check_defaults(session, &bound.def).map_err(|error| error.at(Some(create.table.span())))?;
    if let Some(name) = name {
        bound.def.name.name.clone_from(&name.name.text);
    }
    let sequences = bound.sequences.into_iter().map(|sequence| sequence.def).collect();
    let change = CatalogChange::CreateTable { def: bound.def, sequences, temporary: create.temporary };
    match session.own.catalog.apply(change) {
        Err(ChangeError { error: CatalogError::DuplicateTable { .. }, .. }) if create.if_not_exists => {}
        created => drop(created.map_err(|e| Error::from(e).at(Some(create.table.span())))?),
    }
    let mut notices = bound.notices;
    // The catalog of a store that writes each row by itself is another system's, which knows the options.
    if shared.tables.capabilities().atomic == AtomicScope::Store {
        notices.extend(bound.option_notices);
    }
    Ok(notices)
}
