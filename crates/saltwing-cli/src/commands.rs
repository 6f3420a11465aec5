//! Runs the commands of the shell itself.

use std::fs::File;
use std::io::{BufReader, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use saltwing::Value;

use crate::dot_command::{DotCommand, HELP};
use crate::failure::Failure;
use crate::render::{Mode, Plain, Renderer};
use crate::runner::{Audience, Flow, Runner};
use crate::script::{Script, StatementText};

/// How deep files may read files.
const READ_DEPTH_MAX: usize = 16;
/// How often a watch looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Runner<'_> {
    /// Runs a command of the shell's own.
    ///
    /// # Errors
    /// The failure of the statement.
    pub(crate) fn dot(&mut self, command: &DotCommand) -> Result<Flow, Failure> {
        let flow = self.run_dot(command)?;
        if !matches!(command, DotCommand::Output { .. }) {
            self.out.end_result()?;
        }
        Ok(flow)
    }

    fn run_dot(&mut self, command: &DotCommand) -> Result<Flow, Failure> {
        match command {
            DotCommand::Help => self.say(HELP)?,
            DotCommand::Tables(None) => self.sql("SHOW TABLES")?,
            DotCommand::Tables(Some(like)) => self.sql(&format!("SHOW TABLES LIKE '{}'", like.replace('\'', "''")))?,
            DotCommand::Describe(table) => self.sql(&format!("DESCRIBE {table}"))?,
            DotCommand::Schema(None) => {
                let (tables, views) = self.tables_and_views()?;
                // A table's DEFAULT may need a sequence; those of identity columns are made with their tables.
                let own = self.sequences_of(&tables)?;
                for sequence in self.names("SEQUENCES")?.into_iter().filter(|sequence| !own.contains(sequence)) {
                    self.definition("SEQUENCE", &sequence)?;
                }
                for table in tables.into_iter().chain(views) {
                    self.definition("TABLE", &table)?;
                }
            }
            DotCommand::Schema(Some(table)) => self.definition("TABLE", table)?,
            DotCommand::Indexes(table) => self.indexes(table.as_deref())?,
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
            DotCommand::Expanded => {
                self.mode = match (self.mode, self.unexpanded.take()) {
                    (Mode::Line, before) => before.unwrap_or(Mode::Box),
                    (mode, _) => {
                        self.unexpanded = Some(mode);
                        Mode::Line
                    }
                };
            }
            DotCommand::Dump(table) => self.dump(table.as_deref())?,
            DotCommand::Phoenix(table) => self.phoenix(table.as_deref())?,
            DotCommand::Keys(query) => self.keys(query)?,
            DotCommand::Advise(given) => self.advise(given)?,
            DotCommand::Ranges(query) => self.ranges(query)?,
            DotCommand::Import { file, table } => self.sql(&format!("COPY {table} FROM {file}{}", header(file)))?,
            DotCommand::Export { source, file } => self.sql(&format!("COPY {source} TO {file}{}", header(file)))?,
            DotCommand::Output { file: None, .. } => self.out.restore_standard()?,
            DotCommand::Output { file: Some(file), once } => {
                self.uses_files(".output")?;
                self.out.redirect(file, *once).map_err(|error| Failure::Usage(format!("{file}: {error}")))?;
            }
            DotCommand::Pager(command) => self.pager = command.clone(),
            DotCommand::Watch { every, times } => self.watch(*every, *times)?,
            DotCommand::Edit => return self.edit(),
            DotCommand::Read(file) => {
                self.uses_files(".read")?;
                return self.file(file);
            }
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

    pub(crate) fn sql(&mut self, sql: &str) -> Result<(), Failure> {
        let statement = StatementText { sql: sql.to_owned(), line: 1, ..StatementText::default() };
        // The place is in text that no one wrote: only the message and the help say something.
        let done = self.statement(&statement);
        match done {
            Err(failure @ Failure::Sql(_)) => Err(self.report(failure, None, &statement)),
            done => done,
        }
    }

    /// The names of all tables, and of all views, each behind those that it uses: so SHOW VIEWS has them.
    pub(crate) fn tables_and_views(&self) -> Result<(Vec<String>, Vec<String>), Failure> {
        let (mut tables, views) = (self.names("TABLES")?, self.names("VIEWS")?);
        tables.retain(|table| !views.contains(table));
        Ok((tables, views))
    }

    /// The names of TABLES, VIEWS or SEQUENCES, as statements write them.
    pub(crate) fn names(&self, objects: &str) -> Result<Vec<String>, Failure> {
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
    pub(crate) fn definition(&mut self, object: &str, name: &str) -> Result<(), Failure> {
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

    pub(crate) fn uses_files(&self, command: &str) -> Result<(), Failure> {
        match self.reads_files {
            true => Ok(()),
            false => Err(Failure::Usage(format!("{command}: the shell runs with --no-file-access"))),
        }
    }

    fn last_statement(&self) -> Result<StatementText, Failure> {
        self.last.clone().ok_or_else(|| Failure::Usage("no statement has run yet".to_owned()))
    }

    /// Runs the last statement again and again: the given number of times, or until Ctrl-C.
    fn watch(&mut self, every: Duration, times: Option<u32>) -> Result<(), Failure> {
        let statement = self.last_statement()?;
        let interrupt = self.interrupt.clone();
        for run in 1_u32.. {
            self.statement(&statement)?;
            if times.is_some_and(|times| run >= times) {
                break;
            }
            let running = interrupt.begin();
            let began = Instant::now();
            while began.elapsed() < every && !interrupt.came() {
                std::thread::sleep(LOOK_EVERY.min(every));
            }
            drop(running);
            if interrupt.came() {
                break;
            }
        }
        Ok(())
    }

    /// Opens the last statement in an editor, and runs what comes of it.
    fn edit(&mut self) -> Result<Flow, Failure> {
        if self.audience == Audience::Batch {
            return Err(Failure::Usage("\\e: an editor needs a terminal".to_owned()));
        }
        self.uses_files("\\e")?;
        let before =
            self.last.clone().map_or_else(String::new, |statement| statement.sql.trim_start().to_owned() + "\n");
        let editor = ["SALTWING_EDITOR", "VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
        let editor = editor.filter(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
        let edited = edited(&editor, &before).map_err(|error| Failure::Usage(format!("{editor}: {error}")))?;
        match edited {
            Some(text) if text.trim() != before.trim() => {
                self.say(text.trim_end())?;
                self.script(&mut Script::new(text.as_bytes()), None)
            }
            _ => Ok(Flow::Go),
        }
    }
}

/// The option of a COPY whose file has the columns' names in its first line.
fn header(file: &str) -> &'static str {
    let is_text = [".csv'", ".tsv'", ".csv.gz'", ".csv.zst'"].iter().any(|end| file.to_lowercase().ends_with(end));
    if is_text { " WITH (HEADER)" } else { "" }
}

/// A text as an editor leaves it; `None` if the editor failed.
fn edited(editor: &str, text: &str) -> std::io::Result<Option<String>> {
    let file = tempfile::Builder::new().prefix("saltwing-").suffix(".sql").tempfile()?;
    std::fs::write(file.path(), text)?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file.path()).status()?;
    match status.success() {
        true => std::fs::read_to_string(file.path()).map(Some),
        false => Ok(None),
    }
}
