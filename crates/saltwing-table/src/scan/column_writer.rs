//! Columns of a batch, filled from blocks run by run and from rows one by one.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::builder::NullBufferBuilder;
use arrow::array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMillisecondType,
};
use arrow::array::{ArrayRef, BinaryArray, PrimitiveArray, StringArray};
use arrow::buffer::ScalarBuffer;
use arrow::error::ArrowError;
use saltwing_expr::ColumnBuilder;
use saltwing_rowkey::{BadBytes, ValueCodec};
use saltwing_store::Direction;
use saltwing_types::{SqlType, Value, ValueError};

use crate::format::bits::Nulls;
use crate::format::fix_part::{FixCells, FixColumn, FixPart};
use crate::format::row_format::{slot_decimal, slot_int, slot_timestamp};
use crate::format::row_order::RowSelection;
use crate::format::var_part::VarColumn;
use crate::scan::texts::{Appended, Texts};

/// One column under construction.
pub(crate) struct ColumnWriter {
    ty: SqlType,
    values: Values,
    nulls: NullBufferBuilder,
}

enum Values {
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Date(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Text(Texts),
    Bytes(Texts),
    Other(ColumnBuilder),
}

/// A block's column and where it is read.
pub(crate) struct Run<'a> {
    pub(crate) fix: &'a FixPart,
    pub(crate) column: &'a FixColumn,
    /// The column's variable part and the part that it is of.
    pub(crate) var: Option<(&'a VarColumn, &'a [u8])>,
    pub(crate) rows: RowSelection<'a>,
}

/// Does the same with whichever vector of numbers there is.
macro_rules! each_number {
    ($values:expr, $vec:ident => $on_vec:expr, $texts:ident => $on_texts:expr, $builder:ident => $on_builder:expr) => {
        match $values {
            Values::Int8($vec) => $on_vec,
            Values::Int16($vec) => $on_vec,
            Values::Int32($vec) => $on_vec,
            Values::Int64($vec) => $on_vec,
            Values::Date($vec) => $on_vec,
            Values::Float32($vec) => $on_vec,
            Values::Float64($vec) => $on_vec,
            Values::Text($texts) | Values::Bytes($texts) => $on_texts,
            Values::Other($builder) => $on_builder,
        }
    };
}

impl Values {
    fn new(ty: SqlType, capacity: usize) -> Self {
        use SqlType::*;
        match ty {
            TinyInt | UnsignedTinyInt => Self::Int8(Vec::with_capacity(capacity)),
            SmallInt | UnsignedSmallInt => Self::Int16(Vec::with_capacity(capacity)),
            Integer | UnsignedInt => Self::Int32(Vec::with_capacity(capacity)),
            BigInt | UnsignedLong => Self::Int64(Vec::with_capacity(capacity)),
            Date | Time | UnsignedDate | UnsignedTime => Self::Date(Vec::with_capacity(capacity)),
            Float | UnsignedFloat => Self::Float32(Vec::with_capacity(capacity)),
            Double | UnsignedDouble => Self::Float64(Vec::with_capacity(capacity)),
            Char(_) | Varchar(_) => Self::Text(Texts::new(capacity)),
            Binary(_) | Varbinary | VarbinaryEncoded => Self::Bytes(Texts::new(capacity)),
            Null | Boolean | Timestamp | UnsignedTimestamp | Decimal(_) => {
                Self::Other(ColumnBuilder::new(ty, capacity))
            }
        }
    }

