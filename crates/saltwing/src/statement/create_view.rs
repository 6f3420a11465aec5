//! CREATE VIEW.

use saltwing_bind::{ParamValues, create_view};
use saltwing_catalog::{CatalogChange, CatalogStore, TEMPORARY_SCHEMA, change};
use saltwing_planner::HintVerb;
use saltwing_sql::statement::CreateView;

use super::describer::{Describer, columns_of};
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::query_run::Purpose;
use crate::temporary::adds_dynamic_columns;

impl StatementKind for CreateView {
    fn tag(&self) -> &'static str {
        "CREATE VIEW"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::new_table(&self.name, self.temporary)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE VIEW")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        let view = create_view(self, &*describer.catalog()?, describer.session().shared().engine_functions())?;
        // The view is only defined, not read: the guard refuses nothing.
        describer.purpose = Purpose::Explain;
        if describer.names_only {
            return describer.described_query(&view.query, HintVerb::Select);
        }
        let columns = describer.columns_of(&view.query)?;
        view.into_def(self, &columns)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let temporary = if self.temporary { "temporary " } else { "" };
        Effects::catalog(format!("creates {temporary}view {}", self.name), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let engine = session.shared().engine_functions();
        let (schema, name) = self.name.parts();
        let existing = match self.temporary {
            true => session.own.catalog.snapshot()?.view(Some(TEMPORARY_SCHEMA), name)?,
            false => session.shared().catalog.snapshot()?.view(schema, name)?,
        };
        if self.if_not_exists && existing.is_some() {
            return Ok(ExecResult::noticed(vec![format!("view {} exists already", self.name)]).into());
        }
        if !self.own.is_empty()
            && let Some(table) = create_view(self, &*session.catalog()?, engine)?.table
        {
            // The table gets its hidden column now, so the first row through the view may be written in a transaction.
            adds_dynamic_columns(session, &table)?;
        }
        // The session's own catalog is needed, to refuse a view that would read a temporary table.
        let created = change(&session.own.catalog, |catalog| -> Result<_, Error> {
            let (view, version) = (create_view(self, catalog, engine)?, catalog.version());
            // If the catalog has changed meanwhile, the change is refused and made again.
            let columns = columns_of(session, &view.query, ParamValues::NONE, Purpose::Explain)?;
            let (def, replaces) = (view.into_def(self, &columns)?, self.replaces);
            Ok(Some(CatalogChange::CreateView { def, replaces, version }))
        });
        created.map_err(|error| error.at(Some(self.name.span())))?;
        Ok(ExecResult::default().into())
    }
}
