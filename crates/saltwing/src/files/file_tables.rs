//! Files in the place of tables: `SELECT .. FROM 'f.parquet'`.
//!
//! A file is opened twice: its columns are read when the query is planned, and its rows while the query runs. The file must not change
//! in between: the second reading checks the columns again.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use saltwing_access::ScanContext;
use saltwing_bind::{FileName, StatementQuery, file_names};
use saltwing_catalog::{ArrowBatches, ArrowRows, ArrowSource, ArrowSourceError, ArrowTable, CatalogReader, optional};
use saltwing_expr::arrow_type;
use saltwing_sql::file_parts;
use saltwing_sql::statement::{CopyCompression, CopyOptions, FileRef};
use saltwing_types::table::COLUMNS_MAX;
use saltwing_types::{ErrorCode, SqlType};

use super::batch_reader::{
    BatchError, BatchReader, IpcReader, Lines, TextColumn, TextReader, plain, text_schema, type_of_field,
};
use super::compression::{self, BUFFER_BYTES, Decompressor};
use super::file::{AllowedFile, CopyFile, FileRules, Purpose};
use super::file_catalog::WithFiles;
use super::format::FileFormat;
use super::json_lines::JsonLines;
use super::reader::RecordReader;
use super::rules::check_files;
use super::sniff::{LINES_SNIFFED, SniffedCsv, sniff_csv, sniff_json};
use crate::Error;
use crate::arrow_column::converted;
use crate::session::Session;
use crate::shared::Shared;
use crate::text_rows::TextRow;

/// A catalog in which files are tables, and notices about them.
pub(crate) type CatalogWithFiles = (Arc<dyn CatalogReader>, Vec<String>);

/// The catalog in which the files that a query names are tables, and notices about the files; `None` if it names none.
///
/// # Errors
/// Files that cannot be read, or whose columns cannot be determined; the statement was stopped.
pub(crate) fn with_files(
    session: &Session,
    query: StatementQuery<'_>,
    catalog: &Arc<dyn CatalogReader>,
    context: &ScanContext,
) -> Result<Option<CatalogWithFiles>, Error> {
    let (mut files, mut notices) = (HashMap::new(), Vec::new());
    for FileName { name, span } in file_names(query) {
        // A table of this name takes precedence.
        let is_table = optional(catalog.resolve(None, &name))?.is_some() || catalog.arrow_table(&name).is_some();
        let is_file = name.contains(['.', '/', '*']);
        if is_table || !is_file {
            continue;
        }
        check_files(session).map_err(|error| error.at(span))?;
        let (path, options) = file_parts(&name).map_err(|error| Error::from(error).at(span))?;
        let FileTable { table, notices: of_file } =
            file_table(session.shared(), path, &options, context).map_err(|error| error.at(span))?;
        notices.extend(of_file.into_iter().flatten().map(|notice| format!("{path}: {notice}")));
        if files.insert(name.to_lowercase(), Arc::new(table)).is_some() {
            let text = format!("two files of the query have the name {path} in different case");
            return Err(Error::new(ErrorCode::NotSupported, text).at(span));
        }
    }
    Ok((!files.is_empty())
        .then(|| (Arc::new(WithFiles { catalog: catalog.clone(), files }) as Arc<dyn CatalogReader>, notices)))
}

/// The columns of a file, as DESCRIBE shows those of a table.
///
/// # Errors
/// As [`with_files`].
pub(crate) fn describe_file(session: &Session, file: &FileRef) -> Result<Vec<TextRow>, Error> {
    let at = |error: Error| error.at(Some(file.span));
    check_files(session).map_err(at)?;
    let context = session.begin();
    let (path, options) = file_parts(&file.name).map_err(|error| at(error.into()))?;
    let FileTable { table, notices } = file_table(session.shared(), path, &options, &context).map_err(at)?;
    let row = |(field, notice): (&Arc<Field>, Option<String>)| {
        let nullable = if field.is_nullable() { "yes" } else { "no" };
        let ty = saltwing_expr::sql_type(field.data_type()).map(|ty| ty.to_string());
        vec![Some(field.name().clone()), ty, Some(nullable.to_owned()), None, None, notice]
    };
    let notices = notices.into_iter().chain(std::iter::repeat(None));
    Ok(table.schema.fields().iter().zip(notices).map(row).collect())
}

