//! Which call is answered by what.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http::header::SET_COOKIE;
use http::request::Parts;
use serde_json::{Value, json};

use crate::body::Body;
use crate::client::Client;
use crate::error::ConsoleError;
use crate::login::Login;
use crate::logins::Logins;
use crate::{activity, advisor, body, cookie, heat, plan, run_calls, tables};

/// Answers a call.
pub(crate) async fn answer(
    logins: &Arc<Logins>,
    client: Client,
    call: &str,
    head: &Parts,
    bytes: &[u8],
) -> Response<Bytes> {
    match call {
        "login" => with_cookie(log_in(logins, client, head, bytes).await),
        "logout" => with_cookie(log_out(logins, client, head, bytes)),
        _ => body::answer(of_login(logins, call, head, bytes).await),
    }
}

fn with_cookie(done: Result<(Value, http::HeaderValue), ConsoleError>) -> Response<Bytes> {
    match done {
        Ok((value, cookie)) => {
            let mut response = body::answer(Ok(value));
            response.headers_mut().insert(SET_COOKIE, cookie);
            response
        }
        Err(error) => body::answer(Err(error)),
    }
}

async fn log_in(
    logins: &Arc<Logins>,
    client: Client,
    head: &Parts,
    bytes: &[u8],
) -> Result<(Value, http::HeaderValue), ConsoleError> {
    let body = Body::read(head, bytes)?;
    let (user, password) = (body.optional_text("user")?, body.optional_text("password")?);
    let (token, login) = logins.log_in(client.peer, user.zip(password)).await?;
    let cookie = cookie::header(&head.headers, client, Some(&token))?;
    // A browser has one login.
    if let Some(earlier) = cookie::token(&head.headers) {
        logins.log_out(&earlier);
    }
    Ok((described(logins, Some(&login))?, cookie))
}

fn log_out(
    logins: &Arc<Logins>,
    client: Client,
    head: &Parts,
    bytes: &[u8],
) -> Result<(Value, http::HeaderValue), ConsoleError> {
    Body::read(head, bytes)?;
    if let Some(token) = cookie::token(&head.headers) {
        logins.log_out(&token);
    }
    Ok((json!({}), cookie::header(&head.headers, client, None)?))
}

/// What the page needs to know first.
fn described(logins: &Logins, login: Option<&Login>) -> Result<Value, ConsoleError> {
    let limits = logins.sessions().limits();
    Ok(json!({
        "has_users": logins.sessions().has_users()?,
        "user": login.map(|login| login.session.user()),
        "is_owner": login.is_some_and(|login| login.session.is_owner()),
        "slow_ms": login.and(limits.slow_statement).map(|slow| slow.as_millis() as u64),
        "version": login.map(|_| env!("CARGO_PKG_VERSION")),
    }))
}

/// Answers a call that needs a login, but for the one that asks whether there is one.
async fn of_login(logins: &Arc<Logins>, call: &str, head: &Parts, bytes: &[u8]) -> Result<Value, ConsoleError> {
    let body = Body::read(head, bytes)?;
    let login = cookie::token(&head.headers).and_then(|token| logins.login(&token));
    if call == "session" {
        return described(logins, login.as_deref());
    }
    let login = login.ok_or(ConsoleError::NoLogin)?;
    match call {
        "tables" => tables::list(&login).await,
        "table" => tables::table(&login, &body).await,
        "run" => run_calls::begin(&login, &body).await,
        "poll" => run_calls::poll(&login, &body).await,
        "more" => run_calls::more(&login, &body).await,
        "cancel" => run_calls::cancel(&login, &body),
        "plan" => plan::plan(&login, &body).await,
        "sessions" => Ok(activity::sessions(logins.sessions(), &login)),
        "statements" => Ok(activity::statements(logins.sessions(), &login)),
        "cancel-session" => activity::cancel(logins.sessions(), &login, &body),
        "heat" => heat::heat(&login, &body),
        "refusals" => advisor::refusals(&login).await,
        _ => Err(ConsoleError::NoSuchCall),
    }
}
