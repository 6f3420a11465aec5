//! Serves a session: its messages in turn, up to its end.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use pgwire::error::ErrorInfo;
use pgwire::messages::PgWireBackendMessage as Message;
use pgwire::messages::startup::{Authentication, BackendKeyData, SecretKey};
use saltwing::TransactionState;
use saltwing_pg_catalog::PgCatalog;
use saltwing_sessions::{Login, Phase, Sessions};

use super::block::Block;
use super::end::{Failure, SessionEnd};
use super::failures::setting_error;
use super::postgres_session::PostgresSession;
use crate::error_fields::error_info;
use crate::login::LoggedIn;
use crate::messages::{error, error_response};
use crate::settings::{PostgresSettings, SessionFacts};
use crate::wire::{Frontend, MalformedMessage, Received, WireFailure};

/// Answers of the extended protocol that wait for Sync or Flush, in bytes.
const ANSWER_BYTES_HELD_MAX: usize = 32 << 10;

/// Serves a client that is logged in, until its session ends.
pub(crate) async fn serve(sessions: &Sessions, catalog: Arc<PgCatalog>, logged_in: LoggedIn) {
    let LoggedIn { wire, session, parameters, minor } = logged_in;
    let phase = sessions.phase();
    let database =
        parameters.get("database").filter(|name| !name.is_empty()).unwrap_or(session.login().name()).to_owned();
    let connection = session.connection().clone();
    let facts = SessionFacts {
        user: session.login().name().to_owned(),
        is_superuser: matches!(session.login(), Login::Owner { .. }),
        is_read_only_database: sessions.database().is_readonly(),
        dialect: connection.settings().dialect,
    };
    let settings = PostgresSettings::new(facts, sessions.limits());
    let initial_settings = connection.settings();
    let mut this = PostgresSession {
        wire,
        session,
        connection,
        initial_settings,
        limits: sessions.limits().clone(),
        catalog,
        settings,
        database,
        statements: HashMap::new(),
        portals: HashMap::new(),
        block: Block::default(),
        skips_to_sync: false,
        phase,
    };
    let end = this.greet(minor, &parameters.values).await.err();
    let end = match end {
        None => this.serve_messages().await,
        Some(Failure::Ended(end)) => end,
        Some(Failure::Statement(mut info)) => {
            info.severity = "FATAL".to_owned();
            this.part(Some(info)).await;
            return;
        }
    };
    let farewell = end.farewell();
    if let SessionEnd::Wire(WireFailure::Io(error)) = &end
        && error.kind() == ErrorKind::TimedOut
    {
        tracing::warn!(target: "saltwing::postgres", session = this.session.id(), %error, "the connection ends");
    }
    tracing::debug!(target: "saltwing::postgres", session = this.session.id(), ?end, "session ends");
    this.part(farewell).await;
}

impl PostgresSession {
    /// Takes the parameters of the start, and tells the client that it is logged in, the parameters of its session, and how it cancels.
    async fn greet(&mut self, minor: u16, parameters: &[(String, String)]) -> Result<(), Failure> {
        let start = self.settings.start(parameters).map_err(|failed| setting_error(&failed))?;
        for (name, value) in &start.of_the_library {
            let sql = format!("SET {name} = '{}'", value.replace('\'', "''"));
            self.connection.execute(&sql, ()).await.map_err(|failed| error_info(&failed, None))?;
        }
        self.initial_settings = self.connection.settings();
        self.settings.set_dialect(self.initial_settings.dialect);
        self.wire.put(&Message::Authentication(Authentication::Ok))?;
        for warning in &start.warnings {
            self.put_warning(Some(warning))?;
        }
        let secret = self.session.secret();
        let secret = if minor >= 2 { secret.to_vec() } else { secret.iter().take(4).copied().collect() };
        let process = i32::try_from(self.session.id()).unwrap_or_default();
        let key = BackendKeyData::new(process, SecretKey::Bytes(secret.into()));
        self.wire.put(&Message::BackendKeyData(key))?;
        self.ready().await
    }

