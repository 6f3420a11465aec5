//! The runner's command line: see the library for the dialect.
//!
//! Failures go to stdout with their place; the last line is `N passed, N failed,
//! N skipped`, in records. Exit codes: 0, 1 when a record failed, 2 when a run
//! could not start.

use std::error::Error as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use sql_tests::{Error, Executor, FileReport, Options, Store, Totals, run_files, select, update_file};

/// Runs sqllogictest files, each on a fresh database.
#[derive(Parser)]
#[command(name = "sql-tests")]
struct Arguments {
    /// The store: redb, sled, memory, fake-remote or fake-remote-rows.
    #[arg(long, default_value = "redb", value_parser = |s: &str| Store::by_name(s).ok_or("redb, sled, memory, fake-remote or fake-remote-rows"))]
    store: Store,
    /// Buckets of every table that names no SALT_BUCKETS; 0 is none.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=256))]
    salt: u16,
    /// Who runs queries: auto, direct or datafusion. What it cannot run is skipped.
    #[arg(long, default_value = "auto", value_parser = |s: &str| Executor::by_name(s).ok_or("auto, direct or datafusion"))]
    executor: Executor,
    /// What becomes of full scans: allow, warn, error or forbid; the library's default otherwise.
    #[arg(long, value_parser = ["allow", "warn", "error", "forbid"])]
    full_scan: Option<String>,
    /// Blocks of 4 rows and deltas of 16 rows, so that a file's few rows are merged.
    #[arg(long)]
    tiny_layout: bool,
    /// Gives every column of every table an index. Records about the access itself are skipped.
    #[arg(long)]
    index_all: bool,
    /// Files at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Writes the rows that come into the files, instead of reporting those that differ.
    #[arg(long)]
    update: bool,
    /// One line for each file.
    #[arg(long, short)]
    verbose: bool,
    /// Files, or folders of .slt and .test files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(totals) => {
            println!("{totals}");
            if totals.failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS }
        }
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = error.source();
            while let Some(inner) = cause {
                text = format!("{text}: {inner}");
                cause = inner.source();
            }
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<Totals, Error> {
    let options = Options {
        store: arguments.store,
        salt: arguments.salt,
        executor: arguments.executor,
        full_scan: arguments.full_scan.clone(),
        tiny_layout: arguments.tiny_layout,
        index_all: arguments.index_all,
    };
    let files = select(&arguments.paths)?.files;
    if arguments.update {
        for file in &files {
            let changed = update_file(file, &options)?;
            if changed > 0 {
                println!("{}: {changed} updated", file.display());
            }
        }
    }
    run_files(&files, &options, arguments.jobs, |file| print_report(file, arguments.verbose))
}

fn print_report(file: &FileReport, is_verbose: bool) {
    for failure in &file.failures {
        println!("FAIL {failure}\n");
    }
    for notice in &file.notices {
        println!("note: {notice}");
    }
    if is_verbose {
        println!("{}: {}", file.path.display(), file.totals);
    }
}
