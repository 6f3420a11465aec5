//! The calls about runs. A call waits a little for the end, so that short statements are answered at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::body::Body;
use crate::error::ConsoleError;
use crate::execution;
use crate::failed::Failed;
use crate::login::Login;
use crate::result_page::{self, PAGE_BYTES_MAX};
use crate::run::Run;
use crate::run_state::Open;

/// How long the first call waits for the end, and later ones.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));
/// Rows of a page: the default, and the bounds.
const ROWS: (u64, (u64, u64)) = (500, (1, 5000));

/// Begins the statements of a text.
///
/// # Errors
/// [`ConsoleError::Runs`]; those of the body.
pub(crate) async fn begin(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let sql = body.text("sql")?.to_owned();
    let rows_max = usize::try_from(body.bounded("rows", ROWS.0, ROWS.1)?).unwrap_or(usize::MAX);
    let run = {
        let mut slot = login.run.lock();
        if slot.as_ref().is_some_and(|run| run.is_running()) {
            return Err(ConsoleError::Runs);
        }
        let id = slot.as_ref().map_or(1, |run| run.id + 1);
        let run = Arc::new(Run::new(id, rows_max));
        // The rows that the earlier run has left are closed with it.
        *slot = Some(run.clone());
        run
    };
    tokio::spawn(execution::run_all(login.session.clone(), run.clone(), sql));
    run.wait(WAITS.0).await;
    Ok(run.described(&login.session))
}

/// How far a run is; its results if it has ended.
///
/// # Errors
/// [`ConsoleError::NoResult`] for another run than the last one.
pub(crate) async fn poll(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let run = last(login, body)?;
    run.touch();
    run.wait(WAITS.1).await;
    Ok(run.described(&login.session))
}

/// Cancels a run, if it has not ended.
///
/// # Errors
/// [`ConsoleError::NoResult`] for another run than the last one.
pub(crate) fn cancel(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    last(login, body)?.cancel(&login.session);
    Ok(json!({}))
}

/// Further rows of the last result.
///
/// # Errors
/// [`ConsoleError::NoResult`] if none are left; those of the rows.
pub(crate) async fn more(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let run = last(login, body)?;
    run.touch();
    let open = std::mem::replace(&mut run.state.lock().open, Open::Taken);
    let Open::Result(mut open) = open else {
        run.state.lock().open = Open::Nothing;
        return Err(ConsoleError::NoResult);
    };
    let mut running = login.session.session().begin(open.text.clone());
    let page = tokio::select! {
        page = open.page(run.rows_max, PAGE_BYTES_MAX) => page.map_err(Failed::from),
        () = running.cancelled() => Err(Failed::Cancelled),
    };
    let page = page.inspect_err(|failed| running.fail(failed.sqlstate()))?;
    running.add_rows(page.rows.len() as u64);
    let has_more = page.has_more;
    let described = result_page::described(page, open.rows.notices(), open.rows.stats().keys_read);
    let left = if has_more { Open::Result(open) } else { Open::Nothing };
    let mut state = run.state.lock();
    // The rows may have been closed meanwhile.
    if matches!(state.open, Open::Taken) {
        state.open = left;
    }
    drop(state);
    Ok(described)
}

/// The last run, which a call must name.
fn last(login: &Login, body: &Body) -> Result<Arc<Run>, ConsoleError> {
    let id = body.number("run")?;
    let run = login.run.lock().clone();
    run.filter(|run| run.id == id).ok_or(ConsoleError::NoResult)
}
