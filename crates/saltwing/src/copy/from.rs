//! COPY FROM.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use saltwing_access::{ScanContext, Table};
use saltwing_bind::{OnConflict, UpsertTarget, resolve, target_columns};
use saltwing_sql::statement::{CopyCompression, CopyFrom};
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value, eval, text};

use super::advice;
use super::compression::{self, BUFFER_BYTES, decompressed};
use super::faults::{Fault, Faults};
use super::file::Purpose;
use super::format::FileFormat;
use super::json_lines::JsonLines;
use super::reader::{Field, RecordError, RecordReader};
use super::stream::{WaitingStream, no_stream};
use crate::Error;
use crate::computed::Computing;
use crate::load::{Loader, Part, PartLimits, Repeats};
use crate::outcome::ExecResult;
use crate::progress::CopyProgress;
use crate::session::Session;

impl Session {
    /// Loads rows from the files that the statement names, or from `stdin`.
    pub(crate) fn copy_from(&self, copy: &CopyFrom, stdin: Option<&mut dyn Read>) -> Result<ExecResult, Error> {
        self.writable()?;
        let at = |error: Error| error.at(Some(copy.span));
        let context = self.begin();
        let mut load = self.load_of(copy, &context)?;
        let Some(path) = copy.path() else {
            let format = FileFormat::of(&copy.options, None).map_err(at)?;
            let needed = || at(no_stream("COPY FROM STDIN needs a reader", "copy_from_reader"));
            let input = WaitingStream::new(stdin.ok_or_else(needed)?, &context);
            load.read_file(BufReader::with_capacity(BUFFER_BYTES, input), &format, None)?;
            return Ok(load.result());
        };
        let files = self.file_rules(Purpose::Read).files(path, &copy.options).map_err(at)?;
        for (path, allowed) in files {
            let format = FileFormat::of(&copy.options, Some(&path)).map_err(at)?;
            let file = allowed.open(&context).map_err(|error| load.stopped(at(error)))?;
            let bytes = file.size();
            load.faults.file = path;
            load.read_file(BufReader::with_capacity(BUFFER_BYTES, file), &format, bytes)?;
        }
        Ok(load.result())
    }

    fn load_of<'a>(&'a self, copy: &'a CopyFrom, context: &'a ScanContext) -> Result<Load<'a>, Error> {
        let table = resolve(&*self.catalog(), &copy.table)?;
        let columns = target_columns(&table, copy.columns.as_deref())?;
        let name = table.def().name.to_string();
        let target = UpsertTarget::new(table, columns, copy.options.on_conflict.unwrap_or(OnConflict::Replace))?;
        Ok(Load {
            loader: Loader::new(target, copy.table.clone()).counting_repeats(),
            limits: PartLimits::of(self),
            part: Part::default(),
            computing: self.computing(&[], &[], context),
            faults: Faults { copy, file: "STDIN".to_owned(), table: name, skipped: Vec::new(), skipped_count: 0 },
        })
    }
}

