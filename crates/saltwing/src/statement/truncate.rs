//! TRUNCATE.

use saltwing_bind::resolve;
use saltwing_catalog::CatalogChange;
use saltwing_sql::TableRef;

use super::drop_list::{apply_to, given, spaces_come_later};
use super::effects::{ROWS_REMOVED, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::Outcome;

pub(super) struct Truncate<'a>(pub(super) &'a [TableRef]);

impl StatementKind for Truncate<'_> {
    fn tag(&self) -> &'static str {
        "TRUNCATE TABLE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Target::relations(self.0, Privilege::Delete)
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::Refused { what: "TRUNCATE", help: "DELETE FROM t deletes rows as a part of the transaction" }
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("empties table {}", listed(self.0)), ROWS_REMOVED)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        session.begin().check()?;
        let catalog = session.catalog()?;
        for name in self.0 {
            // The error of this lookup is better than that of the change.
            resolve(&*catalog, name)?;
        }
        let emptied = apply_to(session, self.0, CatalogChange::TruncateTables(&given(self.0)))?;
        Ok(spaces_come_later(self.0, &emptied))
    }
}
