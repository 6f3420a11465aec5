//! Timestamps of Parquet's type INT96: a day and the nanoseconds in it, as Spark, Hive and Impala write them.
//!
//! The Parquet reader converts them to 64-bit nanoseconds since 1970, which wrap around outside the years 1677 to 2262, or to seconds, which
//! do not. So the columns are read in both units, and an instant is made of both: the seconds, and the fraction of a second from the
//! nanoseconds. A batch with instants outside these years has microseconds.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, RecordBatch, TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;

use super::{BATCH_ROWS, BatchError, guarded};

/// The INT96 columns of a file, to be read in seconds beside the reader of all columns.
pub(super) struct Int96Columns {
    builder: ParquetRecordBatchReaderBuilder<File>,
    /// The positions of the INT96 columns in the file, in ascending order.
    columns: Vec<usize>,
    /// Their positions in a batch, in the same order.
    places: Vec<usize>,
}

/// Reads the INT96 columns in seconds, batch by batch.
pub(super) struct Int96Reader {
    seconds: ParquetRecordBatchReader,
    places: Vec<usize>,
}

impl Int96Columns {
    /// The INT96 columns of a file; `None` if it has none.
    pub(super) fn of(file: &File, metadata: &ArrowReaderMetadata) -> Result<Option<Self>, BatchError> {
        let parquet = metadata.metadata().file_metadata().schema_descr();
        let is_int96 = |leaf: &usize| parquet.column(*leaf).physical_type() == Type::INT96;
        let roots = (0..parquet.num_columns()).filter(is_int96).map(|leaf| parquet.get_column_root_idx(leaf));
        let in_seconds = |root: usize| {
            let field = metadata.schema().fields().get(root)?;
            Some((root, seconds_field(field)?))
        };
        let mut fields: Vec<(usize, FieldRef)> = roots.filter_map(in_seconds).collect();
        fields.dedup_by_key(|(root, _)| *root);
        if fields.is_empty() {
            return Ok(None);
        }
        let mut all: Vec<FieldRef> = metadata.schema().fields().iter().cloned().collect();
        let columns: Vec<usize> = fields.iter().map(|(root, _)| *root).collect();
        for (root, field) in fields {
            all.get_mut(root).into_iter().for_each(|slot| *slot = field.clone());
        }
        let schema = Arc::new(Schema::new_with_metadata(all, metadata.schema().metadata().clone()));
        let file = file.try_clone()?;
        let builder = guarded(|| {
            let options = ArrowReaderOptions::new().with_schema(schema);
            let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            Ok::<_, BatchError>(builder.with_batch_size(BATCH_ROWS))
        })?;
        Ok(Some(Self { builder, places: columns.clone(), columns }))
    }

    /// The INT96 columns among these columns of the file, which are in ascending order; `None` if there are none.
    pub(super) fn project(self, columns: &[usize]) -> Option<Self> {
        let kept = |column: &usize| Some((*column, columns.binary_search(column).ok()?));
        let (columns, places): (Vec<usize>, Vec<usize>) = self.columns.iter().filter_map(kept).unzip();
        (!columns.is_empty()).then_some(Self { columns, places, ..self })
    }

    pub(super) fn read(self) -> Result<Int96Reader, BatchError> {
        let Self { builder, columns, places } = self;
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
        let seconds = guarded(|| builder.with_projection(mask).build())?;
        Ok(Int96Reader { seconds, places })
    }
}

impl Int96Reader {
    /// The next batch of the file, with the right instants.
    ///
    /// # Errors
    /// Instants that fit no unit: outside the years 1677 to 2262, and with parts of a microsecond or in lists.
    pub(super) fn corrected(&mut self, batch: RecordBatch) -> Result<RecordBatch, BatchError> {
        let seconds = guarded(|| self.seconds.next().transpose())?;
        let seconds = seconds.filter(|seconds| seconds.num_rows() == batch.num_rows());
        let seconds = seconds.ok_or_else(|| BatchError::damaged("its columns have different numbers of rows"))?;
        let (schema, mut columns, _) = batch.into_parts();
        let mut fields: Vec<FieldRef> = schema.fields().iter().cloned().collect();
        for (&place, seconds) in self.places.iter().zip(seconds.columns()) {
            let (Some(column), Some(field)) = (columns.get_mut(place), fields.get_mut(place)) else { continue };
            let beyond = || BatchError::Timestamp { column: field.name().clone() };
            if let Some(exact) = exact(column, seconds).map_err(|Beyond| beyond())? {
                *field = Arc::new(Field::clone(field).with_data_type(exact.data_type().clone()));
                *column = exact;
            }
        }
        let schema: SchemaRef = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        Ok(RecordBatch::try_new(schema, columns)?)
    }
}

