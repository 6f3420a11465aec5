//! DROP INDEX.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::resolve;
use saltwing_sql::statement::DropIndex;
use saltwing_sql::{Name, TableRef};
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::indexes::change_index;
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;

impl StatementKind for DropIndex {
    fn tag(&self) -> &'static str {
        "DROP INDEX"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        match &self.table {
            Some(table) => vec![Target::relation(table, Privilege::Ddl)],
            // Any table may be the one that has it.
            None => vec![Target::database(Privilege::Ddl)],
        }
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("DROP INDEX")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        if let Some(table) = &self.table {
            resolve(&*describer.catalog()?, table)?;
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let table = self.table.as_ref().map_or_else(String::new, |table| format!(" on table {table}"));
        Effects::catalog(format!("drops index {}{table}", self.name.text), NO_ROWS)
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let session = run.session;
        session.writable()?;
        let none = || Ok(ExecResult::noticed(vec![format!("there is no index {}", self.name.text)]).into());
        let name = match &self.table {
            Some(name) => name.clone(),
            None => match only_table(session, &self.name)? {
                Some(name) => name,
                None if self.if_exists => return none(),
                None => {
                    let text = format!("no table has an index {}", self.name.text);
                    return Err(Error::new(ErrorCode::NoSuchTable, text).at(Some(self.name.span)));
                }
            },
        };
        let table = resolve(&*session.catalog()?, &name)?;
        if self.if_exists && table.def().index_place(&self.name.text).is_none() {
            return none();
        }
        change_index(session, &name, &self.name, |_, _| Ok(None))?;
        Ok(ExecResult::default().into())
    }
}

/// The only table that has an index of this name; `None` if there is none.
fn only_table(session: &Session, index: &Name) -> Result<Option<TableRef>, Error> {
    let has_it = |table: &Arc<Table>| table.def().index_place(&index.text).is_some();
    let mut found: Vec<Arc<Table>> = session.catalog()?.tables()?;
    found.retain(has_it);
    match found.as_slice() {
        [] => Ok(None),
        [table] => Ok(Some(TableRef::of(&table.def().name, index.span))),
        several => {
            let tables: Vec<String> = several.iter().map(|table| table.def().name.to_string()).collect();
            let text = format!("tables {} have an index {}", tables.join(" and "), index.text);
            let error = Error::new(ErrorCode::InvalidDefinition, text).at(Some(index.span));
            Err(error.with_help(Some("name the table: DROP INDEX i ON t")))
        }
    }
}
