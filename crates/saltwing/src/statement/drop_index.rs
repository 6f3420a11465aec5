//! DROP INDEX.

use saltwing_bind::resolve;
use saltwing_sql::statement::DropIndex;

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::indexes::change_index;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for DropIndex {
    fn tag(&self) -> &'static str {
        "DROP INDEX"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP INDEX")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        resolve(&*describer.catalog()?, &self.table)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops index {} on table {}", self.name.text, self.table), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let table = resolve(&*session.catalog()?, &self.table)?;
        if self.if_exists && table.def().index_place(&self.name.text).is_none() {
            return Ok(ExecResult::noticed(vec![format!("there is no index {}", self.name.text)]).into());
        }
        change_index(session, &self.table, &self.name, |_, _| Ok(None))?;
        Ok(ExecResult::default().into())
    }
}
