//! Runs statements and dot commands on one connection, for batch, shell and demo.

use std::io::Write;

use saltwing::blocking::{Connection, Response};
use saltwing::syntax::CopyStream;
use saltwing::{Database, ErrorCode, TransactionState};

use crate::args::Run;
use crate::catalog_names::CatalogNames;
use crate::column_widths::ColumnWidths;
use crate::dot_command::DotCommand;
use crate::failure::{EXIT_ERROR, Failure};
use crate::interrupt::{Idle, Interrupt};
use crate::message;
use crate::output::Output;
use crate::parameters::Parameters;
use crate::progress::ProgressBar;
use crate::render::{COMMA, Mode, Paint};
use crate::script::{Item, Script, StatementText};
use crate::standard_input::StandardInput;
use crate::statement_kind::{StatementKind, stream_of};

/// The reader of the shell's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A program, or a file.
    Batch,
    /// A person at a terminal.
    Terminal(Paint),
}

/// Whether the shell continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Go,
    Quit,
}

/// A connection, and how its results are shown.
pub(crate) struct Runner<'a> {
    pub(crate) database: Database,
    /// The arguments with which the database was opened; `.open` opens others with the same ones.
    pub(crate) run: Run,
    pub(crate) connection: Connection,
    /// The names for completion and for the layout of results.
    pub(crate) catalog: CatalogNames,
    pub(crate) interrupt: Interrupt,
    pub(crate) audience: Audience,
    pub(crate) mode: Mode,
    /// Whether time and keys read are printed.
    pub(crate) timing: bool,
    /// The value of `.nullvalue`.
    pub(crate) null_text: Option<String>,
    /// The value of `.maxrows`; 0 shows all.
    pub(crate) max_rows: Option<u64>,
    /// The value of `.width`.
    pub(crate) widths: ColumnWidths,
    /// The separator of fields in the mode csv.
    pub(crate) separator: u8,
    /// The program for results that are longer than the screen.
    pub(crate) pager: Option<String>,
    /// The last statement, for `.watch` and `.edit`.
    pub(crate) last: Option<StatementText>,
    /// The mode to which `\x` returns.
    pub(crate) unexpanded: Option<Mode>,
    pub(crate) progress: ProgressBar,
    pub(crate) parameters: Parameters,
    pub(crate) out: Output<'a>,
    pub(crate) messages: Box<dyn Write + 'a>,
    /// The current nesting of `.read`.
    pub(crate) read_depth: usize,
}

impl<'a> Runner<'a> {
    /// A runner on a database that was opened with `run`. It writes results to `out` and everything else to `messages`.
    pub(crate) fn new(
        database: Database,
        run: Run,
        idle: Idle,
        audience: Audience,
        out: Box<dyn Write + 'a>,
        messages: Box<dyn Write + 'a>,
    ) -> Self {
        let is_batch = audience == Audience::Batch;
        let connection = database.connect().blocking();
        let interrupt = Interrupt::listen(&connection, idle);
        let progress = ProgressBar::on(&connection);
        if !is_batch {
            progress.watch(&connection);
        }
        Self {
            progress,
            parameters: Parameters::default(),
            catalog: CatalogNames::new(&database),
            database,
            connection,
            interrupt,
            audience,
            mode: run.mode.unwrap_or(if is_batch { Mode::Csv } else { Mode::Box }),
            run,
            timing: !is_batch,
            null_text: None,
            max_rows: None,
            widths: ColumnWidths::default(),
            separator: COMMA,
            pager: None,
            last: None,
            unexpanded: None,
            out: Output::new(out),
            messages,
            read_depth: 0,
        }
    }

    /// Runs a script up to its first failure, which is printed. `source` names the file.
    ///
    /// # Errors
    /// [`Failure::Reported`]; the reader of the output is gone; Ctrl-C.
    pub(crate) fn script(&mut self, script: &mut Script<'_>, source: Option<&str>) -> Result<Flow, Failure> {
        loop {
            let item = match script.next(self.connection.settings().dialect) {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(Flow::Go),
                Err(error) => {
                    let failure = Failure::Input(source.unwrap_or("the input").to_owned(), error);
                    return Err(self.report(failure, source, &StatementText::default()));
                }
            };
            let (place, done) = match item {
                Item::Statement(statement) => {
                    self.last = Some(statement.clone());
                    let done = self.statement(&statement).map(|()| Flow::Go);
                    (statement, done)
                }
                Item::Dot { text, line } => {
                    let place = StatementText { line, ..StatementText::default() };
                    (place, DotCommand::parse(&text).and_then(|command| self.dot(&command)))
                }
            };
            match done {
                Ok(Flow::Go) => {}
                Ok(Flow::Quit) => return Ok(Flow::Quit),
                Err(failure) => return Err(self.report(failure, source, &place)),
            }
        }
    }

