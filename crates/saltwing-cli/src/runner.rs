//! Runs one thing at a time on one connection: what batch, shell and demo share.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use saltwing::blocking::{Connection, Response};
use saltwing::{ArrowRows, ErrorCode, ExecResult, Stats, TransactionState};

use crate::dot_command::DotCommand;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::message;
use crate::output::Output;
use crate::parameters::Parameters;
use crate::progress::ProgressBar;
use crate::render::{Mode, Options, Paint, Plain, Renderer};
use crate::script::{Item, Script, StatementText};
use crate::standard_input::StandardInput;
use crate::statement_kind::{CopyStream, StatementKind};

/// Whom the shell speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A program, or a file.
    Batch,
    /// A person at a terminal.
    Terminal(Paint),
}

/// Whether there is more to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Go,
    Quit,
}

/// A connection, and how its results are shown.
pub(crate) struct Runner<'a> {
    pub(crate) connection: Connection,
    pub(crate) interrupt: Interrupt,
    pub(crate) audience: Audience,
    pub(crate) mode: Mode,
    /// Whether time and keys read are printed.
    pub(crate) timing: bool,
    /// Whether `.read` may read files.
    pub(crate) reads_files: bool,
    /// The value of `.nullvalue`.
    pub(crate) null_text: Option<String>,
    /// The program that shows results that are longer than the screen.
    pub(crate) pager: Option<String>,
    /// The statement that ran last, for `.watch` and `.edit`.
    pub(crate) last: Option<StatementText>,
    /// The mode that `\x` goes back to.
    pub(crate) unexpanded: Option<Mode>,
    progress: ProgressBar,
    pub(crate) parameters: Parameters,
    pub(crate) out: Output<'a>,
    pub(crate) messages: Box<dyn Write + 'a>,
    /// How many files read each other now.
    pub(crate) read_depth: usize,
}

