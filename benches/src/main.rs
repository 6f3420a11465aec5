//! Measures Saltwing beside its peers, in one process, in turns.
//!
//! ```text
//! cargo run --release -p benches -- [--rows N] [--only NAME,..] [--engines NAME,..] [--json FILE] [--smoke]
//! cargo run --release -p benches -- hot-paths [--record]
//! ```
//!
//! Answers are compared before a figure is printed. Figures are of this machine and this run; counts of
//! instructions (`hot-paths`) are those of any machine with the same compiler and kind of processor.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod bench;
mod engine;
mod goals;
#[cfg(feature = "hbase")]
mod hbase;
mod hot_paths;
mod process;
mod read;
mod report;
mod rows;
mod work;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use bench::{Effort, Selection};
use engine::EngineKind;

/// What may go wrong: it ends the run, and is printed.
type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Error>;

/// Benchmarks beside SQLite and redb.
#[derive(Parser)]
struct Args {
    /// Rows of the log table.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    rows: u64,
    /// Only these works: names, or how they begin.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The engines; all by default. With very many rows leave saltwing-memory out.
    #[arg(
        long, value_name = "NAME", value_delimiter = ',', value_parser = EngineKind::by_name,
        default_value = "saltwing,saltwing-sled,saltwing-memory,sqlite,redb"
    )]
    engines: Vec<EngineKind>,
    /// Also write one JSON object a line to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run everything once or twice, to see that it runs.
    #[arg(long)]
    smoke: bool,
    /// Where databases are made, and removed again; the system's temporary folder by default.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Memory for each engine's caches, in MB; 1,024 by default.
    #[arg(long, value_name = "MB")]
    cache_mb: Option<u64>,
    /// Lists the works' names.
    #[arg(long)]
    list: bool,
    /// In a process of its own: opens the one engine in a folder, reads, and prints the memory it has then.
    #[arg(long, hide = true)]
    probe_memory: Option<PathBuf>,
    /// The same of the mobile log.
    #[arg(long, hide = true)]
    probe_mobile: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Counts the instructions of hot paths, and fails where they are more than the stored ones allow.
    HotPaths(hot_paths::Args),
    /// Saltwing beside Phoenix's JDBC driver on the tables of one cluster.
    #[cfg(feature = "hbase")]
    HbaseSpeed(hbase::Args),
}

fn main() -> Result<()> {
    let args = Args::parse();
    match &args.command {
        Some(Command::HotPaths(hot)) => return hot_paths::run(hot),
        #[cfg(feature = "hbase")]
        Some(Command::HbaseSpeed(speed)) => return hbase::run(speed),
        None => {}
    }
    if let Some(folder) = &args.probe_memory {
        let kind = args.engines.first().copied().unwrap_or(EngineKind::Saltwing);
        return work::sizes::probe_memory(kind, folder, args.rows);
    }
    if let Some(database) = &args.probe_mobile {
        return work::mobile::probe_memory(database, args.rows);
    }
    let selection = Selection { only: args.only, names: work::names() };
    if args.list {
        selection.names.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    if let Some(unknown) = selection.unknown() {
        return Err(format!("no work is called {unknown}; --list tells the names").into());
    }
    work::run(work::Run {
        rows: args.rows,
        selection,
        engines: args.engines,
        effort: if args.smoke { Effort::Smoke } else { Effort::Full },
        json: args.json,
        folder: args.folder,
        cache_bytes: args.cache_mb.map(|mb| mb << 20),
    })
}