/// A file as a table.
struct FileTable {
    table: ArrowTable,
    /// A notice about the type of each column, if there is one; empty if no column has one.
    notices: Vec<Option<String>>,
}

/// The reader for the rows of a file.
#[derive(Clone, Debug)]
enum Reading {
    Csv(SniffedCsv),
    Json(Vec<TextColumn>),
    Arrow,
    Parquet,
}

/// Files of one format, read one after the other.
struct FileSource {
    shared: Arc<Shared>,
    /// The context of the statement that names the files.
    context: ScanContext,
    options: CopyOptions,
    paths: Vec<String>,
    reading: Reading,
    columns: Vec<TextColumn>,
    /// The schema of the table.
    schema: SchemaRef,
}

impl fmt::Debug for FileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSource").field("paths", &self.paths).field("columns", &self.columns).finish_non_exhaustive()
    }
}

type Reader = Box<dyn BatchReader + Send>;

/// The table of a path, or of the paths that match it.
fn file_table(
    shared: &Arc<Shared>,
    path: &str,
    options: &CopyOptions,
    context: &ScanContext,
) -> Result<FileTable, Error> {
    let files = rules(shared).files(path, options, context)?;
    let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
    let Some((first, allowed)) = files.into_iter().next() else {
        return Err(Error::new(ErrorCode::Io, format!("no file matches {path}")));
    };
    // If the statement was stopped, that error replaces the error of reading.
    let found = found_out(&first, allowed, options, context);
    let (reading, schema) = found.map_err(|error| context.check().err().map_or(error, Error::from))?;
    let (columns, schema) = columns_of(&first, &schema, paths.len() > 1)?;
    let notices = match &reading {
        Reading::Csv(found) => found.notices.clone(),
        Reading::Json(_) | Reading::Arrow | Reading::Parquet => Vec::new(),
    };
    let (shared, context, options) = (shared.clone(), context.clone(), options.clone());
    let source = FileSource { shared, context, options, paths, reading, columns, schema: schema.clone() };
    let rows = ArrowRows::Source(Arc::new(SharedSource(Arc::new(source))));
    Ok(FileTable { table: ArrowTable { name: path.to_owned(), schema, rows }, notices })
}

fn rules(shared: &Shared) -> FileRules<'_> {
    FileRules {
        access: &shared.options.file_access,
        own_directory: shared.directory.as_deref(),
        purpose: Purpose::Read,
    }
}

/// The format of the file's rows, and their schema.
fn found_out(
    path: &str,
    allowed: AllowedFile,
    options: &CopyOptions,
    context: &ScanContext,
) -> Result<(Reading, SchemaRef), Error> {
    let format = FileFormat::of(options, Some(path))?;
    let file = allowed.open(context)?;
    let failed = |error: BatchError| Error::from(failed(path, 0, error));
    if let FileFormat::Parquet = format {
        let reader = parquet_reader(file).map_err(failed)?;
        return Ok((Reading::Parquet, reader.schema().clone()));
    }
    let mut input = decompressed_file(file, options).map_err(failed)?;
    let begin = input.fill_buf().map_err(|error| failed(error.into()))?.to_vec();
    Ok(match format {
        FileFormat::Csv(format) => {
            super::advice::check_text(path, &begin)?;
            let found = sniff_csv(&begin, input, format, options).map_err(|error| failed(error.into()))?;
            let schema = text_schema(&found.columns);
            (Reading::Csv(found), schema)
        }
        FileFormat::Json => {
            let found = sniff_json(input).map_err(|(line, error)| {
                let (code, text) = (error.code(), error.to_string());
                failed(BatchError::Line { line, column: None, code, text })
            })?;
            (Reading::Json(found.clone()), text_schema(&found))
        }
        FileFormat::Arrow(_) => (Reading::Arrow, IpcReader::open(input).map_err(failed)?.schema().clone()),
        FileFormat::Parquet => return Err(Error::new(ErrorCode::Bug, "Parquet is read as a text")),
    })
}

