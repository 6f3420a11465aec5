//! The statements of a connection: the ids that clients know, and for each what was prepared under it and its open result.

use std::collections::HashMap;
use std::time::Duration;

use saltwing::Statement as Prepared;
use saltwing_sessions::Limits;
use tokio::time::Instant;

use crate::error::AvaticaError;
use crate::results::{OpenResult, RowsMax};

/// A statement that is not used for as long is closed.
pub(crate) const STATEMENT_IDLE_MAX: Duration = Duration::from_secs(300);

/// What a client has under an id.
pub(crate) struct Statement {
    /// What it prepared, with its text.
    pub(crate) prepared: Option<(String, Prepared)>,
    /// The rows that it takes of a result.
    pub(crate) rows_max: RowsMax,
    /// Its result.
    pub(crate) result: ResultState,
    used: Instant,
}

/// How far a result is.
pub(crate) enum ResultState {
    /// There is none; it was lost; or a request that read it was given up.
    None,
    /// Rows may follow.
    Open(OpenResult),
    /// All rows were sent: so many.
    Ended(u64),
}

impl ResultState {
    fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

/// The statements of a connection.
pub(crate) struct Statements {
    by_id: HashMap<u32, Statement>,
    last_id: u32,
    statements_max: usize,
    cursors_max: usize,
}

impl Statements {
    /// None yet.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            by_id: HashMap::new(),
            last_id: 0,
            statements_max: limits.prepared_statements_max,
            cursors_max: limits.cursors_max,
        }
    }

    /// An id that no statement has or had.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`] after four thousand million ids.
    pub(crate) fn next_id(&mut self) -> Result<u32, AvaticaError> {
        self.last_id =
            self.last_id.checked_add(1).ok_or(AvaticaError::TooManyStatements { max: self.statements_max })?;
        Ok(self.last_id)
    }

    /// Another statement.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`].
    pub(crate) fn add(&mut self, prepared: Option<(String, Prepared)>, rows_max: RowsMax) -> Result<u32, AvaticaError> {
        self.check_count()?;
        let id = self.next_id()?;
        self.by_id.insert(id, Statement { prepared, rows_max, result: ResultState::None, used: Instant::now() });
        Ok(id)
    }

    /// The statement of an id. It counts as used.
    pub(crate) fn get(&mut self, id: u32) -> Option<&mut Statement> {
        let statement = self.by_id.get_mut(&id)?;
        statement.used = Instant::now();
        Some(statement)
    }

    /// The statement of an id; a new one if it has expired, or never was.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`].
    pub(crate) fn get_or_add(&mut self, id: u32) -> Result<&mut Statement, AvaticaError> {
        if !self.by_id.contains_key(&id) {
            self.check_count()?;
            // Later ids must not be this one.
            self.last_id = self.last_id.max(id);
        }
        let new = || Statement {
            prepared: None,
            rows_max: RowsMax::of(0, 0),
            result: ResultState::None,
            used: Instant::now(),
        };
        let statement = self.by_id.entry(id).or_insert_with(new);
        statement.used = Instant::now();
        Ok(statement)
    }

    /// Closes a statement with its result. An id that no statement has is none that must be closed.
    pub(crate) fn close(&mut self, id: u32) {
        self.by_id.remove(&id);
    }

    /// Keeps a result, of which rows are left, under a statement.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyCursors`]; the result is closed then.
    pub(crate) fn keep(&mut self, id: u32, result: OpenResult) -> Result<(), AvaticaError> {
        let others = self.by_id.iter().filter(|(other, statement)| **other != id && statement.result.is_open()).count();
        if others >= self.cursors_max {
            return Err(AvaticaError::TooManyCursors { max: self.cursors_max });
        }
        self.get_or_add(id)?.result = ResultState::Open(result);
        Ok(())
    }

    /// Closes those that have not been used for [`STATEMENT_IDLE_MAX`].
    pub(crate) fn expire(&mut self, now: Instant) {
        self.by_id.retain(|_, statement| now.saturating_duration_since(statement.used) < STATEMENT_IDLE_MAX);
    }

    fn check_count(&self) -> Result<(), AvaticaError> {
        match self.by_id.len() >= self.statements_max {
            true => Err(AvaticaError::TooManyStatements { max: self.statements_max }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use saltwing_sessions::Limits;
    use tokio::time::Instant;

    use super::{STATEMENT_IDLE_MAX, Statements};
    use crate::error::AvaticaError;
    use crate::results::{OpenResult, RowsMax};

    fn statements() -> Statements {
        Statements::new(&Limits { prepared_statements_max: 2, cursors_max: 1, ..Limits::default() })
    }

    fn add(statements: &mut Statements) -> Result<u32, AvaticaError> {
        statements.add(None, RowsMax::of(0, 0))
    }

    fn result() -> OpenResult {
        OpenResult::of_rows(Vec::new(), Vec::new())
    }

    #[test]
    fn a_connection_has_no_more_statements_than_its_limit() {
        let mut statements = statements();
        let first = add(&mut statements).unwrap();
        let second = add(&mut statements).unwrap();
        assert_ne!(first, second);
        assert!(matches!(add(&mut statements), Err(AvaticaError::TooManyStatements { max: 2 })));
        statements.close(first);
        let third = add(&mut statements).unwrap();
        assert!(third > second, "ids do not come back");
    }

    #[test]
    fn a_connection_has_no_more_open_results_than_its_limit() {
        let mut statements = statements();
        let (first, second) = (add(&mut statements).unwrap(), add(&mut statements).unwrap());
        statements.keep(first, result()).unwrap();
        statements.keep(first, result()).unwrap();
        assert!(matches!(statements.keep(second, result()), Err(AvaticaError::TooManyCursors { max: 1 })));
        statements.close(first);
        statements.keep(second, result()).unwrap();
    }

    #[test]
    fn an_id_that_a_client_brings_is_not_given_out_again() {
        let mut statements = statements();
        statements.get_or_add(7).unwrap();
        assert_eq!(add(&mut statements).unwrap(), 8);
        let mut last = Statements::new(&Limits::default());
        last.get_or_add(u32::MAX).unwrap();
        assert!(add(&mut last).is_err());
    }

    #[test]
    fn statements_that_are_not_used_expire() {
        let mut statements = statements();
        let (first, second) = (add(&mut statements).unwrap(), add(&mut statements).unwrap());
        let now = Instant::now();
        statements.by_id.get_mut(&second).unwrap().used = now + STATEMENT_IDLE_MAX / 2;
        statements.expire(now + STATEMENT_IDLE_MAX * 9 / 10);
        assert!(statements.by_id.contains_key(&first));
        statements.expire(now + STATEMENT_IDLE_MAX * 11 / 10);
        assert!(!statements.by_id.contains_key(&first));
        assert!(statements.by_id.contains_key(&second));
    }
}
