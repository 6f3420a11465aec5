//! ALTER VIEW.

use saltwing_bind::{QueryRead, altered_view};
use saltwing_catalog::{CatalogChange, change};
use saltwing_sql::statement::{AlterView, ViewChange};

use super::describer::Describer;
use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::temporary::adds_dynamic_columns;

impl StatementKind for AlterView {
    fn tag(&self) -> &'static str {
        "ALTER VIEW"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::view(&self.view, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("ALTER VIEW")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        // An added column shows data of the table, so the statement must be allowed to read it.
        if let Some(table) = altered_view(self, &*describer.catalog()?)?.table {
            describer.reads.push(QueryRead { name: table.to_name(), through: None });
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let change = match &self.change {
            ViewChange::Add { columns, .. } => {
                let columns = listed(columns.iter().map(|column| &column.column));
                format!("adds columns {columns} to view {}", self.view)
            }
            ViewChange::Drop { columns, .. } => format!("drops columns {} of view {}", listed(columns), self.view),
        };
        Effects::catalog(change, NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let catalog = &run.session.shared().catalog;
        let altered = altered_view(self, &*catalog.snapshot()?)?;
        if let Some(table) = &altered.table {
            adds_dynamic_columns(run.session, table)?;
        }
        let changed = change(&**catalog, |catalog| -> Result<_, Error> {
            let version = catalog.version();
            Ok(altered_view(self, catalog)?.def.map(|def| CatalogChange::AlterView { def, version }))
        });
        changed.map_err(|error| error.at(Some(self.view.span())))?;
        Ok(ExecResult::noticed(altered.notices).into())
    }
}
