//! COPY FROM.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use saltwing_access::{ScanContext, Table};
use saltwing_bind::{OnConflict, UpsertTarget, resolve, target_columns};
use saltwing_sql::statement::{CopyFrom, CopyOptions, CopyTarget, OnError};
use saltwing_types::{ErrorCode, SqlType, Value, eval, text};

use super::file::Purpose;
use super::reader::{Field, Format, RecordError, RecordReader};
use super::stream::{WaitingStream, no_stream};
use super::{SkippedLine, advice};
use crate::Error;
use crate::computed::Computing;
use crate::error_subject::Subject;
use crate::load::{Loader, Part, PartLimits, Repeats};
use crate::outcome::ExecResult;
use crate::progress::CopyProgress;
use crate::session::Session;

/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Maximum of skipped lines reported one by one.
const SKIPPED_TOLD_MAX: usize = 20;

/// The format that the options ask for.
pub(super) fn format(options: &CopyOptions) -> Result<Format, Error> {
    let byte = |c: Option<char>, default: u8, what: &str| match c {
        None => Ok(default),
        Some(c) if c.is_ascii() && c != '\n' && c != '\r' => Ok(c as u8),
        Some(c) => Err(Error::new(ErrorCode::BadArgument, format!("{what} is one ASCII character, not {c:?}"))),
    };
    let quote = byte(options.quote, b'"', "QUOTE")?;
    Ok(Format {
        delimiter: byte(options.delimiter, b',', "DELIMITER")?,
        quote,
        escape: byte(options.escape, quote, "ESCAPE")?,
    })
}

impl Session {
    /// Loads rows from the file that the statement names, or from `stdin`.
    pub(crate) fn copy_from(&self, copy: &CopyFrom, stdin: Option<&mut dyn Read>) -> Result<ExecResult, Error> {
        self.writable()?;
        let format = format(&copy.options)?;
        let at = |error: Error| error.at(Some(copy.span));
        let context = self.begin();
        let Some(path) = copy.path() else {
            let needed = || at(no_stream("COPY FROM STDIN needs a reader", "copy_from_reader"));
            let input = WaitingStream::new(stdin.ok_or_else(needed)?, &context);
            let input = BufReader::with_capacity(BUFFER_BYTES, input);
            return self.copy_records(copy, RecordReader::new(input, format), None, &context);
        };
        let allowed = self.file_rules(Purpose::Read).check(path, &copy.options).map_err(at)?;
        let file = allowed.open(&context).map_err(at)?;
        let bytes = file.size();
        let input = BufReader::with_capacity(BUFFER_BYTES, file);
        self.copy_records(copy, RecordReader::new(input, format), bytes, &context)
    }

    fn copy_records<R: BufRead>(
        &self,
        copy: &CopyFrom,
        mut reader: RecordReader<R>,
        bytes_total: Option<u64>,
        context: &ScanContext,
    ) -> Result<ExecResult, Error> {
        let table = resolve(&*self.catalog(), &copy.table)?;
        let mut columns = target_columns(&table, copy.columns.as_deref())?;
        let file = file_of(copy);
        let stopped = |error: Error| context.check().err().map_or(error, Error::from);
        let begin = reader.peek().map_err(|error| stopped(unreadable(&file, &error)))?;
        advice::check_text(&file, begin)?;
        if copy.options.header == Some(true) {
            let header = read_header(&mut reader, &file).map_err(stopped)?;
            // Without a list of its own the statement takes the header's columns, in the header's order.
            if copy.columns.is_none() {
                columns = header_columns(&table, &header, &file)?;
            } else if header.len() != columns.len() {
                return Err(wrong_count(header.len(), columns.len(), &file));
            }
        }
        let target = UpsertTarget::new(table, columns, copy.options.on_conflict.unwrap_or(OnConflict::Replace));
        let table = target.table.def().name.to_string();
        let faults = Faults { copy, table, skipped: Vec::new(), skipped_count: 0 };
        let mut load = Load {
            loader: Loader::new(target, copy.table.clone()).counting_repeats(),
            part: Part::default(),
            computing: self.computing(&[], &[], context),
            faults,
        };
        let limits = PartLimits::of(self);
        loop {
            context.check().map_err(|error| load.stopped(error.into()))?;
            let more = match reader.read() {
                Ok(true) => load.record(&reader)?,
                Ok(false) => false,
                Err(error @ (RecordError::Io(_) | RecordError::TooLong)) => {
                    // A pipe says so too when it stops waiting.
                    context.check().map_err(|error| load.stopped(error.into()))?;
                    let code = if matches!(error, RecordError::Io(_)) { ErrorCode::Io } else { ErrorCode::BadText };
                    let fault = Fault::new(reader.first_line(), error.to_string(), code);
                    return Err(load.stopped(load.faults.error(&fault)));
                }
                Err(error) => load.bad_line(Fault::new(reader.first_line(), error.to_string(), ErrorCode::BadText))?,
            };
            if !more || load.part.is_full(limits) {
                load.commit()?;
                self.report_progress(CopyProgress { rows: load.loader.done, bytes: reader.bytes(), bytes_total });
            }
            if !more {
                return Ok(load.result());
            }
        }
    }
}

