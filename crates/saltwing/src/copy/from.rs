//! COPY FROM.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use saltwing_bind::{UpsertTarget, resolve, target_columns};
use saltwing_exec::ExecError;
use saltwing_sql::statement::{CopyFrom, CopyOptions, OnError};
use saltwing_table::{ScanContext, Table};
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value, eval, text};

use super::file::Purpose;
use super::reader::{Field, Format, RecordError, RecordReader};
use super::{CopyProgress, SkippedLine, path_of};
use crate::Error;
use crate::outcome::ExecResult;
use crate::session::Session;

/// Rows of one commit.
const BATCH_ROWS: usize = 5000;
/// Bytes of text after which a batch is committed even if it has fewer rows.
const BATCH_BYTES: usize = 16 << 20;
/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Skipped lines that are told one by one.
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
    pub(crate) fn copy_from(&self, copy: &CopyFrom) -> Result<ExecResult, Error> {
        self.writable()?;
        let format = format(&copy.options)?;
        let context = self.begin();
        let Some(path) = path_of(&copy.source, "/dev/stdin") else {
            let input = std::io::stdin().lock();
            return self.copy_records(copy, RecordReader::new(input, format), None, &context);
        };
        let at = |error: Error| error.at(Some(copy.span));
        let allowed = self.file_rules(Purpose::Read).check(path, &copy.options).map_err(at)?;
        let file = allowed.open(&context).map_err(at)?;
        let bytes = file.bytes();
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
        let table = resolve(&self.catalog(), &copy.table)?;
        let mut columns = target_columns(&table, copy.columns.as_deref())?;
        if copy.options.header == Some(true) {
            let header = read_header(&mut reader).map_err(|error| context.check().err().map_or(error, Error::from))?;
            // Without a list of its own the statement takes the header's columns, in the header's order.
            if copy.columns.is_none() {
                columns = header_columns(&table, &header)?;
            } else if header.len() != columns.len() {
                return Err(wrong_count(header.len(), columns.len(), 1));
            }
        }
        let mut load = Load {
            session: self,
            target: target(table, columns),
            copy,
            rows: Vec::new(),
            bytes: 0,
            done: 0,
            skipped: Vec::new(),
            skipped_count: 0,
        };
        loop {
            context.check().map_err(|error| load.stopped(&error.into()))?;
            let more = match reader.read() {
                Ok(true) => load.record(&reader)?,
                Ok(false) => false,
                Err(error @ (RecordError::Io(_) | RecordError::TooLong)) => {
                    // A pipe says so too when it stops waiting.
                    context.check().map_err(|error| load.stopped(&error.into()))?;
                    return Err(load.failure(reader.first_line(), None, &error.to_string(), ErrorCode::BadText));
                }
                Err(error) => load.bad_line(reader.first_line(), None, &error.to_string(), ErrorCode::BadText)?,
            };
            if !more || load.is_full() {
                load.commit()?;
                self.report_progress(CopyProgress { rows: load.done, bytes: reader.bytes(), bytes_total });
            }
            if !more {
                return Ok(load.result());
            }
        }
    }
}

/// What a COPY writes: these columns, by index.
fn target(table: Arc<Table>, columns: Vec<usize>) -> UpsertTarget {
    let def = table.def();
    let partial = (0..def.columns.len()).any(|c| !columns.contains(&c) && def.key.position(c).is_none());
    UpsertTarget { table, columns, insert: false, partial }
}

fn count_text(fields: usize, columns: usize) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    format!("{fields} field{} for {columns} column{}", plural(fields), plural(columns))
}

fn wrong_count(fields: usize, columns: usize, line: u64) -> Error {
    Error::new(ErrorCode::Syntax, format!("line {line}: {}", count_text(fields, columns)))
}

