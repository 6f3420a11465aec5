//! Statements of a login: they run in a task of their own, and calls ask how far they are.
//!
//! A call waits a little for the end, so that short statements are answered at once. If no call asks for some time, the browser is gone, and the statements are
//! cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing::{Response, split_statements_in};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::body::Body;
use crate::error::ConsoleError;
use crate::failure::{self, Failed};
use crate::login::Login;
use crate::result_page::{self, OpenResult, PAGE_BYTES_MAX};
use crate::run_state::{Open, RunState};
use crate::text_place::Part;

/// How long the first call waits for the end, and later ones.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));
/// A run of which no call has asked for as long is cancelled.
const POLL_MAX: Duration = Duration::from_secs(10);
/// Rows that are left are closed if no call asks for them: they keep old rows on the disk.
const OPEN_MAX: Duration = Duration::from_secs(300);
/// Rows of a page: the default, and the bounds.
const ROWS: (u64, (u64, u64)) = (500, (1, 5000));
/// Statements of a text.
const STATEMENTS_MAX: usize = 100;

/// The statements of one text.
pub(crate) struct Run {
    id: u64,
    rows_max: usize,
    began: Instant,
    is_cancelled: AtomicBool,
    ended: Notify,
    asked: Mutex<Instant>,
    state: Mutex<RunState>,
}

impl Run {
    /// Whether a statement of it runs.
    pub(crate) fn is_running(&self) -> bool {
        !self.state.lock().is_ended
    }

    /// Stops the statement that runs, and begins no further one.
    pub(crate) fn cancel(&self, login: &Login) {
        if self.is_running() {
            self.is_cancelled.store(true, SeqCst);
            login.sessions.cancel(login.session.id());
        }
    }

    /// Gives up the rows that are left.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut self.state.lock().open);
        drop(open);
    }

    /// Cancels it, or closes its rows, if no call has asked for too long.
    pub(crate) fn sweep(&self, login: &Login, now: Instant) {
        let silent = now.saturating_duration_since(*self.asked.lock());
        if self.is_running() && silent >= POLL_MAX {
            tracing::info!(target: "saltwing::console", session = login.session.id(), "nobody asks for a statement, which is cancelled");
            self.cancel(login);
        } else if silent >= OPEN_MAX {
            self.close();
        }
    }

    /// How far it is; takes the results if it has ended.
    fn described(&self, login: &Login) -> Value {
        let mut state = self.state.lock();
        let mut value = json!({ "run": self.id, "place": state.place, "count": state.count, "elapsed_ms": self.began.elapsed().as_millis() as u64 });
        let Some(fields) = value.as_object_mut() else { return value };
        if state.is_ended {
            fields.insert("results".to_owned(), std::mem::take(&mut state.results).into());
        } else {
            let (written, total) = login.progress.lock().map_or((None, None), |(rows, total)| (Some(rows), total));
            fields
                .insert("rows_scanned".to_owned(), json!(login.session.connection().interrupt_handle().rows_scanned()));
            fields.insert("rows_written".to_owned(), json!(written));
            fields.insert("rows_total".to_owned(), json!(total));
        }
        value
    }

    /// Waits for the end, but no longer than this.
    async fn wait(&self, most: Duration) {
        let ended = self.ended.notified();
        if self.is_running() {
            // The time is up, which is no failure.
            let _: Result<(), tokio::time::error::Elapsed> = tokio::time::timeout(most, ended).await;
        }
        *self.asked.lock() = Instant::now();
    }
}

/// Begins the statements of a text.
///
/// # Errors
/// [`ConsoleError::Runs`]; those of the body.
pub(crate) async fn begin(login: &Arc<Login>, body: &Body) -> Result<Value, ConsoleError> {
    let sql = body.text("sql")?.to_owned();
    let rows_max = usize::try_from(body.bounded("rows", ROWS.0, ROWS.1)?).unwrap_or(usize::MAX);
    let now = Instant::now();
    let run = {
        let mut slot = login.run.lock();
        if slot.as_ref().is_some_and(|run| run.is_running()) {
            return Err(ConsoleError::Runs);
        }
        let id = slot.as_ref().map_or(1, |run| run.id + 1);
        let (ended, state) = (Notify::new(), Mutex::default());
        let (is_cancelled, asked) = (AtomicBool::new(false), Mutex::new(now));
        let run = Arc::new(Run { id, rows_max, began: now, is_cancelled, ended, asked, state });
        // The rows that the earlier run has left are closed with it.
        *slot = Some(run.clone());
        run
    };
    tokio::spawn(run_all(login.clone(), run.clone(), sql));
    run.wait(WAITS.0).await;
    Ok(run.described(login))
}

