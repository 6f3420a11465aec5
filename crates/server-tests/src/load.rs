//! Measures servers of this machine with the same client, a line for each measurement. See the library's module `measurement`.
//!
//! ```text
//! server-load --server postgres=postgresql://u:p@127.0.0.1:5432/d --server saltwing=postgresql://u:p@127.0.0.1:5433/d
//! ```

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use server_tests::measurement::{EventTable, Measured, Server, Task, measure};
use server_tests::{Target, TestError};
use tokio::runtime::Runtime;

#[derive(Parser)]
#[command(about = "Measures servers of this machine with the same client")]
struct Arguments {
    /// A server; two are measured in turn, and the second is compared with the first.
    #[arg(long, value_name = "NAME=URL", required = true)]
    server: Vec<String>,
    /// Numbers of connections.
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1,16,200")]
    connections: Vec<usize>,
    /// This task only; may be repeated: copy, point-prepared, point-unprepared, newest-100, aggregate-400, upsert. Without copy the table
    /// of an earlier run with --keep is used.
    #[arg(long, value_name = "NAME")]
    task: Vec<String>,
    /// Rows of the table.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: u64,
    /// Seconds of one round.
    #[arg(long, value_name = "N", default_value_t = 5)]
    seconds: u64,
    /// Rounds of each measurement, in which the servers take turns.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Leaves the table.
    #[arg(long)]
    keep: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = Runtime::new().map_err(TestError::from).and_then(|runtime| runtime.block_on(run(&arguments)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("server-load: {}", error.line());
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), TestError> {
    let mut servers = Vec::new();
    for server in &arguments.server {
        let (name, url) = server.split_once('=').ok_or_else(|| TestError::Url { url: server.clone() })?;
        servers.push(Server::reach(name.to_owned(), Target::parse(url)?).await?);
    }
    let table = EventTable::of_rows(arguments.rows);
    let tasks = tasks(&arguments.task)?;
    println!(
        "{:<18}{:>12}  {:<12}{:>12}{:>10}{:>10}{:>9}",
        "task", "connections", "server", "per second", "p50 ms", "p99 ms", "ratio"
    );
    if arguments.task.is_empty() || arguments.task.iter().any(|name| name == COPY) {
        let mut measured = vec![Measured::default(); servers.len()];
        for _ in 0..arguments.rounds {
            for (server, measured) in servers.iter().zip(&mut measured) {
                measured.add(table.fill(server).await?);
            }
        }
        print(&format!("copy of {} rows", table.rows()), 1, &servers, &measured);
    }
    for task in tasks {
        for &connections in &arguments.connections {
            let round = Duration::from_secs(arguments.seconds);
            let measured = measure(&servers, task, table, connections, round, arguments.rounds).await?;
            print(task.name(), connections, &servers, &measured);
        }
    }
    if !arguments.keep {
        for server in &servers {
            EventTable::remove(server).await?;
        }
    }
    Ok(())
}

/// The name of what fills the table.
const COPY: &str = "copy";

fn tasks(names: &[String]) -> Result<Vec<Task>, TestError> {
    if names.is_empty() {
        return Ok(Task::ALL.to_vec());
    }
    let named = |name: &String| Task::named(name).ok_or_else(|| TestError::Found(format!("no task {name}")));
    names.iter().filter(|name| *name != COPY).map(named).collect()
}

/// A line for each server. The ratio is that of its answers in a second to those of the first one.
fn print(task: &str, connections: usize, servers: &[Server], measured: &[Measured]) {
    let first = measured.first().map(Measured::per_second).unwrap_or_default();
    for (number, (server, measured)) in servers.iter().zip(measured).enumerate() {
        let ms = |share| measured.percentile_ms(share).map_or("-".to_owned(), |ms| format!("{ms:.2}"));
        let ratio =
            if number > 0 && first > 0.0 { format!("{:.2}", measured.per_second() / first) } else { String::new() };
        let (name, per_second) = (&server.name, measured.per_second());
        println!("{task:<18}{connections:>12}  {name:<12}{per_second:>12.0}{:>10}{:>10}{ratio:>9}", ms(0.5), ms(0.99));
    }
}
