//! COPY FROM for texts: converts records of CSV and JSON lines to rows.

use std::io::BufRead;

use saltwing_bind::UpsertTarget;
use saltwing_types::table::is_same_name;
use saltwing_types::{ColumnDef, ErrorCode, SqlType, Value, ValueError, text};

use super::columns::{column_called, listed_columns, named_columns};
use super::faults::Fault;
use super::loading::Loading;
use crate::Error;
use crate::files::advice;
use crate::files::json_lines::{JsonLines, LineError};
use crate::files::reader::{Field, RecordError, RecordReader};

/// The mapping from the fields of a record to columns.
struct Layout {
    /// The number of fields of each record.
    fields: usize,
    /// The field of each target column; `None` means all fields in order.
    places: Option<Vec<usize>>,
}

impl Loading<'_> {
    /// Loads the records of a CSV file.
    pub(super) fn read_records<R: BufRead>(
        &mut self,
        mut reader: RecordReader<R>,
        bytes_total: Option<u64>,
    ) -> Result<(), Error> {
        let file = self.faults.file.clone();
        let begin = reader.peek().map_err(|error| self.unreadable(&error))?;
        advice::check_text(&file, begin).map_err(|error| self.stopped(error))?;
        let mut layout = Layout { fields: self.loader.target.columns.len(), places: None };
        if self.faults.copy.options.header == Some(true) {
            let header = read_header(&mut reader, &file).map_err(|error| self.interrupted(error))?;
            layout = self.take_header(&header).map_err(|error| self.stopped(error))?;
        }
        if layout.fields == 1 {
            reader.keep_empty_records();
        }
        self.read_all(bytes_total, |load| {
            let more = match reader.read() {
                Ok(true) => load.record(&reader, &layout)?,
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

    /// The layout by the names in the first line. Without a column list, the statement loads the header's columns, in the header's order.
    /// A column list selects the fields of its names; if the header has other names and as many fields, the list names the fields by position.
    fn take_header(&mut self, header: &[String]) -> Result<Layout, Error> {
        let (file, fields) = (format!("{}, line 1", self.faults.file), header.len());
        let target = &mut self.loader.target;
        let table = target.table.clone();
        if self.faults.copy.columns.is_none() {
            let columns = named_columns(&table, header, &file).map_err(|error| {
                let is_column = |name: &String| column_called(table.def(), name).is_some();
                let advice = advice::of_values_as_header(header).filter(|_| !header.iter().any(is_column));
                match advice {
                    Some(advice) => error.with_help_instead(advice),
                    None => error,
                }
            })?;
            *target = UpsertTarget::new(table, columns, target.on_conflict)?;
            return Ok(Layout { fields, places: None });
        }
        match listed_columns(target, header, &file) {
            Ok(places) => Ok(Layout { fields, places: Some(places) }),
            Err(_) if fields == target.columns.len() => Ok(Layout { fields, places: None }),
            Err(error) => {
                let help = advice::of_header(header, &table.def().columns).unwrap_or_else(|| "the header says which fields the columns of the list are; INSERT INTO t (a, b) SELECT c, d FROM 'file' gives them other names".to_owned());
                Err(error.with_help(Some(help)))
            }
        }
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

    /// Adds the record that was read. Always `true`: more records may follow.
    fn record<R: BufRead>(&mut self, reader: &RecordReader<R>, layout: &Layout) -> Result<bool, Error> {
        let line = reader.first_line();
        let fields = match reader.fields() {
            Ok(fields) => fields,
            Err(error) => return self.bad_line(Fault::new(line, error.to_string(), ErrorCode::BadText)),
        };
        if fields.len() != layout.fields {
            let text = count_text(fields.len(), layout.fields);
            let advice = match fields.as_slice() {
                [field] => advice::of_single_field(field.text, layout.fields),
                fields => self.list_advice(line, fields),
            };
            return self.bad_line(Fault { advice, ..Fault::new(line, text, ErrorCode::Syntax) });
        }
        let Some(places) = &layout.places else { return self.fields(line, &fields) };
        let listed: Vec<Field<'_>> = places.iter().filter_map(|&place| fields.get(place).cloned()).collect();
        self.fields(line, &listed)
    }

    /// The advice for a first line that has all names of the statement's list and further ones.
    fn list_advice(&self, line: u64, fields: &[Field<'_>]) -> Option<String> {
        let target = &self.loader.target;
        let has_name = |name: &str| fields.iter().any(|field| is_same_name(field.text.trim(), name));
        let mut listed = target.columns.iter().filter_map(|&column| target.column(column));
        let are_named = line == 1 && self.faults.copy.columns.is_some() && listed.all(|column| has_name(&column.name));
        are_named.then(|| {
            "the first line seems to hold names: WITH (HEADER) takes the columns of the list by them".to_owned()
        })
    }

    /// Adds a JSON object as a row; missing keys are NULL.
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

    /// The position of a key's column among the loaded columns.
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

    /// Adds a row with a field for each column.
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

    /// The advice for a first line that has the names of the columns.
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

fn read_header<R: BufRead>(reader: &mut RecordReader<R>, file: &str) -> Result<Vec<String>, Error> {
    let bad = |error: RecordError| Error::new(ErrorCode::BadText, format!("{file}, line 1: {error}"));
    if !reader.read().map_err(bad)? {
        return Ok(Vec::new());
    }
    let fields = reader.fields().map_err(bad)?;
    let name = |field: &Field<'_>| if field.quoted { field.text } else { field.text.trim() }.to_owned();
    Ok(fields.iter().map(name).collect())
}
