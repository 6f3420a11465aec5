//! Sessions and statements of all protocols, as far as the user may see them.

use std::time::{SystemTime, UNIX_EPOCH};

use saltwing_sessions::{EndedStatement, SessionInfo, Sessions};
use serde_json::{Value, json};

use crate::body::Body;
use crate::error::ConsoleError;
use crate::login::Login;

/// The sessions, each with the statement that it runs, or ran last.
pub(crate) fn sessions(sessions: &Sessions, login: &Login) -> Value {
    let own = login.session.session().id();
    let list = sessions.list();
    let described: Vec<Value> = list
        .iter()
        .filter(|session| login.session.sees(&session.user))
        .map(|session| of_session(session, own))
        .collect();
    json!({ "sessions": described, "now_ms": millis(SystemTime::now()) })
}

fn of_session(session: &SessionInfo, own: u32) -> Value {
    let statement = session.statement.as_ref().map(|statement| {
        json!({
            "text": statement.text, "is_running": statement.is_running, "elapsed_ms": statement.elapsed.as_millis() as u64,
            "rows_scanned": statement.rows_scanned,
        })
    });
    json!({
        "id": session.id, "protocol": session.protocol.as_str(), "client": session.peer.map(|peer| peer.to_string()), "user": session.user,
        "application": session.application, "since_ms": millis(session.since), "statement": statement, "is_own": session.id == own,
    })
}

/// Statements that ended lately, and the last slow ones.
pub(crate) fn statements(sessions: &Sessions, login: &Login) -> Value {
    let seen = |list: Vec<EndedStatement>| -> Vec<Value> {
        list.iter().filter(|statement| login.session.sees(&statement.user)).map(of_statement).collect()
    };
    json!({ "recent": seen(sessions.recent_statements()), "slow": seen(sessions.slow_statements()) })
}

fn of_statement(statement: &EndedStatement) -> Value {
    json!({
        "session": statement.session, "protocol": statement.protocol.as_str(), "user": &*statement.user, "text": &*statement.text,
        "ended_ms": millis(statement.ended), "elapsed_us": statement.took.as_micros() as u64, "rows": statement.rows, "sqlstate": statement.sqlstate,
    })
}

/// Cancels the statement of a session that the user sees.
///
/// # Errors
/// [`ConsoleError::NoSession`].
pub(crate) fn cancel(sessions: &Sessions, login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let id = body.number("session")?;
    let list = sessions.list();
    let session = list.iter().find(|session| u64::from(session.id) == id && login.session.sees(&session.user));
    let session = session.ok_or(ConsoleError::NoSession)?;
    tracing::info!(target: "saltwing::console", session = session.id, by = login.session.session().id(), "a statement is cancelled by the console");
    match sessions.cancel(session.id) {
        true => Ok(json!({})),
        false => Err(ConsoleError::NoSession),
    }
}

fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}
