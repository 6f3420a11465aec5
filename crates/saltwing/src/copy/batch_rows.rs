//! COPY FROM for columnar files: Arrow IPC and Parquet.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use saltwing_bind::UpsertTarget;
use saltwing_expr::ValueColumn;
use saltwing_types::{ColumnDef, SqlType, Value, number};

use super::columns::{listed_columns, named_columns};
use super::loading::{Cell, Loading};
use crate::Error;
use crate::files::batch_reader::{BATCH_ROWS, BatchError, BatchReader, plain, type_of_field};
use crate::files::file::CopyFile;

/// The columns of a file that a load reads.
struct Places {
    /// The indexes of the columns in the file, in ascending order.
    read: Vec<usize>,
    /// For each column of the target, its position in `read` and its type in the file.
    of_target: Vec<(usize, SqlType)>,
}

/// A batch whose rows are converted a chunk at a time.
struct Taken {
    batch: RecordBatch,
    /// The number of rows that are already loaded.
    done: usize,
    /// The target's columns of the current chunk.
    chunk: Vec<ValueColumn>,
    chunk_from: usize,
    chunk_rows: usize,
}

impl Loading<'_> {
    /// Loads the rows of a Parquet file.
    #[cfg(feature = "parquet")]
    pub(super) fn read_parquet(&mut self, file: CopyFile) -> Result<(), Error> {
        self.faults.unit = "row";
        let bytes = file.size();
        let file = file.into_regular().map_err(|error| self.stopped(error))?;
        let reader = crate::files::batch_reader::ParquetReader::open(file).map_err(|error| self.damaged(&error))?;
        self.read_batches(reader, bytes)
    }

    #[cfg(not(feature = "parquet"))]
    pub(super) fn read_parquet(&mut self, _file: CopyFile) -> Result<(), Error> {
        Err(self.stopped(crate::files::format::without_parquet()))
    }

    /// Loads the rows of batches.
    pub(super) fn read_batches(&mut self, mut reader: impl BatchReader, bytes_total: Option<u64>) -> Result<(), Error> {
        let schema = reader.schema().clone();
        let places = self.places(&schema).map_err(|error| self.stopped(error))?;
        reader.project(&places.read);
        let (mut taken, mut number): (Option<Taken>, u64) = (None, 0);
        self.read_all(bytes_total, |load| {
            loop {
                if let Some(batch) = &mut taken {
                    let row = batch.row(&places).map_err(|error| load.damaged_behind(number, &error))?;
                    if let Some(row) = row {
                        number += 1;
                        let columns = &batch.chunk;
                        let cell = |place: usize, column: &ColumnDef| cell(columns.get(place), row, column);
                        let more = load.row(number, cell, |_, _| None)?;
                        return Ok((more, reader.bytes()));
                    }
                }
                match reader.next().map_err(|error| load.damaged_behind(number, &error))? {
                    Some(batch) => taken = Some(Taken::new(batch)),
                    None => return Ok((false, reader.bytes())),
                }
            }
        })
    }

    /// The columns to read. Without a column list, the statement loads all columns of the file.
    fn places(&mut self, schema: &SchemaRef) -> Result<Places, Error> {
        let file = &self.faults.file;
        let target = &mut self.loader.target;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let in_file = match &self.faults.copy.columns {
            None => {
                let columns = named_columns(&target.table, &names, file)?;
                *target = UpsertTarget::new(target.table.clone(), columns, target.on_conflict)?;
                (0..names.len()).collect()
            }
            Some(_) => listed_columns(target, &names, file)?,
        };
        let mut read = in_file.clone();
        read.sort_unstable();
        let place = |column: &usize| {
            let help = "name the other columns: COPY t (a, b) FROM ..";
            let ty = type_of_field(file, schema.field(*column), help)?;
            Ok((read.partition_point(|other| other < column), ty))
        };
        let of_target = in_file.iter().map(place).collect::<Result<_, Error>>()?;
        Ok(Places { read, of_target })
    }

    /// The error of a file that cannot be read.
    pub(super) fn damaged(&self, error: &BatchError) -> Error {
        self.interrupted(Error::new(error.code(), format!("{} cannot be read: {error}", self.faults.file)))
    }

    /// The same error after `rows` rows.
    fn damaged_behind(&self, rows: u64, error: &BatchError) -> Error {
        let text = format!("{}, behind row {rows}: the file cannot be read: {error}", self.faults.file);
        self.interrupted(Error::new(error.code(), text))
    }
}

fn cell(column: Option<&ValueColumn>, row: usize, target: &ColumnDef) -> Cell {
    let Some(column) = column else { return Ok((Value::Null, 0)) };
    let value = number::assign(column.get(row)?.into_value(), target.ty)?;
    let bytes = value.heap_bytes();
    Ok((value, bytes))
}

impl Taken {
    fn new(batch: RecordBatch) -> Self {
        Self { batch, done: 0, chunk: Vec::new(), chunk_from: 0, chunk_rows: 0 }
    }

    /// The position of the next row in the chunk; `None` after the last row.
    fn row(&mut self, places: &Places) -> Result<Option<usize>, BatchError> {
        if self.done == self.chunk_from + self.chunk_rows {
            let rows = BATCH_ROWS.min(self.batch.num_rows() - self.done);
            if rows == 0 {
                return Ok(None);
            }
            let slice = self.batch.slice(self.done, rows);
            let column = |(place, ty): &(usize, SqlType)| {
                let column = slice.columns().get(*place);
                let column = column.ok_or_else(|| BatchError::Damaged("a batch has too few columns".to_owned()))?;
                Ok(ValueColumn::new(&plain(column)?, *ty))
            };
            self.chunk = places.of_target.iter().map(column).collect::<Result<_, BatchError>>()?;
            (self.chunk_from, self.chunk_rows) = (self.done, rows);
        }
        self.done += 1;
        Ok(Some(self.done - 1 - self.chunk_from))
    }
}
