//! Cursors of SQL: DECLARE, FETCH, MOVE, CLOSE. A cursor is a portal.

use std::sync::Arc;
use std::time::SystemTime;

use pgwire::messages::PgWireBackendMessage as Message;
use saltwing::Value;

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::failures::failed_block;
use super::portal::{BINARY, Portal, PortalState};
use super::postgres_session::PostgresSession;
use super::row_stream::{ColumnForm, ColumnForms, OpenRows, Sent, row_description};
use super::run::Outcome;
use super::statement::{Prepared, PreparedKind};
use super::statement_text::StatementText;
use crate::messages::{complete, error};
use crate::session_statement::{Declare, Fetch, Target};

impl PostgresSession {
    /// Prepares a DECLARE whose query may have parameters.
    pub(super) async fn prepare_cursor(
        &mut self,
        statement: &StatementText,
        declare: Declare,
        types: &[u32],
    ) -> Result<Prepared, Failure> {
        let query = Box::pin(self.prepare(&statement.part(&declare.query), types)).await?;
        let parameters = query.parameters.clone();
        Ok(Prepared { statement: statement.clone(), kind: PreparedKind::Cursor(declare, Arc::new(query)), parameters })
    }

    /// DECLARE of a simple query, which has no values for parameters.
    pub(super) async fn declare_unbound(
        &mut self,
        statement: &StatementText,
        declare: &Declare,
    ) -> Result<(), Failure> {
        self.check_declares(declare)?;
        let query = Arc::new(self.prepare(&statement.part(&declare.query), &[]).await?);
        if !query.parameters.is_empty() {
            return Err(
                error("42P02", "the query of a cursor has parameters, and the statement gives no values").into()
            );
        }
        self.declare(&statement.text, declare, &query, Vec::new()).await
    }

    /// DECLARE. The query begins here: its rows are those of this place in the transaction.
    pub(super) async fn declare(
        &mut self,
        text: &Arc<str>,
        declare: &Declare,
        query: &Arc<Prepared>,
        values: Vec<Value>,
    ) -> Result<(), Failure> {
        self.check_declares(declare)?;
        let format_codes = if declare.is_binary { vec![BINARY] } else { Vec::new() };
        let Outcome::Rows(open) = self.start_portal(query, values).await? else {
            return Err(error("42601", "the statement of a cursor must give rows").into());
        };
        let columns = Some(columns_of(&open, &format_codes)?);
        let (prepared, text, opened_at) = (query.clone(), text.clone(), SystemTime::now());
        let state = PortalState::Open(open);
        self.add_portal(
            declare.name.text.clone(),
            Portal { prepared, text, opened_at, values: Vec::new(), value_bytes: 0, format_codes, columns, state },
        )
    }

    /// Refuses a DECLARE outside of a transaction block, and a name that a portal has.
    fn check_declares(&self, declare: &Declare) -> Result<(), Failure> {
        if self.is_failed() {
            return Err(failed_block());
        }
        if self.is_idle() || self.block.is_implicit {
            return Err(error("25P01", "DECLARE CURSOR can only be used in transaction blocks").into());
        }
        self.check_new_cursor(&declare.name.text)
    }

    /// The columns of a cursor.
    pub(super) fn cursor_columns(&self, name: &str) -> Result<ColumnForms, Failure> {
        let portal = self.portals.get(name).ok_or_else(|| no_cursor(name))?;
        Ok(portal
            .columns
            .clone()
            .ok_or_else(|| error("55000", format!("portal \"{name}\" has no columns before it runs")))?)
    }

    /// FETCH.
    pub(super) async fn fetch(&mut self, fetch: &Fetch, form: AnswerForm<'_>) -> Result<(), Failure> {
        let name = &fetch.name.text;
        let columns = self.cursor_columns(name)?;
        // A client of the extended protocol says the formats, which else are those of the cursor.
        let columns =
            if form.format_codes.is_empty() { columns } else { Prepared::in_formats(&columns, form.format_codes)? };
        if form.describes {
            self.wire.put(&Message::RowDescription(row_description(&columns)))?;
        }
        let mut sent = 0;
        if let Some(mut open) = self.take_rows(name).await? {
            let before = open.sent;
            let end = self.send_part(&mut open, &columns, fetch.rows_max).await?;
            sent = open.sent - before;
            self.keep_rows(name, open, end);
        }
        Ok(self.wire.put(&complete(format!("FETCH {sent}")))?)
    }

    /// MOVE.
    pub(super) async fn move_cursor(&mut self, fetch: &Fetch) -> Result<(), Failure> {
        let name = &fetch.name.text;
        self.cursor_columns(name)?;
        let mut passed = 0;
        if let Some(mut open) = self.take_rows(name).await? {
            passed = open.skip(&mut self.wire, fetch.rows_max).await?;
            let end = if fetch.rows_max.is_none_or(|most| passed < most) { Sent::All } else { Sent::Some };
            self.keep_rows(name, open, end);
        }
        Ok(self.wire.put(&complete(format!("MOVE {passed}")))?)
    }

    /// The open rows of a portal, which begins if it has not; `None` at its end. An error of the rows leaves the portal at its end.
    async fn take_rows(&mut self, name: &str) -> Result<Option<Box<OpenRows>>, Failure> {
        let portal = self.portals.get_mut(name).ok_or_else(|| no_cursor(name))?;
        match std::mem::replace(&mut portal.state, PortalState::Ended) {
            PortalState::Open(open) => Ok(Some(open)),
            PortalState::Ended | PortalState::Done => Ok(None),
            PortalState::Bound => {
                let (prepared, values) = (portal.prepared.clone(), std::mem::take(&mut portal.values));
                match self.start_portal(&prepared, values).await? {
                    Outcome::Rows(open) => Ok(Some(open)),
                    Outcome::Done { .. } => Ok(None),
                }
            }
        }
    }

    fn keep_rows(&mut self, name: &str, open: Box<OpenRows>, end: Sent) {
        if let (Sent::Some, Some(portal)) = (end, self.portals.get_mut(name)) {
            portal.state = PortalState::Open(open);
        }
    }

    /// CLOSE.
    pub(super) fn close_cursors(&mut self, target: &Target) -> Result<(), Failure> {
        match target {
            Target::All => self.portals.clear(),
            Target::Named(name) => {
                self.portals.remove(&name.text).ok_or_else(|| no_cursor(&name.text))?;
            }
        }
        Ok(())
    }
}

fn no_cursor(name: &str) -> Failure {
    error("34000", format!("cursor \"{name}\" does not exist")).into()
}

fn columns_of(open: &OpenRows, codes: &[i16]) -> Result<ColumnForms, Failure> {
    Ok(Prepared::in_formats(&ColumnForm::of_columns(open.rows.columns()).into(), codes)?)
}
