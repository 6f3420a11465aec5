//! The extended protocol: statements are prepared, bound to values, described and run by messages of their own.

use std::sync::Arc;
use std::time::SystemTime;

use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{BindComplete, CloseComplete, ParseComplete, PortalSuspended};
use pgwire::messages::response::EmptyQueryResponse;
use saltwing::syntax::StatementEffect;
use saltwing::{Connection, Dialect, ParsedStatement, SqlType, Statement, Value};

use super::answer_form::AnswerForm;
use super::end::Failure;
use super::failures::failed_block;
use super::portal::{Portal, PortalState};
use super::postgres_session::PostgresSession;
use super::row_stream::{ColumnForm, ColumnForms, OpenRows, Sent, row_description, supervise};
use super::run::{Outcome, Source};
use super::statement::{Kind, Named, Parameter, Prepared, PreparedKind};
use super::statement_text::StatementText;
use crate::error_fields::value_error_info;
use crate::messages::{complete, error};
use crate::session_statement::{SavepointStatement, SessionStatement, savepoint};
use crate::values::{WireType, decode, formats};
use crate::wire::{Bind, Target};

/// OID of text: the type of a parameter that nothing tells.
const TEXT: u32 = 25;

impl PostgresSession {
    /// Parse.
    pub(super) async fn parse(&mut self, name: String, text: &str, types: &[u32]) -> Result<(), Failure> {
        let is_taken = self.statements.contains_key(&name);
        if is_taken && !name.is_empty() {
            return Err(error("42P05", format!("prepared statement \"{name}\" already exists")).into());
        }
        if !is_taken {
            self.check_room_for_statement(text.len())?;
        }
        // The unnamed statement is gone even if the new one fails.
        self.statements.remove(&name);
        let prepared = self.prepare(&StatementText { text: text.into(), offset: 0 }, types).await?;
        self.statements.insert(name, Named::parsed(prepared));
        Ok(self.wire.put(&Message::ParseComplete(ParseComplete::new()))?)
    }

    /// Refuses one more prepared statement than the limit, and more bytes of their texts than one message may have: texts are long, and a thousand of
    /// them would take the server's memory.
    pub(super) fn check_room_for_statement(&self, bytes: usize) -> Result<(), Failure> {
        let (max, bytes_max) = (self.limits.prepared_statements_max, self.limits.message_bytes_max);
        let kept: usize = self.statements.values().map(|named| named.text.len()).sum();
        let text = match self.statements.len() >= max {
            true => format!("the session has {max} prepared statements, which is its limit"),
            false if kept.saturating_add(bytes) > bytes_max => {
                format!(
                    "the prepared statements of the session have {kept} bytes of the {bytes_max} that their texts may have together"
                )
            }
            false => return Ok(()),
        };
        let mut info = error("53400", text);
        info.hint = Some("DEALLOCATE statements that are not used any more".to_owned());
        Err(info.into())
    }

    /// Prepares a statement for parameters of these types; 0 leaves a type open.
    pub(super) async fn prepare(&mut self, statement: &StatementText, types: &[u32]) -> Result<Prepared, Failure> {
        let dialect = self.connection.settings().dialect;
        let kind = Kind::of(statement, &self.connection, &self.catalog)?;
        let unparameterized = |kind| Ok(Prepared { statement: statement.clone(), kind, parameters: Vec::new() });
        match kind {
            Kind::Empty => unparameterized(PreparedKind::Empty),
            Kind::Own(SessionStatement::Declare(declare)) => self.prepare_cursor(statement, declare, types).await,
            Kind::Own(own) => unparameterized(PreparedKind::Own(own)),
            Kind::Copy(copy, stream) => unparameterized(PreparedKind::Copy(copy, stream)),
            Kind::Catalog | Kind::Library(_) if self.is_failed() && !is_rollback_to(&statement.text, dialect) => {
                Err(failed_block())
            }
            Kind::Catalog => self.prepare_catalog(statement, types).await,
            Kind::Library(parsed) => {
                let connection = self.connection.clone();
                let stated = Prepared::stated_types(types)?;
                let running = self.session.begin(statement.text.clone());
                let prepare = prepare_with_texts(&connection, &parsed, stated);
                let prepared = supervise(&mut self.wire, &running, prepare).await?;
                let prepared = prepared.map_err(|error| statement.failed(&error))?;
                let properties = parsed.properties();
                let parameters = parameters_of(&prepared, types);
                let columns = ColumnForm::of_description(prepared.description());
                let kind = PreparedKind::Library { properties, statement: prepared, columns, catalog: None };
                Ok(Prepared { statement: statement.clone(), kind, parameters })
            }
        }
    }

