//! ATTACH.

use std::path::Path;

use saltwing_sql::statement::Attach;
use saltwing_types::ErrorCode;

use super::{Effects, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::attached::attach_directory;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for Attach {
    fn tag(&self) -> &'static str {
        "ATTACH"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::attached("ATTACH")
    }

    fn effects(&self) -> Effects {
        Effects::session(format!("attaches the database in '{}'", self.path))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let attached = attach_directory(run.session, Path::new(&self.path), &self.alias.text);
        let notices = attached.map_err(|error| match error.code() {
            ErrorCode::DuplicateSchema | ErrorCode::InvalidDefinition => error.at(Some(self.alias.span)),
            _ => error.at(Some(self.path_span)),
        })?;
        Ok(ExecResult::noticed(notices).into())
    }
}
