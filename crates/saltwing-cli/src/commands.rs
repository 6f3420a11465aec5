//! Runs the dot commands of the shell.

use std::fs::File;
use std::io::{BufReader, Write};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use saltwing::Value;

use crate::dot_command::{DotCommand, HELP};
use crate::failure::Failure;
use crate::render::{Mode, Plain, Renderer};
use crate::runner::{Audience, Flow, Runner};
use crate::script::{Script, StatementText};
use crate::statement_kind::StatementKind;

/// The limit for the nesting of `.read`.
const READ_DEPTH_MAX: usize = 16;
/// The interval at which a watch checks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Runner<'_> {
    /// Runs a dot command.
    ///
    /// # Errors
    /// The failure of the command or of its statement.
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
            DotCommand::List(objects, like) => {
                let like = like.as_ref().map(|like| format!(" LIKE '{}'", like.replace('\'', "''")));
                self.sql(&format!("SHOW {objects}{}", like.unwrap_or_default()))?;
            }
            DotCommand::Describe(table) => self.sql(&format!("DESCRIBE {table}"))?,
            DotCommand::Schema(None) => {
                let (tables, views) = self.tables_and_views()?;
                // A table's DEFAULT may need a sequence, so sequences come first; sequences of identity columns are created with their tables.
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
            DotCommand::NullText(Some(text)) => self.null_text = Some(text.clone()),
            DotCommand::NullText(None) => self.say(&format!("'{}'", self.options(Vec::new()).null_text))?,
            DotCommand::MaxRows(Some(most)) => self.max_rows = Some(*most),
            DotCommand::MaxRows(None) => self.say(&self.max_rows_text())?,
            DotCommand::Width(Some(widths)) => self.widths = widths.clone(),
            DotCommand::Width(None) => self.say(&self.widths.to_string())?,
            DotCommand::Separator(Some(separator)) => self.separator = *separator,
            DotCommand::Separator(None) => self.say(&char::from(self.separator).escape_default().to_string())?,
            DotCommand::Print(text) => self.say(text)?,
            DotCommand::Show => self.show_settings()?,
            DotCommand::Open(path) => {
                self.uses_files(".open")?;
                self.open(path)?;
                if self.audience != Audience::Batch {
                    self.say(&self.place())?;
                }
            }
            DotCommand::Shell(command) => {
                self.uses_files(".shell")?;
                self.shell(command)?;
            }
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
            DotCommand::Heat { name, seconds, accesses } => self.heat(name, *seconds, *accesses)?,
            DotCommand::Ranges(query) => self.ranges(query)?,
            DotCommand::Import { file, table, options } => {
                // Options may follow a query in brackets.
                let header = match options.is_empty() || header(file).is_empty() || says_header(options) {
                    true if options.is_empty() => header(file),
                    true => "",
                    false => " HEADER",
                };
                self.sql(&format!("COPY {table} FROM {file} {options}{header}"))?
            }
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

    fn max_rows_text(&self) -> String {
        match self.rows_shown(StatementKind::Other) {
            u64::MAX => "0: all".to_owned(),
            most => most.to_string(),
        }
    }

    /// Prints the settings of the shell.
    fn show_settings(&mut self) -> Result<(), Failure> {
        let settings = [
            ("database", self.place()),
            ("mode", self.mode.as_str().to_owned()),
            ("nullvalue", format!("'{}'", self.options(Vec::new()).null_text)),
            ("maxrows", self.max_rows_text()),
            ("width", self.widths.to_string()),
            ("separator", char::from(self.separator).escape_default().to_string()),
            ("timing", if self.timing { "on" } else { "off" }.to_owned()),
            ("pager", self.pager.clone().unwrap_or_else(|| "off".to_owned())),
            ("output", self.out.file().unwrap_or("the standard output").to_owned()),
        ];
        settings.iter().try_for_each(|(name, value)| self.say(&format!("{name:<9}  {value}")))
    }

    /// Runs a program.
    fn shell(&mut self, command: &str) -> Result<(), Failure> {
        self.out.flush()?;
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let ended = Command::new(shell[0]).args([shell[1], command]).status();
        let ended = ended.map_err(|error| Failure::Usage(format!("{command}: {error}")))?;
        match ended.success() {
            true => Ok(()),
            false => Err(Failure::Usage(format!("{command}: {ended}"))),
        }
    }

    /// Sets a parameter to the value of an SQL expression.
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
        // The position is in a text that the user did not write, so only the message and the help are shown.
        let done = self.statement(&statement);
        match done {
            Err(failure @ Failure::Sql(_)) => Err(self.report(failure, None, &statement)),
            done => done,
        }
    }

    /// The names of all tables, and of all views in the order of SHOW VIEWS: each after the views that it uses.
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
            let schema = schema.map(|s| format!("{}.", saltwing::syntax::quote_name(&s))).unwrap_or_default();
            names.push(format!("{schema}{}", saltwing::syntax::quote_name(&name)));
        }
        Ok(names)
    }

    /// Prints the statement that creates a TABLE or a view, or a SEQUENCE.
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
        match self.run.no_file_access {
            false => Ok(()),
            true => Err(Failure::Usage(format!("{command}: the shell runs with --no-file-access"))),
        }
    }

    fn last_statement(&self) -> Result<StatementText, Failure> {
        self.last.clone().ok_or_else(|| Failure::Usage("no statement has run yet".to_owned()))
    }

    /// Runs the last statement repeatedly: the given number of times, or until Ctrl-C.
    fn watch(&mut self, every: Duration, times: Option<u32>) -> Result<(), Failure> {
        let statement = self.last_statement()?;
        let interrupt = self.interrupt.clone();
        for run in 1_u32.. {
            if self.audience != Audience::Batch {
                let time = time_of_day(SystemTime::now());
                writeln!(
                    self.messages,
                    "{}",
                    self.paint().dim(&format!("{time} UTC, every {} s", every.as_secs_f64()))
                )?;
            }
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

    /// Opens the last statement in an editor, and runs the edited text.
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

/// The option of COPY for a file with a header.
fn header(file: &str) -> &'static str {
    let is_text = [".csv'", ".tsv'", ".csv.gz'", ".csv.zst'", ".tsv.gz'", ".tsv.zst'"]
        .iter()
        .any(|end| file.to_lowercase().ends_with(end));
    if is_text { " WITH (HEADER)" } else { "" }
}

/// `20:48:17`
fn time_of_day(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % (24 * 60 * 60);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Whether the options of COPY contain HEADER.
fn says_header(options: &str) -> bool {
    options.to_uppercase().split(|c: char| !c.is_ascii_alphabetic()).any(|word| word == "HEADER")
}

/// A text after the user has edited it; `None` if the editor failed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_that_of_utc() {
        assert_eq!(time_of_day(UNIX_EPOCH + Duration::from_secs(1_795_812_497)), "20:48:17");
        assert_eq!(time_of_day(UNIX_EPOCH), "00:00:00");
    }
}
