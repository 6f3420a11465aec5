//! CREATE TABLE AS.

use saltwing_bind::{create_table_as, resolve};
use saltwing_catalog::Dependents;
use saltwing_sql::Statement;
use saltwing_sql::statement::{CreateTable, CreateTableAs, RowSource, Upsert};
use saltwing_types::Value;

use crate::Error;
use crate::outcome::{ExecResult, Outcome};
use crate::run::Purpose;
use crate::session::Session;

impl Session {
    /// Makes the table, then writes the rows of the query into it. If that fails, the table goes.
    pub(crate) fn run_create_table_as(&self, create: &CreateTableAs, params: &[Value]) -> Result<Outcome, Error> {
        self.writable()?;
        let name = &create.table.table;
        if create.table.if_not_exists && resolve(&*self.catalog(), name).is_ok() {
            return Ok(ExecResult::noticed(vec![format!("table {name} exists already")]).into());
        }
        let columns = self.columns_of(&create.query, params.len(), Purpose::Judge)?;
        let table = create_table_as(create, &columns, &*self.catalog())?;
        // If somebody else makes the table meanwhile, its rows are no business of this statement.
        let notices = self.create_table(&CreateTable { if_not_exists: false, ..table })?;
        let query = &create.query;
        let insert = Upsert {
            table: name.clone(),
            columns: None,
            dynamic: Vec::new(),
            overriding: false,
            source: RowSource::Query(query.query.clone()),
            conflict: None,
            returning: None,
            has_sequences: query.has_sequences,
            hints: query.hints.clone(),
            span: query.span,
        };
        match self.run_dml(&Statement::Insert(insert), params) {
            Ok(Outcome::Done(mut result)) => {
                result.notices.splice(0..0, notices);
                Ok(result.into())
            }
            Ok(rows) => Ok(rows),
            Err(error) => {
                let (schema, name) = name.parts();
                // The table was made by this statement, so nothing can use it but a view that came meanwhile.
                if let Err(failed) = self.shared().catalog.drop_table(schema, name, Dependents::Drop) {
                    tracing::warn!(table = name, error = %failed, "the table of a failed CREATE TABLE AS is still there");
                }
                Err(error)
            }
        }
    }
}
