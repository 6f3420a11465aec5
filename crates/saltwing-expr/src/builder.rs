//! Arrow columns from values.

use std::fmt;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryBuilder, BooleanBuilder, Decimal128Builder, Decimal256Builder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, IntervalMonthDayNanoBuilder, ListArray,
    NullBufferBuilder, NullBuilder, StringBuilder, TimestampMillisecondBuilder, TimestampNanosecondBuilder,
};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{Field, IntervalMonthDayNanoType};
use saltwing_types::value::Timestamp;
use saltwing_types::{SqlType, Value, ValueError, datetime, number};

use crate::arrow_type::arrow_type;
use crate::bare_decimal;
use crate::value_at::value_at;

/// Bytes of text that a column is prepared for, a row.
const TEXT_BYTES_EXPECTED: usize = 16;
/// Most bytes of text or binary in one column: Arrow's offsets have 32 bits.
const COLUMN_BYTES_MAX: usize = i32::MAX as usize;

/// Builds one column of [`arrow_type()`]`(ty)`. An append that fails leaves the column as it was.
#[derive(Debug)]
pub struct ColumnBuilder {
    ty: SqlType,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Null(NullBuilder),
    Boolean(BooleanBuilder),
    Int8(Int8Builder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Date(TimestampMillisecondBuilder),
    Timestamp(TimestampNanosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    Decimal(Decimal128Builder, u8, u8),
    BareDecimal(Decimal256Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    List(ListBuilder),
}

impl Rows {
    fn new(ty: SqlType, capacity: usize) -> Self {
        use SqlType::*;
        let bytes = capacity * TEXT_BYTES_EXPECTED;
        match ty {
            // Every value is NULL: there is no other value of a type of the engine here.
            Null | Opaque => Rows::Null(NullBuilder::new()),
            Boolean => Rows::Boolean(BooleanBuilder::with_capacity(capacity)),
            TinyInt | UnsignedTinyInt => Rows::Int8(Int8Builder::with_capacity(capacity)),
            SmallInt | UnsignedSmallInt => Rows::Int16(Int16Builder::with_capacity(capacity)),
            Integer | UnsignedInt => Rows::Int32(Int32Builder::with_capacity(capacity)),
            BigInt | UnsignedLong => Rows::Int64(Int64Builder::with_capacity(capacity)),
            Float | UnsignedFloat => Rows::Float32(Float32Builder::with_capacity(capacity)),
            Double | UnsignedDouble => Rows::Float64(Float64Builder::with_capacity(capacity)),
            Date | Time | UnsignedDate | UnsignedTime => {
                Rows::Date(TimestampMillisecondBuilder::with_capacity(capacity))
            }
            Timestamp | UnsignedTimestamp => Rows::Timestamp(TimestampNanosecondBuilder::with_capacity(capacity)),
            Decimal(Some((precision, scale))) => Rows::Decimal(
                Decimal128Builder::with_capacity(capacity).with_data_type(arrow_type(ty)),
                precision,
                scale,
            ),
            Decimal(None) => {
                Rows::BareDecimal(Decimal256Builder::with_capacity(capacity).with_data_type(arrow_type(ty)))
            }
            Char(_) | Varchar(_) | Json => Rows::Text(StringBuilder::with_capacity(capacity, bytes)),
            Binary(_) | Varbinary | VarbinaryEncoded | Uuid => {
                Rows::Bytes(BinaryBuilder::with_capacity(capacity, bytes))
            }
            Interval => Rows::Interval(IntervalMonthDayNanoBuilder::with_capacity(capacity)),
            Array(element, _) => Rows::List(ListBuilder::with_capacity(element.sql_type(), capacity)),
        }
    }
}

/// Does the same with whichever builder there is.
macro_rules! each_builder {
    ($rows:expr, $builder:ident => $on_builder:expr) => {
        match $rows {
            Rows::Null($builder) => $on_builder,
            Rows::Boolean($builder) => $on_builder,
            Rows::Int8($builder) => $on_builder,
            Rows::Int16($builder) => $on_builder,
            Rows::Int32($builder) => $on_builder,
            Rows::Int64($builder) => $on_builder,
            Rows::Float32($builder) => $on_builder,
            Rows::Float64($builder) => $on_builder,
            Rows::Date($builder) => $on_builder,
            Rows::Timestamp($builder) => $on_builder,
            Rows::Interval($builder) => $on_builder,
            Rows::Decimal($builder, _, _) => $on_builder,
            Rows::BareDecimal($builder) => $on_builder,
            Rows::Text($builder) => $on_builder,
            Rows::Bytes($builder) => $on_builder,
            Rows::List($builder) => $on_builder,
        }
    };
}

type Appended = Result<(), ValueError>;

impl ColumnBuilder {
    /// An empty column with room for `capacity` rows.
    pub fn new(ty: SqlType, capacity: usize) -> Self {
        Self { ty, rows: Rows::new(ty, capacity) }
    }

    /// The SQL type.
    pub fn sql_type(&self) -> SqlType {
        self.ty
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        use arrow::array::ArrayBuilder;
        each_builder!(&self.rows, builder => builder.len())
    }

    /// Whether there are no rows yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends NULL. Never fails; its result is that of the other appends.
    pub fn append_null(&mut self) -> Appended {
        each_builder!(&mut self.rows, builder => builder.append_null());
        Ok(())
    }

    /// Appends a value; one of another kind is brought to the column's type as on writing. Digits beyond the scale of
    /// DECIMAL(p,s) are dropped.
    ///
    /// # Errors
    /// As [`number::assign`]. [`ValueError::OutOfRange`] for an integer beyond the width, too many digits before the point,
    /// and in a bare DECIMAL column from 1E38 on, and with more than 38 places. [`ValueError::DatetimeOverflow`] for a
    /// TIMESTAMP outside the years 1677 to 2262, which 64 bits of nanoseconds do not reach. [`ValueError::TooLong`] when the
    /// column would hold more than 2 GiB.
    pub fn append_value(&mut self, value: &Value) -> Appended {
        let ty = self.ty;
        let beyond =
            |value: &dyn fmt::Display| ValueError::OutOfRange { value: value.to_string(), target: ty.to_string() };
        match (value, &mut self.rows) {
            (Value::Null, _) => return self.append_null(),
            (Value::Bool(b), Rows::Boolean(rows)) => rows.append_value(*b),
            (Value::Int(i), Rows::Int8(rows)) => rows.append_value((*i).try_into().map_err(|_| beyond(i))?),
            (Value::Int(i), Rows::Int16(rows)) => rows.append_value((*i).try_into().map_err(|_| beyond(i))?),
            (Value::Int(i), Rows::Int32(rows)) => rows.append_value((*i).try_into().map_err(|_| beyond(i))?),
            (Value::Int(i), Rows::Int64(rows)) => rows.append_value(*i),
            (Value::Float(f), Rows::Float32(rows)) => rows.append_value(*f),
            (Value::Double(d), Rows::Float64(rows)) => rows.append_value(*d),
            (Value::Decimal(d), Rows::Decimal(rows, precision, scale)) => {
                let unscaled = d.fit(*precision, *scale)?.unscaled_at((*scale).into());
                rows.append_value(unscaled.ok_or_else(|| beyond(d))?);
            }
            (Value::Decimal(d), Rows::BareDecimal(rows)) => rows.append_value(bare_decimal::unscaled(*d)?),
            (Value::Date(ms), Rows::Date(rows)) => rows.append_value(*ms),
            (Value::Timestamp(at), Rows::Timestamp(rows)) => {
                rows.append_value(at.to_nanos().ok_or_else(|| beyond_nanos(*at))?);
            }
            (Value::Interval(length), Rows::Interval(rows)) => {
                rows.append_value(IntervalMonthDayNanoType::make_value(length.months, length.days, length.nanos));
            }
            (Value::Text(text), Rows::Text(_)) => return self.append_str(text),
            (Value::Bytes(bytes), Rows::Bytes(rows)) => {
                check_room(rows.values_slice().len(), bytes.len())?;
                rows.append_value(bytes);
            }
            (Value::Array(elements), Rows::List(rows)) => return rows.append_value(elements),
            (_, Rows::Null(_)) => return Err(self.mismatch("a value")),
            _ => {
                let kind = std::mem::discriminant(value);
                let assigned = number::assign(value.clone(), self.ty)?;
                // A value that assignment does not convert has no form here: values of the right kind were matched
                // above.
                if std::mem::discriminant(&assigned) == kind {
                    return Err(self.mismatch("a value of another type"));
                }
                return self.append_value(&assigned);
            }
        }
        Ok(())
    }

    /// Appends to a CHAR or VARCHAR column a text without a [`Value`] around it.
    ///
    /// # Errors
    /// [`ValueError::TooLong`] when the column would hold more than 2 GiB; [`ValueError::TypeMismatch`] on another column.
    pub fn append_str(&mut self, text: &str) -> Appended {
        let Rows::Text(rows) = &mut self.rows else { return Err(self.mismatch("text")) };
        check_room(rows.values_slice().len(), text.len())?;
        rows.append_value(text);
        Ok(())
    }

    /// The column; the builder is empty again, with room for as many rows.
    pub fn finish(&mut self) -> ArrayRef {
        let next = Rows::new(self.ty, self.len());
        let mut done = std::mem::replace(&mut self.rows, next);
        each_builder!(&mut done, builder => finished(builder.finish()))
    }

    fn mismatch(&self, what: &str) -> ValueError {
        ValueError::TypeMismatch(format!("{what} does not go into a column of {}", self.ty))
    }
}

/// The columns of some rows, which have a value for each of these types.
///
/// # Errors
/// As [`ColumnBuilder::append_value`]; [`ValueError::BadArgument`] for a row of another length.
pub fn columns_of_rows(types: &[SqlType], rows: &[Vec<Value>]) -> Result<Vec<ArrayRef>, ValueError> {
    let mut builders: Vec<ColumnBuilder> = types.iter().map(|ty| ColumnBuilder::new(*ty, rows.len())).collect();
    for row in rows {
        if row.len() != types.len() {
            return Err(ValueError::BadArgument(format!("a row has {} values for {} columns", row.len(), types.len())));
        }
        builders.iter_mut().zip(row).try_for_each(|(builder, value)| builder.append_value(value))?;
    }
    Ok(builders.iter_mut().map(ColumnBuilder::finish).collect())
}

/// Builds a column of lists. The elements of all rows stand one after the other.
#[derive(Debug)]
struct ListBuilder {
    elements: Box<ColumnBuilder>,
    /// Where each row's elements begin, and where the last row's end.
    offsets: Vec<i32>,
    valid: NullBufferBuilder,
}

impl ListBuilder {
    fn with_capacity(element: SqlType, rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { elements: Box::new(ColumnBuilder::new(element, rows)), offsets, valid: NullBufferBuilder::new(rows) }
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn append_null(&mut self) {
        self.offsets.extend(self.offsets.last().copied());
        self.valid.append_null();
    }

    /// Appends a list.
    ///
    /// # Errors
    /// As [`ColumnBuilder::append_value`] for an element; the column is then as it was.
    fn append_value(&mut self, list: &[Value]) -> Result<(), ValueError> {
        let before = self.elements.len();
        let appended = list.iter().try_for_each(|element| self.elements.append_value(element));
        match (appended, i32::try_from(self.elements.len())) {
            (Ok(()), Ok(end)) => {
                self.offsets.push(end);
                self.valid.append_non_null();
                Ok(())
            }
            (Ok(()), Err(_)) => {
                self.truncate(before)?;
                let value = format!("a column of {} array elements", before.saturating_add(list.len()));
                Err(ValueError::TooLong { value, target: "one batch, which takes 2,147,483,647 a column".into() })
            }
            (Err(error), _) => {
                self.truncate(before)?;
                Err(error)
            }
        }
    }

    /// Removes the elements of a row that failed.
    fn truncate(&mut self, kept: usize) -> Result<(), ValueError> {
        let (ty, elements) = (self.elements.sql_type(), self.elements.finish());
        (0..kept).try_for_each(|row| self.elements.append_value(&value_at(&elements, row, ty)?))
    }

    fn finish(&mut self) -> ListArray {
        let elements = self.elements.finish();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let field = Arc::new(Field::new_list_field(elements.data_type().clone(), true));
        ListArray::new(field, offsets, elements, self.valid.finish())
    }
}

fn finished(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn check_room(held: usize, more: usize) -> Appended {
    if held.saturating_add(more) <= COLUMN_BYTES_MAX {
        return Ok(());
    }
    Err(ValueError::TooLong {
        value: format!("a column of {} bytes", held.saturating_add(more)),
        target: "one batch, which takes 2 GiB a column".into(),
    })
}

fn beyond_nanos(at: Timestamp) -> ValueError {
    ValueError::DatetimeOverflow {
        value: datetime::format_timestamp(at),
        target: "the years 1677 to 2262, where a TIMESTAMP can be put out or computed with".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::generators::{ALL_TYPES, any_type, any_value};
    use crate::value_at;

    proptest! {
        /// A column gives back what was appended.
        #[test]
        fn values_come_back((ty, values) in any_type().prop_flat_map(|ty| {
            (Just(ty), prop::collection::vec(any_value(ty), 0..20))
        })) {
            let mut builder = ColumnBuilder::new(ty, 4);
            for round in 0..2 {
                for value in &values {
                    builder.append_value(value).unwrap();
                }
                prop_assert_eq!(builder.len(), values.len());
                let array = builder.finish();
                prop_assert_eq!(array.data_type(), &arrow_type(ty));
                prop_assert!(builder.is_empty(), "round {}", round);
                for (row, value) in values.iter().enumerate() {
                    prop_assert_eq!(&value_at(&array, row, ty).unwrap(), value);
                }
            }
        }
    }

    #[test]
    fn refuses_what_the_column_does_not_take() {
        let refused = |ty, value| ColumnBuilder::new(ty, 1).append_value(&value).unwrap_err().code().sqlstate();
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        let beyond = Timestamp { ms: 9_300_000_000_000, nanos: 0 };
        assert_eq!(refused(SqlType::Timestamp, Value::Timestamp(beyond)), "22008");
        assert_eq!(refused(SqlType::Decimal(None), decimal("1e38")), "22003");
        assert_eq!(refused(SqlType::Decimal(None), decimal("1e-39")), "22003");
        assert_eq!(refused(SqlType::Decimal(Some((3, 1))), decimal("100")), "22003");
        assert_eq!(refused(SqlType::TinyInt, Value::Int(128)), "22003");
        assert_eq!(refused(SqlType::Integer, Value::text("x")), "22P02");
        assert_eq!(refused(SqlType::Null, Value::Int(1)), "42804");
        let text_in_int = ColumnBuilder::new(SqlType::Integer, 1).append_str("1").unwrap_err();
        assert_eq!(text_in_int.code().sqlstate(), "42804");
    }

    #[test]
    fn a_failed_append_leaves_no_row() {
        let mut builder = ColumnBuilder::new(SqlType::TinyInt, 1);
        assert!(builder.append_value(&Value::Int(200)).is_err());
        builder.append_value(&Value::Int(5)).unwrap();
        assert_eq!(value_at(&builder.finish(), 0, SqlType::TinyInt).unwrap(), Value::Int(5));
    }

    #[test]
    fn values_of_another_kind_are_brought_to_the_type() {
        let brought = |ty, value| {
            let mut builder = ColumnBuilder::new(ty, 1);
            builder.append_value(&value).unwrap();
            value_at(&builder.finish(), 0, ty).unwrap()
        };
        assert_eq!(brought(SqlType::Double, Value::Int(2)), Value::Double(2.0));
        assert_eq!(brought(SqlType::Timestamp, Value::Date(5)), Value::Timestamp(Timestamp { ms: 5, nanos: 0 }));
        assert_eq!(brought(SqlType::Decimal(Some((5, 2))), Value::Int(2)), Value::Decimal(2.into()));
    }

    #[test]
    fn null_goes_into_every_column() {
        for ty in ALL_TYPES {
            let mut builder = ColumnBuilder::new(ty, 1);
            builder.append_null().unwrap();
            assert_eq!(value_at(&builder.finish(), 0, ty).unwrap(), Value::Null, "{ty}");
        }
    }
}