    /// The prepared statement of a name.
    pub(super) fn statement(&self, name: &str) -> Result<Arc<Prepared>, Failure> {
        let missing = || match name {
            "" => error("26000", "unnamed prepared statement does not exist"),
            name => error("26000", format!("prepared statement \"{name}\" does not exist")),
        };
        Ok(self.statements.get(name).map(|named| named.prepared.clone()).ok_or_else(missing)?)
    }

    /// Bind.
    pub(super) fn bind(&mut self, bind: Bind) -> Result<(), Failure> {
        let prepared = self.statement(&bind.statement)?;
        let (given, wanted) = (bind.values.len(), prepared.parameters.len());
        if given != wanted {
            let text =
                format!("bind message supplies {given} parameters, but the prepared statement requires {wanted}");
            return Err(error("08P01", text).into());
        }
        let formats = formats(&bind.formats, given).map_err(|error| value_error_info(&error))?;
        let mut values = Vec::with_capacity(given);
        for ((parameter, format), value) in prepared.parameters.iter().zip(formats).zip(&bind.values) {
            let decoded = decode(value.as_deref(), format, parameter.oid, parameter.ty);
            values.push(decoded.map_err(|error| value_error_info(&error))?);
        }
        let columns =
            prepared.columns().map(|columns| Prepared::in_formats(columns, &bind.result_formats)).transpose()?;
        let (format_codes, state) = (bind.result_formats, PortalState::Bound);
        let (text, opened_at) = (prepared.statement.text.clone(), SystemTime::now());
        let value_bytes = bind.values.iter().flatten().map(|value| value.len()).sum();
        self.add_portal(
            bind.portal,
            Portal { prepared, text, opened_at, values, value_bytes, format_codes, columns, state },
        )?;
        Ok(self.wire.put(&Message::BindComplete(BindComplete::new()))?)
    }

    /// Adds a portal under a name, which no portal may have but the unnamed one.
    pub(super) fn add_portal(&mut self, name: String, portal: Portal) -> Result<(), Failure> {
        self.check_new_cursor(&name)?;
        let (kept, max) = (self.portal_bytes(), self.limits.message_bytes_max);
        if !name.is_empty() && kept.saturating_add(portal.value_bytes) > max {
            let text = format!(
                "the portals of the session have {kept} bytes of the {max} that their values may have together"
            );
            return Err(error("53400", text).into());
        }
        self.portals.insert(name, portal);
        Ok(())
    }

    /// The bytes of the values of all portals.
    fn portal_bytes(&self) -> usize {
        self.portals.values().map(|portal| portal.value_bytes).sum()
    }

    /// Refuses a name that a portal has, and one more portal than the limit. The unnamed portal takes the place of the one before it.
    pub(super) fn check_new_cursor(&self, name: &str) -> Result<(), Failure> {
        if name.is_empty() {
            return Ok(());
        }
        if self.portals.contains_key(name) {
            return Err(error("42P03", format!("cursor \"{name}\" already exists")).into());
        }
        let max = self.limits.cursors_max;
        if self.portals.len() >= max {
            return Err(error("53400", format!("the session has {max} open cursors, which is its limit")).into());
        }
        Ok(())
    }

