//! Statements that were parsed, and perhaps not run yet.

use std::sync::Arc;

use saltwing_types::SqlType;

use crate::calls::call_anywhere;
use crate::params::IntoParams;
use crate::prepared_statement::run_cached;
use crate::query_run::Purpose;
use crate::response::Response;
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::syntax::{StatementProperties, properties_of};
use crate::{Connection, Error, Statement, blocking};

/// A statement that was parsed. Its text is read once, whatever is done with it: a server that asks for its
/// [properties](ParsedStatement::properties) before it runs it does not parse it twice.
///
/// ```
/// # fn main() -> Result<(), saltwing::Error> {
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// # runtime.block_on(async {
/// let connection = saltwing::Database::memory()?.connect();
/// connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).await?;
/// let insert = connection.parse("INSERT INTO t VALUES (1), (2)")?;
/// assert_eq!(insert.properties().tag, "INSERT");
/// connection.run_parsed(&insert, ()).await?;
/// assert_eq!(connection.query_one::<(i64,)>("SELECT max(k) FROM t", ()).await?, (2,));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone)]
pub struct ParsedStatement {
    /// The session that parsed it.
    session: Session,
    statement: Arc<CachedStatement>,
}

impl ParsedStatement {
    /// What the text tells without a table or a run.
    pub fn properties(&self) -> StatementProperties {
        properties_of(&self.statement.parsed.statement)
    }

    /// As [`Session::shared_with`].
    fn for_session(&self, session: &Session) -> Arc<CachedStatement> {
        self.session.shared_with(session, &self.statement)
    }
}

impl Connection {
    /// Parses a statement, in the dialect of the connection. No table is looked up.
    ///
    /// # Errors
    /// A text that is not one statement.
    pub fn parse(&self, sql: &str) -> Result<ParsedStatement, Error> {
        let session = self.session();
        Ok(ParsedStatement { statement: session.parsed(sql)?, session: session.clone() })
    }

    /// As [`Connection::run`], of a statement that was parsed.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements).
    pub async fn run_parsed(&self, statement: &ParsedStatement, params: impl IntoParams) -> Result<Response, Error> {
        run_cached(self, statement.for_session(self.session()), params.into_params()).await
    }

    /// As [`Connection::prepare_typed`], of a statement that was parsed, and without a judgement of the guard: it judges each run. So a server
    /// describes statements that their client may never run.
    ///
    /// # Errors
    /// Those [of statements](crate::Error#of-statements), but for refusals by the guard.
    pub async fn prepare_unjudged(
        &self,
        statement: &ParsedStatement,
        types: &[Option<SqlType>],
    ) -> Result<Statement, Error> {
        let session = self.session();
        let statement = statement.for_session(session);
        let prepared = match session.has_description(&statement, types) {
            true => session.prepare_parsed(&statement, types, Purpose::Explain)?,
            false => {
                let types = types.to_vec();
                let prepare = move |connection: &blocking::Connection| {
                    connection.session.prepare_parsed(&statement, &types, Purpose::Explain)
                };
                call_anywhere(session, prepare).await?
            }
        };
        Ok(Statement::of(&prepared, self))
    }
}
