//! SET.

use saltwing_sql::statement::Set;

use super::describer::Describer;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::outcome::{ExecResult, Outcome};
use crate::settings::{Setting, SettingScope};

impl StatementKind for Set {
    fn tag(&self) -> &'static str {
        "SET"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        // A setting of the database holds for all connections.
        let is_of_database = Setting::named(&self.name.text).is_ok_and(|it| it.scope() == SettingScope::Database);
        if is_of_database { vec![Target::database(Privilege::All)] } else { Vec::new() }
    }

    fn in_transaction(&self) -> InTransaction {
        match self.name.text.eq_ignore_ascii_case("autocommit_rows") {
            true => InTransaction::Refused {
                what: "SET autocommit_rows",
                help: "a transaction is one commit: set it before BEGIN or after COMMIT",
            },
            false => InTransaction::Allowed,
        }
    }

    fn describe(&self, _: &mut Describer<'_>) -> Result<Description, Error> {
        Setting::named(&self.name.text).map_err(|error| error.at(Some(self.name.span)))?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::session(format!("sets {}", self.name.text))
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.set(self).map(|()| ExecResult::default().into())
    }
}