fn count_text(fields: usize, columns: usize) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    format!("{fields} field{} for {columns} column{}", plural(fields), plural(columns))
}

fn wrong_count(fields: usize, columns: usize, file: &str) -> Error {
    Error::new(ErrorCode::Syntax, format!("{file}, line 1: {}", count_text(fields, columns)))
}

/// The file as errors name it.
fn file_of(copy: &CopyFrom) -> String {
    match &copy.source {
        CopyTarget::Standard => "STDIN".to_owned(),
        CopyTarget::File(path) => path.clone(),
    }
}

fn unreadable(file: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Io, format!("{file} cannot be read: {error}"))
}

fn read_header<R: BufRead>(reader: &mut RecordReader<R>, file: &str) -> Result<Vec<String>, Error> {
    let bad = |error: RecordError| Error::new(ErrorCode::BadText, format!("{file}, line 1: {error}"));
    if !reader.read().map_err(bad)? {
        return Ok(Vec::new());
    }
    let fields = reader.fields().map_err(bad)?;
    // A byte order mark belongs to the file, not to the first name.
    Ok(fields.iter().map(|f| f.text.trim_start_matches('\u{feff}').trim().to_owned()).collect())
}

fn header_columns(table: &Arc<Table>, header: &[String], file: &str) -> Result<Vec<usize>, Error> {
    let def = table.def();
    let mut columns = Vec::with_capacity(header.len());
    for name in header {
        let found = def.column_index(name).filter(|&c| def.columns.get(c).is_some_and(|c| !c.hidden));
        let Some(column) = found else {
            let near = saltwing_types::suggest(name, def.columns.iter().filter(|c| !c.hidden).map(|c| c.name.as_str()));
            let named = || match near {
                Some(near) => format!("there is {near}; or name the columns: COPY t (a, b) FROM .."),
                None => "name the columns: COPY t (a, b) FROM ..".to_owned(),
            };
            let help = advice::of_header(header, &def.columns).unwrap_or_else(named);
            let text = format!("{file}, line 1: {} has no column {name}", def.name);
            return Err(Error::new(ErrorCode::NoSuchColumn, text).with_help(Some(help)));
        };
        if columns.contains(&column) {
            return Err(Error::new(
                ErrorCode::DuplicateColumn,
                format!("{file}, line 1: column {name} is named twice"),
            ));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The error of a line.
struct Fault {
    line: u64,
    column: Option<String>,
    reason: String,
    code: ErrorCode,
    /// Advice, if one is known that loses no row.
    advice: Option<String>,
}

impl Fault {
    fn new(line: u64, reason: String, code: ErrorCode) -> Self {
        Self { line, column: None, reason, code, advice: None }
    }
}

/// A COPY FROM as it goes on.
struct Load<'a> {
    loader: Loader,
    part: Part,
    /// Of the moment of the statement.
    computing: Computing<'a>,
    faults: Faults<'a>,
}

/// The lines that cannot be taken.
struct Faults<'a> {
    copy: &'a CopyFrom,
    /// The name of the table.
    table: String,
    skipped: Vec<SkippedLine>,
    skipped_count: u64,
}

impl Load<'_> {
    /// Takes the record that was read. Always `true`: there may be more.
    fn record<R: BufRead>(&mut self, reader: &RecordReader<R>) -> Result<bool, Error> {
        let line = reader.first_line();
        let fields = match reader.fields() {
            Ok(fields) => fields,
            Err(error) => return self.bad_line(Fault::new(line, error.to_string(), ErrorCode::BadText)),
        };
        let target = &self.loader.target;
        if fields.len() != target.columns.len() {
            let text = count_text(fields.len(), target.columns.len());
            let advice = match fields.as_slice() {
                [field] => advice::of_single_field(field.text, target.columns.len()),
                _ => None,
            };
            return self.bad_line(Fault { advice, ..Fault::new(line, text, ErrorCode::Syntax) });
        }
        let (mut row, mut unset, mut bytes) = (Vec::with_capacity(fields.len()), Vec::new(), 0);
        for (field, &column) in fields.iter().zip(&target.columns) {
            let Some(def) = target.table.def().columns.get(column) else { continue };
            match self.value(field, def.ty) {
                Ok(Value::Null) if !def.nullable => match &def.default {
                    Some(default) if default.computed => {
                        unset.push(row.len());
                        row.push(Value::Null);
                    }
                    Some(default) => row.push(eval::eval(&default.expr, &[])?),
                    None => {
                        let (column, text) = (Some(def.name.clone()), format!("{} is NOT NULL", def.name));
                        return self.bad_line(Fault { column, ..Fault::new(line, text, ErrorCode::NotNull) });
                    }
                },
                Ok(value) => row.push(value),
                Err(error) => {
                    let header = || self.header_advice(line, &fields);
                    let advice = advice::of_field(field.text).filter(|_| !field.quoted).or_else(header);
                    let column = Some(def.name.clone());
                    return self.bad_line(Fault {
                        column,
                        advice,
                        ..Fault::new(line, error.to_string(), error.code())
                    });
                }
            }
            bytes += field.text.len();
        }
        self.part.add(line, row, bytes, unset);
        Ok(true)
    }

    /// The advice about the first line, if it has the columns' names.
    fn header_advice(&self, line: u64, fields: &[Field<'_>]) -> Option<String> {
        let names: Vec<&str> =
            self.loader.target.table.def().columns.iter().map(|column| column.name.as_str()).collect();
        (line == 1).then(|| advice::of_first_line(fields, &names)).flatten()
    }

    fn value(&self, field: &Field<'_>, ty: SqlType) -> Result<Value, saltwing_types::ValueError> {
        let null = self.faults.copy.options.null.as_deref().unwrap_or("");
        if !field.quoted && field.text == null {
            return Ok(Value::Null);
        }
        text::parse(field.text, ty)
    }

    /// Commits the rows gathered.
    fn commit(&mut self) -> Result<(), Error> {
        let (part, faults) = (std::mem::take(&mut self.part), &mut self.faults);
        self.loader.write(part, &self.computing, &mut |line, error| {
            faults.take(Fault::new(line, error.to_string(), error.code()))
        })
    }

    /// A line that cannot be taken: left out and counted, or the end. Always `true`: there may be more.
    fn bad_line(&mut self, fault: Fault) -> Result<bool, Error> {
        self.faults.take(fault).map_err(|error| self.stopped(error))?;
        Ok(true)
    }

    /// The error of a COPY that ends early.
    fn stopped(&self, error: Error) -> Error {
        error.after_commits(self.computing.session.committed(self.loader.done))
    }

    fn result(self) -> ExecResult {
        let Self { loader, faults, .. } = self;
        let (rows_affected, ignored, is_partial) = (loader.done, loader.ignored, loader.target.partial);
        let mut notices = Vec::new();
        notices.extend(repeats_notice(loader.repeats(), is_partial));
        notices.extend(match ignored {
            0 => None,
            1 => Some("1 row was left out: a row with its key was there".to_owned()),
            rows => Some(format!("{rows} rows were left out: rows with their keys were there")),
        });
        notices.extend(faults.notices());
        ExecResult { rows_affected, notices, ..ExecResult::default() }
    }
}

impl Faults<'_> {
    /// Leaves a line out, and counts it.
    ///
    /// # Errors
    /// That of the line, unless the statement has `ON ERROR SKIP`.
    fn take(&mut self, fault: Fault) -> Result<(), Error> {
        if self.copy.options.on_error != Some(OnError::Skip) {
            return Err(self.error(&fault));
        }
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_TOLD_MAX {
            let Fault { line, column, reason, .. } = fault;
            let column = column.map(|c| format!("column {c}: ")).unwrap_or_default();
            self.skipped.push(SkippedLine { line, reason: format!("{column}{reason}") });
        }
        Ok(())
    }

    fn error(&self, fault: &Fault) -> Error {
        let column = fault.column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default();
        let text = format!("{}, line {}{column}: {}", file_of(self.copy), fault.line, fault.reason);
        let general = || match fault.code {
            // An error of the whole file cannot be skipped.
            ErrorCode::Io => None,
            ErrorCode::DuplicateKey => Some(
                "ON_CONFLICT REPLACE lets later rows replace earlier ones, ON_CONFLICT IGNORE keeps these".to_owned(),
            ),
            _ => Some("ON ERROR SKIP leaves such lines out and reports them".to_owned()),
        };
        let subject = Subject { table: Some(self.table.clone()), column: fault.column.clone(), key: None };
        Error::new(fault.code, text).about(subject).with_help(fault.advice.clone().or_else(general))
    }

    fn notices(&self) -> Vec<String> {
        if self.skipped_count == 0 {
            return Vec::new();
        }
        let count = match self.skipped_count {
            1 => "1 line was left out".to_owned(),
            count => format!("{count} lines were left out"),
        };
        let told = self.skipped.iter().map(|s| format!("line {}: {}", s.line, s.reason));
        let more = self.skipped_count as usize - self.skipped.len();
        let more = (more > 0).then(|| format!("… and {more} more"));
        [count].into_iter().chain(told).chain(more).collect()
    }
}

/// The notice about rows that have the key of an earlier row of the file.
fn repeats_notice(repeats: Repeats, is_partial: bool) -> Option<String> {
    let advice = "WITH (ON_CONFLICT ERROR) stops at such a row";
    let more = match repeats.at_least {
        true if repeats.rows == 0 => {
            return Some("the file has too many rows to count those with the key of an earlier row".into());
        }
        true => "at least ",
        false => "",
    };
    match (repeats.rows, is_partial) {
        (0, _) => None,
        (1, false) => {
            Some(format!("{more}1 row replaced an earlier row of the file, which had the same key; {advice}"))
        }
        (1, true) => {
            Some(format!("{more}1 row was written over an earlier row of the file with the same key; {advice}"))
        }
        (rows, false) => {
            Some(format!("{more}{rows} rows replaced earlier rows of the file, which had the same keys; {advice}"))
        }
        (rows, true) => {
            Some(format!("{more}{rows} rows were written over earlier rows of the file with the same keys; {advice}"))
        }
    }
}
