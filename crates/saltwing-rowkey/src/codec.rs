//! Rows as keys.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::iter;
use std::sync::Arc;

use saltwing_types::table::{BUCKETS_MAX, ROW_KEY_BYTES_MAX};
use saltwing_types::{KeySchema, Salt, SortOrder, SqlType, Value};

use crate::column::ColumnCodec;
use crate::error::shown_bytes;
use crate::{Key, KeySlices, RowKeyError, ValueCodec, salt};

/// Bytes that keys have room for at first: most need no more.
pub const KEY_BYTES_EXPECTED: usize = 48;

/// What a key is made from, by key column.
pub(crate) trait KeyValues {
    fn is_null(&self, column: usize) -> bool;
    /// Appends the bytes of a value that is not NULL, without terminator and separator.
    fn write(&self, column: usize, codec: &ColumnCodec, out: &mut Vec<u8>) -> Result<(), RowKeyError>;
}

impl<'v, F: Fn(usize) -> &'v Value> KeyValues for F {
    fn is_null(&self, column: usize) -> bool {
        self(column).is_null()
    }

    fn write(&self, column: usize, codec: &ColumnCodec, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        codec.encode(self(column), out)
    }
}

/// Encodes and decodes the row keys of one table.
///
/// Made once for a definition; then shared and called for every row. Values come
/// in key order, one for each key column, already brought to the column's type
/// (`saltwing_types::number::assign`): what does not fit is refused, never cut.
#[derive(Clone, Debug)]
pub struct RowKeyCodec {
    pub(crate) columns: Vec<ColumnCodec>,
    pub(crate) salt: Option<Salt>,
    /// The rows in whose buckets the keys lie; `None`: the salt tells the bucket.
    pub(crate) rows: Option<Arc<RowsOfEntries>>,
}

/// The rows of an index's entries. The key of an entry has each column of its row's key.
#[derive(Debug)]
pub struct RowsOfEntries {
    pub(crate) codec: RowKeyCodec,
    /// For each column of a row's key, the column of an entry's key that has its value.
    pub(crate) columns: Vec<usize>,
    /// The first of these columns, if an entry's key from there on is the row's logical key, byte for byte.
    pub(crate) tail: Option<usize>,
}

impl RowsOfEntries {
    /// `codec` is that of the rows' keys; `columns` says for each of its columns which column of `entries` has the same value.
    ///
    /// # Errors
    /// [`RowKeyError::Schema`] if `columns` or their types are not those of the rows.
    pub fn new(codec: RowKeyCodec, entries: &KeySchema, columns: Vec<usize>) -> Result<Self, RowKeyError> {
        let is_same = |(own, place): (&ColumnCodec, &usize)| {
            entries
                .columns
                .get(*place)
                .is_some_and(|column| own.value.sql_type() == ValueCodec::new(column.ty, column.order).sql_type())
        };
        if columns.len() != codec.columns.len() || !codec.columns.iter().zip(&columns).all(is_same) {
            return Err(RowKeyError::Schema("entries of an index have the key columns of its rows".into()));
        }
        let tail = entries.columns.len().checked_sub(columns.len()).filter(|first| {
            let is_same = |(column, (own, place)): (usize, (&ColumnCodec, &usize))| {
                let codec = entries.columns.get(column).and_then(|found| ColumnCodec::new(found, own.last).ok());
                *place == column && codec.is_some_and(|codec| codec.has_bytes_of(own))
            };
            (*first..).zip(codec.columns.iter().zip(&columns)).all(is_same)
        });
        Ok(Self { codec, columns, tail })
    }

    /// The codec of the rows' keys.
    pub fn codec(&self) -> &RowKeyCodec {
        &self.codec
    }

    /// The bucket of the row whose entry has these key values.
    fn bucket(&self, entry: &impl KeyValues) -> Result<u8, RowKeyError> {
        let mut salted = Vec::new();
        let values = Moved { entry, columns: &self.columns };
        self.codec.append_columns(&values, self.codec.salt_column_count(), &mut salted)?;
        Ok(self.codec.salt.map_or(0, |salt| salt::bucket(&salted, salt.buckets)))
    }
}

