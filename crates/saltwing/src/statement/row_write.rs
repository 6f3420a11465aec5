//! The common part of the kinds of statements that write rows.

use saltwing_sql::statement::Returning;
use saltwing_types::{ErrorCode, TableName};

use super::describer::Describer;
use super::dml::Dml;
use super::explaining::Explaining;
use super::returned::returning_of;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::Outcome;

/// A kind of statement that writes rows: UPSERT, INSERT, UPDATE, DELETE, MERGE.
pub(super) trait RowWrite {
    fn tag(&self) -> &'static str;

    fn targets(&self) -> Vec<Target<'_>>;

    fn returning(&self) -> Option<&Returning>;

    /// Checks the statement without values, and records the types of its parameters.
    fn check(&self, describer: &mut Describer<'_>) -> Result<(), Error>;

    /// The effects on the rows of a table.
    fn effects(&self, table: &TableName) -> Effects;

    /// The reads of the statement, with its effects.
    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error>;

    /// Runs the statement.
    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error>;
}

/// A statement that writes rows.
pub(super) struct WritesRows<'a, W>(pub(super) &'a W);

impl<W: RowWrite> StatementKind for WritesRows<'_, W> {
    fn tag(&self) -> &'static str {
        self.0.tag()
    }

    /// A write needs no SELECT to find its rows, but it needs SELECT to return rows to the caller.
    fn targets(&self) -> Vec<Target<'_>> {
        let mut targets = self.0.targets();
        let returned = targets.first().filter(|_| self.gives_rows()).copied();
        targets.extend(returned.map(|written| Target { privilege: Privilege::Select, ..written }));
        targets
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::Writes
    }

    fn gives_rows(&self) -> bool {
        self.0.returning().is_some()
    }

    fn is_kept(&self) -> bool {
        true
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        self.0.check(describer)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        // `explain` has the effects, because they need the table.
        Effects::none()
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        self.0.explain(explaining).map(Some)
    }

    fn is_analyzed(&self) -> bool {
        true
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run_again(run, self.0)
    }
}

/// Runs a statement that writes rows. If a table's definition changes meanwhile, runs it again, from name resolution on.
fn run_again(run: &Run<'_>, write: &impl RowWrite) -> Result<Outcome, Error> {
    let Run { session, statement, params, plans } = *run;
    session.writable()?;
    loop {
        let catalog = session.catalog()?;
        let version = catalog.version();
        let context = session.begin();
        let _statement = context.enter();
        let plans = plans.of(version);
        let engine = session.shared().engine_functions();
        let returning = returning_of(statement, (&*catalog, engine), params, &plans)?;
        let dml = Dml { session, statement, catalog, params, context: context.clone(), returning, plans };
        match write.run(&dml) {
            Err(error)
                if error.code() == ErrorCode::Conflict
                    && error.rows_committed() == 0
                    && session.catalog_version() != version => {}
            other => return other,
        }
    }
}
