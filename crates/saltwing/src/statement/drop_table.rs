//! DROP TABLE.

use saltwing_catalog::CatalogChange;
use saltwing_sql::statement::DropObjects;

use super::drop_list::{apply_to, drop_list, given, spaces_come_later};
use super::effects::{ROWS_REMOVED, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::Outcome;

pub(super) struct DropTables<'a>(pub(super) &'a DropObjects);

impl StatementKind for DropTables<'_> {
    fn tag(&self) -> &'static str {
        "DROP TABLE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Target::relations(&self.0.names, Privilege::Ddl)
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP TABLE")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops table {}", listed(&self.0.names)), ROWS_REMOVED)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let (drop, names) = (self.0, given(&self.0.names));
        let dropped = apply_to(run.session, &drop.names, CatalogChange::DropTables(drop_list(drop, &names)))?;
        Ok(spaces_come_later(&drop.names, &dropped))
    }
}
