//! COPY FROM.

use std::io::{BufRead, BufReader, Read};

use saltwing_access::ScanContext;
use saltwing_bind::{OnConflict, ParamValues};
use saltwing_sql::statement::{CopyCompression, CopyFrom};

use saltwing_types::ErrorCode;

use super::faults::Faults;
use super::loading::Loading;
use super::stream::{WaitingStream, no_stream};
use crate::Error;
use crate::computed::computing;
use crate::files::batch_reader::IpcReader;
use crate::files::compression::{self, BUFFER_BYTES, Decompressor};
use crate::files::file::{CopyFile, Purpose};
use crate::files::format::{FileFormat, not_from_stream};
use crate::files::json_lines::JsonLines;
use crate::files::reader::RecordReader;
use crate::files::rules::file_rules;
use crate::load::{Loader, Part, PartLimits, load_target};
use crate::outcome::ExecResult;
use crate::session::Session;

/// Loads rows from the files that the statement names, or from `stdin`.
pub(crate) fn copy_from(session: &Session, copy: &CopyFrom, stdin: Option<&mut dyn Read>) -> Result<ExecResult, Error> {
    session.writable()?;
    let at = |error: Error| error.at(Some(copy.span));
    let context = session.begin();
    let mut load = load_of(session, copy, &context)?;
    let Some(path) = copy.path() else {
        let format = FileFormat::of(&copy.options, None).map_err(at)?;
        let needed = || at(no_stream("COPY FROM STDIN needs a reader", "copy_from_reader"));
        let input = WaitingStream::new(stdin.ok_or_else(needed)?, &context);
        load.read_stream(BufReader::with_capacity(BUFFER_BYTES, input), &format, None)?;
        return Ok(load.result());
    };
    let files = file_rules(session, Purpose::Read).map_err(at)?.files(path, &copy.options, &context).map_err(at)?;
    for (path, allowed) in files {
        let format = FileFormat::of(&copy.options, Some(&path)).map_err(at)?;
        let file = allowed.open(&context).map_err(|error| load.stopped(at(error)))?;
        load.faults.file = path;
        load.read_file(file, &format)?;
    }
    Ok(load.result())
}

fn load_of<'a>(session: &'a Session, copy: &'a CopyFrom, context: &'a ScanContext) -> Result<Loading<'a>, Error> {
    let target = load_target(session, copy, copy.options.on_conflict.unwrap_or(OnConflict::Replace));
    let target = target.map_err(|error| match (error.code(), copy.path()) {
        (ErrorCode::NoSuchTable, Some(path)) => {
            let (table, path) = (&copy.table, path.replace('\'', "''"));
            let of_file =
                format!("CREATE TABLE {table} PRIMARY KEY (..) AS SELECT * FROM '{path}' makes a table of a file");
            let help = error.help().map_or(of_file.clone(), |help| format!("{help}; {of_file}"));
            error.with_help_instead(help)
        }
        _ => error,
    })?;
    let name = target.table.def().name.to_string();
    Ok(Loading {
        loader: Loader::new(target, copy.table.clone()).counting_repeats(),
        limits: PartLimits::of(session),
        part: Part::default(),
        computing: computing(session, &[], ParamValues::NONE, context),
        faults: Faults {
            copy,
            file: "STDIN".to_owned(),
            unit: "line",
            table: name,
            skipped: Vec::new(),
            skipped_count: 0,
        },
    })
}

impl Loading<'_> {
    /// Loads the rows of a file.
    fn read_file(&mut self, file: CopyFile, format: &FileFormat) -> Result<(), Error> {
        let bytes = file.size();
        match format {
            FileFormat::Parquet => self.read_parquet(file),
            format => self.read_stream(BufReader::with_capacity(BUFFER_BYTES, file), format, bytes),
        }
    }

    /// Loads the rows of a file that is read from beginning to end, and whose size may be known.
    fn read_stream<R: BufRead>(
        &mut self,
        mut input: R,
        format: &FileFormat,
        bytes_total: Option<u64>,
    ) -> Result<(), Error> {
        self.faults.unit = format.unit();
        let begin = input.fill_buf().map_err(|error| self.unreadable(&error))?;
        let compression = match (format, self.faults.copy.options.compression) {
            (FileFormat::Csv(_) | FileFormat::Json, Some(compression)) => compression,
            // Other formats have compression inside the file.
            _ => compression::of_bytes(begin),
        };
        if let (FileFormat::Csv(format), CopyCompression::None) = (format, compression) {
            return self.read_records(RecordReader::new(input, *format), bytes_total);
        }
        let bytes_total = bytes_total.filter(|_| compression == CopyCompression::None);
        let input = Decompressor::new(input, compression).map_err(|error| self.unreadable(&error))?;
        match format {
            FileFormat::Csv(format) => self.read_records(RecordReader::new(input, *format), bytes_total),
            FileFormat::Json => {
                let lines = JsonLines::new(input, self.nested_columns());
                self.read_lines(lines, bytes_total)
            }
            FileFormat::Arrow(_) => {
                let reader = IpcReader::open(input).map_err(|error| self.damaged(&error))?;
                self.read_batches(reader, bytes_total)
            }
            FileFormat::Parquet => Err(self.stopped(not_from_stream())),
        }
    }
}
