//! CREATE SCHEMA.

use saltwing_catalog::{CatalogChange, CatalogStore};
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
        let session = run.session;
        let is_there = session.shared().catalog.snapshot()?.has_schema(&self.name.text)?;
        if !(is_there && self.if_not_exists) {
            let change = CatalogChange::CreateSchema(&self.name.text);
            session.own.catalog.apply(change).map_err(|e| Error::from(e).at(Some(self.name.span)))?;
        }
        Ok(ExecResult::default().into())
    }
}
