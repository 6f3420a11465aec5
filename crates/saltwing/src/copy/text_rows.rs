//! COPY FROM of texts: records of CSV and JSON lines become rows.

use std::io::BufRead;

use saltwing_bind::UpsertTarget;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value, ValueError, text};

use super::advice;
use super::columns::{column_called, named_columns};
use super::faults::Fault;
use super::json_lines::{JsonLines, LineError};
use super::loading::Loading;
use super::reader::{Field, RecordError, RecordReader};
use crate::Error;

impl Loading<'_> {
    /// Loads the records of a CSV file.
    pub(super) fn read_records<R: BufRead>(
        &mut self,
        mut reader: RecordReader<R>,
        bytes_total: Option<u64>,
    ) -> Result<(), Error> {
        let (copy, file) = (self.faults.copy, self.faults.file.clone());
        let begin = reader.peek().map_err(|error| self.unreadable(&error))?;
        advice::check_text(&file, begin).map_err(|error| self.stopped(error))?;
        if copy.options.header == Some(true) {
            let header = read_header(&mut reader, &file).map_err(|error| self.interrupted(error))?;
            let table = self.loader.target.table.clone();
            // Without a list of its own the statement takes the header's columns, in the header's order.
            if copy.columns.is_none() {
                let columns =
                    named_columns(&table, &header, &format!("{file}, line 1")).map_err(|error| self.stopped(error))?;
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
    pub(super) fn nested_columns(&self) -> Vec<(String, SqlType)> {
        let target = &self.loader.target;
        let table = target.table.def();
        let is_nested = |column: &&ColumnDef| column.ty.element().is_some() || column.ty == SqlType::Json;
        let of_table = table.columns.iter().filter(is_nested).map(|column| (table.unique_name(column), column.ty));
        let dynamic = target.dynamic.iter().filter(is_nested).map(|column| (column.name.clone(), column.ty));
        of_table.chain(dynamic).collect()
    }

    /// Loads the objects of a file of JSON lines.
    pub(super) fn read_lines<R: BufRead>(
        &mut self,
        mut lines: JsonLines<R>,
        bytes_total: Option<u64>,
    ) -> Result<(), Error> {
        self.read_all(bytes_total, |load| {
            let more = match lines.read() {
                Ok(true) => {
                    let line = lines.number;
                    match lines.object() {
                        Ok(object) => load.object(line, &object)?,
                        Err(LineError::Nested(key)) if load.place(&key).is_none() => {
                            load.bad_line(load.no_column(line, &key))?
                        }
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
        self.fields(line, &fields)
    }

    /// Takes a JSON object: a key that it does not have is NULL.
    fn object(&mut self, line: u64, object: &[(String, Option<String>)]) -> Result<bool, Error> {
        let target = &self.loader.target;
        let mut fields = vec![Field { text: "", quoted: false }; target.columns.len()];
        for (key, value) in object {
            let Some(value) = value else { continue };
            match self.place(key).and_then(|place| fields.get_mut(place)) {
                Some(field) => *field = Field { text: value, quoted: true },
                None => return self.bad_line(self.no_column(line, key)),
            }
        }
        self.fields(line, &fields)
    }

    /// The place of a key's column among those that are loaded.
    fn place(&self, key: &str) -> Option<usize> {
        let target = &self.loader.target;
        let def = target.table.def();
        let dynamic = || target.dynamic.iter().position(|column| is_same_name(&column.name, key));
        let column = column_called(def, key).or_else(|| Some(def.columns.len() + dynamic()?))?;
        target.columns.iter().position(|loaded| *loaded == column)
    }

    fn no_column(&self, line: u64, key: &str) -> Fault {
        let target = &self.loader.target;
        let def = target.table.def();
        let names = target.columns.iter().filter_map(|&c| target.column(c)).map(|c| c.name.as_str());
        let advice = saltwing_types::suggest(key, names).map(|near| format!("there is {near}"));
        let fault = Fault::new(line, format!("{} has no column {key}", def.name), ErrorCode::NoSuchColumn);
        Fault { advice, ..fault }
    }

    /// Takes a row: a field for each column.
    fn fields(&mut self, line: u64, fields: &[Field<'_>]) -> Result<bool, Error> {
        let copy = self.faults.copy;
        let null = copy.options.null.as_deref().unwrap_or("");
        let cell = |place: usize, column: &ColumnDef| match fields.get(place) {
            None => Ok((Value::Null, 0)),
            Some(field) => Ok((value(field, column.ty, null)?, field.text.len())),
        };
        self.row(line, cell, |load, place| {
            let of_field =
                fields.get(place).filter(|field| !field.quoted).and_then(|field| advice::of_field(field.text));
            of_field.or_else(|| load.header_advice(line, fields))
        })
    }

    /// The advice about the first line, if it has the columns' names.
    fn header_advice(&self, line: u64, fields: &[Field<'_>]) -> Option<String> {
        let names = self.loader.target.table.schema().fields().iter().map(|field| field.name().as_str());
        let names: Vec<&str> = names.take(self.loader.target.table.row_key_index()).collect();
        (line == 1).then(|| advice::of_first_line(fields, &names)).flatten()
    }
}

fn value(field: &Field<'_>, ty: SqlType, null: &str) -> Result<Value, ValueError> {
    match !field.quoted && field.text == null {
        true => Ok(Value::Null),
        false => text::parse(field.text, ty),
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
