//! CREATE USER.

use saltwing_catalog::{CatalogChange, CatalogError, CatalogStore, ChangeError};
use saltwing_sql::statement::CreateUser;
use saltwing_types::{ErrorCode, Grants, ObjectId, UserDef};

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::password::{fill_randomly, given_verifier};

impl StatementKind for CreateUser {
    fn tag(&self) -> &'static str {
        "CREATE USER"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::database(Privilege::All)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE USER")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("creates user {}", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let name = self.name.text.clone();
        if name.is_empty() {
            let error = Error::new(ErrorCode::InvalidDefinition, "the name of a user has at least one character");
            return Err(error.at(Some(self.name.span)));
        }
        let verifier = given_verifier(self.password.text()).map_err(|error| error.at(Some(self.password.span)))?;
        let mut secret = [0; 32];
        fill_randomly(&mut secret)?;
        // The catalog assigns the number.
        let def = UserDef { id: ObjectId::NEW, name, verifier, grants: Grants::default() };
        match session.own.catalog.apply(CatalogChange::CreateUser { def, secret }) {
            Err(ChangeError { error: CatalogError::DuplicateUser { .. }, .. }) if self.if_not_exists => {
                Ok(ExecResult::noticed(vec![format!("user {} exists already", self.name)]).into())
            }
            created => {
                created.map_err(|error| Error::from(error).at(Some(self.name.span)))?;
                Ok(ExecResult::default().into())
            }
        }
    }
}
