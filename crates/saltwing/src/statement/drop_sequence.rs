//! DROP SEQUENCE.

use saltwing_catalog::{CatalogChange, Dependents, DropList, optional};
use saltwing_sql::statement::DropSequence;
use saltwing_types::ErrorCode;

use super::drop_list::{apply_to, given};
use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::sequences::default_that_uses;

impl StatementKind for DropSequence {
    fn tag(&self) -> &'static str {
        "DROP SEQUENCE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        self.names.iter().map(|name| Target::stored(name, Privilege::Ddl)).collect()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP SEQUENCE")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops sequence {}", listed(&self.names)), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let catalog = run.session.shared().catalog.snapshot()?;
        for it in &self.names {
            let (schema, name) = it.parts();
            if let Some(def) = optional(catalog.sequence(schema, name))?
                && let Some(column) = default_that_uses(run.session, &def)?
            {
                let text = format!("the DEFAULT of {column} takes values of sequence {}", def.name);
                return Err(Error::new(ErrorCode::InvalidDefinition, text).at(Some(it.span())));
            }
        }
        let names = given(&self.names);
        let list = DropList { names: &names, if_exists: self.if_exists, dependents: Dependents::Refuse };
        apply_to(run.session, &self.names, CatalogChange::DropSequences(list))?;
        Ok(ExecResult::default().into())
    }
}