impl<'a> Runner<'a> {
    /// A runner that writes results to `out` and all else to `messages`.
    pub(crate) fn new(
        connection: Connection,
        interrupt: Interrupt,
        audience: Audience,
        out: Box<dyn Write + 'a>,
        messages: Box<dyn Write + 'a>,
    ) -> Self {
        let is_batch = audience == Audience::Batch;
        let progress = ProgressBar::on(&connection);
        if !is_batch {
            progress.watch(&connection);
        }
        Self {
            progress,
            parameters: Parameters::default(),
            connection,
            interrupt,
            audience,
            mode: if is_batch { Mode::Csv } else { Mode::Box },
            timing: !is_batch,
            reads_files: true,
            null_text: None,
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
    /// [`Failure::Reported`], or that the reader is gone, or Ctrl-C.
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
        // Results before the message; an error of stdout itself is the message.
        let _ = self.out.flush();
        let options = self.options();
        let mut text = message::failure(&failure, source, place, &message::Look::of(&options));
        if let (Failure::Sql(error), Mode::Json | Mode::Jsonl) = (&failure, self.mode) {
            text = format!("{text}\n{}", message::json(error));
        }
        // On a terminal Ctrl-C has left its `^C` on the line.
        let at_key = matches!(failure, Failure::Interrupted(_)) && self.audience != Audience::Batch;
        let start = if at_key { "\r" } else { "" };
        // Where stderr is gone too, the exit code says it.
        let _ = writeln!(self.messages, "{start}{text}");
        match failure {
            Failure::Interrupted(text) => Failure::Interrupted(text),
            _ => Failure::Reported,
        }
    }

    /// Runs one statement and prints its result.
    ///
    /// # Errors
    /// The statement's; that of writing its rows; Ctrl-C.
    pub(crate) fn statement(&mut self, statement: &StatementText) -> Result<(), Failure> {
        let kind = StatementKind::of(&statement.sql);
        let connection = self.connection.clone();
        let interrupt = self.interrupt.clone();
        let running = interrupt.begin();
        let started = Instant::now();
        let stream = CopyStream::of(&statement.sql);
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
                self.done(&result, kind, started)
            }
            Ok(Response::Rows(rows)) => self.rows(rows, kind, started),
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

    fn done(&mut self, result: &ExecResult, kind: StatementKind, started: Instant) -> Result<(), Failure> {
        let time = started.elapsed();
        self.notices(&result.notices)?;
        let text = match kind {
            StatementKind::Write(how) => format!("{} {how}", message::count(result.rows_affected, "row", "rows")),
            _ if self.audience == Audience::Batch => return Ok(()),
            _ => "ok".to_owned(),
        };
        // Scripts get the same line whatever the statement reads.
        let stats = if self.audience == Audience::Batch { Stats::default() } else { result.stats };
        writeln!(self.messages, "{}", message::footer(text, self.timing.then_some(time), stats))?;
        Ok(())
    }

    fn rows(&mut self, rows: ArrowRows, kind: StatementKind, started: Instant) -> Result<(), Failure> {
        if let (Some(pager), Some(height)) = (&self.pager, height()) {
            self.out.page(pager, height);
        }
        let shown = self.show(rows, kind, started);
        self.out.end_result()?;
        shown
    }

    fn show(&mut self, mut rows: ArrowRows, kind: StatementKind, started: Instant) -> Result<(), Failure> {
        let is_text = self.shows_as_text(&rows, kind);
        let mut renderer: Box<dyn Renderer> = match is_text {
            true => Box::new(Plain::new(rows.columns(), "\n")),
            false => self.mode.renderer(rows.columns(), &self.options_for(kind)),
        };
        let mut count = 0;
        // An error before the first row prints nothing: the opening waits for it.
        let first = rows.next_blocking();
        // From here on rows are written, and the line would stand among them.
        self.progress.finish();
        let mut next = first?;
        renderer.start(&mut self.out)?;
        while let Some(batch) = next {
            if self.interrupt.came() {
                return Err(Failure::Interrupted("cancelled".into()));
            }
            count += batch.num_rows() as u64;
            renderer.batch(&batch, &mut self.out)?;
            next = if self.out.is_closed() { None } else { rows.next_blocking()? };
        }
        renderer.finish(&mut self.out)?;
        self.out.end_result()?;
        let time = started.elapsed();
        self.notices(rows.notices())?;
        if !is_text && (self.audience != Audience::Batch || self.timing) {
            let rows_shown = message::count(count, "row", "rows");
            let footer = message::footer(rows_shown, self.timing.then_some(time), rows.stats());
            writeln!(self.messages, "{}", self.paint().dim(&footer))?;
        }
        if let Some(token) = rows.next_page() {
            writeln!(self.messages, "next page: AFTER '{token}'")?;
        }
        Ok(())
    }

    /// Whether a result is lines for a person to read: plans and definitions.
    fn shows_as_text(&self, rows: &ArrowRows, kind: StatementKind) -> bool {
        let for_people = matches!(self.mode, Mode::Table | Mode::Box) && self.audience != Audience::Batch;
        for_people && kind == StatementKind::Text && rows.columns().len() == 1
    }

    /// In the catalog's answers NULL is empty: no value could be mistaken for it.
    fn options_for(&self, kind: StatementKind) -> Options {
        match (kind, &self.null_text) {
            (StatementKind::Catalog, None) => Options { null_text: String::new(), ..self.options() },
            _ => self.options(),
        }
    }

    fn options(&self) -> Options {
        match self.audience {
            Audience::Terminal(paint) if !self.out.is_file() => {
                Options { width: width(), null_text: self.null_text.clone().unwrap_or_else(|| "NULL".into()), paint }
            }
            _ => Options { width: None, null_text: self.null_text.clone().unwrap_or_default(), paint: Paint::Off },
        }
    }

    pub(crate) fn paint(&self) -> Paint {
        match self.audience {
            Audience::Batch => Paint::Off,
            Audience::Terminal(paint) => paint,
        }
    }

    /// Tells of a transaction that ends with the connection.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        let notice = match self.connection.transaction_state() {
            TransactionState::None => return Ok(()),
            TransactionState::Open => "the open transaction is rolled back: COMMIT was missing",
            TransactionState::Failed => "the failed transaction is rolled back",
        };
        self.notices(&[notice.to_owned()])
    }

    fn notices(&mut self, notices: &[String]) -> Result<(), Failure> {
        self.out.flush()?;
        for notice in notices {
            writeln!(self.messages, "{} {notice}", self.paint().notice("notice:"))?;
        }
        Ok(())
    }

    /// Writes a line where results go.
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

/// Cells of the terminal that results go to.
fn width() -> Option<usize> {
    screen().map(|(columns, _)| columns.into())
}

/// Lines of the terminal that results go to.
fn height() -> Option<usize> {
    screen().map(|(_, lines)| lines.into())
}

fn screen() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok().filter(|_| std::io::stdout().is_terminal())
}
