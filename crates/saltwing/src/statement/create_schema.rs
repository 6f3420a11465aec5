//! CREATE SCHEMA.

use saltwing_sql::statement::CreateSchema;

use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for CreateSchema {
    fn tag(&self) -> &'static str {
        "CREATE SCHEMA"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::schema(&self.name, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE SCHEMA")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("creates schema {}", self.name.text), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let catalog = &run.session.shared().catalog;
        let is_there = catalog.snapshot().has_schema(&self.name.text);
        if !(is_there && self.if_not_exists) {
            catalog.create_schema(&self.name.text).map_err(|e| Error::from(e).at(Some(self.name.span)))?;
        }
        Ok(ExecResult::default().into())
    }
}
