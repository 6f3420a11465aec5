//! GRANT and REVOKE.

use saltwing_catalog::{CatalogChange, CatalogStore, GivenObject, GrantList};
use saltwing_sql::statement::{Grant, GrantObject};
use saltwing_types::Span;

use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

/// GRANT or REVOKE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Grant,
    Revoke,
}

pub(super) struct Grants<'a> {
    pub(super) statement: &'a Grant,
    pub(super) verb: Verb,
}

impl Grants<'_> {
    /// The object as a grant names it, and its position.
    fn object(&self) -> (String, Option<Span>) {
        match &self.statement.object {
            GrantObject::Database => ("DATABASE".to_owned(), None),
            GrantObject::Schema(name) => (format!("SCHEMA {name}"), Some(name.span)),
            GrantObject::Relation(name) => (name.to_string(), Some(name.span())),
        }
    }
}

impl StatementKind for Grants<'_> {
    fn tag(&self) -> &'static str {
        match self.verb {
            Verb::Grant => "GRANT",
            Verb::Revoke => "REVOKE",
        }
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::database(Privilege::All)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition(self.tag())
    }

    fn effects(&self) -> Effects {
        let (Grant { privileges, users, .. }, object) = (self.statement, self.object().0);
        let users = listed(users);
        Effects::catalog(
            match self.verb {
                Verb::Grant => format!("grants {privileges} on {object} to {users}"),
                Verb::Revoke => format!("revokes {privileges} on {object} from {users}"),
            },
            NO_ROWS,
        )
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let Grant { privileges, object, users } = self.statement;
        let names: Vec<&str> = users.iter().map(|user| user.text.as_str()).collect();
        let object = match object {
            GrantObject::Database => GivenObject::Database,
            GrantObject::Schema(name) => GivenObject::Schema(&name.text),
            GrantObject::Relation(name) => GivenObject::Relation(name.parts()),
        };
        let list = GrantList { privileges: *privileges, object, users: &names };
        let change = match self.verb {
            Verb::Grant => CatalogChange::Grant(list),
            Verb::Revoke => CatalogChange::Revoke(list),
        };
        run.session.own.catalog.apply(change).map_err(|failed| {
            let user = failed.place.and_then(|place| users.get(place)).map(|user| user.span);
            Error::from(failed.error).at(user.or(self.object().1))
        })?;
        Ok(ExecResult::default().into())
    }
}
