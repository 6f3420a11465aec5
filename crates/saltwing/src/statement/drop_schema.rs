//! DROP SCHEMA.

use saltwing_catalog::{CatalogChange, CatalogStore, Dependents, DropList, GivenName};
use saltwing_sql::statement::DropSchema;

use super::drop_list::placed_at;
use super::effects::{NO_ROWS, listed};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for DropSchema {
    fn tag(&self) -> &'static str {
        "DROP SCHEMA"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        self.names.iter().map(|name| Target::schema(name, Privilege::Ddl)).collect()
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP SCHEMA")
    }

    fn effects(&self) -> Effects {
        Effects::catalog(format!("drops schema {}", listed(self.names.iter().map(|name| &name.text))), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        run.session.writable()?;
        let names: Vec<GivenName<'_>> = self.names.iter().map(|name| (None, name.text.as_str())).collect();
        let list = DropList { names: &names, if_exists: self.if_exists, dependents: Dependents::Refuse };
        let span = |place: usize| self.names.get(place).map(|name| name.span);
        let dropped = run.session.own.catalog.apply(CatalogChange::DropSchemas(list));
        dropped.map_err(|error| placed_at(error, span))?;
        Ok(ExecResult::default().into())
    }
}
