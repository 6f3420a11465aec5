//! UPDATE.

use std::sync::Arc;

use saltwing_bind::{BoundUpdate, Params, RowRules, table_path, update};
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
use crate::kept_select::KeptSelect;
use crate::kept_write::KeptUpdate;
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
        let bound = update(self, &*describer.catalog(), describer.open())?;
        bound.open.iter().for_each(|e| describer.types.note_expr(e));
        describer.described_query(&bound.query, HintVerb::Update)?;
        Ok(())
    }

    fn effects(&self, table: &TableName) -> Effects {
        Effects::rows("writes", format!("these rows, changed, into table {}", table_path(table)))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Explained, Error> {
        let bound = update(self, &*explaining.session.catalog(), explaining.given())?;
        Ok(Explained { effects: self.effects(&bound.table.def().name).lines, ..explaining.query(&bound.query)? })
    }

    /// A query gives the rows as they will be.
    fn run(&self, dml: &Dml<'_>) -> Result<Outcome, Error> {
        let known = dml.known_update(self)?;
        let KeptUpdate { bound, select } = &*known;
        let BoundUpdate { table, query, changed, moves_rows, is_joined, .. } = bound;
        if !changed.dynamic.is_empty() {
            dml.keep_dynamic_columns(&self.table, table)?;
        }
        let (limits, now_ms) = (dml.session.writer().limits, dml.session.now_ms());
        // Whether a key is free is known when all rows are.
        let limits = if *moves_rows { limits.in_one() } else { limits };
        let repeats = if *is_joined { Repeats::Alike } else { Repeats::None };
        let query = (query, dml.kept.map(|_| select));
        dml.write(limits, |attempt| {
            let rows = dml.start_kept(attempt, query, HintVerb::Update, now_ms)?;
            let mut targets = TargetRows::new(attempt, table, repeats).obeying(RowRules::of(table)?);
            let result = each_batch(rows, |types, batch| targets.update(changed, types, batch))?;
            Ok((Some(targets.end()?), result))
        })
    }
}

impl Dml<'_> {
    /// The UPDATE, bound now or before.
    fn known_update(&self, statement: &Update) -> Result<Arc<KeptUpdate>, Error> {
        let (kept, version) = (self.kept.map(|kept| &kept.update), self.catalog.version());
        if let Some(known) = kept.and_then(|kept| kept.of(version)) {
            return Ok(known);
        }
        let bound = update(statement, &*self.catalog, Params::Given(self.params))?;
        let made = Arc::new(KeptUpdate { bound, select: KeptSelect::default() });
        if let Some(kept) = kept.filter(|_| !made.bound.is_checked) {
            kept.put(version, made.clone());
        }
        Ok(made)
    }
}
