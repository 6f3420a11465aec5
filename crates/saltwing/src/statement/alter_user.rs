//! ALTER USER.

use saltwing_catalog::{CatalogChange, CatalogStore};
use saltwing_sql::statement::AlterUser;

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::password::given_verifier;

impl StatementKind for AlterUser {
    fn tag(&self) -> &'static str {
        "ALTER USER"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::user(&self.name, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("ALTER USER")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("changes the password of user {}", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let verifier = given_verifier(self.password.text()).map_err(|error| error.at(Some(self.password.span)))?;
        let change = CatalogChange::AlterUser { name: &self.name.text, verifier };
        run.session.own.catalog.apply(change).map_err(|error| Error::from(error).at(Some(self.name.span)))?;
        Ok(ExecResult::default().into())
    }
}
