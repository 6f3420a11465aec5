//! Statements run in order, each up to its first rows.

use std::sync::Arc;
use std::time::Instant;

use saltwing::{Response, split_statements_in};
use saltwing_sessions::RunningStatement;
use serde_json::{Value, json};

use crate::console_session::ConsoleSession;
use crate::failed::Failed;
use crate::failure;
use crate::result_page::{self, OpenResult, PAGE_BYTES_MAX};
use crate::run::Run;
use crate::run_state::Open;
use crate::text_place::Part;

/// Statements of a text.
const STATEMENTS_MAX: usize = 100;

/// Runs the statements of a text in order, up to the first one that fails.
pub(crate) async fn run_all(session: Arc<ConsoleSession>, run: Arc<Run>, text: String) {
    let dialect = session.connection().settings().dialect;
    let parts: Vec<Part> = split_statements_in(&text, dialect).map(|part| Part::of(&text, &part)).collect();
    run.state.lock().count = parts.len();
    if parts.len() > STATEMENTS_MAX {
        let error = format!("the text has {} statements, and the console runs {STATEMENTS_MAX} at once", parts.len());
        run.state.lock().results.push(json!({ "error": { "text": error, "sqlstate": "54000", "help": [] } }));
    } else {
        for (place, part) in parts.iter().enumerate() {
            run.state.lock().place = place + 1;
            let result = run_one(&session, &run, part).await;
            let is_failed = result.get("error").is_some();
            run.state.lock().results.push(result);
            if is_failed {
                break;
            }
        }
    }
    run.end();
}

/// Runs a statement up to its first rows. Gives its result for the page.
async fn run_one(session: &ConsoleSession, run: &Run, part: &Part) -> Value {
    // Rows of an earlier statement of the text are not read any further.
    run.close();
    *session.progress.lock() = None;
    let (began, mut running) = (Instant::now(), session.session().begin(part.text.as_str()));
    let done = match run.is_cancelled() {
        true => Err(Failed::Cancelled),
        false => first_rows(session, run, &running, part).await,
    };
    let mut value = match done {
        Ok((value, rows)) => {
            running.add_rows(rows);
            value
        }
        Err(failed) => {
            running.fail(failed.sqlstate());
            drop(running);
            json!({ "error": failure::described(session, part, &failed).await })
        }
    };
    if let Some(fields) = value.as_object_mut() {
        fields.insert("sql".to_owned(), json!(failure::shortened(&part.text)));
        fields.insert("elapsed_us".to_owned(), json!(began.elapsed().as_micros() as u64));
    }
    value
}

/// The result of a statement up to its first rows, and how many rows these are, or were written.
async fn first_rows(
    session: &ConsoleSession,
    run: &Run,
    running: &RunningStatement,
    part: &Part,
) -> Result<(Value, u64), Failed> {
    let response = match running.outcome(session.connection().run(&part.text, ())).await? {
        Response::Done(done) => {
            let value = json!({ "rows_affected": done.rows_affected, "notices": done.notices, "keys_read": done.stats.keys_read });
            return Ok((value, done.rows_affected));
        }
        Response::Rows(rows) => rows,
    };
    if let Some(progress) = response.progress() {
        running.report_progress(progress);
    }
    let columns = result_page::columns(response.columns());
    let mut open = OpenResult::new(response.into_rows(), part.text.as_str().into());
    let bytes_max = PAGE_BYTES_MAX.saturating_sub(run.state.lock().bytes);
    let page = tokio::select! {
        page = open.page(run.rows_max, bytes_max) => page?,
        () = running.cancelled() => return Err(Failed::Cancelled),
    };
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
