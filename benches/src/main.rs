//! Measures Saltwing beside SQLite, in one process, in turns.
//!
//! `cargo run --release -p benches -- [--rows N] [--only NAME] [--json FILE]`
//!
//! Answers are compared before a figure is printed. Figures are of this machine and this run.

mod engine;
mod mobile;
mod report;
mod rows;
mod work;

use clap::Parser;

/// Benchmarks beside SQLite.
#[derive(Parser)]
struct Args {
    /// Rows of the log table.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Only the work of this name.
    #[arg(long)]
    only: Option<String>,
    /// Also write one JSON object a line to this file.
    #[arg(long)]
    json: Option<std::path::PathBuf>,
    /// Run everything once, to see that it runs.
    #[arg(long)]
    smoke: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let rounds = if args.smoke { 2 } else { 200 };
    let measures = work::run(args.rows, args.only.as_deref(), rounds)?;
    report::print(&measures);
    if let Some(path) = &args.json {
        report::write_json(&measures, path)?;
    }
    Ok(())
}
