//! The statements that the session answers itself.

use bytes::BufMut;
use pgwire::error::ErrorInfo;
use pgwire::messages::PgWireBackendMessage as Message;
use saltwing::syntax::quote_name;
use saltwing::{SqlType, Value};

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::failures::{at, failed_block, setting_error};
use super::postgres_session::PostgresSession;
use super::row_stream::{ColumnForm, ColumnForms, row_description};
use super::run::{Outcome, Source};
use super::statement::{Named, Prepared, PreparedKind};
use super::statement_text::StatementText;
use crate::error_fields::{error_info, value_error_info};
use crate::messages::{complete, error, notice};
use crate::session_statement::{Argument, ArgumentKind, Discard, Execute, Prepare, SessionStatement, Target};
use crate::settings::{MessageLevel, NewValue, SettingError, SettingWarning, TextAt};
use crate::values::{Format, WireType, decode};

impl PostgresSession {
    /// Answers a statement.
    ///
    /// # Errors
    /// Those of the statement.
    pub(super) async fn run_own(
        &mut self,
        statement: &StatementText,
        own: &SessionStatement,
        form: AnswerForm<'_>,
    ) -> Result<(), Failure> {
        use SessionStatement as S;
        match own {
            S::Commit => return self.commit(statement).await,
            S::Rollback => return self.roll_back(statement).await,
            _ if self.is_failed() => return Err(failed_block()),
            S::Begin { modes, tag } => return self.begin(statement, *modes, tag).await,
            S::Show(name) => return self.show(statement, name, form),
            S::ShowAll => return self.show_all(form).await,
            S::OfTheLibrary { sql, tag } => return self.run_of_the_library(statement, sql, tag, form).await,
            S::Fetch(fetch) => return self.fetch(fetch, form).await,
            S::Move(fetch) => return self.move_cursor(fetch).await,
            S::Execute(execute) => return self.execute_prepared(statement, execute, form).await,
            S::Set { name, value, is_local } => self.set(statement, name, value, *is_local)?,
            S::SetTransaction(modes) => {
                let warning =
                    self.settings.set_transaction(*modes).map_err(|failed| setting_failure(&failed, statement))?;
                self.put_warning(warning.as_ref())?;
            }
            S::SetCharacteristics(modes) => {
                self.settings.set_characteristics(*modes).map_err(|failed| setting_failure(&failed, statement))?;
            }
            S::Reset(name) => {
                let warning = self.settings.reset(name, false).map_err(|failed| setting_failure(&failed, statement))?;
                self.put_warning(warning.as_ref())?;
            }
            S::ResetAll => self.reset_all(),
            S::Discard(discard) => self.discard(*discard).await?,
            S::Deallocate(target) => self.deallocate(target)?,
            S::Declare(declare) => self.declare_unbound(statement, declare).await?,
            S::Close(target) => self.close_cursors(target)?,
            S::Prepare(prepare) => self.prepare_named(statement, prepare).await?,
            S::Nothing { .. } => {}
        }
        Ok(self.wire.put(&complete(own.tag()))?)
    }

    /// The columns of a statement's rows in text form; `None` if it gives none.
    pub(super) fn own_columns(&self, own: &SessionStatement) -> Result<Option<ColumnForms>, Failure> {
        match own {
            SessionStatement::Show(name) => {
                let shown = self.settings.show(name).map_err(|failed| setting_error(&failed))?;
                Ok(Some(text_columns(&[&shown.name])))
            }
            SessionStatement::ShowAll => Ok(Some(text_columns(&SHOW_ALL_COLUMNS))),
            SessionStatement::Fetch(fetch) => self.cursor_columns(&fetch.name.text).map(Some),
            SessionStatement::Execute(execute) => Ok(self.statement(&execute.name.text)?.columns().cloned()),
            _ => Ok(None),
        }
    }

    fn set(
        &mut self,
        statement: &StatementText,
        name: &TextAt,
        value: &NewValue,
        is_local: bool,
    ) -> Result<(), Failure> {
        let warning = self.settings.set(name, value, is_local).map_err(|failed| setting_failure(&failed, statement))?;
        self.put_warning(warning.as_ref())
    }

    pub(super) fn put_warning(&mut self, warning: Option<&SettingWarning>) -> Result<(), Failure> {
        if let Some(warning) = warning.filter(|_| self.settings.sends(MessageLevel::Warning)) {
            self.wire.put(&notice("WARNING", warning.sqlstate(), warning.to_string()))?;
        }
        Ok(())
    }