/// An instant that fits no unit.
struct Beyond;

/// The field with timestamps in seconds instead of nanoseconds; `None` if it has no timestamps.
fn seconds_field(field: &FieldRef) -> Option<FieldRef> {
    let data_type = match field.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => DataType::Timestamp(TimeUnit::Second, zone.clone()),
        DataType::List(element) => DataType::List(seconds_field(element)?),
        DataType::LargeList(element) => DataType::LargeList(seconds_field(element)?),
        // SQL has no type for other fields: their columns are refused.
        _ => return None,
    };
    Some(Arc::new(Field::clone(field).with_data_type(data_type)))
}

/// The column with the right instants; `None` if it already has them.
fn exact(column: &ArrayRef, seconds: &ArrayRef) -> Result<Option<ArrayRef>, Beyond> {
    match (elements(column), elements(seconds)) {
        (Some(column), Some(seconds)) => exact(column, seconds)?.map_or(Ok(None), |_| Err(Beyond)),
        _ => match (column.as_primitive_opt(), seconds.as_primitive_opt()) {
            (Some(nanoseconds), Some(seconds)) => exact_timestamps(nanoseconds, seconds),
            _ => Err(Beyond),
        },
    }
}

/// The elements of all lists of a column.
fn elements(column: &ArrayRef) -> Option<&ArrayRef> {
    let list = column.as_list_opt::<i32>().map(|list| list.values());
    list.or_else(|| column.as_list_opt::<i64>().map(|list| list.values()))
}

fn exact_timestamps(
    nanoseconds: &TimestampNanosecondArray,
    seconds: &TimestampSecondArray,
) -> Result<Option<ArrayRef>, Beyond> {
    const PER_SECOND: i64 = 1_000_000_000;
    let instants = || {
        nanoseconds.iter().zip(seconds.iter()).map(|pair| {
            let (nanoseconds, seconds) = (pair.0?, pair.1?);
            // The difference is less than a second, however often the nanoseconds have wrapped around.
            let behind = nanoseconds.wrapping_sub(seconds.wrapping_mul(PER_SECOND));
            Some(i128::from(seconds) * i128::from(PER_SECOND) + i128::from(behind))
        })
    };
    if instants().flatten().all(|instant| i64::try_from(instant).is_ok()) {
        return Ok(None);
    }
    let microseconds = |instant: Option<i128>| match instant {
        None => Ok(None),
        Some(instant) if instant % 1000 != 0 => Err(Beyond),
        Some(instant) => i64::try_from(instant / 1000).map(Some).map_err(|_| Beyond),
    };
    let exact = instants().map(microseconds).collect::<Result<TimestampMicrosecondArray, Beyond>>()?;
    Ok(Some(Arc::new(exact.with_timezone_opt(nanoseconds.timezone()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact_of(instants: &[i128]) -> Option<Option<Vec<i64>>> {
        let nanoseconds = instants.iter().map(|instant| *instant as i64).collect::<Vec<_>>();
        let seconds = instants.iter().map(|instant| instant.div_euclid(1_000_000_000) as i64).collect::<Vec<_>>();
        let exact = exact_timestamps(&nanoseconds.into(), &seconds.into()).ok()?;
        Some(exact.map(|exact| exact.as_primitive::<arrow::datatypes::TimestampMicrosecondType>().values().to_vec()))
    }

    #[test]
    fn instants_are_right_however_often_they_wrapped() {
        // 2024-05-01 10:00:00.000000007, and the last nanosecond before 1970.
        assert_eq!(exact_of(&[1_714_557_600_000_000_007, -1]), Some(None));
        // 9999-12-31 23:59:59 and 1000-01-01.
        let (late, early) = (253_402_300_799, -30_610_224_000);
        let second = 1_000_000_000;
        assert_eq!(
            exact_of(&[late * second + 999_999_000, 1000, early * second]),
            Some(Some(vec![late as i64 * 1_000_000 + 999_999, 1, early as i64 * 1_000_000]))
        );
        assert_eq!(exact_of(&[late * second, 1]), None);
        assert_eq!(exact_of(&[i128::from(i32::MAX) * 86_400 * second]), None);
    }
}
