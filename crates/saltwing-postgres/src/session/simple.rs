//! The simple protocol: a text of statements, each answered in turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::EmptyQueryResponse;
use saltwing::split_statements_in;

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::failures::failed_block;
use super::postgres_session::PostgresSession;
use super::run::{Outcome, Source};
use super::statement::Kind;
use super::statement_text::StatementText;
use crate::messages::{complete, error_response};

/// Answers are sent at least as often while a long text runs.
const ANSWERS_HELD_MAX: Duration = Duration::from_millis(100);
/// Answers of this size are sent at once.
const ANSWER_BYTES_HELD_MAX: usize = 32 << 10;

impl PostgresSession {
    /// Runs the statements of a text. A text that cannot be read as a whole runs nothing. Several statements are one transaction, unless one of them is
    /// transaction control or takes effect at once (`docs/server.md`).
    ///
    /// # Errors
    /// The end of the session. Errors of statements are sent.
    pub(super) async fn query(&mut self, text: &str) -> Result<(), Failure> {
        match self.run_text(text).await {
            Err(Failure::Statement(info)) => {
                self.note_failure();
                self.wire.put(&error_response(info))?;
            }
            other => other?,
        }
        if let Err(Failure::Statement(info)) = self.end_implicit().await {
            self.wire.put(&error_response(info))?;
        }
        if self.is_idle() {
            self.portals.clear();
        }
        self.ready().await
    }

    async fn run_text(&mut self, text: &str) -> Result<(), Failure> {
        let statements = self.statements_of(text)?;
        if statements.iter().all(|(_, kind)| matches!(kind, Kind::Empty)) {
            return Ok(self.wire.put(&Message::EmptyQueryResponse(EmptyQueryResponse::new()))?);
        }
        let is_series = statements.len() > 1 && statements.iter().all(|(_, kind)| kind.fits_implicit_transaction());
        if is_series && self.is_idle() {
            self.begin_implicit().await?;
        }
        let mut sent_at = Instant::now();
        for (statement, kind) in statements {
            self.run_simple(&statement, kind).await?;
            if self.wire.output().len() >= ANSWER_BYTES_HELD_MAX || sent_at.elapsed() >= ANSWERS_HELD_MAX {
                self.wire.flush().await?;
                sent_at = Instant::now();
            }
        }
        Ok(())
    }

    /// The statements of a text, each with its place in it.
    fn statements_of(&self, text: &str) -> Result<Vec<(StatementText, Kind)>, Failure> {
        let dialect = self.connection.settings().dialect;
        let (mut chars, mut bytes) = (0_u32, 0);
        let mut statements = Vec::new();
        for part in split_statements_in(text, dialect) {
            let before = text.get(bytes..part.offset).unwrap_or_default().chars().count();
            chars = chars.saturating_add(u32::try_from(before).unwrap_or(u32::MAX));
            bytes = part.offset;
            let statement = StatementText { text: Arc::from(part.text), offset: chars };
            let kind = Kind::of(&statement, &self.connection, &self.catalog)?;
            statements.push((statement, kind));
        }
        Ok(statements)
    }

    async fn run_simple(&mut self, statement: &StatementText, kind: Kind) -> Result<(), Failure> {
        match kind {
            Kind::Empty => Ok(()),
            Kind::Own(own) => self.run_own(statement, &own, AnswerForm::SIMPLE).await,
            Kind::Copy(copy, stream) => self.run_copy(statement, &copy, stream).await,
            Kind::Catalog if self.is_failed() => Err(failed_block()),
            Kind::Catalog => self.run_catalog(statement).await,
            Kind::Library(parsed) => match self.run(statement, parsed.properties(), Source::Parsed(&parsed)).await? {
                Outcome::Rows(open) => self.send_result(open, None, AnswerForm::SIMPLE).await,
                Outcome::Done { tag, notices } => {
                    self.put_notices(&notices)?;
                    Ok(self.wire.put(&complete(tag))?)
                }
            },
        }
    }
}
