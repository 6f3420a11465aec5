//! COMMIT, ROLLBACK and savepoints. In an open transaction, `crate::execution` handles them before it runs a statement's kind; the code
//! here runs if no transaction is open.

use saltwing_sql::Name;
use saltwing_types::ErrorCode;

use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::Outcome;

pub(super) enum TransactionControl<'a> {
    Commit,
    Rollback,
    Savepoint(&'a Name),
    RollbackTo(&'a Name),
    Release(&'a Name),
}

impl StatementKind for TransactionControl<'_> {
    fn tag(&self) -> &'static str {
        match self {
            Self::Commit => "COMMIT",
            Self::Rollback | Self::RollbackTo(_) => "ROLLBACK",
            Self::Savepoint(_) => "SAVEPOINT",
            Self::Release(_) => "RELEASE",
        }
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn is_kept(&self) -> bool {
        matches!(self, Self::Commit)
    }

    fn effects(&self) -> Effects {
        Effects::session(match self {
            Self::Commit => "ends the transaction: its rows are committed".into(),
            Self::Rollback => "ends the transaction: its rows are dropped".into(),
            Self::Savepoint(name) => format!("marks savepoint {}", name.text),
            Self::RollbackTo(name) => format!("drops the rows since savepoint {}", name.text),
            Self::Release(name) => format!("forgets savepoint {}", name.text),
        })
    }

    fn run(&self, _: &Run<'_>) -> Result<Outcome, Error> {
        Err(Error::new(ErrorCode::NoTransaction, "no transaction is open").with_help(Some("BEGIN opens one")))
    }
}
