//! DROP USER.

use saltwing_catalog::{CatalogChange, CatalogError, CatalogStore, ChangeError};
use saltwing_sql::statement::DropUser;

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for DropUser {
    fn tag(&self) -> &'static str {
        "DROP USER"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::database(Privilege::All)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP USER")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops user {} with its grants", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        match run.session.own.catalog.apply(CatalogChange::DropUser(&self.name.text)) {
            Err(ChangeError { error: CatalogError::NoSuchUser { .. }, .. }) if self.if_exists => {
                Ok(ExecResult::noticed(vec![format!("there is no user {}", self.name)]).into())
            }
            dropped => {
                dropped.map_err(|error| Error::from(error).at(Some(self.name.span)))?;
                Ok(ExecResult::default().into())
            }
        }
    }
}
