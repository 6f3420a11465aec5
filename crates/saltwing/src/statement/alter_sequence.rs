//! ALTER SEQUENCE.

use saltwing_bind::alter_sequence;
use saltwing_catalog::{CatalogChange, change};
use saltwing_sql::statement::AlterSequence;
use saltwing_types::{ErrorCode, SequenceDef};

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for AlterSequence {
    fn tag(&self) -> &'static str {
        "ALTER SEQUENCE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::stored(&self.name, Privilege::Ddl)]
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
        let altered = change(&run.session.own.catalog, |catalog| -> Result<_, Error> {
            let old = catalog.sequence(schema, name)?;
            let (new, position) = alter_sequence(self, SequenceDef::clone(&old))?;
            Ok(Some(CatalogChange::AlterSequence { old, new, position }))
        });
        if !(self.if_exists && altered.as_ref().is_err_and(is_missing)) {
            altered.map_err(|error| error.at(Some(self.name.span())))?;
        }
        Ok(ExecResult::default().into())
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::NoSuchSequence | ErrorCode::NoSuchSchema)
}