/// How far a run is; its results if it has ended.
///
/// # Errors
/// [`ConsoleError::NoResult`] for another run than the last one.
pub(crate) async fn poll(login: &Arc<Login>, body: &Body) -> Result<Value, ConsoleError> {
    let run = last(login, body)?;
    *run.asked.lock() = Instant::now();
    run.wait(WAITS.1).await;
    Ok(run.described(login))
}

/// Cancels a run, if it has not ended.
///
/// # Errors
/// [`ConsoleError::NoResult`] for another run than the last one.
pub(crate) fn cancel(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    last(login, body)?.cancel(login);
    Ok(json!({}))
}

/// Further rows of the last result.
///
/// # Errors
/// [`ConsoleError::NoResult`] if none are left; those of the rows.
pub(crate) async fn more(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let run = last(login, body)?;
    *run.asked.lock() = Instant::now();
    let open = std::mem::replace(&mut run.state.lock().open, Open::Taken);
    let Open::Result(mut open) = open else {
        run.state.lock().open = Open::Nothing;
        return Err(ConsoleError::NoResult);
    };
    let page = open.page(run.rows_max, PAGE_BYTES_MAX).await?;
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

/// Runs the statements of a text in order, up to the first one that fails.
async fn run_all(login: Arc<Login>, run: Arc<Run>, text: String) {
    let dialect = login.session.connection().settings().dialect;
    let parts: Vec<Part> = split_statements_in(&text, dialect).map(|part| Part::of(&text, &part)).collect();
    run.state.lock().count = parts.len();
    if parts.len() > STATEMENTS_MAX {
        let error = format!("the text has {} statements, and the console runs {STATEMENTS_MAX} at once", parts.len());
        run.state.lock().results.push(json!({ "error": { "text": error, "sqlstate": "54000", "help": [] } }));
    } else {
        for (place, part) in parts.iter().enumerate() {
            run.state.lock().place = place + 1;
            let result = run_one(&login, &run, part).await;
            let is_failed = result.get("error").is_some();
            run.state.lock().results.push(result);
            if is_failed {
                break;
            }
        }
    }
    run.state.lock().is_ended = true;
    *run.asked.lock() = Instant::now();
    run.ended.notify_waiters();
    login.touch();
}

/// Runs a statement up to its first rows. Gives its result for the page.
async fn run_one(login: &Login, run: &Run, part: &Part) -> Value {
    // Rows of an earlier statement of the text are not read any further.
    run.close();
    *login.progress.lock() = None;
    let (began, mut running) = (Instant::now(), login.session.begin(part.text.as_str()));
    let done = match run.is_cancelled.load(SeqCst) {
        true => Err(Failed::Cancelled),
        false => tokio::select! {
            done = first_rows(login, run, part) => done,
            () = running.cancelled() => Err(Failed::Cancelled),
        },
    };
    let mut value = match done {
        Ok((value, rows)) => {
            running.add_rows(rows);
            value
        }
        Err(failed) => {
            running.fail(failed.sqlstate());
            drop(running);
            json!({ "error": failure::described(login, part, &failed).await })
        }
    };
    if let Some(fields) = value.as_object_mut() {
        fields.insert("sql".to_owned(), json!(failure::shortened(&part.text)));
        fields.insert("elapsed_us".to_owned(), json!(began.elapsed().as_micros() as u64));
    }
    value
}

/// The result of a statement up to its first rows, and how many rows these are, or were written.
async fn first_rows(login: &Login, run: &Run, part: &Part) -> Result<(Value, u64), Failed> {
    let response = match login.session.connection().run(&part.text, ()).await? {
        Response::Done(done) => {
            let value = json!({ "rows_affected": done.rows_affected, "notices": done.notices, "keys_read": done.stats.keys_read });
            return Ok((value, done.rows_affected));
        }
        Response::Rows(rows) => rows,
    };
    let columns = result_page::columns(response.columns());
    let mut open = OpenResult::new(response.into_rows());
    let bytes_max = PAGE_BYTES_MAX.saturating_sub(run.state.lock().bytes);
    let page = open.page(run.rows_max, bytes_max).await?;
    let (count, has_more) = (page.rows.len() as u64, page.has_more);
    run.state.lock().bytes += page.bytes;
    let mut value = result_page::described(page, open.rows.notices(), open.rows.stats().keys_read);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("columns".to_owned(), columns);
        fields.insert("rows_affected".to_owned(), json!(open.rows.rows_affected()));
    }
    if has_more {
        run.state.lock().open = Open::Result(Box::new(open));
    }
    Ok((value, count))
}
