//! How fast servers answer: the same table, the same statements and the same client for each, in turn.
//!
//! ```text
//! load_event (account, id, kind, amount, note), key (account, id), 1,000 rows an account
//! ```
//!
//! Each measurement is a task with a number of connections. Every connection runs the task's statement again as soon as it has its answer, for
//! some seconds; then comes the next server, then the first one again. So a machine that gets slower meanwhile is unfair to none of them.
//! Each answer is checked: a server that is fast and wrong ends the measurement.
//!
//! Servers must be on this machine.

mod event_table;
mod server;
mod task;
mod times;

use std::time::{Duration, Instant};

use futures::future::try_join_all;

use crate::TestError;

pub use event_table::EventTable;
pub use server::Server;
pub use task::Task;
pub use times::{Measured, Times};

/// Measures a task on each server, in turn for so many rounds: what each has answered in all of them.
///
/// # Errors
/// A statement fails, or its answer is wrong.
pub async fn measure(
    servers: &[Server],
    task: Task,
    table: EventTable,
    connections: usize,
    round: Duration,
    rounds: usize,
) -> Result<Vec<Measured>, TestError> {
    let mut measured = vec![Measured::default(); servers.len()];
    for number in 0..rounds {
        for (server, measured) in servers.iter().zip(&mut measured) {
            measured.add(drive(server, task, table, connections, round, number as u64).await?);
        }
    }
    Ok(measured)
}

/// Runs a task on so many connections for a time. Connecting is not a part of it.
async fn drive(
    server: &Server,
    task: Task,
    table: EventTable,
    connections: usize,
    round: Duration,
    seed: u64,
) -> Result<Measured, TestError> {
    let mut runners = Vec::new();
    for number in 0..connections as u64 {
        runners.push(task.runner(&server.target, table, seed << 32 | number).await?);
    }
    let began = Instant::now();
    let drive = |mut runner: task::Runner| {
        tokio::spawn(async move {
            let mut times = Times::default();
            while began.elapsed() < round {
                let sent = Instant::now();
                runner.run_once().await?;
                times.push(sent.elapsed());
            }
            Ok::<_, TestError>(times)
        })
    };
    let ended = try_join_all(runners.into_iter().map(drive)).await;
    let took = began.elapsed();
    let times =
        ended.map_err(|error| TestError::Found(error.to_string()))?.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Measured::new(times, took))
}
