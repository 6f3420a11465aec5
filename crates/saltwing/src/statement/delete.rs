//! DELETE.

use saltwing_bind::{BoundDelete, DeletedRows, Params, TargetQuery, delete, table_path};
use saltwing_exec::{Repeats, TargetRows};
use saltwing_planner::{AccessReport, AccessRequest, Guard, HintVerb, TableAccess, plan};
use saltwing_sql::statement::{Delete, Returning};
use saltwing_types::TableName;

use super::describer::Describer;
use super::dml::{Dml, each_batch};
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
        let query = TargetQuery::Delete(self);
        let bound = delete(self, &*describer.catalog()?, describer.open())?;
        match access(self, describer.session(), bound)? {
            Some(access) => {
                describer.note_types(query)?;
                if describer.purpose == Purpose::Judge {
                    access.judge()?;
                }
            }
            None => drop(describer.described_query(query, HintVerb::Delete)?),
        }
        Ok(())
    }

    fn effects(&self, table: &TableName) -> Effects {
        Effects::rows("deletes", format!("these rows of table {}", table_path(table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let session = explaining.session;
        let bound = delete(self, &*session.catalog()?, explaining.given())?;
        let effects = self.effects(&bound.table.def().name).lines;
        let read = match access(self, session, bound)? {
            Some(access) => Explained::direct(vec![AccessReport { access, counters: None }]),
            None => explaining.query(TargetQuery::Delete(self))?,
        };
        Ok(Explained { effects, ..read })
    }

    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error> {
        let (session, now_ms) = (dml.session, dml.session.now_ms());
        let bound = delete(self, &*dml.catalog, Params::Given(dml.params))?;
        let table = bound.table.clone();
        let Some(access) = access(self, session, bound)? else {
            let query = TargetQuery::Delete(self).into();
            let limits = dml.limits(TargetQuery::Delete(self), &table, 1);
            let repeats = if self.using.is_empty() { Repeats::None } else { Repeats::Alike };
            return dml.write(limits, |attempt| {
                let rows = dml.start_query(attempt, query, HintVerb::Delete, now_ms)?;
                let mut targets = TargetRows::new(attempt, &table, repeats);
                let result = each_batch(rows, |types, batch| targets.delete(types, batch))?;
                Ok((Some(targets.end()?), result))
            });
        };
        let notices: Vec<String> = access.judge()?.into_iter().collect();
        dml.write(session.writer().limits, |attempt| {
            let mut targets = TargetRows::new(attempt, access.table(), Repeats::None);
            targets.delete_found(&access, &dml.context)?;
            let rows = targets.end()?;
            let mut result = ExecResult { notices: notices.clone(), ..ExecResult::default() };
            result.notices.extend(session.warnings().notices(&dml.context));
            result.stats = Stats::of(&dml.context.counters);
            Ok((Some(rows), result))
        })
    }
}

/// The access by which a DELETE finds its rows; `None` if a query must find them.
fn access(statement: &Delete, session: &Session, bound: BoundDelete) -> Result<Option<TableAccess>, Error> {
    let DeletedRows::Where(conditions) = bound.rows else { return Ok(None) };
    let access = plan(AccessRequest {
        alias: bound.alias,
        span: Some(statement.table.span()),
        hints: &bound.hints,
        ..AccessRequest::of(&bound.table, conditions)
    })?;
    let guard = Guard { verb: HintVerb::Delete, ..session.guard(&bound.hints) };
    Ok(Some(access.with_overrides(&guard)))
}
