//! DROP INDEX.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::resolve;
use saltwing_sql::TableRef;
use saltwing_sql::statement::DropIndex;
use saltwing_types::ErrorCode;

use super::describer::Describer;
use super::effects::NO_ROWS;
use super::{Effects, InTransaction, Privilege, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::indexes::change_index;
use crate::outcome::{ExecResult, Outcome};
use crate::rights::check_table;
use crate::session::Session;

impl StatementKind for DropIndex {
    fn tag(&self) -> &'static str {
        "DROP INDEX"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        // Without a table its rights are checked when the table is known.
        self.table.iter().map(|table| Target::relation(table, Privilege::Ddl)).collect()
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
            None => match self.only_table(session)? {
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

/// The table of an index that is named without one.
trait OfOneTable {
    /// The only table that has an index of this name, which the user may change; `None` if there is none.
    fn only_table(&self, session: &Session) -> Result<Option<TableRef>, Error>;
}

impl OfOneTable for DropIndex {
    fn only_table(&self, session: &Session) -> Result<Option<TableRef>, Error> {
        let has_it = |table: &Arc<Table>| table.def().index_place(&self.name.text).is_some();
        let mut found: Vec<Arc<Table>> = session.catalog()?.tables()?;
        found.retain(has_it);
        match found.as_slice() {
            [] => Ok(None),
            [table] => {
                check_table(session, table, Privilege::Ddl)?;
                Ok(Some(TableRef::of(&table.def().name, self.name.span)))
            }
            several => {
                let tables: Vec<String> = several.iter().map(|table| table.def().name.to_string()).collect();
                let text = format!("tables {} have an index {}", tables.join(" and "), self.name.text);
                let error = Error::new(ErrorCode::InvalidDefinition, text).at(Some(self.name.span));
                Err(error.with_help(Some("name the table: DROP INDEX i ON t")))
            }
        }
    }
}
