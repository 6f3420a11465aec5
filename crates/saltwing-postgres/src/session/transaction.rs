//! Begins and ends the transactions of a session.

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::response::ReadyForQuery;
use saltwing::TransactionState;

use super::block::Block;
use super::end::Failure;
use super::postgres_session::PostgresSession;
use super::row_stream::supervise;
use super::statement_text::StatementText;
use crate::error_fields::error_info;
use crate::messages::{complete, notice};
use crate::settings::TransactionModes;

impl PostgresSession {
    pub(super) fn transaction_state(&self) -> TransactionState {
        self.connection.transaction_state()
    }

    /// Whether no transaction is open.
    pub(super) fn is_idle(&self) -> bool {
        self.transaction_state() == TransactionState::None
    }

    pub(super) fn is_failed(&self) -> bool {
        self.block.is_failed(self.transaction_state())
    }

    /// BEGIN of a client.
    pub(super) async fn begin(
        &mut self,
        statement: &StatementText,
        modes: TransactionModes,
        tag: &str,
    ) -> Result<(), Failure> {
        if self.is_idle() {
            self.open_transaction(&statement.text, modes).await?;
        } else if !self.block.is_implicit {
            self.wire.put(&notice("WARNING", "25001", "there is already a transaction in progress"))?;
        }
        self.block = Block::default();
        Ok(self.wire.put(&complete(tag))?)
    }

    /// Opens a transaction of the library in these modes.
    async fn open_transaction(&mut self, text: &str, modes: TransactionModes) -> Result<(), Failure> {
        let modes = self.settings.begin(modes);
        let opened = self.control(text, if modes.is_read_only { "BEGIN READ ONLY" } else { "BEGIN" }).await;
        if opened.is_err() {
            self.settings.rollback();
        }
        opened
    }

    /// COMMIT of a client. In a failed transaction it is a ROLLBACK, as its tag tells.
    pub(super) async fn commit(&mut self, statement: &StatementText) -> Result<(), Failure> {
        if self.is_failed() {
            return self.roll_back(statement).await;
        }
        if self.is_idle() {
            self.wire.put(&notice("WARNING", "25P01", "there is no transaction in progress"))?;
        } else {
            let committed = self.control(&statement.text, "COMMIT").await;
            self.end_block(committed.is_ok());
            committed?;
        }
        Ok(self.wire.put(&complete("COMMIT"))?)
    }

    /// ROLLBACK of a client.
    pub(super) async fn roll_back(&mut self, statement: &StatementText) -> Result<(), Failure> {
        if self.is_idle() {
            self.wire.put(&notice("WARNING", "25P01", "there is no transaction in progress"))?;
        } else {
            let rolled_back = self.control(&statement.text, "ROLLBACK").await;
            self.end_block(false);
            rolled_back?;
        }
        Ok(self.wire.put(&complete("ROLLBACK"))?)
    }

    /// Opens a transaction around several statements of one message, or of one series.
    pub(super) async fn begin_implicit(&mut self) -> Result<(), Failure> {
        debug_assert!(self.is_idle(), "a transaction in a transaction");
        self.open_transaction("BEGIN", TransactionModes::default()).await?;
        self.block = Block { is_implicit: true, ..Block::default() };
        Ok(())
    }

    /// Ends the transaction that the session opened by itself, if one is open: by a commit, unless a statement of it failed.
    pub(super) async fn end_implicit(&mut self) -> Result<(), Failure> {
        if !self.block.is_implicit {
            return Ok(());
        }
        let has_failed = self.is_failed();
        let ended = match self.is_idle() {
            true => Ok(()),
            false => self.control("COMMIT", if has_failed { "ROLLBACK" } else { "COMMIT" }).await,
        };
        self.end_block(!has_failed && ended.is_ok());
        ended
    }

    /// Whether the client's transaction has only read, and nothing in it would end with it: no cursor and no savepoint.
    pub(super) fn has_only_read(&self) -> bool {
        let is_open = self.transaction_state() == TransactionState::Open;
        let has_cursors = self.portals.keys().any(|name| !name.is_empty());
        is_open && !self.block.is_implicit && !self.block.has_written && !has_cursors && !self.settings.has_savepoints()
    }

    /// The end of a transaction: its portals and its settings end with it.
    pub(super) fn end_block(&mut self, is_committed: bool) {
        self.block = Block::default();
        self.portals.clear();
        if is_committed { self.settings.commit() } else { self.settings.rollback() }
    }

    /// Runs a statement of transaction control, for the client's statement `text`.
    pub(super) async fn control(&mut self, text: &str, sql: &str) -> Result<(), Failure> {
        let connection = self.connection.clone();
        let mut running = self.session.begin(text);
        match supervise(&mut self.wire, &running, connection.execute(sql, ())).await? {
            Ok(_) => Ok(()),
            Err(error) => {
                running.fail(error.sqlstate());
                Err(error_info(&error, None).into())
            }
        }
    }

    /// Notes that a message of the client had no success.
    pub(super) fn note_failure(&mut self) {
        self.block.has_failed = !self.is_idle();
    }

    /// Tells the client that the next statement may come.
    pub(super) async fn ready(&mut self) -> Result<(), Failure> {
        for (name, value) in self.settings.take_reports() {
            if name == "application_name" {
                self.session.set_application(&value);
            }
            let status = pgwire::messages::startup::ParameterStatus::new(name.to_owned(), value);
            self.wire.put(&Message::ParameterStatus(status))?;
        }
        let status = self.block.status(self.transaction_state());
        self.wire.put(&Message::ReadyForQuery(ReadyForQuery::new(status)))?;
        Ok(self.wire.flush().await?)
    }
}
