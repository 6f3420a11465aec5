//! Runs the statements of one text in order.

use std::collections::VecDeque;
use std::sync::Arc;

use saltwing_sql::{Dialect, Parsed, Statement, StatementReader};

use crate::Error;
use crate::execution::drain;
use crate::outcome::{ExecResult, Outcome};
use crate::params::Params;
use crate::session::Session;
use crate::statement_cache::CachedStatement;

/// The statements of a text. Each runs when the caller takes its result.
pub(crate) struct Batch {
    text: Arc<str>,
    reader: StatementReader,
    /// Statements that have not run, with their dialects.
    parsed: VecDeque<(Parsed, Dialect)>,
    /// Whether all statements are parsed, or a statement has failed: then the rest does not run.
    is_at_end: bool,
}

impl Batch {
    /// # Errors
    /// Errors of parsing, before any statement runs. The text after a `SET dialect` is parsed only after that statement has run.
    pub(crate) fn new(session: &Session, sql: &str) -> Result<Self, Error> {
        let text: Arc<str> = sql.into();
        let reader = StatementReader::new(text.clone());
        let mut batch = Self { text, reader, parsed: VecDeque::new(), is_at_end: false };
        batch.parse(session)?;
        Ok(batch)
    }

    /// Parses up to the end of the text, or up to a SET of the dialect for the rest of the text.
    fn parse(&mut self, session: &Session) -> Result<(), Error> {
        let dialect = session.dialect();
        while !self.is_at_end {
            let parsed = self.reader.next_in(dialect).map_err(|error| Error::from(error).in_sql(&self.text));
            match parsed.inspect_err(|error| session.transaction.fail(error))? {
                Some(parsed) => {
                    let sets_dialect = sets_dialect(&parsed.statement);
                    self.parsed.push_back((parsed, dialect));
                    if sets_dialect {
                        return Ok(());
                    }
                }
                None => self.is_at_end = true,
            }
        }
        Ok(())
    }

    /// Runs the next statement; `None` after the last one, and after a failure.
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) fn next(&mut self, session: &Session) -> Result<Option<Outcome>, Error> {
        let outcome = self.run_next(session);
        if outcome.is_err() {
            self.parsed.clear();
            self.is_at_end = true;
        }
        outcome
    }

    fn run_next(&mut self, session: &Session) -> Result<Option<Outcome>, Error> {
        if self.parsed.is_empty() {
            self.parse(session)?;
        }
        let Some((parsed, dialect)) = self.parsed.pop_front() else { return Ok(None) };
        let statement = CachedStatement::new(parsed, &self.text, dialect);
        let statement = Arc::new(statement.inspect_err(|error| session.transaction.fail(error))?);
        session.run_parsed(&statement, Params::Positional(Vec::new())).map(Some)
    }
}

fn sets_dialect(statement: &Statement) -> bool {
    matches!(statement, Statement::Set(set) if set.name.text.eq_ignore_ascii_case("dialect"))
}

/// Runs all statements of a text, up to the first failure.
pub(crate) fn execute_batch(session: &Session, sql: &str) -> Result<Vec<ExecResult>, Error> {
    let mut batch = Batch::new(session, sql)?;
    std::iter::from_fn(|| batch.next(session).transpose()).map(|outcome| drain(outcome?)).collect()
}
