//! Queries that the caller's thread runs.
//!
//! The async API runs a statement on a thread of the library. The way there and back takes longer than to read a few rows, so a query of the
//! direct path is first tried on the caller's thread, within limits that are far below what another task of that thread would notice. A try
//! that reaches a limit is given up, and a thread of the library runs the query from its beginning.
//!
//! # Invariants
//! 1. A try never waits for a network, nor for another thread that does: it is made over the embedded storage alone, and has one thread. It may
//!    read blocks from files.
//! 2. A try has no effect but its reads: it takes no values of sequences, and is made for no statement but a query. So it can be given up.

use std::sync::Arc;

use saltwing_bind::ParamValues;
use saltwing_sql::Statement;
use saltwing_types::ErrorCode;

use crate::Error;
use crate::outcome::{Outcome, RowsOutcome};
use crate::params::Params;
use crate::queries::{Literals, try_query};
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::tries::is_short;

impl Session {
    /// The complete rows of a query that reads little; `None` if a thread of the library must run the statement.
    ///
    /// # Errors
    /// Errors of the query.
    pub(crate) fn query_at_once(
        &self,
        statement: &Arc<CachedStatement>,
        params: &Params,
    ) -> Result<Option<RowsOutcome>, Error> {
        self.try_statement(statement, params, Literals::OfCaller)
    }

    /// The same of the template of a text with its literals. `None` as well if anything is wrong with it: the text itself tells the error, with its
    /// places. In a transaction, which an error would fail, templates are not tried.
    pub(crate) fn template_at_once(&self, template: &Arc<CachedStatement>, literals: &Params) -> Option<RowsOutcome> {
        if self.transaction.is_open() {
            return None;
        }
        self.try_statement(template, literals, Literals::InTemplate).unwrap_or_default()
    }

    fn try_statement(
        &self,
        statement: &Arc<CachedStatement>,
        params: &Params,
        literals: Literals,
    ) -> Result<Option<RowsOutcome>, Error> {
        let shared = self.shared();
        // The embedded storage does not wait for a network.
        let may_try = shared.storage.is_some() && is_short(&statement.text);
        let Statement::Query(query) = &statement.parsed.statement else { return Ok(None) };
        if !may_try || !statement.tries.allows_next() || !shared.tries.allows_next() {
            return Ok(None);
        }
        let try_in = |session: &Self| {
            session.check_names(statement)?;
            let values = Self::parameter_values(statement, params.clone())?;
            let given = ParamValues { values: &values, types: &statement.types };
            try_query(session, query, given, statement, literals)
        };
        let outcome = self.run_as(statement, |session| match try_in(session) {
            Ok(rows) => Ok(rows.map_or(Outcome::NeedsThread, Outcome::Rows)),
            Err(error) => self.after_error(error, statement),
        })?;
        Ok(match outcome {
            Outcome::Rows(rows) => Some(rows),
            Outcome::NeedsThread | Outcome::Done(_) => None,
        })
    }

    /// The outcome of a try that failed.
    ///
    /// # Errors
    /// The error, if it is one of the query.
    fn after_error(&self, error: Error, statement: &CachedStatement) -> Result<Outcome, Error> {
        match error.code() {
            // The machine waits for files, or has other work: no statement is tried for a while.
            ErrorCode::Timeout => self.shared().tries.pause(),
            ErrorCode::BudgetExceeded => statement.tries.pause(),
            // It is refused again, with more help.
            ErrorCode::FullScanRefused => {}
            _ => return Err(error),
        }
        Ok(Outcome::NeedsThread)
    }
}