    /// Describe.
    pub(super) async fn describe(&mut self, target: &Target) -> Result<(), Failure> {
        let columns = match target {
            Target::Statement(name) => {
                let prepared = self.statement(name)?;
                let types = prepared.parameters.iter().map(|parameter| parameter.oid).collect();
                self.wire.put(&Message::ParameterDescription(ParameterDescription::new(types)))?;
                self.columns_of(&prepared)?
            }
            Target::Portal(name) => {
                let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
                match &portal.columns {
                    Some(columns) => Some(columns.clone()),
                    None => {
                        let (prepared, codes) = (portal.prepared.clone(), portal.format_codes.clone());
                        let columns = self.columns_of(&prepared)?;
                        columns.map(|columns| Prepared::in_formats(&columns, &codes)).transpose()?
                    }
                }
            }
        };
        match columns {
            Some(columns) => self.wire.put(&Message::RowDescription(row_description(&columns)))?,
            None => self.wire.put(&Message::NoData(NoData::new()))?,
        }
        Ok(())
    }

    /// The columns of a statement in text form; `None` if it gives no rows.
    pub(super) fn columns_of(&self, prepared: &Prepared) -> Result<Option<ColumnForms>, Failure> {
        match &prepared.kind {
            PreparedKind::Own(own) => self.own_columns(own),
            _ => Ok(prepared.columns().cloned()),
        }
    }

    /// Execute.
    pub(super) async fn execute(&mut self, name: &str, rows_max: u32) -> Result<(), Failure> {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_portal(name))?;
        let is_own = matches!(portal.prepared.kind, PreparedKind::Own(_) | PreparedKind::Cursor(..));
        let most = (rows_max > 0).then_some(u64::from(rows_max));
        self.execute_portal(&mut portal, most).await?;
        // The end of a transaction closes the portals, this one among them.
        if !is_own || !self.is_idle() {
            self.portals.insert(name.to_owned(), portal);
        }
        Ok(())
    }

    async fn execute_portal(&mut self, portal: &mut Portal, most: Option<u64>) -> Result<(), Failure> {
        let prepared = portal.prepared.clone();
        match std::mem::replace(&mut portal.state, PortalState::Done) {
            PortalState::Open(open) => self.send_portal(portal, open, most).await,
            PortalState::Ended => {
                portal.state = PortalState::Ended;
                Ok(self.wire.put(&complete("SELECT 0"))?)
            }
            PortalState::Done => Err(error("55000", "the portal cannot run again: bind its statement anew").into()),
            PortalState::Bound => match &prepared.kind {
                PreparedKind::Empty => Ok(self.wire.put(&Message::EmptyQueryResponse(EmptyQueryResponse::new()))?),
                PreparedKind::Own(own) => {
                    let form = AnswerForm { describes: false, format_codes: &portal.format_codes };
                    self.run_own(&prepared.statement, own, form).await
                }
                PreparedKind::Cursor(declare, query) => {
                    self.declare(&prepared.statement.text, declare, query, std::mem::take(&mut portal.values)).await?;
                    Ok(self.wire.put(&complete("DECLARE CURSOR"))?)
                }
                PreparedKind::Copy(copy, stream) => self.run_copy(&prepared.statement, copy, *stream).await,
                PreparedKind::Library { .. } => {
                    match self.start_portal(&prepared, std::mem::take(&mut portal.values)).await? {
                        Outcome::Rows(open) => self.send_portal(portal, open, most).await,
                        Outcome::Done { tag, notices } => {
                            self.put_notices(&notices)?;
                            Ok(self.wire.put(&complete(tag))?)
                        }
                    }
                }
            },
        }
    }

    /// Runs the statement of a portal, or of a cursor, up to its first row.
    pub(super) async fn start_portal(&mut self, prepared: &Prepared, values: Vec<Value>) -> Result<Outcome, Failure> {
        let PreparedKind::Library { properties, statement, catalog, .. } = &prepared.kind else {
            return Err(error("0A000", "the statement gives no rows to a cursor").into());
        };
        let writes = properties.effect == StatementEffect::Writes;
        // The messages up to Sync are one transaction. A statement that Sync follows at once commits by itself, which costs less.
        if writes && self.is_idle() && self.wire.next_type() != Some(b'S') {
            self.begin_implicit().await?;
        }
        match catalog {
            Some(query) => self.start_catalog(prepared, query, values).await,
            None => self.run(&prepared.statement, *properties, Source::Prepared(statement, values)).await,
        }
    }

    async fn send_portal(
        &mut self,
        portal: &mut Portal,
        mut open: Box<OpenRows>,
        most: Option<u64>,
    ) -> Result<(), Failure> {
        let columns = match &portal.columns {
            Some(columns) => {
                check_columns(columns, &open)?;
                columns.clone()
            }
            None => Prepared::in_formats(&ColumnForm::of_columns(open.rows.columns()).into(), &portal.format_codes)?,
        };
        let before = open.sent;
        let sent = self.send_part(&mut open, &columns, most).await?;
        let rows = open.sent - before;
        match sent {
            Sent::All => {
                self.put_end(&open, rows)?;
                portal.state = PortalState::Ended;
            }
            Sent::Some => {
                self.wire.put(&Message::PortalSuspended(PortalSuspended::new()))?;
                portal.state = PortalState::Open(open);
            }
        }
        Ok(())
    }

    /// Close.
    pub(super) fn close(&mut self, target: &Target) -> Result<(), Failure> {
        match target {
            Target::Statement(name) => drop(self.statements.remove(name)),
            Target::Portal(name) => drop(self.portals.remove(name)),
        }
        Ok(self.wire.put(&Message::CloseComplete(CloseComplete::new()))?)
    }

    /// Sync: ends the series, and the transaction that the session opened around it.
    pub(super) async fn sync(&mut self) -> Result<(), Failure> {
        if let Err(Failure::Statement(info)) = self.end_implicit().await {
            self.wire.put(&crate::messages::error_response(info))?;
        }
        if self.is_idle() {
            self.portals.clear();
        }
        self.ready().await
    }
}

