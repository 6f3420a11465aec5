//! COPY .. TO.

use saltwing_bind::resolve;
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{CopySource, CopyTo};

use super::describer::Describer;
use super::explaining::Explaining;
use super::{Effects, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::copy::{copied_query, copy_to};
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::Outcome;

impl StatementKind for CopyTo {
    fn tag(&self) -> &'static str {
        "COPY"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        match &self.source {
            CopySource::Table { table, .. } => vec![Target::relation(table, Privilege::Select)],
            CopySource::Query(_) => Vec::new(),
        }
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        match &self.source {
            CopySource::Query(query) => drop(describer.described_query(query, HintVerb::Select)?),
            CopySource::Table { table, .. } => drop(resolve(&*describer.catalog()?, table)?),
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let file = self.path().map_or_else(|| "STDOUT".to_owned(), |path| format!("'{path}'"));
        let what = if matches!(self.source, CopySource::Query(_)) { "the rows of the query" } else { "these rows" };
        Effects::rows("writes", format!("{what} into {file}"))
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        let query = copied_query(explaining.session, self)?;
        Ok(Some(Explained { effects: self.effects().lines, ..explaining.query(&*query)? }))
    }

    fn is_analyzed(&self) -> bool {
        true
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        copy_to(run.session, self, run.params, None).map(Outcome::Done)
    }
}