    /// Prints a failure; the result is [`Failure::Reported`], unless the failure has a meaning for the caller.
    pub(crate) fn report(&mut self, failure: Failure, source: Option<&str>, place: &StatementText) -> Failure {
        if matches!(failure, Failure::Reported) || failure.is_reader_gone() {
            return failure;
        }
        // Results come before the message. An error of stdout is not reported here: it is the message itself.
        let _ = self.out.flush();
        let options = self.options(Vec::new());
        let mut text = message::failure(&failure, source, place, &message::Look::of(&options));
        if let (Failure::Sql(error), Mode::Json | Mode::Jsonl) = (&failure, self.mode) {
            text = format!("{text}\n{}", message::json(error));
        }
        // On a terminal, Ctrl-C has printed `^C` on the line.
        let at_key = matches!(failure, Failure::Interrupted(_)) && self.audience != Audience::Batch;
        let start = if at_key { "\r" } else { "" };
        // If stderr is gone, too, the exit code reports the failure.
        let _ = writeln!(self.messages, "{start}{text}");
        match failure {
            Failure::Interrupted(text) => Failure::Interrupted(text),
            _ => Failure::Reported,
        }
    }

    /// Runs one statement and prints its result.
    ///
    /// # Errors
    /// The error of the statement, or of writing its rows; Ctrl-C.
    pub(crate) fn statement(&mut self, statement: &StatementText) -> Result<(), Failure> {
        let kind = StatementKind::of(&statement.sql);
        let connection = self.connection.clone();
        let interrupt = self.interrupt.clone();
        let keys = self.key_columns(&statement.sql, kind);
        let running = interrupt.begin();
        let began = self.out.begin();
        let stream = stream_of(&statement.sql);
        let is_typed = stream == Some(CopyStream::Stdin);
        if self.audience != Audience::Batch && is_typed {
            writeln!(
                self.messages,
                "{}",
                self.paint().dim("Type or paste the rows. Ctrl-D on a line of its own ends them.")
            )?;
        }
        self.progress.begin(is_typed);
        let params = self.parameters.of(&statement.sql);
        let done = match stream {
            Some(CopyStream::Stdin) => {
                connection.copy_from_reader(&statement.sql, StandardInput::new()?).map(Response::Done)
            }
            Some(CopyStream::Stdout) => {
                connection.copy_to_writer(&statement.sql, params, &mut self.out).map(Response::Done)
            }
            None => connection.run(&statement.sql, params),
        };
        let shown = match done {
            Ok(Response::Done(result)) => {
                self.progress.finish();
                self.done(&result, kind, began)
            }
            Ok(Response::Rows(rows)) => self.rows(rows, kind, keys, began),
            Err(error) => Err(error.into()),
        };
        self.progress.finish();
        drop(running);
        match shown {
            Err(Failure::Sql(error)) if error.code() == ErrorCode::Cancelled && interrupt.came() => {
                Err(Failure::Interrupted(error.to_string()))
            }
            shown => shown,
        }
    }

    pub(crate) fn paint(&self) -> Paint {
        match self.audience {
            Audience::Batch => Paint::Off,
            Audience::Terminal(paint) => paint,
        }
    }

    /// Prints a notice about an open transaction, which ends with the connection.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        let notice = match self.connection.transaction_state() {
            TransactionState::None => return Ok(()),
            TransactionState::Open => "the open transaction is rolled back: COMMIT was missing",
            TransactionState::Failed => "the failed transaction is rolled back",
        };
        self.notices(&[notice.to_owned()])
    }

    /// Closes the database, and continues with another one, opened with the same arguments.
    ///
    /// # Errors
    /// The other database cannot be opened, and this one stays open; this one cannot be closed.
    pub(crate) fn open(&mut self, path: &str) -> Result<(), Failure> {
        let run = self.run.with_database(path);
        let database = run.open()?;
        self.notices(database.notices())?;
        self.end()?;
        self.connection = database.connect().blocking();
        self.interrupt.turn_to(&self.connection);
        self.catalog.turn_to(&database);
        self.progress.end();
        self.progress = ProgressBar::on(&self.connection);
        if self.audience != Audience::Batch {
            self.progress.watch(&self.connection);
        }
        let before = std::mem::replace(&mut self.database, database);
        let was_readonly = std::mem::replace(&mut self.run, run).opening.readonly;
        if was_readonly { Ok(()) } else { Ok(before.close()?) }
    }

    /// Closes the database; returns the exit code of a shell that ended with `code`.
    pub(crate) fn close(self, code: u8) -> u8 {
        let (database, is_readonly) = (self.database.clone(), self.run.opening.readonly);
        drop(self);
        match database.close() {
            Err(error) if !is_readonly => {
                eprintln!("{}", error.render(""));
                if code == 0 { EXIT_ERROR } else { code }
            }
            _ => code,
        }
    }

    /// The name of the database for messages.
    pub(crate) fn place(&self) -> String {
        match &self.run.database {
            Some(path) => format!("{} ({})", path.display(), self.database.store_name()),
            None => "memory: nothing is kept".to_owned(),
        }
    }

    pub(crate) fn notices(&mut self, notices: &[String]) -> Result<(), Failure> {
        self.out.flush()?;
        for notice in notices {
            writeln!(self.messages, "{} {notice}", self.paint().notice("notice:"))?;
        }
        Ok(())
    }

    /// Writes a line to the destination of results.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.out, "{text}")?;
        Ok(self.out.flush()?)
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}