/// Prepares a statement. A parameter whose type neither the client nor the statement tells is a text, so that the columns that Describe shows are
/// those of every run. The guard judges each run, by the settings of the session and by the values of the parameters: clients also prepare
/// statements that they never run, to learn the types of columns.
async fn prepare_with_texts(
    connection: &Connection,
    parsed: &ParsedStatement,
    mut types: Vec<Option<SqlType>>,
) -> Result<Statement, saltwing::Error> {
    let prepared = connection.prepare_unjudged(parsed, &types).await?;
    let found = &prepared.description().parameters;
    let is_open = |found: &Option<SqlType>| found.is_none_or(|ty| ty == SqlType::Null);
    if !found.iter().any(is_open) {
        return Ok(prepared);
    }
    types.resize(found.len(), None);
    for (ty, found) in types.iter_mut().zip(found) {
        *ty = ty.or(is_open(found).then_some(SqlType::Varchar(None)));
    }
    // A text may be wrong where a value of another type is not: then the run decides.
    Ok(connection.prepare_unjudged(parsed, &types).await.unwrap_or(prepared))
}

/// Whether a text is a ROLLBACK TO, which a failed transaction takes.
fn is_rollback_to(text: &str, dialect: Dialect) -> bool {
    matches!(savepoint(text, dialect), Some(SavepointStatement::RollbackTo(_)))
}

/// The parameters of a statement as Describe shows them: of the type that the client stated, else of the one that the statement wants.
pub(super) fn parameters_of(statement: &Statement, stated: &[u32]) -> Vec<Parameter> {
    let wanted = &statement.description().parameters;
    let parameter = |number: usize| {
        let ty = wanted.get(number).copied().flatten();
        let stated = stated.get(number).copied().filter(|oid| *oid != 0);
        Parameter { oid: stated.unwrap_or_else(|| ty.map_or(TEXT, |ty| WireType::of(ty).oid)), ty }
    };
    (0..statement.parameter_count()).map(parameter).collect()
}

fn no_portal(name: &str) -> Failure {
    error("34000", format!("portal \"{name}\" does not exist")).into()
}

/// Checks that a statement still has the columns that Describe has shown.
fn check_columns(columns: &[ColumnForm], open: &OpenRows) -> Result<(), Failure> {
    let now = open.rows.columns();
    let is_same = now.len() == columns.len() && now.iter().zip(columns).all(|(now, told)| now.ty == told.ty);
    if is_same {
        return Ok(());
    }
    let mut info = error("0A000", "cached plan must not change result type");
    // Drivers know by this name that they should prepare anew.
    info.routine = Some("RevalidateCachedQuery".to_owned());
    Err(info.into())
}