    /// Appends an integer that is known to fit the column's width.
    fn push_int(&mut self, value: i64) -> Appended {
        match self {
            Self::Int8(rows) => rows.push(value as i8),
            Self::Int16(rows) => rows.push(value as i16),
            Self::Int32(rows) => rows.push(value as i32),
            Self::Int64(rows) | Self::Date(rows) => rows.push(value),
            // The only other type that blocks keep as integers.
            Self::Other(builder) => return Some(builder.append_bool(value != 0)),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Appends a value as it stands in a row's slot; NULL bits are the caller's.
    fn push_slot(&mut self, ty: SqlType, bytes: &[u8]) -> Appended {
        use SqlType::*;
        match self {
            Self::Float32(rows) => rows.push(f32::from_le_bytes(bytes.try_into().ok()?)),
            Self::Float64(rows) => rows.push(f64::from_le_bytes(bytes.try_into().ok()?)),
            Self::Text(texts) | Self::Bytes(texts) => return Some(texts.push([bytes, &[]])),
            Self::Other(builder) => {
                return Some(match ty {
                    Boolean => builder.append_bool(*bytes.first()? != 0),
                    Timestamp | UnsignedTimestamp => builder.append_timestamp(slot_timestamp(bytes)?),
                    Decimal(scale) => builder.append_decimal(slot_decimal(scale, bytes)?),
                    _ => builder.append_null(),
                });
            }
            _ => return self.push_int(slot_int(bytes)?),
        }
        Some(Ok(()))
    }
}

impl ColumnWriter {
    /// An empty column, which takes rows after [`ColumnWriter::reserve`].
    pub(crate) fn new(ty: SqlType) -> Self {
        Self { ty, values: Values::new(ty, 0), nulls: NullBufferBuilder::new(0) }
    }

    pub(crate) fn push_null(&mut self) {
        each_number!(&mut self.values, rows => rows.push(Default::default()), texts => texts.push_null(), builder => {
            // Appending NULL never fails.
            let _ = builder.append_null();
        });
        self.nulls.append_null();
    }

    /// Appends the value in a row's slot.
    pub(crate) fn push_slot(&mut self, bytes: &[u8]) -> Appended {
        let appended = self.values.push_slot(self.ty, bytes);
        self.nulls.append_non_null();
        appended
    }

    /// Appends two pieces of bytes as one value.
    pub(crate) fn push_bytes(&mut self, parts: [&[u8]; 2]) -> Result<(), ValueError> {
        if let Values::Bytes(texts) = &mut self.values {
            texts.push(parts)?;
            self.nulls.append_non_null();
        }
        Ok(())
    }

    /// Appends a value many times.
    pub(crate) fn push_value(&mut self, value: &Value, rows: usize) -> Result<(), ValueError> {
        let slot = crate::format::row_format::slot_bytes(self.ty, value);
        for _ in 0..rows {
            match &slot {
                None => self.push_null(),
                Some(bytes) => self.push_slot(bytes).unwrap_or(Ok(()))?,
            }
        }
        Ok(())
    }

    /// Appends a key column's value.
    pub(crate) fn push_key(
        &mut self,
        codec: ValueCodec,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<Result<(), ValueError>, BadBytes> {
        use SqlType::*;
        let appended = match &mut self.values {
            Values::Text(texts) => texts.push([codec.read_text(bytes, scratch)?.as_bytes(), &[]]),
            Values::Bytes(texts) => texts.push([codec.read_bytes(bytes, scratch)?, &[]]),
            Values::Float32(rows) => {
                rows.push(codec.read_f32(bytes)?);
                Ok(())
            }
            Values::Float64(rows) => {
                rows.push(codec.read_f64(bytes)?);
                Ok(())
            }
            Values::Other(builder) => match codec.sql_type() {
                Boolean => builder.append_bool(codec.read_bool(bytes)?),
                Timestamp | UnsignedTimestamp => builder.append_timestamp(codec.read_timestamp(bytes)?),
                _ => builder.append_value(&codec.decode(bytes)?),
            },
            values => values.push_int(codec.read_i64(bytes)?).unwrap_or(Ok(())),
        };
        self.nulls.append_non_null();
        Ok(appended)
    }

    /// Whether [`ColumnWriter::repeat`] knows how to.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self.values, Values::Other(_))
    }

    /// Appends the last value, which is not NULL, so many times more.
    pub(crate) fn repeat(&mut self, times: usize) -> Result<(), ValueError> {
        let repeated = each_number!(
            &mut self.values,
            rows => { rows.resize(rows.len() + times, rows.last().copied().unwrap_or_default()); Ok(()) },
            texts => texts.repeat(times),
            _builder => Ok(())
        );
        self.nulls.append_n_non_nulls(times);
        repeated
    }

    /// Appends the values of a key column of fixed width, which are the first `width` bytes of each.
    pub(crate) fn push_keys(
        &mut self,
        codec: ValueCodec,
        width: usize,
        keys: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Result<(), ValueError>, BadBytes> {
        let mut count = 0;
        let stored = |key: &[u8]| codec.read_i64(key.get(..width).unwrap_or_default());
        match &mut self.values {
            Values::Int64(rows) | Values::Date(rows) => {
                for key in keys {
                    rows.push(stored(key.as_ref())?);
                    count += 1;
                }
            }
            Values::Int32(rows) => {
                for key in keys {
                    rows.push(stored(key.as_ref())? as i32);
                    count += 1;
                }
            }
            _ => {
                for key in keys {
                    let pushed =
                        self.push_key(codec, key.as_ref().get(..width).unwrap_or_default(), &mut Vec::new())?;
                    if pushed.is_err() {
                        return Ok(pushed);
                    }
                }
            }
        }
        self.nulls.append_n_non_nulls(count);
        Ok(Ok(()))
    }

    /// Appends rows of a block's column.
    pub(crate) fn extend(&mut self, run: &Run<'_>) -> Appended {
        match &run.rows {
            _ if run.column.nulls != Nulls::None => {}
            RowSelection::Run(rows, Direction::Forward) => return self.extend_run(run, rows.clone()),
            RowSelection::Run(_, Direction::Reverse) => {}
            RowSelection::List(rows) => {
                if let Some(appended) = self.extend_list(run, rows) {
                    return Some(Ok(appended));
                }
            }
        }
        for i in 0..run.rows.len() {
            let row = run.rows.nth(i);
            if run.column.nulls.is_null(run.fix.bytes(), row) {
                self.push_null();
                continue;
            }
            let appended = match run.column.cells {
                FixCells::Ints(ints) => self.values.push_int(ints.get(run.fix.bytes(), row)),
                FixCells::Raw { width, at } => {
                    let bytes = run.fix.raw(width, at, row..row + 1)?;
                    self.values.push_slot(self.ty, bytes)
                }
                FixCells::Var => {
                    let (column, part) = run.var?;
                    self.values.push_slot(self.ty, column.value(part, row)?)
                }
            };
            match appended {
                Some(Ok(())) => self.nulls.append_non_null(),
                other => return other,
            }
        }
        Some(Ok(()))
    }

    /// Forwards, without NULLs: loops over bytes and nothing else.
    fn extend_run(&mut self, run: &Run<'_>, rows: Range<usize>) -> Appended {
        let part = run.fix.bytes();
        let count = rows.len();
        match (run.column.cells, &mut self.values) {
            (FixCells::Ints(ints), Values::Int8(out)) => ints.extend(part, rows, out, |v| v as i8),
            (FixCells::Ints(ints), Values::Int16(out)) => ints.extend(part, rows, out, |v| v as i16),
            (FixCells::Ints(ints), Values::Int32(out)) => ints.extend(part, rows, out, |v| v as i32),
            (FixCells::Ints(ints), Values::Int64(out) | Values::Date(out)) => ints.extend(part, rows, out, |v| v),
            (FixCells::Ints(ints), values) => {
                for row in rows {
                    let appended = values.push_int(ints.get(part, row));
                    if !matches!(appended, Some(Ok(()))) {
                        return appended;
                    }
                }
            }
            (FixCells::Raw { width: 4, at }, Values::Float32(out)) => {
                let stored = run.fix.raw(4, at, rows)?;
                out.extend(stored.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)));
            }
            (FixCells::Raw { width: 8, at }, Values::Float64(out)) => {
                let stored = run.fix.raw(8, at, rows)?;
                out.extend(stored.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)));
            }
            (FixCells::Raw { width, at }, values) => {
                for row in rows {
                    let appended = values.push_slot(self.ty, run.fix.raw(width, at, row..row + 1)?);
                    if !matches!(appended, Some(Ok(()))) {
                        return appended;
                    }
                }
            }
            (FixCells::Var, Values::Text(texts) | Values::Bytes(texts)) => {
                let (column, part) = run.var?;
                let appended = texts.extend(column, part, rows);
                if !matches!(appended, Some(Ok(()))) {
                    return appended;
                }
            }
            (FixCells::Var, values) => {
                let (column, part) = run.var?;
                for row in rows {
                    let appended = values.push_slot(self.ty, column.value(part, row)?);
                    if !matches!(appended, Some(Ok(()))) {
                        return appended;
                    }
                }
            }
        }
        self.nulls.append_n_non_nulls(count);
        Some(Ok(()))
    }

    /// Some rows of numbers without NULLs; `None` where it is another column.
    fn extend_list(&mut self, run: &Run<'_>, rows: &[u32]) -> Option<()> {
        let part = run.fix.bytes();
        match (run.column.cells, &mut self.values) {
            (FixCells::Ints(ints), Values::Int8(out)) => ints.pick(part, rows, out, |v| v as i8),
            (FixCells::Ints(ints), Values::Int16(out)) => ints.pick(part, rows, out, |v| v as i16),
            (FixCells::Ints(ints), Values::Int32(out)) => ints.pick(part, rows, out, |v| v as i32),
            (FixCells::Ints(ints), Values::Int64(out) | Values::Date(out)) => ints.pick(part, rows, out, |v| v),
            _ => return None,
        }
        self.nulls.append_n_non_nulls(rows.len());
        Some(())
    }

    /// The column; the sink is empty again.
    ///
    /// # Errors
    /// Stored text that is no UTF-8.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        let values = std::mem::replace(&mut self.values, Values::new(self.ty, 0));
        fn numbers<T: ArrowPrimitiveType>(
            rows: Vec<T::Native>,
            nulls: Option<arrow::buffer::NullBuffer>,
        ) -> Result<ArrayRef, ArrowError> {
            Ok(Arc::new(PrimitiveArray::<T>::try_new(ScalarBuffer::from(rows), nulls)?))
        }
        Ok(match values {
            Values::Int8(rows) => numbers::<Int8Type>(rows, nulls)?,
            Values::Int16(rows) => numbers::<Int16Type>(rows, nulls)?,
            Values::Int32(rows) => numbers::<Int32Type>(rows, nulls)?,
            Values::Int64(rows) => numbers::<Int64Type>(rows, nulls)?,
            Values::Date(rows) => numbers::<TimestampMillisecondType>(rows, nulls)?,
            Values::Float32(rows) => numbers::<Float32Type>(rows, nulls)?,
            Values::Float64(rows) => numbers::<Float64Type>(rows, nulls)?,
            Values::Text(texts) => {
                let (offsets, bytes) = texts.into_buffers();
                Arc::new(StringArray::try_new(offsets, bytes, nulls)?)
            }
            Values::Bytes(texts) => {
                let (offsets, bytes) = texts.into_buffers();
                Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?)
            }
            Values::Other(mut builder) => builder.finish(),
        })
    }

    /// Makes room for a batch, where nothing is in yet.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.values = Values::new(self.ty, rows);
        self.nulls = NullBufferBuilder::new(rows);
    }
}
