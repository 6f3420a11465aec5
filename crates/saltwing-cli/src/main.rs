//! The saltwing shell.

use std::process::ExitCode;

fn main() -> ExitCode {
    saltwing_cli::main()
}
