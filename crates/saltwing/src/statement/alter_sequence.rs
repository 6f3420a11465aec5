//! ALTER SEQUENCE.

use saltwing_bind::alter_sequence;
use saltwing_sql::statement::AlterSequence;
use saltwing_types::ErrorCode;

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for AlterSequence {
    fn tag(&self) -> &'static str {
        "ALTER SEQUENCE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.name, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("ALTER SEQUENCE")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("changes sequence {}", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let (schema, name) = self.name.parts();
        let change = |def, position| alter_sequence(self, def, position).map_err(Error::from);
        let altered = run.session.shared().catalog.alter_sequence(schema, name, change);
        if !(self.if_exists && altered.as_ref().is_err_and(is_missing)) {
            altered.map_err(|error| error.at(Some(self.name.span())))?;
        }
        Ok(ExecResult::default().into())
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::NoSuchSequence | ErrorCode::NoSuchSchema)
}