fn decompressed_file(file: CopyFile, options: &CopyOptions) -> Result<Decompressor<BufReader<CopyFile>>, BatchError> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
    let found = compression::of_bytes(input.fill_buf()?);
    // Other formats have compression inside the file.
    let is_outside =
        |compression: &CopyCompression| !matches!(compression, CopyCompression::Lz4 | CopyCompression::Snappy);
    let compression = options.compression.filter(is_outside).unwrap_or(found);
    Ok(Decompressor::new(input, compression)?)
}

#[cfg(feature = "parquet")]
fn parquet_reader(file: CopyFile) -> Result<Reader, BatchError> {
    let file = file.into_regular().map_err(|error| BatchError::NotSupported(error.to_string()))?;
    Ok(Box::new(super::batch_reader::ParquetReader::open(file)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet_reader(_: CopyFile) -> Result<Reader, BatchError> {
    Err(BatchError::NotSupported(super::format::without_parquet().to_string()))
}

/// The columns of a file, and the schema of the table.
fn columns_of(path: &str, schema: &SchemaRef, are_several: bool) -> Result<(Vec<TextColumn>, SchemaRef), Error> {
    if schema.fields().len() > COLUMNS_MAX {
        let text = format!("{path}: {} columns; a file in FROM may have {COLUMNS_MAX}", schema.fields().len());
        let help = "COPY t (a, b) FROM the file, WITH (HEADER) if it is CSV, reads some of its columns";
        return Err(Error::new(ErrorCode::TooManyColumns, text).with_help(Some(help)));
    }
    let (mut columns, mut fields, mut names) = (Vec::new(), Vec::new(), HashSet::new());
    for field in schema.fields() {
        let name = field.name().clone();
        if !names.insert(name.to_lowercase()) {
            return Err(Error::new(ErrorCode::DuplicateColumn, format!("{path}: two columns have the name {name}")));
        }
        let ty = match type_of_field(path, field, "COPY t (a, b) FROM the file reads its other columns")? {
            // All values of the column are NULL.
            SqlType::Null => SqlType::Varchar(None),
            ty => ty,
        };
        fields.push(Field::new(&name, arrow_type(ty), field.is_nullable() || are_several));
        columns.push(TextColumn { name, ty });
    }
    match columns.is_empty() {
        true => Err(Error::new(ErrorCode::BadText, format!("{path} has no columns"))),
        false => Ok((columns, Arc::new(Schema::new(fields)))),
    }
}

#[derive(Debug)]
struct SharedSource(Arc<FileSource>);

impl ArrowSource for SharedSource {
    fn open(&self) -> Result<ArrowBatches, ArrowSourceError> {
        Ok(Box::new(FileBatches { source: self.0.clone(), next_file: 0, open: None }))
    }
}

/// The batches of the files, from the first to the last.
struct FileBatches {
    source: Arc<FileSource>,
    next_file: usize,
    open: Option<OpenFile>,
}

struct OpenFile {
    path: String,
    reader: Reader,
    /// The position of each table column in the file.
    places: Vec<usize>,
    rows: u64,
}

impl FileSource {
    fn open_file(&self, path: &str) -> Result<OpenFile, ArrowSourceError> {
        let allowed = rules(&self.shared).check(path, &self.options).map_err(source_error)?;
        let file = allowed.open(&self.context).map_err(source_error)?;
        let reader = self.reader(file).map_err(|error| failed(path, 0, error))?;
        let names = || reader.schema().fields().iter().map(|field| field.name());
        let place = |column: &TextColumn| {
            names().position(|name| *name == column.name).ok_or_else(|| ArrowSourceError {
                code: ErrorCode::NoSuchColumn,
                text: format!("{path} has no column {}, which the first file has", column.name),
                help: None,
            })
        };
        let places = self.columns.iter().map(place).collect::<Result<_, _>>()?;
        Ok(OpenFile { path: path.to_owned(), reader, places, rows: 0 })
    }

    fn reader(&self, file: CopyFile) -> Result<Reader, BatchError> {
        Ok(match &self.reading {
            Reading::Csv(found) => {
                let reader = RecordReader::new(decompressed_file(file, &self.options)?, found.format);
                let (has_header, null) = (found.has_header, found.null.clone());
                Box::new(TextReader::new(Lines::Csv { reader, has_header, null }, found.columns.clone()))
            }
            Reading::Json(columns) => {
                let nested = columns.iter().filter(|column| column.ty == SqlType::Json);
                let nested = nested.map(|column| (column.name.clone(), column.ty)).collect();
                let lines = JsonLines::new(decompressed_file(file, &self.options)?, nested);
                Box::new(TextReader::new(Lines::Json(lines), columns.clone()))
            }
            Reading::Arrow => Box::new(IpcReader::open(decompressed_file(file, &self.options)?)?),
            Reading::Parquet => parquet_reader(file)?,
        })
    }
}

impl OpenFile {
    fn batch(&mut self, source: &FileSource) -> Result<Option<RecordBatch>, ArrowSourceError> {
        let rows = self.rows;
        let Some(batch) = self.reader.next().map_err(|error| failed(&self.path, rows, error))? else { return Ok(None) };
        self.rows += batch.num_rows() as u64;
        let column = |(column, place): (&TextColumn, &usize)| {
            let damaged = |text: String| failed(&self.path, rows, BatchError::Damaged(text));
            let array = batch.columns().get(*place).ok_or_else(|| damaged("a batch has too few columns".to_owned()))?;
            let array = plain(array).map_err(|error| failed(&self.path, rows, error))?;
            converted(&array, column.ty).map_err(|(row, error)| ArrowSourceError {
                code: error.code(),
                text: format!("{}, row {}, column {}: {error}", self.path, rows + row as u64 + 1, column.name),
                help: None,
            })
        };
        let arrays = source.columns.iter().zip(&self.places).map(column).collect::<Result<_, _>>()?;
        let batch = RecordBatch::try_new(source.schema.clone(), arrays);
        batch.map(Some).map_err(|error| failed(&self.path, rows, error.into()))
    }
}

impl Iterator for FileBatches {
    type Item = Result<RecordBatch, ArrowSourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let open = match &mut self.open {
                Some(open) => open,
                None => {
                    let path = self.source.paths.get(self.next_file)?.clone();
                    self.next_file += 1;
                    match self.source.open_file(&path) {
                        Ok(open) => self.open.insert(open),
                        Err(error) => return Some(Err(error)),
                    }
                }
            };
            match open.batch(&self.source) {
                Ok(None) => self.open = None,
                batch => return batch.transpose(),
            }
        }
    }
}

/// The error of a file after `rows` rows.
fn failed(path: &str, rows: u64, error: BatchError) -> ArrowSourceError {
    let code = error.code();
    match error {
        BatchError::Line { line, column, text, .. } => {
            let column = column.map(|column| format!(", column {column}")).unwrap_or_default();
            let help = format!(
                "the first {LINES_SNIFFED} lines decide about columns and types; CREATE TABLE and COPY FROM take others"
            );
            ArrowSourceError { code, text: format!("{path}, line {line}{column}: {text}"), help: Some(help) }
        }
        error if rows == 0 => ArrowSourceError { code, text: format!("{path} cannot be read: {error}"), help: None },
        error => ArrowSourceError {
            code,
            text: format!("{path}, behind row {rows}: the file cannot be read: {error}"),
            help: None,
        },
    }
}

impl From<ArrowSourceError> for Error {
    fn from(error: ArrowSourceError) -> Self {
        Self::new(error.code, error.text).with_help(error.help)
    }
}

fn source_error(error: Error) -> ArrowSourceError {
    ArrowSourceError { code: error.code(), text: error.to_string(), help: error.help().map(str::to_owned) }
}
