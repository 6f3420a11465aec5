//! COMPACT.

use saltwing_access::TableError;
use saltwing_bind::resolve;
use saltwing_sql::TableRef;

use super::effects::listed;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

/// The text of EXPLAIN about the rows of the tables.
const ROWS_REWRITTEN: &str = "all may be read and written again; none changes";

pub(super) struct Compact<'a>(pub(super) &'a [TableRef]);

impl StatementKind for Compact<'_> {
    fn tag(&self) -> &'static str {
        "COMPACT"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Target::relations(self.0, Privilege::Ddl)
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::storage("COMPACT")
    }

    fn effects(&self) -> Effects {
        let tables = if self.0.is_empty() { "all tables".into() } else { format!("table {}", listed(self.0)) };
        Effects::storage(format!("writes the blocks of {tables} anew"), ROWS_REWRITTEN)
    }

    /// Merges the recent rows of tables and the entries of their indexes now; ends early if the statement is cancelled or
    /// times out.
    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let context = session.begin();
        let catalog = session.catalog()?;
        let tables = self.0.iter().map(|name| resolve(&*catalog, name)).collect::<Result<Vec<_>, _>>()?;
        let store = session.shared().storage("COMPACT")?;
        for table in tables {
            for index in &table.def().indexes {
                match store.compact(index.id, &context) {
                    // The index was dropped meanwhile.
                    Err(TableError::NoSuchTable(_)) => {}
                    compacted => compacted?,
                }
            }
            store.compact(table.def().id, &context)?;
        }
        Ok(ExecResult::default().into())
    }
}
