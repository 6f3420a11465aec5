//! COPY TO.

use std::borrow::Cow;
use std::io::{BufWriter, Write};

use arrow::array::RecordBatch;
use saltwing_bind::{ParamValues, ResultColumn, Scope, column_path, if_bound, resolve};
use saltwing_sql::statement::{CopyCompression, CopySource, CopyTo, QueryStatement};
use saltwing_sql::{ColumnName, Statement, TableRef, parse_one, quote_name};
use saltwing_types::{ErrorCode, SqlType};

use super::batch_writer::IpcWriter;
#[cfg(feature = "parquet")]
use super::batch_writer::ParquetWriter;
use super::stream::{WaitingStream, no_stream};
use super::writer::{JsonWriter, RecordWriter, unwritable};
use crate::Error;
use crate::files::compression::{self, Compressor};
use crate::files::file::{AllowedFile, Purpose};
use crate::files::format::FileFormat;
use crate::files::rules::file_rules;
use crate::outcome::{ExecResult, RowsOutcome};
use crate::queries::run_query;
use crate::session::Session;

/// The destination of the rows.
enum Target<'a> {
    Stdout(&'a mut dyn Write),
    File(AllowedFile),
}

/// Writes rows to the file that the statement names, or to `stdout`.
pub(crate) fn copy_to(
    session: &Session,
    copy: &CopyTo,
    params: ParamValues<'_>,
    stdout: Option<&mut dyn Write>,
) -> Result<ExecResult, Error> {
    let at = |error: Error| error.at(Some(copy.span));
    let target = match (copy.path(), stdout) {
        (None, Some(stdout)) => Target::Stdout(stdout),
        (None, None) => return Err(at(no_stream("COPY TO STDOUT needs a writer", "copy_to_writer"))),
        (Some(path), _) => {
            session.writable().map_err(|error| at(error).with_help(Some("COPY .. TO STDOUT works")))?;
            Target::File(file_rules(session, Purpose::Write).map_err(at)?.check(path, &copy.options).map_err(at)?)
        }
    };
    let rows = match &copy.source {
        CopySource::Query(query) => run_query(session, query, params)?,
        CopySource::Table { .. } => {
            let query = copied_query(session, copy)?;
            run_query(session, &query, ParamValues::NONE)?
        }
    };
    let context = session.last_context().unwrap_or_else(|| session.begin());
    let (rows_affected, result) = match target {
        Target::Stdout(stdout) => write_rows(copy, rows, WaitingStream::new(stdout, &context))
            .map_err(|error| context.check().err().map_or(error, Error::from))?,
        Target::File(allowed) => {
            let mut file = allowed.open(&context).map_err(at)?;
            match write_rows(copy, rows, &mut file) {
                Ok(written) => written,
                Err(error) => {
                    file.discard();
                    // A write to a pipe fails if the statement is stopped.
                    return Err(context.check().err().map_or(error, Error::from));
                }
            }
        }
    };
    Ok(ExecResult { rows_affected, ..result })
}

/// The query for the rows.
pub(crate) fn copied_query<'c>(session: &Session, copy: &'c CopyTo) -> Result<Cow<'c, QueryStatement>, Error> {
    let (table, columns, dynamic) = match &copy.source {
        CopySource::Query(query) => return Ok(Cow::Borrowed(query)),
        CopySource::Table { table, columns, dynamic } => (table, columns, dynamic),
    };
    let list = copied_items(session, table, columns.as_deref(), dynamic)?;
    let types = dynamic.iter().filter_map(|(place, ty)| Some(format!("{} {ty}", columns.as_ref()?.get(*place)?)));
    let types = types.collect::<Vec<_>>().join(", ");
    let declared = if types.is_empty() { types } else { format!(" ({types})") };
    // COPY t TO names the whole table, so the guard must not refuse the full scan.
    match parse_one(&format!("SELECT /*+ FULL_SCAN */ {list} FROM {table}{declared}"))?.statement {
        Statement::Query(query) => Ok(Cow::Owned(query)),
        _ => Err(Error::new(ErrorCode::Bug, "a SELECT was read as another statement")),
    }
}

