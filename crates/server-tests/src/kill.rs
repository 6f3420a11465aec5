//! A server is killed while clients write. Each row that was acknowledged is there afterwards, and no row that nobody sent.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use futures::future::join_all;
use tokio::runtime::Runtime;

use crate::error::ensure;
use crate::{Report, ServerProcess, Target, TestError};

/// Clients that write at the same time.
const CLIENTS: i64 = 16;
/// How often the server is killed.
const ROUNDS: u64 = 6;
/// Each client's rows have numbers from here times its own number.
const CLIENT_ROWS_MAX: i64 = 1_000_000_000;
/// How long a round may take.
const ROUND_MAX: Duration = Duration::from_secs(120);

/// What a client knows of its rows.
#[derive(Clone, Copy, Default)]
struct Written {
    /// Rows below this number were acknowledged.
    acknowledged: i64,
    /// Rows from this number on were never sent.
    sent: i64,
}

/// Kills servers of this program. Each round is a check.
///
/// # Errors
/// The server cannot be started.
pub fn run(binary: &Path, runtime: &Runtime) -> Result<Report, TestError> {
    let mut server = ServerProcess::start(binary, &[])?;
    let mut report = Report::default();
    let mut clients = vec![Written::default(); CLIENTS as usize];
    let set_up = async {
        let create = "CREATE TABLE kill_row (id BIGINT PRIMARY KEY, note VARCHAR(40))";
        Ok(server.target().connect().await?.batch_execute(create).await?)
    };
    runtime.block_on(report.check("set_up", ROUND_MAX, set_up));
    for round in 0..ROUNDS {
        let name = format!("round_{round}");
        runtime.block_on(report.check(&name, ROUND_MAX, kill_once(&mut server, &mut clients, round)));
    }
    let total: i64 = clients.iter().map(|client| client.acknowledged).sum();
    runtime.block_on(report.check("rows_were_written", ROUND_MAX, async {
        ensure(total > CLIENTS * ROUNDS as i64, || format!("only {total} rows were acknowledged"))
    }));
    Ok(report)
}

/// Lets all clients write, kills the server at some time, starts it again and compares.
async fn kill_once(server: &mut ServerProcess, clients: &mut [Written], round: u64) -> Result<(), TestError> {
    if !server.is_running()? {
        // An earlier round broke off.
        server.start_again()?;
    }
    let target = server.target().clone();
    let has_begun = Arc::new(AtomicBool::new(false));
    let write = |(number, written): (usize, &Written)| {
        tokio::spawn(write_until_it_ends(target.clone(), number as i64 * CLIENT_ROWS_MAX, *written, has_begun.clone()))
    };
    let writers: Vec<_> = clients.iter().enumerate().map(write).collect();
    while !has_begun.load(SeqCst) && !writers.iter().all(|writer| writer.is_finished()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Early and late in the life of a server, so that some kills meet its merges.
    tokio::time::sleep(Duration::from_millis(150 + round * 450)).await;
    server.kill()?;
    for (client, written) in clients.iter_mut().zip(join_all(writers).await) {
        *client = written.map_err(|error| TestError::Found(error.to_string()))??;
    }
    server.start_again()?;
    let client = server.target().connect().await?;
    for (number, written) in clients.iter_mut().enumerate() {
        *written = compare(&client, number as i64 * CLIENT_ROWS_MAX, *written).await?;
    }
    Ok(())
}

/// Writes row after row until the connection ends.
async fn write_until_it_ends(
    target: Target,
    first: i64,
    mut written: Written,
    has_begun: Arc<AtomicBool>,
) -> Result<Written, TestError> {
    let client = target.connect().await?;
    let insert = client.prepare("INSERT INTO kill_row (id, note) VALUES ($1, $2)").await?;
    loop {
        let id = written.acknowledged;
        written.sent = id + 1;
        match client.execute(&insert, &[&(first + id), &format!("row {id}")]).await {
            Ok(_) => written.acknowledged = id + 1,
            // 57P01 and its like: a part of the server that outlives the kill for a moment says goodbye.
            Err(error) if error.code().is_none_or(|code| code.code().starts_with("57P")) => return Ok(written),
            Err(error) => return Err(error.into()),
        }
        has_begun.store(true, SeqCst);
    }
}

/// Compares a client's rows with what it knows; a row whose answer did not come may be there.
async fn compare(client: &tokio_postgres::Client, first: i64, written: Written) -> Result<Written, TestError> {
    let query = "SELECT id, note FROM kill_row WHERE id >= $1 AND id < $2 ORDER BY id";
    let rows = client.query(query, &[&first, &(first + CLIENT_ROWS_MAX)]).await?;
    for (expected, row) in (0_i64..).zip(&rows) {
        let (id, note) = (row.try_get::<_, i64>(0)? - first, row.try_get::<_, String>(1)?);
        ensure(id == expected && note == format!("row {id}"), || {
            format!("client {}: row {expected} is {id} with {note:?}", first / CLIENT_ROWS_MAX)
        })?;
    }
    let found = rows.len() as i64;
    ensure(written.acknowledged <= found && found <= written.sent, || {
        let Written { acknowledged, sent } = written;
        format!("client {}: {found} rows, {acknowledged} were acknowledged, {sent} sent", first / CLIENT_ROWS_MAX)
    })?;
    Ok(Written { acknowledged: found, sent: found })
}