    fn show(&mut self, statement: &StatementText, name: &TextAt, form: AnswerForm<'_>) -> Result<(), Failure> {
        let shown = self.settings.show(name).map_err(|failed| setting_failure(&failed, statement))?;
        self.put_texts(&text_columns(&[&shown.name]), &[vec![shown.value]], "SHOW", form)
    }

    /// The parameters, and after them the settings of the library.
    async fn show_all(&mut self, form: AnswerForm<'_>) -> Result<(), Failure> {
        let mut rows: Vec<Vec<String>> = self
            .settings
            .show_all()
            .into_iter()
            .map(|shown| vec![shown.name, shown.value, shown.description.to_owned()])
            .collect();
        let failed = |error: saltwing::Error| Failure::from(error_info(&error, None));
        let mut settings = self.connection.query("SHOW ALL", ()).await.map_err(failed)?;
        while let Some(row) = settings.next().await.map_err(failed)? {
            let texts =
                row.values().map_err(failed)?.into_iter().map(|value| value.as_text().unwrap_or_default().to_owned());
            let texts: Vec<String> = texts.collect();
            if let [name, value, .., meaning] = texts.as_slice()
                && !rows.iter().any(|row| row.first() == Some(name))
            {
                rows.push(vec![name.clone(), value.clone(), meaning.clone()]);
            }
        }
        self.put_texts(&text_columns(&SHOW_ALL_COLUMNS), &rows, "SHOW", form)
    }

    /// Sends rows of texts, and the end of the statement.
    fn put_texts(
        &mut self,
        columns: &ColumnForms,
        rows: &[Vec<String>],
        tag: &str,
        form: AnswerForm<'_>,
    ) -> Result<(), Failure> {
        // A text has one form: formats are checked and change nothing.
        let columns = Prepared::in_formats(columns, form.format_codes)?;
        if form.describes {
            self.wire.put(&Message::RowDescription(row_description(&columns)))?;
        }
        for row in rows {
            let mut data = bytes::BytesMut::new();
            for text in row {
                let length = i32::try_from(text.len()).map_err(|_| error("54000", "a value has more than 2 GB"))?;
                data.put_i32(length);
                data.put_slice(text.as_bytes());
            }
            let count =
                i16::try_from(row.len()).map_err(|_| error("54011", "the result has more than 32767 columns"))?;
            self.wire.put(&Message::DataRow(pgwire::messages::data::DataRow::new(data, count)))?;
        }
        Ok(self.wire.put(&complete(tag))?)
    }

    /// All parameters and settings as the session began.
    fn reset_all(&mut self) {
        self.settings.reset_all();
        let initial = self.initial_settings.clone();
        self.connection = self.connection.with_settings(|settings| *settings = initial);
        self.settings.set_dialect(self.connection.settings().dialect);
    }

    async fn discard(&mut self, discard: Discard) -> Result<(), Failure> {
        match discard {
            // Plans are kept for all sessions, and are always those of the present definitions.
            Discard::Plans => Ok(()),
            Discard::Sequences => {
                let text = "DISCARD SEQUENCES is not supported: a session keeps the last value of each sequence for CURRVAL until it ends";
                Err(error("0A000", text).into())
            }
            Discard::Temporary => self.drop_temporary_tables().await,
            Discard::All => {
                if !self.is_idle() {
                    return Err(error("25001", "DISCARD ALL cannot run inside a transaction block").into());
                }
                self.portals.clear();
                self.statements.clear();
                self.reset_all();
                self.drop_temporary_tables().await
            }
        }
    }

    async fn drop_temporary_tables(&mut self) -> Result<(), Failure> {
        let failed = |error: saltwing::Error| Failure::from(error_info(&error, None));
        let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'temp'";
        let mut tables = self.connection.query(sql, ()).await.map_err(failed)?;
        let mut names = Vec::new();
        while let Some(row) = tables.next().await.map_err(failed)? {
            let name: String = row.get(0).map_err(failed)?;
            names.push(format!("temp.{}", quote_name(&name)));
        }
        if !names.is_empty() {
            self.connection.execute(&format!("DROP TABLE {}", names.join(", ")), ()).await.map_err(failed)?;
        }
        Ok(())
    }

    fn deallocate(&mut self, target: &Target) -> Result<(), Failure> {
        match target {
            Target::All => self.statements.clear(),
            Target::Named(name) => {
                self.statement(&name.text)?;
                self.statements.remove(&name.text);
            }
        }
        Ok(())
    }

