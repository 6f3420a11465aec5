//! Runs the parsed command line: a batch, or the shell at a terminal.

use std::io::BufWriter;

use saltwing::Database;

use crate::args::{Input, Run};
use crate::failure::{EXIT_ERROR, EXIT_INTERRUPTED, Failure};
use crate::interrupt::Idle;
use crate::runner::{Audience, Flow, Runner};
use crate::script::Script;
use crate::{interactive, log};

/// Runs the shell or the batch; returns the exit code.
pub(crate) fn run(run: &Run) -> u8 {
    if let Some(filter) = &run.log {
        log::start(filter.clone(), log::Format::Text);
    }
    let database = match run.open() {
        Ok(database) => database,
        Err(error) => {
            eprintln!("{}", error.render(""));
            return EXIT_ERROR;
        }
    };
    database.notices().iter().for_each(|notice| eprintln!("notice: {notice}"));
    match run.inputs.is_empty() && interactive::is_terminal() {
        true => interactive::run(database, run),
        false => batch(database, run),
    }
}

fn batch(database: Database, run: &Run) -> u8 {
    let out = Box::new(BufWriter::new(std::io::stdout()));
    let messages = Box::new(std::io::stderr());
    let mut runner = Runner::new(database, run.clone(), Idle::Ends, Audience::Batch, out, messages);
    let done = inputs(&mut runner, &run.inputs);
    let ended = runner.end();
    runner.close(exit_code(done.and_then(|flow| ended.map(|()| flow))))
}

fn inputs(runner: &mut Runner<'_>, inputs: &[Input]) -> Result<Flow, Failure> {
    if inputs.is_empty() {
        return runner.file_reported("-");
    }
    for input in inputs {
        let flow = match input {
            Input::Text(sql) => runner.script(&mut Script::new(sql.as_bytes()), None)?,
            Input::File(path) => runner.file_reported(&path.to_string_lossy())?,
        };
        if flow == Flow::Quit {
            return Ok(flow);
        }
    }
    Ok(Flow::Go)
}

/// The exit code of a batch with this result.
pub(crate) fn exit_code(done: Result<Flow, Failure>) -> u8 {
    match done {
        Ok(_) => 0,
        Err(failure) if failure.is_reader_gone() => 0,
        Err(Failure::Interrupted(_)) => EXIT_INTERRUPTED,
        Err(_) => EXIT_ERROR,
    }
}
