//! The `saltwing` shell: batch, interactive, and the demo.
//!
//! ```text
//!  args ──► batch ──┐                            ┌──► render: csv tsv json jsonl table box markdown line
//!                   ├──► Shell: one statement, ──┤
//!  terminal (reedline)   one dot command         └──► messages: row counts, notices, errors
//!  demo ────────────┘
//! ```
//!
//! Results go to stdout, everything else to stderr. `script` cuts input into
//! statements and knows their lines; `interrupt` turns Ctrl-C into a cancel.
//!
//! # Laws
//! 1. A batch writes no colour, banner or prompt.
//! 2. Memory is bounded by one statement and one batch of rows (a table also keeps
//!    its first rows, for the widths).
//! 3. Exit codes: 0; 1 for an error of SQL, storage or output, or damage that a check finds; 2 for wrong usage; 3 for
//!    lost rows; 130 after Ctrl-C.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod advise;
mod args;
mod batch;
mod catalog_names;
mod column_widths;
mod commands;
mod demo;
mod dot_command;
mod dump;
mod failure;
mod heat;
mod heat_arguments;
mod indexes;
mod interactive;
mod interrupt;
mod keys;
mod log;
mod maintain;
mod message;
pub mod mobile_log;
mod open;
mod output;
mod parameters;
mod progress;
mod render;
mod results;
mod runner;
mod screen;
mod script;
#[cfg(feature = "server")]
mod serve;
mod standard_input;
mod statement_kind;
mod statement_tables;
mod vocabulary;

use std::io;
use std::process::ExitCode;

use args::Invocation;

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let code = match args::parse(std::env::args_os()) {
        Ok(Invocation::Run(run)) => batch::run(&run),
        Ok(Invocation::Demo) => demo::run(),
        Ok(Invocation::Completions(shell)) => printed(args::write_completions(shell, &mut io::stdout())),
        Ok(Invocation::Man) => printed(args::write_manual(&mut io::stdout())),
        Ok(Invocation::Maintain(maintenance)) => maintain::run(&maintenance),
        #[cfg(feature = "server")]
        Ok(Invocation::Serve(serve)) => serve::run(&serve),
        Err(error) => {
            // Help and version are errors of clap, too, with the exit code 0.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(failure::EXIT_USAGE)
        }
    };
    ExitCode::from(code)
}

/// The exit code after printing a text; a closed pipe is not an error.
fn printed(done: io::Result<()>) -> u8 {
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error[58030 io]: the output cannot be written: {error}");
            failure::EXIT_ERROR
        }
        _ => 0,
    }
}
