//! UPDATE.

use std::sync::Arc;

use saltwing_bind::{BoundUpdate, Params, RowRules, TargetQuery, table_path, update};
use saltwing_exec::{Repeats, TargetRows};
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{Returning, Update};
use saltwing_types::TableName;

use super::describer::Describer;
use super::dml::{Dml, each_batch};
use super::explaining::Explaining;
use super::row_write::RowWrite;
use super::{Effects, Privilege, Target};
use crate::Error;
use crate::explained::Explained;
use crate::outcome::Outcome;

impl RowWrite for Update {
    fn tag(&self) -> &'static str {
        "UPDATE"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Upsert)]
    }

    fn returning(&self) -> Option<&Returning> {
        self.returning.as_ref()
    }

    fn check(&self, describer: &mut Describer<'_>) -> Result<(), Error> {
        update(self, &*describer.catalog()?, describer.open())?;
        describer.described_query(TargetQuery::Update(self), HintVerb::Update)?;
        Ok(())
    }

    fn effects(&self, table: &TableName) -> Effects {
        Effects::rows("writes", format!("these rows, changed, into table {}", table_path(table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let bound = update(self, &*explaining.session.catalog()?, explaining.given())?;
        let effects = self.effects(&bound.table.def().name).lines;
        Ok(Explained { effects, ..explaining.query(TargetQuery::Update(self))? })
    }

    /// A query computes the new rows.
    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error> {
        let known = dml.known_update(self)?;
        let BoundUpdate { table, changed, moves_rows, is_joined, is_checked } = &*known;
        let query = TargetQuery::Update(self).into();
        if !changed.dynamic.is_empty() {
            dml.keep_dynamic_columns(&self.table, table)?;
        }
        let (limits, now_ms) = (dml.limits(TargetQuery::Update(self), table, 1), dml.session.now_ms());
        // Only after all rows are known is it known whether a key is free, so the rows are one commit.
        let limits = if *moves_rows { limits.in_one() } else { limits };
        let repeats = if *is_joined { Repeats::Alike } else { Repeats::None };
        dml.write(limits, |attempt| {
            let rows = match is_checked {
                true => dml.start_query(attempt, query, HintVerb::Update, now_ms)?,
                false => dml.start_kept(attempt, query, HintVerb::Update, now_ms)?,
            };
            let mut targets = TargetRows::new(attempt, table, repeats).obeying(RowRules::of(table)?);
            let result = each_batch(rows, |types, batch| targets.update(changed, types, batch))?;
            Ok((Some(targets.end()?), result))
        })
    }
}

impl Dml<'_> {
    /// The bound UPDATE, from the cached plans if they have it.
    fn known_update(&self, statement: &Update) -> Result<Arc<BoundUpdate>, Error> {
        if let Some(known) = self.plans.update.get() {
            return Ok(known.clone());
        }
        let bound = Arc::new(update(statement, &*self.catalog, Params::Given(self.params))?);
        Ok(match bound.is_checked {
            true => bound,
            false => self.plans.update.get_or_init(|| bound).clone(),
        })
    }
}