fn read_header<R: BufRead>(reader: &mut RecordReader<R>) -> Result<Vec<String>, Error> {
    let bad = |error: RecordError| Error::new(ErrorCode::BadText, format!("line 1: {error}"));
    if !reader.read().map_err(bad)? {
        return Ok(Vec::new());
    }
    let fields = reader.fields().map_err(bad)?;
    // A byte order mark belongs to the file, not to the first name.
    Ok(fields.iter().map(|f| f.text.trim_start_matches('\u{feff}').trim().to_owned()).collect())
}

fn header_columns(table: &std::sync::Arc<saltwing_table::Table>, header: &[String]) -> Result<Vec<usize>, Error> {
    let def = table.def();
    let mut columns = Vec::with_capacity(header.len());
    for name in header {
        let found = def.column_index(name).filter(|&c| def.columns.get(c).is_some_and(|c| !c.hidden));
        let Some(column) = found else {
            let near = saltwing_types::suggest(name, def.columns.iter().filter(|c| !c.hidden).map(|c| c.name.as_str()));
            let help = near.map_or_else(
                || "name the columns: COPY t (a, b) FROM ..".to_owned(),
                |near| format!("there is {near}; or name the columns: COPY t (a, b) FROM .."),
            );
            let text = format!("line 1: {} has no column {name}", def.name);
            return Err(Error::new(ErrorCode::NoSuchColumn, text).with_help(Some(help)));
        };
        if columns.contains(&column) {
            return Err(Error::new(ErrorCode::DuplicateColumn, format!("line 1: column {name} is named twice")));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A COPY FROM as it goes on.
struct Load<'a> {
    session: &'a Session,
    target: UpsertTarget,
    copy: &'a CopyFrom,
    rows: Vec<(u64, Vec<Value>)>,
    bytes: usize,
    done: u64,
    skipped: Vec<SkippedLine>,
    skipped_count: u64,
}

impl Load<'_> {
    /// Takes the record that was read. Always `true`: there may be more.
    fn record<R: BufRead>(&mut self, reader: &RecordReader<R>) -> Result<bool, Error> {
        let line = reader.first_line();
        let fields = match reader.fields() {
            Ok(fields) => fields,
            Err(error) => return self.bad_line(line, None, &error.to_string(), ErrorCode::BadText),
        };
        if fields.len() != self.target.columns.len() {
            let text = count_text(fields.len(), self.target.columns.len());
            return self.bad_line(line, None, &text, ErrorCode::Syntax);
        }
        let mut row = Vec::with_capacity(fields.len());
        for (field, &column) in fields.iter().zip(&self.target.columns) {
            let Some(def) = self.target.table.def().columns.get(column) else { continue };
            match self.value(field, def.ty) {
                Ok(Value::Null) if !def.nullable => match &def.default {
                    Some(default) => row.push(eval::eval(&default.expr, &[])?),
                    None => {
                        let (name, text) = (def.name.clone(), format!("{} is NOT NULL", def.name));
                        return self.bad_line(line, Some(&name), &text, ErrorCode::NotNull);
                    }
                },
                Ok(value) => row.push(value),
                Err(error) => {
                    let name = def.name.clone();
                    return self.bad_line(line, Some(&name), &error.to_string(), error.code());
                }
            }
            self.bytes += field.text.len();
        }
        self.rows.push((line, row));
        Ok(true)
    }

    fn value(&self, field: &Field<'_>, ty: SqlType) -> Result<Value, saltwing_types::ValueError> {
        let null = self.copy.options.null.as_deref().unwrap_or("");
        if !field.quoted && field.text == null {
            return Ok(Value::Null);
        }
        text::parse(field.text, ty)
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// Commits the rows gathered. When one of them is refused (its key, say), they are tried one by one.
    fn commit(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let (lines, values): (Vec<u64>, Vec<Vec<Value>>) = rows.into_iter().unzip();
        match self.write(&values)? {
            Ok(count) => {
                self.done += count;
                return Ok(());
            }
            Err(error) if !is_of_the_row(error.code()) => return Err(error.into()),
            Err(_) => {}
        }
        for (line, row) in lines.into_iter().zip(&values) {
            match self.write(std::slice::from_ref(row))? {
                Ok(count) => self.done += count,
                Err(error) => {
                    let code = error.code();
                    self.bad_line(line, None, &error.to_string(), code)?;
                }
            }
        }
        Ok(())
    }

    /// Writes rows, by the newest definition of the table.
    fn write(&mut self, rows: &[Vec<Value>]) -> Result<Result<u64, ExecError>, Error> {
        loop {
            let written = self.session.writer().upsert(&self.target, rows.into());
            let is_conflict = written.as_ref().is_err_and(|error| error.code() == ErrorCode::Conflict);
            if !is_conflict || !self.rebind()? {
                return Ok(written);
            }
        }
    }

    /// Finds the columns again where the table was altered; whether it was.
    fn rebind(&mut self) -> Result<bool, Error> {
        let table = resolve(&self.session.catalog(), &self.copy.table)?;
        let (old, new) = (self.target.table.def(), table.def());
        if (old.id, old.history.version) == (new.id, new.history.version) {
            return Ok(false);
        }
        let mut columns = Vec::with_capacity(self.target.columns.len());
        for known in self.target.columns.iter().filter_map(|column| old.columns.get(*column)) {
            let is_same = |c: &ColumnDef| (&c.name, c.family, c.slot) == (&known.name, known.family, known.slot);
            let Some(column) = new.columns.iter().position(is_same).filter(|_| old.id == new.id) else {
                let text = format!("column {} was dropped meanwhile; {}", known.name, self.committed());
                return Err(Error::new(ErrorCode::NoSuchColumn, text));
            };
            columns.push(column);
        }
        self.target = target(table, columns);
        Ok(true)
    }

    /// A line that cannot be taken: left out and counted, or the end. Always `true`: there may be more.
    fn bad_line(&mut self, line: u64, column: Option<&str>, reason: &str, code: ErrorCode) -> Result<bool, Error> {
        if self.copy.options.on_error != Some(OnError::Skip) {
            return Err(self.failure(line, column, reason, code));
        }
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_TOLD_MAX {
            let column = column.map(|c| format!("column {c}: ")).unwrap_or_default();
            self.skipped.push(SkippedLine { line, reason: format!("{column}{reason}") });
        }
        Ok(true)
    }

    fn failure(&self, line: u64, column: Option<&str>, reason: &str, code: ErrorCode) -> Error {
        let column = column.map(|c| format!(", column {c}")).unwrap_or_default();
        let text = format!("line {line}{column}: {reason}; {}", self.committed());
        Error::new(code, text).with_help(Some("ON ERROR SKIP leaves such lines out and reports them"))
    }

    /// A COPY that is told to stop, or runs out of its time.
    fn stopped(&self, error: &Error) -> Error {
        Error::new(error.code(), format!("{error}; {}", self.committed()))
    }

    fn committed(&self) -> String {
        match self.done {
            1 => "1 row is committed and stays".to_owned(),
            rows => format!("{rows} rows are committed and stay"),
        }
    }

    fn result(self) -> ExecResult {
        let mut notices = Vec::new();
        if self.skipped_count > 0 {
            notices.push(match self.skipped_count {
                1 => "1 line was left out".to_owned(),
                count => format!("{count} lines were left out"),
            });
            notices.extend(self.skipped.iter().map(|s| format!("line {}: {}", s.line, s.reason)));
            if self.skipped_count as usize > self.skipped.len() {
                notices.push(format!("… and {} more", self.skipped_count as usize - self.skipped.len()));
            }
        }
        ExecResult { rows_affected: self.done, notices }
    }
}

/// Whether an error is one row's fault, so that the others can be written without it.
fn is_of_the_row(code: ErrorCode) -> bool {
    use ErrorCode::{BadKey, BadText, NotNull, OutOfRange, TooLong, TypeMismatch};
    matches!(code, BadKey | BadText | NotNull | OutOfRange | TooLong | TypeMismatch)
}
