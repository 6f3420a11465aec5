//! SHOW STORAGE.

use saltwing_bind::ResultColumn;
use saltwing_sql::TableRef;

use crate::Error;
use crate::outcome::Outcome;
use crate::statement::{Effects, Privilege, Run, StatementKind, Target};
use crate::storage::{show_storage, storage_columns};

/// SHOW STORAGE: of a table, or of all tables.
pub(crate) struct Storage<'a>(pub(crate) Option<&'a TableRef>);

impl StatementKind for Storage<'_> {
    fn tag(&self) -> &'static str {
        "SHOW"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        self.0.map(|table| Target::relation(table, Privilege::Select)).into_iter().collect()
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(storage_columns())
    }

    fn effects(&self) -> Effects {
        Effects::shows(
            self.0.map_or_else(|| "what is stored".into(), |table| format!("what is stored of table {table}")),
        )
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        show_storage(run.session, self.0).map(Outcome::Rows)
    }
}
