//! Statements run: Prepare, Execute, PrepareAndExecute, Fetch, SyncResults.
//!
//! A result is out of the list of statements while a request reads it, and comes back when its frame is complete. If the client goes away in
//! between, rows that were read are lost, and so is the result: a Fetch then says that it is missing.

use saltwing::{Statement as Prepared, Value};

use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::messages::{
    CreateStatementResponse, ExecuteRequest, ExecuteResponse, FetchRequest, FetchResponse, Frame, KnownStatement,
    PrepareAndExecuteRequest, PrepareRequest, PrepareResponse, QueryState, ResultSetResponse, Signature,
    StatementHandle,
};
use crate::results::{FrameRows, OpenResult, RowsMax, end_frame};
use crate::signatures::signature;
use crate::statements::ResultState;
use crate::values;

/// The count of a result with rows.
pub(crate) const ROWS: u64 = u64::MAX;

/// How a run gives its rows.
#[derive(Clone, Copy)]
struct Wanted {
    first_frame: FrameRows,
    rows_max: RowsMax,
}

/// What a run gives: the columns and the first rows, or the number of rows that it wrote.
enum Outcome {
    Rows(Box<Signature>, Frame, Option<Box<OpenResult>>),
    Count(u64),
}

impl Connection {
    /// A statement without a text yet.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`].
    pub(crate) fn create_statement(&mut self) -> Result<CreateStatementResponse, AvaticaError> {
        let statement_id = self.statements.add(None, RowsMax::of(0, 0))?;
        Ok(CreateStatementResponse { connection_id: self.id.clone(), statement_id })
    }

    /// Prepares a statement under an id of its own.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`]; the library's.
    pub(crate) async fn prepare_statement(&mut self, request: PrepareRequest) -> Result<PrepareResponse, AvaticaError> {
        let rows_max = RowsMax::of(request.max_rows_total, request.max_row_count);
        let prepared = self.prepare(&request.sql).await?;
        let description = prepared.description();
        let signature = signature(&request.sql, description, description.columns.as_deref().unwrap_or_default());
        let id = self.statements.add(Some((request.sql, prepared)), rows_max)?;
        let handle = StatementHandle { connection_id: self.id.clone(), id, signature: Some(signature) };
        Ok(PrepareResponse { statement: Some(handle) })
    }

    /// Runs a text under a statement. If that has expired, it is made again: the request has all that it needs.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`], [`AvaticaError::TooManyCursors`]; the library's.
    pub(crate) async fn prepare_and_execute(
        &mut self,
        request: PrepareAndExecuteRequest,
    ) -> Result<ExecuteResponse, AvaticaError> {
        let rows_max = RowsMax::of(request.max_rows_total, request.max_row_count);
        let first_frame = FrameRows::of(request.first_frame_max_size, &[rows_max.as_frame()]);
        let statement = self.statements.get_or_add(request.statement_id)?;
        (statement.result, statement.rows_max) = (ResultState::None, rows_max);
        let running = self.session.begin(request.sql.as_str());
        let outcome = Self::ended(running, self.outcome_of_text(&request.sql, Wanted { first_frame, rows_max }).await)?;
        self.execute_response(request.statement_id, outcome)
    }

    async fn outcome_of_text(&mut self, sql: &str, wanted: Wanted) -> Result<(Outcome, u64), AvaticaError> {
        let prepared = self.prepare(sql).await?;
        self.outcome(sql, &prepared, Vec::new(), wanted).await
    }

    /// Runs a prepared statement. If it has expired, it is prepared again from the text in its handle; without one the response says
    /// that it is missing.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`], [`AvaticaError::TooManyCursors`], [`AvaticaError::BadParameter`]; the library's.
    pub(crate) async fn execute(&mut self, request: ExecuteRequest) -> Result<ExecuteResponse, AvaticaError> {
        let handle = request.statement_handle.unwrap_or_default();
        let Some((sql, prepared)) = self.prepared(&handle).await? else {
            return Ok(ExecuteResponse { results: Vec::new(), missing_statement: true });
        };
        let parameters = values::parameters(&request.parameter_values)?;
        let statement = self.statements.get_or_add(handle.id)?;
        statement.result = ResultState::None;
        let rows_max = statement.rows_max;
        let older = [request.deprecated_first_frame_max_size, rows_max.as_frame()];
        let wanted = Wanted { first_frame: FrameRows::of(request.first_frame_max_size, &older), rows_max };
        let running = self.session.begin(sql.as_str());
        let outcome = Self::ended(running, self.outcome(&sql, &prepared, parameters, wanted).await)?;
        self.execute_response(handle.id, outcome)
    }

    /// The statement of a handle, prepared again if it has expired.
    async fn prepared(&mut self, handle: &KnownStatement) -> Result<Option<(String, Prepared)>, AvaticaError> {
        if let Some(prepared) = self.statements.get(handle.id).and_then(|statement| statement.prepared.clone()) {
            return Ok(Some(prepared));
        }
        let sql = handle.signature.as_ref().map(|signature| signature.sql.as_str()).filter(|sql| !sql.is_empty());
        let Some(sql) = sql else { return Ok(None) };
        let prepared = (sql.to_owned(), self.prepare(sql).await?);
        self.statements.get_or_add(handle.id)?.prepared = Some(prepared.clone());
        Ok(Some(prepared))
    }