impl Load<'_> {
    /// Loads the rows of a file, whose size may be known.
    fn read_file<R: BufRead>(
        &mut self,
        mut input: R,
        format: &FileFormat,
        bytes_total: Option<u64>,
    ) -> Result<(), Error> {
        let begin = input.fill_buf().map_err(|error| self.unreadable(&error))?;
        let compression = self.faults.copy.options.compression.unwrap_or(compression::of_bytes(begin));
        match (format, compression) {
            (FileFormat::Csv(format), CopyCompression::None) => {
                self.read_records(RecordReader::new(input, *format), bytes_total)
            }
            (format, compression) => {
                let bytes_total = bytes_total.filter(|_| compression == CopyCompression::None);
                let input = decompressed(input, compression).map_err(|error| self.unreadable(&error))?;
                match format {
                    FileFormat::Csv(format) => self.read_records(RecordReader::new(input, *format), bytes_total),
                    FileFormat::Json => {
                        let lines = JsonLines::new(input, self.nested_columns());
                        self.read_lines(lines, bytes_total)
                    }
                }
            }
        }
    }

    /// Loads the records of a CSV file.
    fn read_records<R: BufRead>(&mut self, mut reader: RecordReader<R>, bytes_total: Option<u64>) -> Result<(), Error> {
        let (copy, file) = (self.faults.copy, self.faults.file.clone());
        let begin = reader.peek().map_err(|error| self.unreadable(&error))?;
        advice::check_text(&file, begin).map_err(|error| self.stopped(error))?;
        if copy.options.header == Some(true) {
            let header = read_header(&mut reader, &file).map_err(|error| self.interrupted(error))?;
            let table = self.loader.target.table.clone();
            // Without a list of its own the statement takes the header's columns, in the header's order.
            if copy.columns.is_none() {
                let columns = header_columns(&table, &header, &file).map_err(|error| self.stopped(error))?;
                self.loader.target = UpsertTarget::new(table, columns, self.loader.target.on_conflict)?;
            } else if header.len() != self.loader.target.columns.len() {
                return Err(self.stopped(wrong_count(header.len(), self.loader.target.columns.len(), &file)));
            }
        }
        self.read_all(bytes_total, |load| {
            let more = match reader.read() {
                Ok(true) => load.record(&reader)?,
                Ok(false) => false,
                Err(error) => {
                    let code = match error {
                        RecordError::Io(_) => ErrorCode::Io,
                        _ => ErrorCode::BadText,
                    };
                    let fault = Fault::new(reader.first_line(), error.to_string(), code);
                    match error {
                        RecordError::Io(_) | RecordError::TooLong => {
                            return Err(load.interrupted(load.faults.error(&fault)));
                        }
                        _ => load.bad_line(fault)?,
                    }
                }
            };
            Ok((more, reader.bytes()))
        })
    }

    /// The columns whose values may be lists or objects, and their types.
    fn nested_columns(&self) -> Vec<(String, SqlType)> {
        let columns = &self.loader.target.table.def().columns;
        let nested = columns.iter().filter(|column| column.ty.element().is_some() || column.ty == SqlType::Json);
        nested.map(|column| (column.name.clone(), column.ty)).collect()
    }

    /// Loads the objects of a file of JSON lines.
    fn read_lines<R: BufRead>(&mut self, mut lines: JsonLines<R>, bytes_total: Option<u64>) -> Result<(), Error> {
        self.read_all(bytes_total, |load| {
            let more = match lines.read() {
                Ok(true) => {
                    let line = lines.number;
                    match lines.object() {
                        Ok(object) => load.object(line, &object)?,
                        Err(error) => load.bad_line(Fault::new(line, error.to_string(), ErrorCode::BadText))?,
                    }
                }
                Ok(false) => false,
                Err(error) => {
                    let fault = Fault::new(lines.number + 1, error.to_string(), error.code());
                    return Err(load.interrupted(load.faults.error(&fault)));
                }
            };
            Ok((more, lines.bytes))
        })
    }

    /// Commits the rows that `next` adds, part by part. It says whether there may be more, and how many bytes were read.
    fn read_all(
        &mut self,
        bytes_total: Option<u64>,
        mut next: impl FnMut(&mut Self) -> Result<(bool, u64), Error>,
    ) -> Result<(), Error> {
        loop {
            self.computing.context.check().map_err(|error| self.stopped(error.into()))?;
            let (more, bytes) = next(self)?;
            if !more || self.part.is_full(self.limits) {
                self.commit()?;
                self.computing.session.report_progress(CopyProgress { rows: self.loader.done, bytes, bytes_total });
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// The error of a read: a pipe fails to read when its statement is stopped.
    fn interrupted(&self, error: Error) -> Error {
        self.stopped(self.computing.context.check().err().map_or(error, Error::from))
    }

    fn unreadable(&self, error: &std::io::Error) -> Error {
        self.interrupted(Error::new(ErrorCode::Io, format!("{} cannot be read: {error}", self.faults.file)))
    }
}

fn count_text(fields: usize, columns: usize) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    format!("{fields} field{} for {columns} column{}", plural(fields), plural(columns))
}

fn wrong_count(fields: usize, columns: usize, file: &str) -> Error {
    Error::new(ErrorCode::Syntax, format!("{file}, line 1: {}", count_text(fields, columns)))
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

/// A COPY FROM as it goes on.
struct Load<'a> {
    loader: Loader,
    limits: PartLimits,
    part: Part,
    /// Of the moment of the statement.
    computing: Computing<'a>,
    faults: Faults<'a>,
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
        self.row(line, &fields)
    }

    /// Takes a JSON object: a key that it does not have is NULL.
    fn object(&mut self, line: u64, object: &[(String, Option<String>)]) -> Result<bool, Error> {
        let target = &self.loader.target;
        let def = target.table.def();
        let mut fields = vec![Field { text: "", quoted: false }; target.columns.len()];
        for (key, value) in object {
            let Some(value) = value else { continue };
            let column = def.column_index(key).and_then(|index| target.columns.iter().position(|c| *c == index));
            match column.and_then(|column| fields.get_mut(column)) {
                Some(field) => *field = Field { text: value, quoted: true },
                None => {
                    let names = target.columns.iter().filter_map(|&c| def.columns.get(c)).map(|c| c.name.as_str());
                    let advice = saltwing_types::suggest(key, names).map(|near| format!("there is {near}"));
                    let fault = Fault::new(line, format!("{} has no column {key}", def.name), ErrorCode::NoSuchColumn);
                    return self.bad_line(Fault { advice, ..fault });
                }
            }
        }
        self.row(line, &fields)
    }

    /// Takes a row: a field for each column.
    fn row(&mut self, line: u64, fields: &[Field<'_>]) -> Result<bool, Error> {
        let target = &self.loader.target;
        let (mut row, mut unset, mut bytes) = (Vec::with_capacity(fields.len()), Vec::new(), 0);
        for (field, &column) in fields.iter().zip(&target.columns) {
            let Some(def) = target.table.def().columns.get(column) else { continue };
            match self.value(field, def.ty) {
                Ok(Value::Null) if !def.nullable => match &def.default {
                    Some(default) if default.is_of_new_row() => {
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
                    let header = || self.header_advice(line, fields);
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
        let names = self.loader.target.table.schema().fields().iter().map(|field| field.name().as_str());
        let names: Vec<&str> = names.take(self.loader.target.table.row_key_index()).collect();
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
