//! Columns of a batch, filled from blocks run by run and from rows one by one.

use std::sync::Arc;

use arrow::array::builder::NullBufferBuilder;
use arrow::array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMillisecondType,
};
use arrow::array::{ArrayRef, BinaryArray, PrimitiveArray, StringArray};
use arrow::buffer::ScalarBuffer;
use arrow::error::ArrowError;
use saltwing_expr::ColumnBuilder;
use saltwing_rowkey::ValueCodec;
use saltwing_store::Direction;
use saltwing_types::{SqlType, Value};

use crate::format::fix_part::FixCells;
use crate::format::row_order::RowSelection;
use crate::format::slot_format::{slot_bytes, slot_int, slot_value};
use crate::format::stored_column::{StoredColumn, Unreadable, ValueSink};
use crate::scan::texts::Texts;

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
            Char(_) | Varchar(_) | Json => Self::Text(Texts::new(capacity)),
            Binary(_) | Varbinary | VarbinaryEncoded | Uuid => Self::Bytes(Texts::new(capacity)),
            Null | Boolean | Timestamp | UnsignedTimestamp | Decimal(_) | Interval | Array(..) | Opaque => {
                Self::Other(ColumnBuilder::new(ty, capacity))
            }
        }
    }

    /// Appends an integer that is known to fit the column's width.
    fn push_int(&mut self, value: i64) -> Result<(), Unreadable> {
        match self {
            Self::Int8(rows) => rows.push(value as i8),
            Self::Int16(rows) => rows.push(value as i16),
            Self::Int32(rows) => rows.push(value as i32),
            Self::Int64(rows) | Self::Date(rows) => rows.push(value),
            // The only other type that blocks keep as integers.
            Self::Other(builder) => builder.append_value(&Value::Bool(value != 0))?,
            _ => return Err(Unreadable::Damaged),
        }
        Ok(())
    }

    /// Appends a value as it stands in a row's slot; NULL bits are the caller's.
    fn push_slot(&mut self, ty: SqlType, bytes: &[u8]) -> Result<(), Unreadable> {
        match self {
            Self::Float32(rows) => rows.push(f32::from_le_bytes(bytes.try_into()?)),
            Self::Float64(rows) => rows.push(f64::from_le_bytes(bytes.try_into()?)),
            Self::Text(texts) | Self::Bytes(texts) => texts.push([bytes, &[]])?,
            Self::Other(builder) => builder.append_value(&slot_value(ty, bytes).ok_or(Unreadable::Damaged)?)?,
            _ => self.push_int(slot_int(bytes).ok_or(Unreadable::Damaged)?)?,
        }
        Ok(())
    }
}

impl ValueSink for ColumnWriter {
    fn null(&mut self) {
        each_number!(&mut self.values, rows => rows.push(Default::default()), texts => texts.push_null(), builder => {
            // Appending NULL never fails.
            let _ = builder.append_null();
        });
        self.nulls.append_null();
    }

    fn int(&mut self, value: i64) -> Result<(), Unreadable> {
        self.nulls.append_non_null();
        self.values.push_int(value)
    }

    fn slot(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        self.nulls.append_non_null();
        self.values.push_slot(self.ty, bytes)
    }

    fn constant(&mut self, value: &Value, rows: usize) -> Result<(), Unreadable> {
        let slot = slot_bytes(self.ty, value);
        for _ in 0..rows {
            match &slot {
                None => self.null(),
                Some(bytes) => self.slot(bytes)?,
            }
        }
        Ok(())
    }

    fn values(&mut self, column: &StoredColumn<'_>, rows: &RowSelection<'_>) -> Result<bool, Unreadable> {
        let part = column.fix.bytes();
        match (column.column.cells, &mut self.values, rows) {
            (FixCells::Ints(ints), Values::Int8(out), _) => ints.append(part, rows, out, |v| v as i8),
            (FixCells::Ints(ints), Values::Int16(out), _) => ints.append(part, rows, out, |v| v as i16),
            (FixCells::Ints(ints), Values::Int32(out), _) => ints.append(part, rows, out, |v| v as i32),
            (FixCells::Ints(ints), Values::Int64(out) | Values::Date(out), _) => ints.append(part, rows, out, |v| v),
            (FixCells::Raw { width: 4, at }, Values::Float32(out), RowSelection::Run(rows, Direction::Forward)) => {
                let stored = column.fix.raw(4, at, rows.clone()).ok_or(Unreadable::Damaged)?;
                out.extend(stored.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)));
            }
            (FixCells::Raw { width: 8, at }, Values::Float64(out), RowSelection::Run(rows, Direction::Forward)) => {
                let stored = column.fix.raw(8, at, rows.clone()).ok_or(Unreadable::Damaged)?;
                out.extend(stored.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)));
            }
            (
                FixCells::Var,
                Values::Text(texts) | Values::Bytes(texts),
                RowSelection::Run(rows, Direction::Forward),
            ) => {
                let (column, part) = column.var.ok_or(Unreadable::Damaged)?;
                texts.extend(column, part, rows.clone())?;
            }
            _ => return Ok(false),
        }
        self.nulls.append_n_non_nulls(rows.len());
        Ok(true)
    }
}

impl ColumnWriter {
    /// An empty column, which takes rows after [`ColumnWriter::reserve`].
    pub(crate) fn new(ty: SqlType) -> Self {
        Self { ty, values: Values::new(ty, 0), nulls: NullBufferBuilder::new(0) }
    }

    /// Appends two slices of bytes as one value.
    pub(crate) fn push_bytes(&mut self, parts: [&[u8]; 2]) -> Result<(), Unreadable> {
        if let Values::Bytes(texts) = &mut self.values {
            texts.push(parts)?;
            self.nulls.append_non_null();
        }
        Ok(())
    }

    /// Appends a key column's value.
    pub(crate) fn push_key(
        &mut self,
        codec: ValueCodec,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<(), Unreadable> {
        match &mut self.values {
            Values::Text(texts) => texts.push([codec.read_text(bytes, scratch)?.as_bytes(), &[]])?,
            Values::Bytes(texts) => texts.push([codec.read_bytes(bytes, scratch)?, &[]])?,
            Values::Float32(rows) => rows.push(codec.read_f32(bytes)?),
            Values::Float64(rows) => rows.push(codec.read_f64(bytes)?),
            Values::Other(builder) => builder.append_value(&codec.decode(bytes)?)?,
            values => values.push_int(codec.read_i64(bytes)?)?,
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Whether [`ColumnWriter::repeat`] knows how to.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self.values, Values::Other(_))
    }

    /// Appends the last value, which is not NULL, `times` more times.
    pub(crate) fn repeat(&mut self, times: usize) -> Result<(), Unreadable> {
        each_number!(
            &mut self.values,
            rows => rows.resize(rows.len() + times, rows.last().copied().unwrap_or_default()),
            texts => texts.repeat(times)?,
            _builder => return Err(Unreadable::Damaged)
        );
        self.nulls.append_n_non_nulls(times);
        Ok(())
    }

    /// Appends the values of a key column of fixed width, which are the first `width` bytes of each.
    pub(crate) fn push_keys(
        &mut self,
        codec: ValueCodec,
        width: usize,
        keys: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), Unreadable> {
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
                    self.push_key(codec, key.as_ref().get(..width).unwrap_or_default(), &mut Vec::new())?;
                }
            }
        }
        self.nulls.append_n_non_nulls(count);
        Ok(())
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
