//! COPY FROM.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use saltwing_access::{ScanContext, Table};
use saltwing_bind::{OnConflict, UpsertTarget, resolve, target_columns};
use saltwing_exec::RowFailure;
use saltwing_sql::statement::{CopyFrom, CopyOptions, CopyTarget, OnError};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value, eval, text};

use super::file::Purpose;
use super::keys_seen::{KeysSeen, Repeats};
use super::reader::{Field, Format, RecordError, RecordReader};
use super::stream::{WaitingStream, no_stream};
use super::{SkippedLine, advice};
use crate::Error;
use crate::error_subject::Subject;
use crate::outcome::ExecResult;
use crate::progress::CopyProgress;
use crate::session::Session;
use crate::settings::Settings;

/// Rows of one commit.
const BATCH_ROWS: usize = 5000;
/// Bytes of rows after which a batch is committed even if it has fewer rows.
const BATCH_BYTES: usize = 16 << 20;
/// Bytes that an encoded row takes beside its values, about.
const ROW_BYTES: usize = 24;
/// Bytes that an encoded value takes beside its text, at most; but for a DECIMAL and a TIMESTAMP of a few characters.
const VALUE_BYTES: usize = 8;
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
        let on_conflict = copy.options.on_conflict.unwrap_or(OnConflict::Replace);
        let is_counted = on_conflict == OnConflict::Replace && !table.def().has_hidden_key();
        let Settings { autocommit_rows, commit_bytes_max, .. } = self.settings();
        let (rows_max, bytes_max) = match autocommit_rows {
            None => (BATCH_ROWS, BATCH_BYTES),
            Some(rows) => (usize::try_from(rows.get()).unwrap_or(usize::MAX), usize::MAX),
        };
        let mut load = Load {
            session: self,
            target: UpsertTarget::new(table, columns, on_conflict),
            copy,
            rows: Vec::new(),
            bytes: 0,
            rows_max,
            bytes_max: bytes_max.min(commit_bytes_max / 2),
            keys: is_counted.then(Vec::new),
            keys_seen: KeysSeen::new(),
            unset: Vec::new(),
            now_ms: self.now_ms(),
            context,
            ignored: 0,
            done: 0,
            skipped: Vec::new(),
            skipped_count: 0,
        };
        loop {
            context.check().map_err(|error| load.stopped(error.into()))?;
            let more = match reader.read() {
                Ok(true) => load.record(&reader)?,
                Ok(false) => false,
                Err(error @ (RecordError::Io(_) | RecordError::TooLong)) => {
                    // A pipe says so too when it stops waiting.
                    context.check().map_err(|error| load.stopped(error.into()))?;
                    let code = if matches!(error, RecordError::Io(_)) { ErrorCode::Io } else { ErrorCode::BadText };
                    return Err(load.failure(&Fault::new(reader.first_line(), error.to_string(), code)));
                }
                Err(error) => load.bad_line(Fault::new(reader.first_line(), error.to_string(), ErrorCode::BadText))?,
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
        // A family stands before a name if COPY TO needs it.
        let is_named = |column: &ColumnDef| !column.hidden && is_same_name(&def.unique_name(column), name);
        let Some(column) = def.columns.iter().position(is_named) else {
            let names: Vec<String> = def.columns.iter().filter(|c| !c.hidden).map(|c| def.unique_name(c)).collect();
            let near = saltwing_types::suggest(name, names.iter().map(String::as_str));
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
    session: &'a Session,
    target: UpsertTarget,
    copy: &'a CopyFrom,
    rows: Vec<(u64, Vec<Value>)>,
    /// About how many bytes the rows take when they are encoded.
    bytes: usize,
    rows_max: usize,
    bytes_max: usize,
    /// The keys of the rows of a batch, where rows with the key of an earlier one are counted.
    keys: Option<Vec<Vec<u8>>>,
    keys_seen: KeysSeen,
    /// Values of the batch that take a DEFAULT which is computed for each row: row and place in it.
    unset: Vec<(usize, usize)>,
    /// The moment of the statement.
    now_ms: i64,
    context: &'a ScanContext,
    /// Rows that were left out since their keys were there.
    ignored: u64,
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
            Err(error) => return self.bad_line(Fault::new(line, error.to_string(), ErrorCode::BadText)),
        };
        if fields.len() != self.target.columns.len() {
            let text = count_text(fields.len(), self.target.columns.len());
            let advice = match fields.as_slice() {
                [field] => advice::of_single_field(field.text, self.target.columns.len()),
                _ => None,
            };
            return self.bad_line(Fault { advice, ..Fault::new(line, text, ErrorCode::Syntax) });
        }
        let mut row = Vec::with_capacity(fields.len());
        for (field, &column) in fields.iter().zip(&self.target.columns) {
            let Some(def) = self.target.table.def().columns.get(column) else { continue };
            match self.value(field, def.ty) {
                Ok(Value::Null) if !def.nullable => match &def.default {
                    Some(default) if default.computed => {
                        self.unset.push((self.rows.len(), row.len()));
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
            self.bytes += field.text.len() + VALUE_BYTES;
        }
        self.bytes += ROW_BYTES;
        self.rows.push((line, row));
        Ok(true)
    }

    /// The advice about the first line, if it has the columns' names.
    fn header_advice(&self, line: u64, fields: &[Field<'_>]) -> Option<String> {
        let names = self.target.table.schema().fields().iter().map(|field| field.name().as_str());
        let names: Vec<&str> = names.take(self.target.table.row_key_index()).collect();
        (line == 1).then(|| advice::of_first_line(fields, &names)).flatten()
    }

    fn value(&self, field: &Field<'_>, ty: SqlType) -> Result<Value, saltwing_types::ValueError> {
        let null = self.copy.options.null.as_deref().unwrap_or("");
        if !field.quoted && field.text == null {
            return Ok(Value::Null);
        }
        text::parse(field.text, ty)
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.rows_max || self.bytes >= self.bytes_max
    }

    /// Commits the rows gathered.
    fn commit(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let (lines, mut values): (Vec<u64>, Vec<Vec<Value>>) = rows.into_iter().unzip();
        self.compute_defaults(&mut values)?;
        self.write_all(&lines, &values)
    }

    /// Sets what takes a DEFAULT that is computed for each row.
    fn compute_defaults(&mut self, rows: &mut [Vec<Value>]) -> Result<(), Error> {
        let unset = std::mem::take(&mut self.unset);
        if unset.is_empty() && self.target.computed_defaults.is_empty() {
            return Ok(());
        }
        let snapshot = self.session.snapshot()?;
        let computing = self.session.computing(&[], &[], self.context).at(self.now_ms);
        let def = self.target.table.def();
        for (place, &column) in self.target.columns.iter().enumerate() {
            let of_column: Vec<usize> = unset.iter().filter(|unset| unset.1 == place).map(|unset| unset.0).collect();
            let Some(column) = def.columns.get(column).filter(|_| !of_column.is_empty()) else { continue };
            let values = computing.values_of(&snapshot, def, &[column], of_column.len())?;
            for (row, value) in of_column.into_iter().zip(values.into_iter().flatten()) {
                if let Some(to) = rows.get_mut(row).and_then(|row| row.get_mut(place)) {
                    *to = value;
                }
            }
        }
        computing.add_defaults(&snapshot, &self.target, rows)
    }

    /// Writes rows. One that is refused (for its key, say) is its line's fault: those before it are written, then the line is
    /// reported.
    fn write_all(&mut self, mut lines: &[u64], mut rows: &[Vec<Value>]) -> Result<(), Error> {
        while let [line, ..] = lines {
            let failure = match self.write(rows)? {
                Ok(count) => {
                    self.done += count;
                    self.ignored += (rows.len() as u64).saturating_sub(count);
                    self.keys.iter().flatten().for_each(|key| self.keys_seen.add(key));
                    return Ok(());
                }
                Err(failure) => failure,
            };
            let code = failure.error.code();
            // How many rows are written first.
            let before = match failure.row {
                Some(row) if is_of_the_row(code) => row,
                // Their sizes were estimated.
                None if code == ErrorCode::StatementTooLarge && rows.len() > 1 => rows.len() / 2,
                _ => return Err(Error::from(failure.error).after_commits(self.session.committed(self.done))),
            };
            let (first, rest) = (rows.split_at(before), lines.split_at(before));
            self.write_all(rest.0, first.0)?;
            (rows, lines) = (first.1, rest.1);
            if failure.row.is_some() {
                let line = lines.first().unwrap_or(line);
                self.bad_line(Fault::new(*line, failure.error.to_string(), code))?;
                (rows, lines) = (rows.get(1..).unwrap_or_default(), lines.get(1..).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Writes rows, by the newest definition of the table.
    fn write(&mut self, rows: &[Vec<Value>]) -> Result<Result<u64, RowFailure>, Error> {
        loop {
            if let Some(keys) = &mut self.keys {
                keys.clear();
            }
            let written = self.session.writer().upsert(&self.target, rows, self.keys.as_mut());
            let is_conflict = written.as_ref().is_err_and(|failure| failure.error.code() == ErrorCode::Conflict);
            if !is_conflict || !self.rebind()? {
                return Ok(written);
            }
        }
    }

    /// Finds the columns again where the table was altered; whether it was.
    fn rebind(&mut self) -> Result<bool, Error> {
        let table = resolve(&*self.session.catalog(), &self.copy.table)?;
        let (old, new) = (self.target.table.def(), table.def());
        if (old.id, old.history.version) == (new.id, new.history.version) {
            return Ok(false);
        }
        let mut columns = Vec::with_capacity(self.target.columns.len());
        for known in self.target.columns.iter().filter_map(|column| old.columns.get(*column)) {
            let is_same = |c: &ColumnDef| (&c.name, c.family, c.slot) == (&known.name, known.family, known.slot);
            let Some(column) = new.columns.iter().position(is_same).filter(|_| old.id == new.id) else {
                let text = format!("column {} was dropped meanwhile", known.name);
                return Err(Error::new(ErrorCode::NoSuchColumn, text).after_commits(self.session.committed(self.done)));
            };
            columns.push(column);
        }
        self.target = UpsertTarget::new(table, columns, self.target.on_conflict);
        Ok(true)
    }

    /// A line that cannot be taken: left out and counted, or the end. Always `true`: there may be more.
    fn bad_line(&mut self, fault: Fault) -> Result<bool, Error> {
        if self.copy.options.on_error != Some(OnError::Skip) {
            return Err(self.failure(&fault));
        }
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_TOLD_MAX {
            let Fault { line, column, reason, .. } = fault;
            let column = column.map(|c| format!("column {c}: ")).unwrap_or_default();
            self.skipped.push(SkippedLine { line, reason: format!("{column}{reason}") });
        }
        Ok(true)
    }

    fn failure(&self, fault: &Fault) -> Error {
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
        let table = Some(self.target.table.def().name.to_string());
        let subject = Subject { table, column: fault.column.clone(), key: None };
        let error = Error::new(fault.code, text).after_commits(self.session.committed(self.done)).about(subject);
        error.with_help(fault.advice.clone().or_else(general))
    }

    /// A COPY that is cancelled, or times out.
    fn stopped(&self, error: Error) -> Error {
        error.after_commits(self.session.committed(self.done))
    }

    fn result(self) -> ExecResult {
        let mut notices = Vec::new();
        notices.extend(repeats_notice(self.keys_seen.repeats(), self.target.partial));
        notices.extend(match self.ignored {
            0 => None,
            1 => Some("1 row was left out: a row with its key was there".to_owned()),
            rows => Some(format!("{rows} rows were left out: rows with their keys were there")),
        });
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
        ExecResult { rows_affected: self.done, notices, ..ExecResult::default() }
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

/// Whether an error is one row's fault, so that the others can be written without it.
fn is_of_the_row(code: ErrorCode) -> bool {
    use ErrorCode::{BadKey, BadText, DuplicateKey, NotNull, OutOfRange, TooLong, TypeMismatch};
    matches!(code, BadKey | BadText | DuplicateKey | NotNull | OutOfRange | TooLong | TypeMismatch)
}
