//! Runs one thing at a time on one connection: what batch, shell and demo share.

use std::fs::File;
use std::io::{BufReader, IsTerminal, Write};
use std::time::Instant;

use saltwing::blocking::{Connection, Response};
use saltwing::{ArrowRows, ErrorCode, ExecResult, Stats, TransactionState, Value};

use crate::dot_command::{DotCommand, HELP};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::message;
use crate::parameters::Parameters;
use crate::progress::ProgressBar;
use crate::render::{Mode, Options, Paint, Plain, Renderer};
use crate::script::{Item, Script, StatementText};
use crate::standard_input::StandardInput;
use crate::statement_kind::{CopyStream, StatementKind};

/// How deep files may read files.
const READ_DEPTH_MAX: usize = 16;

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
    progress: ProgressBar,
    parameters: Parameters,
    out: Box<dyn Write + 'a>,
    messages: Box<dyn Write + 'a>,
    read_depth: usize,
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
            out,
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
            let item = match script.next() {
                Ok(Some(item)) => item,
                Ok(None) => return Ok(Flow::Go),
                Err(error) => {
                    let failure = Failure::Input(source.unwrap_or("the input").to_owned(), error);
                    return Err(self.report(failure, source, &StatementText::default()));
                }
            };
            let (place, done) = match item {
                Item::Statement(statement) => {
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
    fn report(&mut self, failure: Failure, source: Option<&str>, place: &StatementText) -> Failure {
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

    fn rows(&mut self, mut rows: ArrowRows, kind: StatementKind, started: Instant) -> Result<(), Failure> {
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
            next = rows.next_blocking()?;
        }
        renderer.finish(&mut self.out)?;
        self.out.flush()?;
        let time = started.elapsed();
        self.notices(rows.notices())?;
        if !is_text && (self.audience != Audience::Batch || self.timing) {
            let rows_shown = message::count(count, "row", "rows");
            let footer = message::footer(rows_shown, self.timing.then_some(time), rows.stats());
            writeln!(self.messages, "{}", self.paint().dim(&footer))?;
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
            Audience::Batch => {
                Options { width: None, null_text: self.null_text.clone().unwrap_or_default(), paint: Paint::Off }
            }
            Audience::Terminal(paint) => {
                Options { width: width(), null_text: self.null_text.clone().unwrap_or_else(|| "NULL".into()), paint }
            }
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

    /// Runs a command of the shell's own.
    ///
    /// # Errors
    /// The failure of the statement.
    pub(crate) fn dot(&mut self, command: &DotCommand) -> Result<Flow, Failure> {
        match command {
            DotCommand::Help => self.say(HELP)?,
            DotCommand::Tables(None) => self.sql("SHOW TABLES")?,
            DotCommand::Tables(Some(like)) => self.sql(&format!("SHOW TABLES LIKE '{}'", like.replace('\'', "''")))?,
            DotCommand::Describe(table) => self.sql(&format!("DESCRIBE {table}"))?,
            DotCommand::Schema(None) => {
                // A table's DEFAULT may need a sequence.
                for sequence in self.names("SEQUENCES")? {
                    self.definition("SEQUENCE", &sequence)?;
                }
                let (mut tables, views) = (self.names("TABLES")?, self.names("VIEWS")?);
                tables.retain(|table| !views.contains(table));
                for table in tables.into_iter().chain(views) {
                    self.definition("TABLE", &table)?;
                }
            }
            DotCommand::Schema(Some(table)) => self.definition("TABLE", table)?,
            DotCommand::Mode(Some(mode)) => self.mode = *mode,
            DotCommand::Mode(None) => self.say(self.mode.as_str())?,
            DotCommand::Timing(on) => {
                self.timing = on.unwrap_or(!self.timing);
                if on.is_none() {
                    writeln!(self.messages, "timing is {}", if self.timing { "on" } else { "off" })?;
                }
            }
            DotCommand::NullText(text) => self.null_text = Some(text.clone()),
            DotCommand::ParameterSet(name, text) => self.set_parameter(name, text)?,
            DotCommand::ParameterList => {
                for line in self.parameters.lines() {
                    self.say(&line)?;
                }
            }
            DotCommand::ParameterClear(name) => {
                if !self.parameters.clear(name.as_deref()) {
                    return Err(Failure::Usage(format!("{} has no value", name.as_deref().unwrap_or_default())));
                }
            }
            DotCommand::Read(_) if !self.reads_files => {
                return Err(Failure::Usage(".read: the shell runs with --no-file-access".to_owned()));
            }
            DotCommand::Read(file) => return self.file(file),
            DotCommand::Quit => return Ok(Flow::Quit),
        }
        Ok(Flow::Go)
    }

    /// Gives a parameter the value of an SQL expression.
    fn set_parameter(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        let value = self.connection.query_one::<(Value,)>(&format!("SELECT {text}"), ());
        let (value,) = value.map_err(|error| {
            Failure::Usage(format!(
                "{text} is no value: {error}; a text stands in single quotes, an instant as DATE '..'"
            ))
        })?;
        self.parameters.set(name.to_owned(), text.to_owned(), value);
        Ok(())
    }

    fn sql(&mut self, sql: &str) -> Result<(), Failure> {
        let statement = StatementText { sql: sql.to_owned(), line: 1, ..StatementText::default() };
        // The place is in text that no one wrote: only the message and the help say something.
        let done = self.statement(&statement);
        match done {
            Err(failure @ Failure::Sql(_)) => Err(self.report(failure, None, &statement)),
            done => done,
        }
    }

    /// The names of TABLES, VIEWS or SEQUENCES, as statements write them.
    fn names(&self, objects: &str) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        for row in self.connection.query(&format!("SHOW {objects}"), ())? {
            let row = row?;
            let (schema, name) = (row.get::<Option<String>>(0)?, row.get::<String>(1)?);
            let schema = schema.map(|s| format!("{}.", saltwing_sql::quote_name(&s))).unwrap_or_default();
            names.push(format!("{schema}{}", saltwing_sql::quote_name(&name)));
        }
        Ok(names)
    }

    /// Prints the statement that makes a TABLE or a view, or a SEQUENCE.
    fn definition(&mut self, object: &str, name: &str) -> Result<(), Failure> {
        let mut rows = self.connection.query_arrow(&format!("SHOW CREATE {object} {name}"), ())?;
        let mut plain = Plain::new(rows.columns(), ";\n");
        while let Some(batch) = rows.next_blocking()? {
            plain.batch(&batch, &mut self.out)?;
        }
        Ok(self.out.flush()?)
    }

    /// Runs a file; `-` is stdin.
    ///
    /// # Errors
    /// As [`Runner::script`]; a file that cannot be opened.
    pub(crate) fn file(&mut self, path: &str) -> Result<Flow, Failure> {
        if path == "-" {
            return self.script(&mut Script::stdin(), Some("stdin"));
        }
        if self.read_depth >= READ_DEPTH_MAX {
            return Err(Failure::Usage(format!("{path}: files read files {READ_DEPTH_MAX} deep")));
        }
        let file = File::open(path).map_err(|error| Failure::Input(path.to_owned(), error))?;
        self.read_depth += 1;
        let done = self.script(&mut Script::new(BufReader::new(file)), Some(path));
        self.read_depth -= 1;
        done
    }

    /// As [`Runner::file`]; also prints failures outside a statement.
    pub(crate) fn file_reported(&mut self, path: &str) -> Result<Flow, Failure> {
        let done = self.file(path);
        done.map_err(|failure| self.report(failure, None, &StatementText::default()))
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

/// Cells of the terminal that results go to.
fn width() -> Option<usize> {
    let is_terminal = std::io::stdout().is_terminal();
    crossterm::terminal::size().ok().filter(|_| is_terminal).map(|(columns, _)| columns.into())
}