    /// Runs a statement up to its first frame. Gives the number of its rows beside the outcome.
    async fn outcome(
        &mut self,
        sql: &str,
        prepared: &Prepared,
        parameters: Vec<Value>,
        wanted: Wanted,
    ) -> Result<(Outcome, u64), AvaticaError> {
        let description = prepared.description();
        self.enter(description).await?;
        if description.columns.is_none() && !gives_rows(description.tag) {
            let count = prepared.execute(parameters).await?.rows_affected;
            return Ok((Outcome::Count(count), count));
        }
        let rows = prepared.query(parameters).await?;
        let signature = signature(sql, description, rows.columns());
        let mut result = OpenResult::of_statement(sql, rows, wanted.rows_max);
        let frame = result.next_frame(wanted.first_frame).await?;
        let (sent, left) = (result.position(), (!frame.done).then(|| Box::new(result)));
        Ok((Outcome::Rows(Box::new(signature), frame, left), sent))
    }

    fn execute_response(&mut self, statement_id: u32, outcome: Outcome) -> Result<ExecuteResponse, AvaticaError> {
        let connection_id = self.id.clone();
        let result = match outcome {
            Outcome::Count(update_count) => {
                ResultSetResponse { connection_id, statement_id, update_count, ..ResultSetResponse::default() }
            }
            Outcome::Rows(signature, frame, left) => {
                self.put_back(statement_id, &frame, left)?;
                ResultSetResponse {
                    connection_id,
                    statement_id,
                    own_statement: true,
                    signature: Some(*signature),
                    first_frame: Some(frame),
                    update_count: ROWS,
                }
            }
        };
        Ok(ExecuteResponse { results: vec![result], missing_statement: false })
    }

    /// Keeps the remaining rows of a result after a frame.
    fn put_back(&mut self, id: u32, frame: &Frame, left: Option<Box<OpenResult>>) -> Result<(), AvaticaError> {
        match left {
            Some(result) => self.statements.keep(id, *result),
            None => {
                let end = frame.offset.saturating_add(frame.rows.len() as u64);
                if let Some(statement) = self.statements.get(id) {
                    statement.result = ResultState::Ended(end);
                }
                Ok(())
            }
        }
    }

    /// More rows of a result. If the result is at another offset than the client believes, it counts as missing, like a lost result.
    ///
    /// # Errors
    /// Those of the read: the result is closed then.
    pub(crate) async fn fetch(&mut self, request: FetchRequest) -> Result<FetchResponse, AvaticaError> {
        let Some(statement) = self.statements.get(request.statement_id) else {
            return Ok(FetchResponse { missing_statement: true, ..FetchResponse::default() });
        };
        let mut result = match std::mem::replace(&mut statement.result, ResultState::None) {
            ResultState::Open(result) if result.position() == request.offset => result,
            ResultState::Ended(end) if end == request.offset => {
                statement.result = ResultState::Ended(end);
                return Ok(FetchResponse { frame: Some(end_frame(end)), ..FetchResponse::default() });
            }
            _ => return Ok(FetchResponse { missing_results: true, ..FetchResponse::default() }),
        };
        let rows = FrameRows::of(request.frame_max_size, &[request.fetch_max_row_count.into()]);
        let running = self.session.begin(result.text());
        let counted = |frame: Frame| {
            let sent = frame.rows.len() as u64;
            (frame, sent)
        };
        let frame = Self::ended(running, result.next_frame(rows).await.map(counted))?;
        self.put_back(request.statement_id, &frame, (!frame.done).then(|| Box::new(result)))?;
        Ok(FetchResponse { frame: Some(frame), ..FetchResponse::default() })
    }

    /// Makes the result of a text again, up to a place. Gives whether there are rows.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`], [`AvaticaError::TooManyCursors`]; the library's.
    pub(crate) async fn sync_statement(
        &mut self,
        id: u32,
        state: &QueryState,
        offset: u64,
    ) -> Result<bool, AvaticaError> {
        let statement = self.statements.get_or_add(id)?;
        statement.result = ResultState::None;
        let rows_max = statement.rows_max;
        let running = self.session.begin(state.sql.as_str());
        let (result, is_there) = Self::ended(running, self.result_at(&state.sql, rows_max, offset).await)?;
        self.statements.keep(id, result)?;
        Ok(is_there)
    }

    /// The result of a text from a place on, and whether there are rows. Gives the rows that it has passed over beside that.
    async fn result_at(
        &mut self,
        sql: &str,
        rows_max: RowsMax,
        offset: u64,
    ) -> Result<((OpenResult, bool), u64), AvaticaError> {
        let prepared = self.prepare(sql).await?;
        self.enter(prepared.description()).await?;
        let mut result = OpenResult::of_statement(sql, prepared.query(()).await?, rows_max);
        let is_there = result.skip_to(offset).await?;
        let passed = result.position();
        Ok(((result, is_there), passed))
    }
}

/// Whether statements with this tag give rows, even if only a run tells their columns.
fn gives_rows(tag: &str) -> bool {
    matches!(tag, "SELECT" | "SHOW" | "DESCRIBE" | "EXPLAIN" | "EXPORT")
}
