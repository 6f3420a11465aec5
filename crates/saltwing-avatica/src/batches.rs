//! Batches: several statements, or several rows of values, in one request.
//!
//! With autocommit, a batch of statements that write rows is one transaction: all of it is written, or nothing. After a conflict with another
//! commit it runs again. Without autocommit it is a part of the open transaction. A batch with other statements in it runs them one after
//! the other, each as if it had been sent alone.

use std::time::Duration;

use saltwing::{ErrorCode, Statement as Prepared, TRANSACTION_TRIES_MAX, TransactionState, Value};

use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::messages::{ExecuteBatchRequest, ExecuteBatchResponse, PrepareAndExecuteBatchRequest};
use crate::transactions::is_write_of_rows;
use crate::values;

/// The wait before a batch runs again; before each further time it is longer by as much.
const RETRY_WAIT: Duration = Duration::from_millis(2);

/// A statement with the values for one run.
type Step = (Prepared, Vec<Value>);

impl Connection {
    /// Runs a prepared statement with each row of values. A statement that has expired is missing.
    ///
    /// # Errors
    /// [`AvaticaError::BadParameter`]; the library's.
    pub(crate) async fn execute_batch(
        &mut self,
        request: ExecuteBatchRequest,
    ) -> Result<ExecuteBatchResponse, AvaticaError> {
        let statement = self.statements.get(request.statement_id).and_then(|statement| statement.prepared.clone());
        let Some((sql, prepared)) = statement else {
            return Ok(ExecuteBatchResponse {
                connection_id: self.id.clone(),
                statement_id: request.statement_id,
                update_counts: Vec::new(),
                missing_statement: true,
            });
        };
        let step = |values: &[_]| Ok((prepared.clone(), values::parameters(values)?));
        let steps: Vec<Step> =
            request.updates.iter().map(|update| step(&update.parameter_values)).collect::<Result<_, AvaticaError>>()?;
        drop(request.updates);
        let running = self.session.begin(sql.as_str());
        let counts = Self::ended(running, self.run_steps(&steps).await)?;
        Ok(self.batch_response(request.statement_id, counts))
    }

    /// Runs several texts.
    ///
    /// # Errors
    /// The library's.
    pub(crate) async fn prepare_and_execute_batch(
        &mut self,
        request: PrepareAndExecuteBatchRequest,
    ) -> Result<ExecuteBatchResponse, AvaticaError> {
        let text = request.sql_commands.first().map_or("BATCH", String::as_str);
        let running = self.session.begin(text);
        let counts = Self::ended(running, self.run_commands(&request.sql_commands).await)?;
        Ok(self.batch_response(request.statement_id, counts))
    }

    async fn run_commands(&mut self, texts: &[String]) -> Result<(Vec<u64>, u64), AvaticaError> {
        match self.writes(texts).await? {
            Some(steps) => self.run_steps(&steps).await,
            None => self.run_texts(texts).await,
        }
    }

    /// The texts, prepared, if all of them write rows alone. If none but such texts can be prepared, the error of the first other one: nothing has
    /// run then.
    async fn writes(&mut self, texts: &[String]) -> Result<Option<Vec<Step>>, AvaticaError> {
        let (mut steps, mut failure) = (Vec::new(), None);
        for text in texts {
            match self.prepare(text).await {
                Ok(prepared) if is_write_of_rows(prepared.description()) => steps.push((prepared, Vec::new())),
                Ok(_) => return Ok(None),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Some(steps)), Err)
    }

    /// Runs the steps of a batch: in a transaction of their own, or as a part of the open one.
    async fn run_steps(&mut self, steps: &[Step]) -> Result<(Vec<u64>, u64), AvaticaError> {
        for (prepared, _) in steps {
            self.enter(prepared.description()).await?;
        }
        let is_alone = self.auto_commit && self.library.transaction_state() == TransactionState::None;
        let is_write = steps.iter().all(|(prepared, _)| is_write_of_rows(prepared.description()));
        let counts = match is_alone && is_write && steps.len() > 1 {
            true => self.counts_together(steps).await?,
            false => counts_of(steps, None).await?,
        };
        let rows = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        Ok((counts, rows))
    }

    /// Runs the steps in a transaction of their own. After a conflict with another commit it runs again, up to [`TRANSACTION_TRIES_MAX`] times in
    /// all: of those that meet, one has been committed each time.
    async fn counts_together(&mut self, steps: &[Step]) -> Result<Vec<u64>, AvaticaError> {
        let mut tries = 1;
        loop {
            let transaction = self.library.begin().await?;
            let error = match counts_of(steps, Some(&transaction)).await {
                Ok(counts) => match transaction.commit().await {
                    Ok(()) => return Ok(counts),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let is_conflict = matches!(error.code(), ErrorCode::Conflict | ErrorCode::SnapshotTooOld);
            if !is_conflict || tries >= TRANSACTION_TRIES_MAX {
                return Err(error.into());
            }
            tokio::time::sleep(RETRY_WAIT.saturating_mul(tries)).await;
            tries = tries.saturating_add(1);
        }
    }

    /// Runs texts one after the other.
    async fn run_texts(&mut self, texts: &[String]) -> Result<(Vec<u64>, u64), AvaticaError> {
        let (mut counts, mut rows) = (Vec::new(), 0_u64);
        for text in texts {
            let prepared = self.prepare(text).await?;
            self.enter(prepared.description()).await?;
            let count = prepared.execute(()).await?.rows_affected;
            counts.push(count);
            rows = rows.saturating_add(count);
        }
        Ok((counts, rows))
    }

    fn batch_response(&self, statement_id: u32, update_counts: Vec<u64>) -> ExecuteBatchResponse {
        ExecuteBatchResponse { connection_id: self.id.clone(), statement_id, update_counts, missing_statement: false }
    }
}

/// The rows that each step wrote, in a transaction if one is given.
async fn counts_of(steps: &[Step], transaction: Option<&saltwing::Connection>) -> Result<Vec<u64>, saltwing::Error> {
    let mut counts = Vec::with_capacity(steps.len());
    for (prepared, values) in steps {
        let done = match transaction {
            Some(transaction) => prepared.on(transaction).execute(values).await?,
            None => prepared.execute(values).await?,
        };
        counts.push(done.rows_affected);
    }
    Ok(counts)
}
