//! CREATE TABLE.

use saltwing_access::AtomicScope;
use saltwing_catalog::{CatalogChange, CatalogError, CatalogStore, ChangeError};
use saltwing_sql::statement::CreateTable;

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::computed::check_defaults;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::sequences::sequences_of_defaults;
use crate::session::Session;
use crate::temporary::{is_there, name_of_new, take_back};

impl StatementKind for CreateTable {
    fn tag(&self) -> &'static str {
        "CREATE TABLE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::new_table(&self.table, self.temporary)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE TABLE")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let session = describer.session();
        let bound = saltwing_bind::create_table(self, session.shared().options.default_salt)?;
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
        // If another statement creates the table meanwhile, its indexes are not this statement's.
        let if_not_exists = self.if_not_exists && self.unique.is_empty();
        let notices = make_table(run.session, &CreateTable { if_not_exists, ..self.clone() })?;
        make_unique_indexes(self, run)?;
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

/// Creates a table; returns the notices for the user.
pub(crate) fn make_table(session: &Session, create: &CreateTable) -> Result<Vec<String>, Error> {
    let shared = session.shared();
    let bound = saltwing_bind::create_table(create, shared.options.default_salt)?;
    let bound = bound.with_free_names(&*shared.catalog.snapshot()?)?;
    check_defaults(session, &bound.def).map_err(|error| error.at(Some(create.table.span())))?;
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
