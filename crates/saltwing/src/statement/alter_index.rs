//! ALTER INDEX.

use saltwing_bind::resolve;
use saltwing_sql::statement::{AlterIndex, IndexChange};
use saltwing_types::{ErrorCode, IndexDef, IndexState, Rebuild, TableDef, TableId};

use super::describer::Describer;
use super::effects::{NO_ROWS, ROWS_INDEXED};
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::indexes::{build_index, build_later, change_index, check_stored};
use crate::outcome::{ExecResult, Outcome};

impl StatementKind for AlterIndex {
    fn tag(&self) -> &'static str {
        "ALTER INDEX"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::relation(&self.table, Privilege::Ddl)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("ALTER INDEX")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        resolve(&*describer.catalog()?, &self.table)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let name = format!("index {} on table {}", self.name.text, self.table);
        match self.change {
            IndexChange::Rebuild { .. } => Effects::catalog(format!("writes {name} anew"), ROWS_INDEXED),
            IndexChange::Disable => Effects::catalog(format!("lets no statement read {name}"), NO_ROWS),
            IndexChange::Usable => Effects::catalog(format!("lets statements read {name}"), NO_ROWS),
        }
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let table = resolve(&*session.catalog()?, &self.table)?;
        if let IndexChange::Rebuild { asynchronous: true } = self.change {
            check_stored(session, &table, self.span)?;
        }
        if self.if_exists && table.def().index_place(&self.name.text).is_none() {
            return Ok(ExecResult::noticed(vec![format!("there is no index {}", self.name.text)]).into());
        }
        let (table, name) = (&self.table, &self.name);
        let complete = |index: IndexDef| match index.state {
            IndexState::Building => {
                let error = Error::new(ErrorCode::NotSupported, format!("index {} is being built", name.text));
                let help = "SHOW INDEXES tells when it is ready; DROP INDEX ends the build";
                Err(error.at(Some(self.span)).with_help(Some(help)))
            }
            IndexState::Ready | IndexState::Disabled => Ok(index),
        };
        let in_state = |state| {
            change_index(session, table, name, |_, index| Ok(Some(IndexDef { state, ..complete(index)? })))?;
            Ok(ExecResult::default().into())
        };
        match self.change {
            IndexChange::Disable => in_state(IndexState::Disabled),
            IndexChange::Usable => in_state(IndexState::Ready),
            IndexChange::Rebuild { asynchronous } => {
                let rebuilt = |def: &TableDef, index| {
                    let rebuild = Some(Rebuild { id: TableId(0), ttl_s: def.ttl_s });
                    Ok(Some(IndexDef { rebuild, ..complete(index)? }))
                };
                change_index(session, table, name, rebuilt)?;
                let new = |index: &IndexDef| index.rebuild.map(|rebuild| rebuild.id);
                match asynchronous {
                    true => build_later(session, table, name, new),
                    false => build_index(session, table, name, new).map_err(|error| error.at(Some(self.span))),
                }
            }
        }
    }
}
