//! Statements that were parsed, and perhaps not run yet.

use std::sync::Arc;

use saltwing_sql::Dialect;

use crate::Error;
use crate::literal_template::{LiteralTemplate, literal_template};
use crate::outcome::RowsOutcome;
use crate::params::Params;
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::syntax::{StatementProperties, properties_of};
use crate::tries::is_short;

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
    form: Form,
}

#[derive(Clone)]
enum Form {
    Statement(Arc<CachedStatement>),
    /// The template of the text, with its literals. The text itself is parsed when it must run.
    Template {
        template: Arc<CachedStatement>,
        literals: Params,
        text: Arc<str>,
    },
}

impl ParsedStatement {
    /// Parses a text, or finds that it was parsed before.
    ///
    /// # Errors
    /// A text that is not one statement.
    pub(crate) fn of(session: &Session, sql: &str) -> Result<Self, Error> {
        let form = match Self::known(session, sql) {
            Some(known) => known,
            None => Form::Statement(session.parsed(sql)?),
        };
        Ok(Self { session: session.clone(), form })
    }

    fn known(session: &Session, sql: &str) -> Option<Form> {
        let dialect = session.dialect();
        if let Some(known) = session.statements().known(sql, dialect) {
            return Some(Form::Statement(known));
        }
        if dialect != Dialect::Saltwing || !is_short(sql) {
            return None;
        }
        let LiteralTemplate { text, values } = literal_template(sql)?;
        // If the template is no statement, the text has the error.
        let template = session.parsed(&text).ok()?;
        Some(Form::Template { template, literals: Params::Positional(values), text: sql.into() })
    }

    /// What the text tells without a table or a run.
    pub fn properties(&self) -> StatementProperties {
        match &self.form {
            Form::Statement(statement) | Form::Template { template: statement, .. } => {
                properties_of(&statement.parsed.statement)
            }
        }
    }

    /// The complete rows of a query that reads little; `None` if a thread of the library must run the statement.
    ///
    /// # Errors
    /// Errors of the query.
    pub(crate) fn rows_at_once(&self, session: &Session, params: &Params) -> Result<Option<RowsOutcome>, Error> {
        match self.template_at_once(session, params) {
            Some(rows) => Ok(Some(rows)),
            None => session.query_at_once(&self.statement(session)?, params),
        }
    }

    /// As [`Session::template_at_once`]; `None` as well if the statement has no template.
    pub(crate) fn template_at_once(&self, session: &Session, params: &Params) -> Option<RowsOutcome> {
        match &self.form {
            Form::Template { template, literals, .. } if params.is_empty() => {
                session.template_at_once(&self.session.shared_with(session, template), literals)
            }
            Form::Statement(_) | Form::Template { .. } => None,
        }
    }

    /// The statement for a session.
    ///
    /// # Errors
    /// A text that is not one statement.
    pub(crate) fn statement(&self, session: &Session) -> Result<Arc<CachedStatement>, Error> {
        match &self.form {
            Form::Statement(statement) => Ok(self.session.shared_with(session, statement)),
            Form::Template { text, .. } => session.parsed(text),
        }
    }
}
