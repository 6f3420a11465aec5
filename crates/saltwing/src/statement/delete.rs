//! DELETE.

use saltwing_bind::{Params, delete, deleted_rows, resolve};
use saltwing_catalog::CatalogReader;
use saltwing_exec::{Repeats, TargetRows};
use saltwing_planner::{AccessReport, AccessRequest, Guard, HintVerb, TableAccess, plan};
use saltwing_sql::statement::{Delete, Returning};

use super::describer::Describer;
use super::dml::{Dml, each_batch};
use super::effects::path;
use super::explaining::Explaining;
use super::row_write::RowWrite;
use super::{Effects, Privilege, Target};
use crate::Error;
use crate::explained::Explained;
use crate::outcome::{ExecResult, Outcome, Stats};
use crate::query_run::Purpose;
use crate::session::Session;

impl RowWrite for Delete {
    fn tag(&self) -> &'static str {
        "DELETE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Delete)]
    }

    fn returning(&self) -> Option<&Returning> {
        self.returning.as_ref()
    }

    fn check(&self, describer: &mut Describer<'_>) -> Result<(), Error> {
        let query = deleted_rows(self, &*describer.catalog()?)?;
        match plan_delete(describer.session(), self, &*describer.catalog()?, describer.open())? {
            Some(access) => {
                describer.note_types(&query)?;
                if describer.purpose == Purpose::Judge {
                    access.judge()?;
                }
            }
            None => drop(describer.described_query(&query, HintVerb::Delete)?),
        }
        Ok(())
    }

    fn effects(&self) -> Effects {
        Effects::rows("deletes", format!("these rows of table {}", path(&self.table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let session = explaining.session;
        let read = match plan_delete(session, self, &*session.catalog()?, explaining.given())? {
            Some(access) => Explained::direct(vec![AccessReport { access, counters: None }]),
            None => explaining.query(&deleted_rows(self, &*session.catalog()?)?)?,
        };
        Ok(Explained { effects: self.effects().lines, ..read })
    }
}

impl Dml<'_> {
    pub(crate) fn delete(&self, statement: &Delete) -> Result<Outcome, Error> {
        let (session, now_ms) = (self.session, self.session.now_ms());
        let limits = session.writer().limits;
        let Some(access) = plan_delete(session, statement, &*self.catalog, Params::Given(self.params))? else {
            let table = resolve(&*self.catalog, &statement.table)?;
            let query = deleted_rows(statement, &*self.catalog)?;
            let repeats = if statement.using.is_empty() { Repeats::None } else { Repeats::Alike };
            return self.write(limits, |attempt| {
                let rows = self.start_query(attempt, &query, HintVerb::Delete, now_ms)?;
                let mut targets = TargetRows::new(attempt, &table, repeats);
                let result = each_batch(rows, |types, batch| targets.delete(types, batch))?;
                Ok((Some(targets.end()?), result))
            });
        };
        let notices: Vec<String> = access.judge()?.into_iter().collect();
        self.write(limits, |attempt| {
            let mut targets = TargetRows::new(attempt, access.table(), Repeats::None);
            targets.delete_found(&access, &self.context)?;
            let rows = targets.end()?;
            let mut result = ExecResult { notices: notices.clone(), ..ExecResult::default() };
            result.notices.extend(session.warnings().notices(&self.context));
            result.stats = Stats::of(&self.context.counters);
            Ok((Some(rows), result))
        })
    }
}

/// How a DELETE finds its rows; `None` if a query must say which.
fn plan_delete(
    session: &Session,
    statement: &Delete,
    catalog: &dyn CatalogReader,
    params: Params<'_>,
) -> Result<Option<TableAccess>, Error> {
    let bound = delete(statement, catalog, params)?;
    let Some(conditions) = bound.conditions else { return Ok(None) };
    let access = plan(AccessRequest {
        alias: statement.alias.as_ref().map(|a| a.text.clone()),
        span: Some(statement.table.span()),
        hints: &statement.hints,
        ..AccessRequest::of(&bound.table, conditions)
    })?;
    let guard = Guard { verb: HintVerb::Delete, ..session.guard(&statement.hints) };
    Ok(Some(access.with_overrides(&guard)))
}