/// The items of the SELECT for a table's rows. A column that shares its name with another one has its family in its label, so that
/// COPY FROM finds it; so has each dynamic column with a family.
fn copied_items(
    session: &Session,
    name: &TableRef,
    columns: Option<&[ColumnName]>,
    dynamic: &[(usize, SqlType)],
) -> Result<String, Error> {
    let table = if_bound(resolve(&*session.catalog()?, name))?;
    let items: Vec<String> = match (columns, table) {
        (None, None) => vec!["*".to_owned()],
        (None, Some(table)) => {
            let def = table.def();
            let shown = def.columns.iter().filter(|column| !column.hidden && column.generated().is_none());
            let item = |column| format!("{} AS {}", column_path(def, column), quote_name(&def.unique_name(column)));
            shown.map(item).collect()
        }
        (Some(columns), None) => columns.iter().map(ToString::to_string).collect(),
        (Some(columns), Some(table)) => {
            let scope = Scope::of(table, None);
            let is_dynamic = |place: usize| dynamic.iter().any(|(dynamic, _)| *dynamic == place);
            let item = |(place, column): (usize, &ColumnName)| {
                if is_dynamic(place) {
                    return Ok(format!("{column} AS {}", quote_name(&column.parts().join("."))));
                }
                let found = scope.resolve(&column.parts(), Some(column.span()))?;
                Ok(format!("{column} AS {}", quote_name(&found.name)))
            };
            columns.iter().enumerate().map(item).collect::<Result<_, Error>>()?
        }
    };
    Ok(items.join(", "))
}

enum RowWriter<W: Write> {
    Csv(RecordWriter<W>),
    Json(JsonWriter<W>),
    Arrow(IpcWriter<W>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<W>>),
}

impl<W: Write> RowWriter<W> {
    fn new(copy: &CopyTo, format: FileFormat, columns: &[ResultColumn], out: W) -> Result<Self, Error> {
        let options = &copy.options;
        Ok(match format {
            FileFormat::Csv(format) => {
                let mut writer = RecordWriter::new(out, format, options.null.clone().unwrap_or_default());
                if options.header == Some(true) {
                    writer.header(columns)?;
                }
                Self::Csv(writer)
            }
            FileFormat::Json => Self::Json(JsonWriter::new(out, columns)),
            FileFormat::Arrow(form) => Self::Arrow(IpcWriter::new(out, columns, form, options.compression)?),
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => Self::Parquet(Box::new(ParquetWriter::new(out, columns, options.compression)?)),
            #[cfg(not(feature = "parquet"))]
            FileFormat::Parquet => return Err(crate::files::format::without_parquet()),
        })
    }

    fn batch(&mut self, columns: &[ResultColumn], batch: &RecordBatch) -> Result<(), Error> {
        match self {
            Self::Csv(writer) => writer.batch(columns, batch),
            Self::Json(writer) => writer.batch(batch),
            Self::Arrow(writer) => writer.batch(batch),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.batch(batch),
        }
    }

    fn finish(self) -> Result<W, Error> {
        match self {
            Self::Csv(writer) => writer.finish(),
            Self::Json(writer) => writer.finish(),
            Self::Arrow(writer) => writer.finish(),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.finish(),
        }
    }
}

fn write_rows(copy: &CopyTo, rows: RowsOutcome, out: impl Write) -> Result<(u64, ExecResult), Error> {
    let format = FileFormat::of(&copy.options, copy.path()).map_err(|error| error.at(Some(copy.span)))?;
    let by_name = compression::of_name(copy.path().unwrap_or_default()).1;
    // Arrow and Parquet have compression inside the file, if the statement requests one.
    let outside = match format {
        FileFormat::Csv(_) | FileFormat::Json => copy.options.compression.unwrap_or(by_name),
        FileFormat::Arrow(_) => by_name,
        FileFormat::Parquet => CopyCompression::None,
    };
    let out = BufWriter::new(Compressor::new(out, outside).map_err(unwritable)?);
    let columns = rows.columns.clone();
    let mut writer = RowWriter::new(copy, format, &columns, out)?;
    rows.drain(|batches| {
        let mut count = 0;
        for batch in batches {
            let batch = batch?;
            count += batch.num_rows() as u64;
            writer.batch(&columns, &batch)?;
        }
        let out = writer.finish()?;
        out.into_inner().map_err(|error| unwritable(error.into_error()))?.finish().map_err(unwritable)?;
        Ok(count)
    })
}
