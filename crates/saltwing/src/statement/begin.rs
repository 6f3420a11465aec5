//! BEGIN.

use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::transaction_statements::begin_transaction;

pub(super) struct Begin {
    pub(super) is_read_only: bool,
}

impl StatementKind for Begin {
    fn tag(&self) -> &'static str {
        "BEGIN"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn is_kept(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        let reads = if self.is_read_only { " that only reads" } else { "" };
        Effects::session(format!("begins a transaction{reads}"))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        begin_transaction(run.session, self.is_read_only).map(|()| ExecResult::default().into())
    }
}