/// The values of a row's key, among those of its entry's.
pub(crate) struct Moved<'e, E> {
    pub(crate) entry: &'e E,
    pub(crate) columns: &'e [usize],
}

impl<E: KeyValues> KeyValues for Moved<'_, E> {
    fn is_null(&self, column: usize) -> bool {
        self.columns.get(column).is_none_or(|place| self.entry.is_null(*place))
    }

    fn write(&self, column: usize, codec: &ColumnCodec, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        self.columns.get(column).map_or(Ok(()), |place| self.entry.write(*place, codec, out))
    }
}

impl RowKeyCodec {
    /// A codec for the keys of one table.
    ///
    /// # Errors
    /// [`RowKeyError::Definition`] and [`RowKeyError::Schema`] for what no key can be: no columns,
    /// VARBINARY before the end or DESC, a nullable column of fixed width, CHAR(0), salt
    /// of 0 or more than 256 buckets or by more columns than there are.
    pub fn new(schema: &KeySchema) -> Result<Self, RowKeyError> {
        let count = schema.columns.len();
        if count == 0 {
            return Err(RowKeyError::Schema("a key needs at least one column".into()));
        }
        if let Some(Salt { buckets, by }) = schema.salt {
            if !(1..=BUCKETS_MAX).contains(&buckets) {
                return Err(RowKeyError::Schema(format!("{buckets} buckets: a salted table has 1 to {BUCKETS_MAX}")));
            }
            if by.is_some_and(|by| !(1..=count).contains(&by)) {
                return Err(RowKeyError::Schema(format!("salt by {by:?} columns of a key of {count}")));
            }
        }
        let columns = schema.columns.iter().enumerate();
        let columns = columns.map(|(i, column)| ColumnCodec::new(column, i + 1 == count));
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, salt: schema.salt, rows: None })
    }

    /// A codec for the entries of a local index, each of which lies in the bucket of its row.
    ///
    /// # Errors
    /// As [`RowKeyCodec::new`]; [`RowKeyError::Schema`] if the buckets are not those of the rows.
    pub fn of_local_entries(schema: &KeySchema, rows: &Arc<RowsOfEntries>) -> Result<Self, RowKeyError> {
        let codec = Self::new(schema)?;
        let buckets = |codec: &Self| codec.salt.map(|salt| salt.buckets);
        if buckets(&codec) != buckets(rows.codec()) {
            return Err(RowKeyError::Schema("the entries of a local index have the buckets of its rows".into()));
        }
        Ok(Self { rows: codec.salt.map(|_| rows.clone()), ..codec })
    }

    /// Bytes in front of the logical key: 1 when the table is salted, else 0.
    pub fn bucket_bytes(&self) -> usize {
        self.salt.is_some().into()
    }

    /// Whether a logical key may have no bytes: the bucket byte then stands alone,
    /// as Phoenix has it for a salted row of NULLs.
    pub(crate) fn allows_empty(&self) -> bool {
        self.salt.is_some()
    }

    /// The physical key of a row, bucket byte included.
    ///
    /// # Errors
    /// [`RowKeyError`]: NULL in a NOT NULL column, a value without key form, a
    /// key of no bytes, or one longer than 32,767 bytes.
    pub fn encode(&self, values: &[Value]) -> Result<Key, RowKeyError> {
        let mut key = Key::new();
        self.encode_into(values, &mut key)?;
        Ok(key)
    }

    /// Appends the physical key to `out`, which after an error is as it was.
    ///
    /// # Errors
    /// As [`RowKeyCodec::encode`].
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        self.check_count(values.len())?;
        self.encode_with(|column| values.get(column).unwrap_or(&Value::Null), out)
    }

    /// As [`RowKeyCodec::encode_into`], with values picked by key column: for
    /// rows whose key columns do not lie together.
    ///
    /// # Errors
    /// As [`RowKeyCodec::encode`].
    pub fn encode_with<'v>(&self, pick: impl Fn(usize) -> &'v Value, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        self.encode_columns(&pick, out)
    }

    /// As [`RowKeyCodec::encode_with`], of values in any form.
    pub(crate) fn encode_columns(&self, values: &impl KeyValues, out: &mut Vec<u8>) -> Result<(), RowKeyError> {
        let start = out.len();
        out.resize(start + self.bucket_bytes(), 0);
        self.append(values, out)
            .and_then(|salted_end| {
                let salted = out.get(start + 1..salted_end).unwrap_or_default();
                let bucket = match (&self.rows, self.salt) {
                    (Some(rows), _) => Some(rows.bucket(values)?),
                    (None, salt) => salt.map(|salt| salt::bucket(salted, salt.buckets)),
                };
                if let Some(bucket) = bucket {
                    out.iter_mut().skip(start).take(1).for_each(|byte| *byte = bucket);
                }
                Ok(())
            })
            .inspect_err(|_| out.truncate(start))
    }

    /// The logical key of a row: without the bucket byte.
    ///
    /// # Errors
    /// As [`RowKeyCodec::encode`].
    pub fn encode_logical(&self, values: &[Value]) -> Result<Key, RowKeyError> {
        self.check_count(values.len())?;
        let mut key = Key::new();
        self.append(&|column: usize| values.get(column).unwrap_or(&Value::Null), &mut key)?;
        Ok(key)
    }

    /// Whether a row with these key values can be written.
    ///
    /// # Errors
    /// As [`RowKeyCodec::encode`].
    pub fn check(&self, values: &[Value]) -> Result<(), RowKeyError> {
        self.encode(values).map(drop)
    }

    /// Appends the logical key; returns where in `out` the bytes that the salt
    /// covers end.
    fn append(&self, values: &impl KeyValues, out: &mut Vec<u8>) -> Result<usize, RowKeyError> {
        let start = out.len();
        let written = self.append_columns(values, self.columns.len(), out)?;
        if out.len() == start && !self.allows_empty() {
            let columns: Vec<_> = self.columns.iter().map(|c| c.name.as_str()).collect();
            return Err(RowKeyError::Empty { columns: columns.join(", "), count: columns.len() });
        }
        // `out` may hold more than this key, so its own bytes are counted.
        let bytes = out.len() - start + self.bucket_bytes();
        if bytes > ROW_KEY_BYTES_MAX {
            let key = shown_bytes(out.get(start..).unwrap_or_default());
            return Err(RowKeyError::TooLong { bytes, key, limit: ROW_KEY_BYTES_MAX });
        }
        Ok(written)
    }

    /// Appends the first `count` columns, NULLs at their end left out; returns
    /// where the bytes end that a table of the salt's columns alone would have.
    pub(crate) fn append_columns(
        &self,
        values: &impl KeyValues,
        count: usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, RowKeyError> {
        let salted_count = self.salt_column_count();
        let mut salted_end = out.len();
        // NULLs wait until a value follows them: at the end they are left out.
        let mut pending = 0;
        for (index, column) in self.columns.iter().enumerate().take(count) {
            if values.is_null(index) {
                if !column.nullable {
                    return Err(RowKeyError::Null { column: column.name.clone() });
                }
                continue;
            }
            for earlier in self.columns.iter().take(index).skip(pending) {
                earlier.write_null(out);
            }
            values.write(index, column, out)?;
            column.write_terminator(out);
            pending = index + 1;
            if index < salted_count {
                salted_end = out.len();
            }
            // Whether a separator follows is known only when a later value comes.
            if !column.is_desc() && (index + 1..count).any(|later| !values.is_null(later)) {
                column.write_separator(out);
            }
        }
        Ok(salted_end)
    }

    /// Number of leading columns that the bucket depends on: all, for entries that lie in the buckets of their rows.
    pub fn salt_column_count(&self) -> usize {
        match self.salt {
            None => 0,
            Some(salt) => salt.by.unwrap_or(self.columns.len()),
        }
    }

    /// The bucket of a logical key; 0 for a table without salt.
    ///
    /// With SALT_BY, a key that does not belong to this definition gets the bucket of its readable part; an entry of a
    /// local index that does not gets 0.
    pub fn bucket(&self, logical: &[u8]) -> u8 {
        match self.salt {
            Some(_) if let Some(rows) = &self.rows => {
                let values = self.decode(&[&[0], logical].concat()).unwrap_or_default();
                rows.bucket(&|column: usize| values.get(column).unwrap_or(&Value::Null)).unwrap_or_default()
            }
            None => 0,
            Some(Salt { buckets, by: None }) => salt::bucket(logical, buckets),
            Some(Salt { buckets, by: Some(by) }) => {
                let mut slices = KeySlices::new();
                let _ = self.split_from(logical, 0, by, &mut slices);
                salt::bucket(self.salted_bytes(logical, &slices), buckets)
            }
        }
    }

    /// The bytes of a split logical key that a table of these columns alone would have.
    fn salted_bytes<'k>(&self, logical: &'k [u8], slices: &KeySlices) -> &'k [u8] {
        let last = (0..slices.len()).rev().find_map(|column| Some((column, slices.range(column)?)));
        let terminator = |column: usize| self.columns.get(column).map_or(0, |codec| codec.terminator().len());
        let end = last.map_or(0, |(column, range)| range.end + terminator(column));
        logical.get(..end).unwrap_or(logical)
    }

    /// The bucket that the values of the leading key columns decide, or `None`
    /// when they do not decide it: there are too few of them. 0 for a table without salt.
    ///
    /// # Errors
    /// As [`RowKeyCodec::encode`]: values that no row can have.
    pub fn bucket_of_prefix(&self, values: &[impl Borrow<Value>]) -> Result<Option<u8>, RowKeyError> {
        let Some(salt) = self.salt else { return Ok(Some(0)) };
        let count = self.salt_column_count();
        if values.len() < count {
            return Ok(None);
        }
        let value = |column: usize| values.get(column).map_or(&Value::Null, Borrow::borrow);
        if let Some(rows) = &self.rows {
            return rows.bucket(&value).map(Some);
        }
        let mut salted = Vec::new();
        self.append_columns(&value, count, &mut salted)?;
        Ok(Some(salt::bucket(&salted, salt.buckets)))
    }

    /// SQL's order of two rows by their keys: column by column, each in its own
    /// direction, NULL first in both. Values that are missing count as NULL.
    pub fn compare(&self, a: &[Value], b: &[Value]) -> Ordering {
        (0..self.columns.len())
            .map(|column| {
                let [a, b] = [a, b].map(|row| row.get(column).unwrap_or(&Value::Null));
                self.compare_column(column, a, b)
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The order of two values of one key column, as [`RowKeyCodec::compare`] has it.
    pub fn compare_column(&self, column: usize, a: &Value, b: &Value) -> Ordering {
        let codec = self.columns.get(column).map(|column| column.value);
        let ty = codec.map_or(SqlType::Null, |codec| codec.sql_type());
        let by_value = match (a, b, ty) {
            (Value::Null, _, _) | (_, Value::Null, _) => return b.is_null().cmp(&a.is_null()),
            (Value::Array(_), Value::Array(_), SqlType::Array(..)) => {
                return codec.map_or(Ordering::Equal, |codec| codec.compare_arrays(a, b));
            }
            (Value::Bytes(a), Value::Bytes(b), SqlType::Binary(width)) => {
                let padding = |bytes: &[u8]| (width as usize).saturating_sub(bytes.len());
                let [a, b] = [a, b].map(|bytes| bytes.iter().copied().chain(iter::repeat_n(0, padding(bytes))));
                a.cmp(b)
            }
            _ => a.compare_as(b, ty).unwrap_or(Ordering::Equal),
        };
        if self.order(column) == SortOrder::Desc { by_value.reverse() } else { by_value }
    }

    fn check_count(&self, given: usize) -> Result<(), RowKeyError> {
        let expected = self.columns.len();
        if given == expected { Ok(()) } else { Err(RowKeyError::ValueCount { given, expected }) }
    }
}
