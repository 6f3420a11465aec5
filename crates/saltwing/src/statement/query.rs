//! SELECT, WITH, VALUES and TABLE.

use saltwing_planner::HintVerb;
use saltwing_sql::statement::{After, AfterToken, QueryStatement};

use super::describer::Describer;
use super::explaining::Explaining;
use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::Outcome;
use crate::queries::run_query;

impl StatementKind for QueryStatement {
    fn tag(&self) -> &'static str {
        "SELECT"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn gives_rows(&self) -> bool {
        true
    }

    fn is_kept(&self) -> bool {
        // Each page has another token, and its text is used once.
        !matches!(self.after, Some(After { token: AfterToken::Text(_), .. }))
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        describer.described_query(self, HintVerb::Select)
    }

    fn effects(&self) -> Effects {
        Effects::none()
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        explaining.query(self).map(Some)
    }

    fn is_analyzed(&self) -> bool {
        true
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run_query(run.session, self, run.params).map(Outcome::Rows)
    }
}
