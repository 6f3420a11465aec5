//! MERGE.

use saltwing_bind::{BoundMerge, MergeEffect, MergeStep, Params, RowRules, TargetQuery, merge, table_path};
use saltwing_exec::{Attempt, Repeats, RowAction, TargetRows};
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{Merge, MergeAction, Returning};
use saltwing_types::TableName;

use super::describer::Describer;
use super::dml::{Dml, each_batch};
use super::explaining::Explaining;
use super::row_write::RowWrite;
use super::{Effects, Privilege, Target};
use crate::Error;
use crate::computed::computing;
use crate::explained::Explained;
use crate::outcome::{ExecResult, Outcome};

impl RowWrite for Merge {
    fn tag(&self) -> &'static str {
        "MERGE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        let deletes = self.clauses.iter().any(|clause| matches!(clause.action, MergeAction::Delete));
        let privileges = std::iter::once(Privilege::Upsert).chain(deletes.then_some(Privilege::Delete));
        privileges.map(|privilege| Target::relation(&self.table, privilege)).collect()
    }

    fn returning(&self) -> Option<&Returning> {
        self.returning.as_ref()
    }

    fn check(&self, describer: &mut Describer<'_>) -> Result<(), Error> {
        let bound = merge(self, &*describer.catalog()?, describer.open())?;
        for step in &bound.steps {
            describer.described_query(TargetQuery::Merge(self, step.clause), HintVerb::Merge)?;
        }
        Ok(())
    }

    fn effects(&self, table: &TableName) -> Effects {
        Effects::rows("writes", format!("what its clauses say into table {}", table_path(table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let BoundMerge { table, steps } = merge(self, &*explaining.session.catalog()?, explaining.given())?;
        let read = steps.iter().map(|step| explaining.query(TargetQuery::Merge(self, step.clause)));
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let read = read.into_iter().reduce(Explained::together).unwrap_or_else(|| Explained::direct(Vec::new()));
        Ok(Explained { effects: self.effects(&table.def().name).lines, ..read })
    }

    /// Each clause has a query of its own, over the rows before the statement.
    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error> {
        let BoundMerge { table, steps } = merge(self, &*dml.catalog, Params::Given(dml.params))?;
        if steps.iter().any(MergeStep::writes_dynamic_columns) {
            dml.keep_dynamic_columns(&self.table, &table)?;
        }
        let computing = computing(dml.session, &self.hints, dml.params, &dml.context);
        let start = |attempt: &Attempt<'_>, step: &MergeStep| {
            let query = TargetQuery::Merge(self, step.clause).into();
            dml.start_query(attempt, query, HintVerb::Merge, computing.now_ms)
        };
        dml.write(dml.session.writer().limits.in_one(), |attempt| {
            let mut all = ExecResult::default();
            let mut targets = TargetRows::new(attempt, &table, Repeats::Refused).obeying(RowRules::of(&table)?);
            for step in &steps {
                let attempt = targets.attempt();
                let rows = start(attempt, step)?;
                let result = match &step.effect {
                    MergeEffect::Update(changed) => {
                        targets.attempt().writes_for(RowAction::Update);
                        each_batch(rows, |types, batch| targets.update(changed, types, batch))?
                    }
                    MergeEffect::Delete => each_batch(rows, |types, batch| targets.delete(types, batch))?,
                    MergeEffect::Insert(target) => {
                        let before = attempt.changes();
                        attempt.writes_for(RowAction::Insert);
                        let result = dml.upsert_from(attempt, target, (rows, self.span), &computing)?;
                        all.rows_affected += attempt.changes() - before;
                        result
                    }
                };
                all.notices.extend(result.notices);
                all.stats += result.stats;
            }
            // These are rows that have got another key.
            targets.attempt().writes_for(RowAction::Update);
            Ok((Some(all.rows_affected + targets.end()?), all))
        })
    }
}
