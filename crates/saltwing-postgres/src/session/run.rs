//! Runs statements by the library.

use std::time::{Duration, Instant};

use pgwire::messages::PgWireBackendMessage as Message;
use saltwing::syntax::{StatementEffect, StatementProperties};
use saltwing::{ExecResult, ParsedStatement, Response, Value};

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::failures::failed_block;
use super::postgres_session::PostgresSession;
use super::row_stream::{ColumnForm, ColumnForms, OpenRows, Sent, row_description, supervise, supervise_read};
use super::statement::Prepared;
use super::statement_text::StatementText;
use crate::messages::{complete, error, notice};
use crate::session_statement::{SavepointStatement, savepoint};
use crate::settings::MessageLevel;

/// A statement for the library.
pub(super) enum Source<'a> {
    /// A statement without parameters.
    Parsed(&'a ParsedStatement),
    /// A prepared statement with values for its parameters.
    Prepared(&'a saltwing::Statement, Vec<Value>),
    /// The same of a query for the catalog of PostgreSQL, which runs on another connection.
    Catalog(&'a saltwing::Statement, Vec<Value>),
}

/// What a statement gives.
pub(super) enum Outcome {
    /// Rows, which are still to be read.
    Rows(Box<OpenRows>),
    /// It is done.
    Done {
        /// The tag of its end.
        tag: String,
        /// Notices for the client.
        notices: Vec<String>,
    },
}

impl PostgresSession {
    /// Runs a statement up to its first row.
    ///
    /// # Errors
    /// Those of the statement; a failed or a read-only transaction.
    pub(super) async fn run(
        &mut self,
        statement: &StatementText,
        properties: StatementProperties,
        source: Source<'_>,
    ) -> Result<Outcome, Failure> {
        self.check_runs(properties)?;
        match properties.effect {
            StatementEffect::Immediate if self.block.is_implicit => self.end_implicit().await?,
            StatementEffect::Immediate if self.has_only_read() => {
                return self.run_between_transactions(statement, properties, source).await;
            }
            StatementEffect::Writes => self.block.has_written = !self.is_idle(),
            StatementEffect::Immediate | StatementEffect::None => {}
        }
        self.run_now(statement, properties, source).await
    }

    /// Runs a statement that takes effect at once between two transactions of the library, which are one for the client. The first one has only read.
    async fn run_between_transactions(
        &mut self,
        statement: &StatementText,
        properties: StatementProperties,
        source: Source<'_>,
    ) -> Result<Outcome, Failure> {
        self.control(&statement.text, "COMMIT").await?;
        let ran = self.run_now(statement, properties, source).await;
        if matches!(ran, Ok(_) | Err(Failure::Statement(_)))
            && let Err(failed) = self.control(&statement.text, "BEGIN").await
        {
            self.end_block(true);
            return Err(failed);
        }
        let outcome = ran?;
        if self.settings.sends(MessageLevel::Warning) {
            let text = format!("{} took effect at once: ROLLBACK does not undo it", properties.tag);
            self.wire.put(&notice("WARNING", "01000", text))?;
        }
        Ok(outcome)
    }

    async fn run_now(
        &mut self,
        statement: &StatementText,
        properties: StatementProperties,
        source: Source<'_>,
    ) -> Result<Outcome, Failure> {
        let timeout = self.apply_statement_timeout();
        let connection = self.connection.clone();
        let mut running = self.session.begin(statement.text.clone());
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let response = match source {
            Source::Parsed(parsed) => supervise(&mut self.wire, &running, connection.run_parsed(parsed, ())).await?,
            Source::Prepared(prepared, values) => {
                supervise(&mut self.wire, &running, prepared.run_on(&connection, values)).await?
            }
            Source::Catalog(query, values) => supervise_read(&mut self.wire, &running, query.run(values)).await?,
        };
        match response {
            Ok(Response::Rows(rows)) => {
                if let Some(progress) = rows.progress() {
                    running.report_progress(progress);
                }
                let rows = rows.into_rows();
                Ok(Outcome::Rows(Box::new(OpenRows { rows, running, tag: properties.tag, deadline, sent: 0 })))
            }
            Ok(Response::Done(ExecResult { rows_affected, notices, .. })) => {
                running.add_rows(rows_affected);
                self.follow(statement, properties);
                Ok(Outcome::Done { tag: tag(properties.tag, rows_affected), notices })
            }
            Err(error) => {
                running.fail(error.sqlstate());
                Err(statement.failed(&error).into())
            }
        }
    }

    /// Gives the connection of the library the time limit of the session's statements.
    pub(super) fn apply_statement_timeout(&mut self) -> Option<Duration> {
        let timeout = self.settings.statement_timeout();
        if self.connection.settings().statement_timeout != timeout {
            self.connection = self.connection.with_settings(|settings| settings.statement_timeout = timeout);
        }
        timeout
    }

    /// Refuses statements that the block does not take.
    pub(super) fn check_runs(&self, properties: StatementProperties) -> Result<(), Failure> {
        if self.is_failed() && properties.tag != "ROLLBACK" {
            return Err(failed_block());
        }
        if self.settings.is_read_only() && properties.effect != StatementEffect::None {
            let text = format!("cannot execute {} in a read-only transaction", properties.tag);
            return Err(error("25006", text).into());
        }
        Ok(())
    }

    /// Lets the session's own state follow a statement of the library: savepoints and the dialect.
    fn follow(&mut self, statement: &StatementText, properties: StatementProperties) {
        if properties.tag == "SET" {
            self.settings.set_dialect(self.connection.settings().dialect);
        }
        let Some(savepoint) = savepoint(&statement.text, self.connection.settings().dialect) else { return };
        let done = match savepoint {
            SavepointStatement::Set(name) => {
                self.settings.savepoint(&name);
                Ok(())
            }
            SavepointStatement::Release(name) => self.settings.release(&name),
            SavepointStatement::RollbackTo(name) => {
                self.block.has_failed = false;
                self.settings.rollback_to(&name)
            }
        };
        if let Err(error) = done {
            debug_assert!(false, "the library knows a savepoint that the settings do not: {error}");
            tracing::error!(target: "saltwing::postgres", %error, "settings do not follow a savepoint");
        }
    }

    /// Sends all rows of a result and the end of the statement. `columns` have labels and types that differ from those of the result.
    pub(super) async fn send_result(
        &mut self,
        mut open: Box<OpenRows>,
        columns: Option<ColumnForms>,
        form: AnswerForm<'_>,
    ) -> Result<(), Failure> {
        let texts = columns.unwrap_or_else(|| ColumnForm::of_columns(open.rows.columns()).into());
        let columns = Prepared::in_formats(&texts, form.format_codes)?;
        if form.describes {
            self.wire.put(&Message::RowDescription(row_description(&columns)))?;
        }
        let sent = self.send_part(&mut open, &columns, None).await?;
        debug_assert_eq!(sent, Sent::All, "no limit stops the rows");
        self.put_end(&open, open.sent)
    }

    /// Sends rows up to a limit. An error fails the statement, and the caller drops the result.
    pub(super) async fn send_part(
        &mut self,
        open: &mut OpenRows,
        columns: &[ColumnForm],
        most: Option<u64>,
    ) -> Result<Sent, Failure> {
        let sent = open.send(&mut self.wire, columns, most).await;
        if let Err(Failure::Statement(info)) = &sent {
            open.running.fail(&info.code);
        }
        sent
    }

    /// The notices and the end of a statement, of whose rows the client got `rows` now.
    pub(super) fn put_end(&mut self, open: &OpenRows, rows: u64) -> Result<(), Failure> {
        let written = open.rows.rows_affected();
        let rows = if written > 0 { written } else { rows };
        self.put_notices(open.rows.notices())?;
        Ok(self.wire.put(&complete(tag(open.tag, rows)))?)
    }

    pub(super) fn put_notices(&mut self, notices: &[String]) -> Result<(), Failure> {
        if !self.settings.sends(MessageLevel::Notice) {
            return Ok(());
        }
        for text in notices {
            self.wire.put(&notice("NOTICE", "00000", text))?;
        }
        Ok(())
    }
}

/// The tag of a statement's end, as PostgreSQL has it.
pub(super) fn tag(tag: &str, rows: u64) -> String {
    match tag {
        "INSERT" | "UPSERT" => format!("INSERT 0 {rows}"),
        "SELECT" | "UPDATE" | "DELETE" | "MERGE" | "COPY" | "FETCH" | "MOVE" => format!("{tag} {rows}"),
        other => other.to_owned(),
    }
}
