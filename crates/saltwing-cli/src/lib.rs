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
//! 3. Exit codes: 0; 1 for an error of SQL, storage or output, or damage that a check finds; 2 for usage; 3 for rows that
//!    are lost; 130 after Ctrl-C.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod args;
mod batch;
mod demo;
mod dot_command;
mod failure;
mod interactive;
mod interrupt;
mod log;
mod maintain;
mod message;
pub mod mobile_log;
mod open;
mod parameters;
mod progress;
mod render;
mod runner;
mod script;
mod standard_input;
mod statement_kind;

use std::process::ExitCode;

use args::Invocation;

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    let code = match args::parse(std::env::args_os()) {
        Ok(Invocation::Run(run)) => batch::run(&run),
        Ok(Invocation::Demo) => demo::run(),
        Ok(Invocation::Maintain(maintenance)) => maintain::run(&maintenance),
        Err(error) => {
            // Help and version come this way too, with the exit code 0.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(failure::EXIT_USAGE)
        }
    };
    ExitCode::from(code)
}
