//! DROP VIEW.

use saltwing_catalog::CatalogChange;
use saltwing_sql::statement::DropObjects;

use super::drop_list::{apply_to, drop_list, given};
use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

pub(super) struct DropViews<'a>(pub(super) &'a DropObjects);

impl StatementKind for DropViews<'_> {
    fn tag(&self) -> &'static str {
        "DROP VIEW"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        self.0.names.iter().map(|name| Target::view(name, Privilege::Ddl)).collect()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP VIEW")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops view {}", listed(&self.0.names)), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let (drop, names) = (self.0, given(&self.0.names));
        apply_to(run.session, &drop.names, CatalogChange::DropViews(drop_list(drop, &names)))?;
        Ok(ExecResult::default().into())
    }
}
