//! COPY .. FROM.

use saltwing_bind::resolve;
use saltwing_sql::statement::CopyFrom;

use super::describer::Describer;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::copy::copy_from;
use crate::description::Description;
use crate::outcome::Outcome;

impl StatementKind for CopyFrom {
    fn tag(&self) -> &'static str {
        "COPY"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Upsert)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::Writes
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        resolve(&*describer.catalog()?, &self.table)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let file = self.path().map_or_else(|| "STDIN".to_owned(), |path| format!("'{path}'"));
        Effects::rows("writes", format!("the rows of {file} into table {}", self.table))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        copy_from(run.session, self, None).map(Outcome::Done)
    }
}