    /// A statement of the library in other words than the client's.
    async fn run_of_the_library(
        &mut self,
        statement: &StatementText,
        sql: &str,
        tag: &str,
        form: AnswerForm<'_>,
    ) -> Result<(), Failure> {
        let own = StatementText { text: sql.into(), offset: statement.offset };
        let parsed = self.connection.parse(sql).map_err(|error| own.failed(&error))?;
        match self.run(&own, parsed.properties(), Source::Parsed(&parsed)).await? {
            Outcome::Done { notices, .. } => {
                self.put_notices(&notices)?;
                Ok(self.wire.put(&complete(tag))?)
            }
            Outcome::Rows(open) => self.send_result(open, None, form).await,
        }
    }

    /// PREPARE.
    async fn prepare_named(&mut self, statement: &StatementText, prepare: &Prepare) -> Result<(), Failure> {
        let name = &prepare.name.text;
        if self.statements.contains_key(name) {
            return Err(error("42P05", format!("prepared statement \"{name}\" already exists")).into());
        }
        self.check_room_for_statement(statement.text.len())?;
        let types: Vec<u32> = prepare.types.iter().map(|ty| ty.map_or(0, |ty| WireType::of(ty).oid)).collect();
        let body = statement.part(&prepare.statement);
        let prepared = self.prepare(&body, &types).await?;
        if let Some(tag) = prepared.own_tag() {
            return Err(error("42601", format!("{tag} cannot be prepared by PREPARE")).into());
        }
        let named = Named { text: statement.text.clone(), is_from_sql: true, ..Named::parsed(prepared) };
        self.statements.insert(name.clone(), named);
        Ok(())
    }

    /// EXECUTE.
    async fn execute_prepared(
        &mut self,
        statement: &StatementText,
        execute: &Execute,
        form: AnswerForm<'_>,
    ) -> Result<(), Failure> {
        let prepared = self.statement(&execute.name.text)?;
        let (given, wanted) = (execute.arguments.len(), prepared.parameters.len());
        if given != wanted {
            let text = format!("wrong number of parameters for prepared statement \"{}\"", execute.name.text);
            let mut info = error("42601", text);
            info.detail = Some(format!("Expected {wanted} parameters but got {given}."));
            return Err(info.into());
        }
        let values = execute.arguments.iter().zip(&prepared.parameters);
        let values: Vec<Value> = values
            .map(|(argument, parameter)| {
                value_of(argument, parameter.oid, parameter.ty).map_err(|info| at(info, argument.position, statement))
            })
            .collect::<Result<_, Box<ErrorInfo>>>()?;
        match &prepared.kind {
            PreparedKind::Copy(copy, stream) => self.run_copy(&prepared.statement, copy, *stream).await,
            PreparedKind::Empty => Ok(self.wire.put(&complete("EXECUTE"))?),
            // Parse prepares what PREPARE does not: also an EXECUTE, which may name itself.
            PreparedKind::Own(own) => Err(not_executable(own.tag())),
            PreparedKind::Cursor(..) => Err(not_executable("DECLARE CURSOR")),
            PreparedKind::Library { columns, .. } => match self.start_portal(&prepared, values).await? {
                Outcome::Rows(open) => self.send_result(open, columns.clone(), form).await,
                Outcome::Done { tag, notices } => {
                    self.put_notices(&notices)?;
                    Ok(self.wire.put(&complete(tag))?)
                }
            },
        }
    }
}

fn not_executable(tag: &str) -> Failure {
    error("0A000", format!("EXECUTE cannot run a prepared {tag}")).into()
}

const SHOW_ALL_COLUMNS: [&str; 3] = ["name", "setting", "description"];

/// Columns of texts.
fn text_columns(labels: &[&str]) -> ColumnForms {
    let ty = SqlType::Varchar(None);
    let column =
        |label: &&str| ColumnForm { label: (*label).to_owned(), ty, oid: 25, origin: (0, 0), format: Format::Text };
    labels.iter().map(column).collect()
}

/// The value of an argument of EXECUTE for a parameter.
fn value_of(argument: &Argument, oid: u32, ty: Option<SqlType>) -> Result<Value, Box<ErrorInfo>> {
    match (&argument.kind, &argument.value) {
        (ArgumentKind::Untyped, Value::Text(text)) => {
            decode(Some(text.as_bytes()), Format::Text, oid, ty).map_err(|failed| value_error_info(&failed))
        }
        (_, value) => Ok(value.clone()),
    }
}

fn setting_failure(failed: &SettingError, statement: &StatementText) -> Failure {
    let info = setting_error(failed);
    match failed.position() {
        Some(position) => at(info, position, statement).into(),
        None => info.into(),
    }
}
