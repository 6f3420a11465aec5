//! CREATE TABLE AS.

use saltwing_bind::create_table_as;
use saltwing_planner::HintVerb;
use saltwing_sql::Statement;
use saltwing_sql::statement::{CreateTable, CreateTableAs, RowSource, Upsert};
use saltwing_types::ErrorCode;

use super::create_table::NewTable;
use super::describer::{Describer, columns_of};
use super::explaining::Explaining;
use super::{Effects, HasKind, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::{ExecResult, Outcome};
use crate::query_run::Purpose;
use crate::statement_plans::PlanCache;
use crate::temporary::is_there;

/// Advice if two rows of the query have one key.
const EQUAL_KEYS: &str = "two rows of the query have this key: name more columns in PRIMARY KEY (..), or make the query's rows distinct by GROUP BY";
impl StatementKind for CreateTableAs {
    fn tag(&self) -> &'static str {
        "CREATE TABLE AS"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::new_table(&self.table.table, self.table.temporary)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE TABLE")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        if let Some(columns) = describer.described_query(&self.query, HintVerb::Select)?.columns {
            create_table_as(self, &columns)?;
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let rows = "those of the query are written into the table";
        Effects::catalog(format!("creates table {}", self.table.table), rows)
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        Ok(Some(Explained { effects: self.effects().lines, ..explaining.query(&self.query)? }))
    }

    /// Creates the table, then writes the rows of the query into it. If that fails, the table is dropped.
    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let Run { session, params, .. } = *run;
        session.writable()?;
        let name = &self.table.table;
        if self.table.if_not_exists && is_there(session, &self.table)? {
            return Ok(ExecResult::noticed(vec![format!("table {name} exists already")]).into());
        }
        let columns = columns_of(session, &self.query, params, Purpose::Judge)?;
        let table = create_table_as(self, &columns)?;
        // If another statement creates the table meanwhile, this statement must not write into it.
        let new = NewTable::make(session, &CreateTable { if_not_exists: false, ..table })?;
        let query = &self.query;
        let insert = Statement::Insert(Upsert {
            table: new.name.clone(),
            alias: None,
            columns: None,
            takes_first_columns: false,
            dynamic: Vec::new(),
            overriding: false,
            source: RowSource::Query(query.query.clone()),
            conflict: None,
            returning: None,
            hints: query.hints.clone(),
            span: query.span,
        });
        match insert.ask(|kind| kind.run(&Run { statement: &insert, plans: &PlanCache::default(), ..*run })) {
            Ok(Outcome::Done(mut result)) => {
                result.notices.splice(0..0, new.put_in_place(session)?);
                Ok(result.into())
            }
            Ok(rows) => Ok(rows),
            Err(error) => {
                new.take_back(session);
                Err(match error.code() {
                    ErrorCode::DuplicateKey => error.with_help_instead(EQUAL_KEYS),
                    _ => error,
                })
            }
        }
    }
}
