//! DETACH.

use saltwing_sql::Name;

use super::{Effects, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

pub(super) struct Detach<'a>(pub(super) &'a Name);

impl StatementKind for Detach<'_> {
    fn tag(&self) -> &'static str {
        "DETACH"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::attached("DETACH")
    }

    fn effects(&self) -> Effects {
        Effects::session(format!("detaches {}", self.0))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let own = &run.session.own;
        own.catalog.detach(&self.0.text).map_err(|error| Error::from(error).at(Some(self.0.span)))?;
        // Cached plans hold the tables of the detached database, which would keep its files open.
        own.statements.clear();
        Ok(ExecResult::default().into())
    }
}