    async fn serve_messages(&mut self) -> SessionEnd {
        loop {
            let handled = match self.next_message().await {
                Ok(message) => self.handle(message).await,
                Err(end) => return end,
            };
            match handled {
                // A client that never sends Sync would let the answers grow.
                Ok(()) if self.wire.output().len() >= ANSWER_BYTES_HELD_MAX => {
                    if let Err(failure) = self.wire.flush().await {
                        return SessionEnd::Wire(failure);
                    }
                }
                Ok(()) => {}
                Err(Failure::Ended(end)) => return end,
                Err(Failure::Statement(info)) => {
                    // An error of the extended protocol: errors of the simple one are answered by `query`.
                    self.note_failure();
                    self.skips_to_sync = true;
                    if let Err(failure) = self.send_error(info).await {
                        return SessionEnd::Wire(failure);
                    }
                }
            }
        }
    }

    /// Sends an error at once: a client that asks for answers with Flush waits for it before it sends Sync, and messages up to Sync are skipped.
    async fn send_error(&mut self, info: Box<ErrorInfo>) -> Result<(), WireFailure> {
        self.wire.put(&error_response(info))?;
        self.wire.flush().await
    }

    /// Waits for the next message, as long as the limits of an idle session and the phase of the process allow.
    async fn next_message(&mut self) -> Result<Received, SessionEnd> {
        let (limit, end) = match self.transaction_state() {
            TransactionState::None => (self.limits.idle_timeout, SessionEnd::Idle),
            _ => (self.limits.idle_in_transaction_timeout, SessionEnd::IdleInTransaction),
        };
        // A session may shorten the limits of the server, and cannot lift them.
        let idle_timeout = limit.into_iter().chain(self.settings.idle_timeout()).min();
        let mut phase = self.phase.clone();
        tokio::select! {
            biased;
            message = self.wire.message() => message.map_err(SessionEnd::Wire),
            _ = phase.wait_for(|phase| *phase != Phase::Serving) => Err(SessionEnd::ShuttingDown),
            () = expiry(idle_timeout) => Err(end),
        }
    }

    async fn handle(&mut self, (kind, message): Received) -> Result<(), Failure> {
        if self.skips_to_sync && !matches!(message, Ok(Frontend::Sync | Frontend::Terminate)) {
            return Ok(());
        }
        let message = match message {
            Ok(message) => message,
            Err(malformed @ MalformedMessage::NotUtf8) => return self.refuse(kind, &malformed).await,
            Err(malformed) => return Err(WireFailure::from(malformed).into()),
        };
        match message {
            Frontend::Query(text) => self.query(&text).await,
            Frontend::Parse { name, text, types } => self.parse(name, &text, &types).await,
            Frontend::Bind(bind) => self.bind(bind),
            Frontend::Describe(target) => self.describe(&target).await,
            Frontend::Close(target) => self.close(&target),
            Frontend::Execute { portal, rows_max } => self.execute(&portal, rows_max).await,
            Frontend::Flush => Ok(self.wire.flush().await?),
            Frontend::Sync => {
                self.skips_to_sync = false;
                self.sync().await
            }
            Frontend::Terminate => Err(Failure::Ended(SessionEnd::Terminated)),
            // Bytes of a COPY that has failed: the client did not know yet.
            Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => Ok(()),
            Frontend::Password(_) => {
                let text = "the client is logged in already: an unexpected password message";
                Err(error("08P01", text).into())
            }
        }
    }

    /// Answers a message whose text is not UTF-8.
    async fn refuse(&mut self, kind: u8, malformed: &MalformedMessage) -> Result<(), Failure> {
        let info = error(malformed.sqlstate(), malformed.to_string());
        if kind != b'Q' {
            return Err(info.into());
        }
        self.note_failure();
        self.wire.put(&error_response(info))?;
        self.ready().await
    }

    /// Ends the session, with a last error for the client.
    async fn part(self, farewell: Option<Box<ErrorInfo>>) {
        let Self { mut wire, session, portals, statements, .. } = self;
        // What the session holds is free before the client is waited for.
        drop((portals, statements, session));
        if let Some(info) = farewell
            && wire.put(&error_response(info)).is_ok()
        {
            let _ = tokio::time::timeout(Duration::from_secs(1), wire.flush()).await;
        }
        wire.close().await;
    }
}

async fn expiry(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}
