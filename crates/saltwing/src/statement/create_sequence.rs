//! CREATE SEQUENCE.

use saltwing_bind::create_sequence;
use saltwing_catalog::{CatalogChange, CatalogError, CatalogStore, ChangeError};
use saltwing_sql::statement::CreateSequence;

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for CreateSequence {
    fn tag(&self) -> &'static str {
        "CREATE SEQUENCE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::stored(&self.name, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE SEQUENCE")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("creates sequence {}", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let def = create_sequence(self)?;
        let position = def.beginning();
        match run.session.own.catalog.apply(CatalogChange::CreateSequence { def, position }) {
            Err(ChangeError { error: CatalogError::DuplicateSequence { .. }, .. }) if self.if_not_exists => {}
            created => drop(created.map_err(|error| Error::from(error).at(Some(self.name.span())))?),
        }
        Ok(ExecResult::default().into())
    }
}
