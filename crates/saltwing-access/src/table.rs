//! A table as statements know it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use saltwing_expr::arrow_type;
use saltwing_rowkey::{KEY_BYTES_EXPECTED, KeyRange, KeySlices, RowKeyCodec, RowKeyError, RowsOfEntries};
use saltwing_types::index::entries_def;
use saltwing_types::table::{ROW_KEY_COLUMN, ROW_TIME_COLUMN, SPLIT_KEYS, TimeColumn};
use saltwing_types::{
    ColumnDef, ColumnRef, IndexDef, IndexPart, IndexState, KeyColumn, KeySchema, Rebuild, Span, SqlType, TableDef,
    TableName, Value, ValueError, eval, text,
};

use crate::TableError;

/// The time of a row whose column of times has no value: it never expires.
pub const NO_TIME_MS: i64 = i64::MAX;

/// A table's definition with its key's codec and its schema made ready. How rows are stored is the store's alone.
#[derive(Clone, Debug)]
pub struct Table {
    def: Arc<TableDef>,
    codec: Arc<RowKeyCodec>,
    schema: SchemaRef,
    /// The value of a column in rows older than it.
    absent: Vec<Value>,
    has_generated: bool,
    time_column: Option<TimeColumn>,
    split_keys: Vec<Vec<u8>>,
    as_of_ms: Option<i64>,
    indexes: Arc<[Index]>,
    is_compared: bool,
    /// The value that a column has in all rows, by the column's index.
    constants: Vec<(usize, Value)>,
    /// The same table with the rows that are expired and kept for a longer TTL.
    with_kept: Option<Arc<Self>>,
    /// The snapshot of an attached database that has its rows. A snapshot knows tables, so its type is not known here.
    attached: Option<Private>,
    /// What its store knows of it beyond the definition.
    store_data: Option<Private>,
}

/// A value of a type that is not known here.
#[derive(Clone)]
struct Private(Arc<dyn Any + Send + Sync>);

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Private")
    }
}

impl Table {
    /// Makes a definition ready.
    ///
    /// # Errors
    /// [`TableError::RowKey`] when the key cannot be encoded; [`TableError::Value`] for a DEFAULT that cannot be computed.
    pub fn new(def: Arc<TableDef>) -> Result<Self, TableError> {
        let codec = Arc::new(RowKeyCodec::new(&def.key)?);
        let schema = Arc::new(arrow_schema(&def));
        let absent = |column: &ColumnDef| match (&column.absent, &column.default) {
            (Some(value), _) => Ok(value.clone()),
            (None, None) => Ok(Value::Null),
            (None, Some(default)) => eval::eval(&default.expr, &[])
                .map_err(|source| TableError::Value { column: Some(format!("{}.{}", def.name, column.name)), source }),
        };
        let absent = def.columns.iter().map(absent).collect::<Result<_, _>>()?;
        let is_generated = |column: &ColumnDef| {
            column.generated().is_some() || column.identity().is_some_and(|identity| identity.always)
        };
        let has_generated = def.columns.iter().any(is_generated);
        let (time_column, split_keys) = (def.time_column(), split_keys(&def));
        let indexes = def.indexes.iter().map(|index| Index::new(&def, index)).collect::<Result<_, _>>()?;
        let with_kept = match def.kept_s() {
            ttl_s if ttl_s == def.ttl_s => None,
            ttl_s => {
                let def = TableDef { ttl_s, indexes: Vec::new(), ..TableDef::clone(&def) };
                Some(Arc::new(Self::new(Arc::new(def))?))
            }
        };
        let (as_of_ms, attached, store_data) = (None, None, None);
        Ok(Self {
            def,
            codec,
            schema,
            absent,
            has_generated,
            time_column,
            split_keys,
            as_of_ms,
            indexes,
            is_compared: false,
            constants: Vec::new(),
            with_kept,
            attached,
            store_data,
        })
    }

    /// The table as a statement reads it at an instant, in milliseconds since 1970.
    #[must_use]
    pub fn as_of(&self, at_ms: i64) -> Self {
        Self { as_of_ms: Some(at_ms), ..self.clone() }
    }

    /// The same table of a store whose commits compare rows: see [`Table::is_compared`].
    #[must_use]
    pub fn compared(self) -> Self {
        Self { is_compared: true, ..self }
    }

    /// Whether a commit compares each row with what the statement has read of it ([`OldRow`](crate::OldRow)), because the store has no snapshots of
    /// all tables to check it against. A statement that changes rows that it has found must know them whole.
    pub fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// The same table, of whose rows its store shows those alone that have these values in these columns.
    #[must_use]
    pub fn with_constants(self, constants: Vec<(usize, Value)>) -> Self {
        Self { constants, ..self }
    }

    /// The values that all of its rows have, each with the index of its column: queries take them as conditions. The store leaves out all other rows
    /// by itself.
    pub fn constants(&self) -> &[(usize, Value)] {
        &self.constants
    }

    /// Its secondary indexes, in the order of their creation.
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// All that has entries of its rows, which writes keep in step: its indexes, and those that are to take the place of one.
    pub fn written_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().flat_map(|index| std::iter::once(index).chain(index.rebuilt()))
    }

    /// The table by a longer TTL that it is to get, while its indexes are rebuilt for it: rows that are expired by the TTL that it has
    /// are kept, and new entries may name them. `None` if no rows are kept so.
    pub fn with_kept_rows(&self) -> Option<&Arc<Self>> {
        self.with_kept.as_ref()
    }

    /// The same table with the tables of its indexes' entries as a store has opened them.
    #[must_use]
    pub(crate) fn with_entries(self, open: impl Fn(Table) -> Arc<Table>) -> Self {
        let indexes = self.indexes.iter().cloned().map(|index| index.with_entries(&open)).collect();
        Self { indexes, ..self }
    }

    /// The instant at which a statement reads it, in milliseconds since 1970; `None` is now.
    pub fn as_of_ms(&self) -> Option<i64> {
        self.as_of_ms
    }

    /// A table of an attached database under the name that it has here. Its rows are those of a snapshot.
    #[must_use]
    pub(crate) fn with_rows(&self, name: TableName, rows: Arc<dyn Any + Send + Sync>) -> Self {
        let def = Arc::new(TableDef { name, ..TableDef::clone(&self.def) });
        Self { def, attached: Some(Private(rows)), ..self.clone() }
    }

    pub(crate) fn rows<T: 'static>(&self) -> Option<&T> {
        self.attached.as_ref()?.0.downcast_ref()
    }

    /// The same table with what its store knows of it beyond the definition. Nobody else reads it.
    #[must_use]
    pub fn with_store_data<T: Send + Sync + 'static>(self, data: Arc<T>) -> Self {
        Self { store_data: Some(Private(data)), ..self }
    }

    /// What its store knows of it beyond the definition; `None` without such data, and if they are another store's.
    pub fn store_data<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.store_data.as_ref()?.0.clone().downcast().ok()
    }

    /// Whether its rows are in an attached database. They are read and never written, and its number means nothing here.
    pub fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    /// The value of a column, by index, in rows that are older than it: its DEFAULT, or NULL.
    pub fn absent(&self, column: usize) -> &Value {
        self.absent.get(column).unwrap_or(&Value::Null)
    }

    /// Whether it has columns that are GENERATED ALWAYS: by an expression, or as identities.
    pub fn has_generated(&self) -> bool {
        self.has_generated
    }

    /// Which of the table's definitions this is: each change makes the next one.
    pub fn version(&self) -> u32 {
        self.def.history.version
    }

    /// The definition.
    pub fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    /// The key's codec.
    pub fn codec(&self) -> &Arc<RowKeyCodec> {
        &self.codec
    }

    /// Every column under the name that finds it ([`TableDef::unique_name`]), then `_row_key` and `_row_time`.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// A column by index as expressions name it.
    pub fn column_ref(&self, index: usize, span: Option<Span>) -> Option<ColumnRef> {
        let ColumnDef { ty, nullable, .. } = *self.def.columns.get(index)?;
        Some(ColumnRef { index, name: self.schema.field(index).name().clone(), ty, nullable, span })
    }

    /// The name of the column at this index, as [`Table::column_ref`] has it; `None` of those that no definition has.
    pub fn column_name(&self, index: usize) -> Option<&str> {
        (index < self.def.columns.len()).then(|| self.schema.field(index).name().as_str())
    }

    /// The index of the hidden column that holds the physical row key.
    pub fn row_key_index(&self) -> usize {
        self.def.columns.len()
    }

    /// The index of the hidden column that holds the time of a row.
    pub fn row_time_index(&self) -> usize {
        self.def.columns.len() + 1
    }

    /// How many columns there are with these two.
    pub fn width(&self) -> usize {
        self.def.columns.len() + 2
    }

    /// The type of a column by index, `_row_key` and `_row_time` included.
    pub fn column_type(&self, index: usize) -> SqlType {
        let hidden = if index == self.row_time_index() { SqlType::Date } else { SqlType::Varbinary };
        self.def.columns.get(index).map_or(hidden, |c| c.ty)
    }

    /// The keys at which scans of the table may be divided, in ascending order: those of SPLIT ON.
    pub fn split_keys(&self) -> &[Vec<u8>] {
        &self.split_keys
    }

    /// The column whose values are the times of rows, if they have one.
    pub fn time_column(&self) -> Option<TimeColumn> {
        self.time_column
    }

    /// The time that a row has by the value of such a column, in milliseconds since 1970; `None` is the time of its write.
    /// A row without a value is [from no time](NO_TIME_MS).
    ///
    /// # Errors
    /// A negative ROW_TIMESTAMP.
    pub fn row_time_ms(&self, row: &[Value]) -> Result<Option<i64>, TableError> {
        let Some(TimeColumn { column, is_row_timestamp }) = self.time_column else { return Ok(None) };
        let value = row.get(column).unwrap_or(&Value::Null);
        let ms = match value {
            Value::Null => NO_TIME_MS,
            Value::Int(ms) => *ms,
            instant => text::instant(instant).map_or(NO_TIME_MS, |at| at.ms),
        };
        if is_row_timestamp && ms < 0 {
            let name = self.def.columns.get(column).map_or("", |column| &column.name);
            let value = text::format(value, self.column_type(column)).unwrap_or_default();
            let source = ValueError::OutOfRange { value, target: "a ROW_TIMESTAMP, which is not before 1970".into() };
            return Err(TableError::Value { column: Some(format!("{}.{name}", self.def.name)), source });
        }
        Ok(Some(ms))
    }

    /// The physical key of a row of all columns, its computed parts included.
    ///
    /// # Errors
    /// [`TableError::NotNull`] for a NULL that a computed part of fixed width is made from;
    /// [`TableError::Value`] where a part cannot be computed; [`TableError::RowKey`].
    pub fn row_key(&self, row: &[Value]) -> Result<Vec<u8>, TableError> {
        let key = &self.def.key.columns;
        if row.len() < self.def.columns.len() {
            debug_assert!(false, "a row of {} values in {}", row.len(), self.def.name);
            return Err(RowKeyError::ValueCount { given: row.len(), expected: self.def.columns.len() }.into());
        }
        let computed = match key.iter().any(|part| part.computed().is_some()) {
            true => key.iter().map(|part| self.computed(part, row)).collect::<Result<Vec<_>, _>>()?,
            false => Vec::new(),
        };
        let pick = |position: usize| match (key.get(position).and_then(KeyColumn::column), computed.get(position)) {
            (Some(column), _) => row.get(column).unwrap_or(&Value::Null),
            (None, Some(value)) => value,
            (None, None) => &Value::Null,
        };
        let mut bytes = Vec::with_capacity(KEY_BYTES_EXPECTED);
        self.codec.encode_with(pick, &mut bytes)?;
        Ok(bytes)
    }

    /// The values of a row key as SQL text, for errors; in hex if it is no key of the table.
    pub fn key_text(&self, key: &[u8]) -> String {
        let Ok(values) = self.codec.decode(key) else { return text::hex(key) };
        let columns = self.def.key.columns.iter().zip(&values);
        columns.map(|(column, value)| text::literal(value, column.ty)).collect::<Vec<_>>().join(", ")
    }

    /// The values of a physical key that may be cut off anywhere, as far as they are known: `'a', 1`; with the bucket of a salted table before
    /// them, `bucket 3: 'a', 1`, or `bucket 3`. Bytes that are no values are in hex; a text may be cut off, too.
    pub fn key_prefix_text(&self, key: &[u8]) -> String {
        let (salt, rest) = key.split_at(self.codec.bucket_bytes().min(key.len()));
        let bucket = salt.first().map(|bucket| format!("bucket {bucket}"));
        let values = (!rest.is_empty()).then(|| self.leading_values_text(key).unwrap_or_else(|| text::hex(rest)));
        bucket.into_iter().chain(values).collect::<Vec<_>>().join(": ")
    }

    /// The values of the first columns of a key that may be cut off, as many as there are; `None` if there are none.
    fn leading_values_text(&self, key: &[u8]) -> Option<String> {
        let columns = &self.def.key.columns;
        let decode = |count: usize| {
            let mut slices = KeySlices::new();
            self.codec.split_first(key, count, &mut slices).ok()?;
            // A column that ends before it began is absent, and perhaps cut off.
            let is_there = slices.get(key, count.checked_sub(1)?).is_some();
            let values = || (0..count).map(|column| self.codec.decode_column(key, &slices, column).ok()).collect();
            if is_there { values() } else { None }
        };
        let values: Vec<Value> = (1..=columns.len()).rev().find_map(decode)?;
        let texts = columns.iter().zip(&values).map(|(column, value)| text::literal(value, column.ty));
        Some(texts.collect::<Vec<_>>().join(", "))
    }

    /// The logical keys of all rows whose first `columns` key columns have the values of this row; `None` where no row can
    /// have them.
    ///
    /// # Errors
    /// As [`Table::row_key`].
    pub fn key_prefix(&self, row: &[Value], columns: usize) -> Result<Option<KeyRange>, TableError> {
        let value = |part: &KeyColumn| match part.column() {
            Some(column) => Ok(row.get(column).cloned().unwrap_or(Value::Null)),
            None => self.computed(part, row),
        };
        let values = self.def.key.columns.iter().take(columns).map(value).collect::<Result<Vec<_>, _>>()?;
        Ok(self.codec.prefix_range(&values)?)
    }

    /// The value of a computed key column; NULL for one of the table's own.
    fn computed(&self, part: &KeyColumn, row: &[Value]) -> Result<Value, TableError> {
        let Some(expr) = part.computed() else { return Ok(Value::Null) };
        let table = || self.def.name.to_string();
        let value = part
            .value(row)
            .map_err(|source| TableError::Value { column: Some(format!("{}.{}", table(), part.name)), source })?;
        let missing = |column: &usize| row.get(*column).is_none_or(Value::is_null);
        match expr.columns().into_iter().find(missing).and_then(|column| self.def.columns.get(column)) {
            Some(input) if value.is_null() && !part.nullable => {
                Err(TableError::NotNull { table: table(), column: input.name.clone() })
            }
            _ => Ok(value),
        }
    }

    /// The time at or before which a row written is expired at `now_ms`; `None` without a TTL.
    pub fn expired_ms(&self, now_ms: i64) -> Option<i64> {
        let ttl_ms = i64::try_from(self.def.ttl_s?).ok()?.checked_mul(1000)?;
        now_ms.checked_sub(ttl_ms)
    }
}

/// An index of a table, made ready: the table of its entries, and the key by which statements are planned.
#[derive(Clone, Debug)]
pub struct Index {
    def: IndexDef,
    table: Arc<TableName>,
    entries: Arc<Table>,
    columns: Vec<usize>,
    key_columns: Vec<usize>,
    never_null: Vec<bool>,
    key: KeySchema,
    codec: Arc<RowKeyCodec>,
    rows: Arc<RowsOfEntries>,
    rebuilt: Option<Box<Self>>,
}

impl Index {
    /// # Errors
    /// [`TableError::RowKey`] when the key of its entries cannot be encoded.
    pub fn new(def: &TableDef, index: &IndexDef) -> Result<Self, TableError> {
        let key = index.key(def);
        let rows = RowsOfEntries::new(RowKeyCodec::new(&def.key)?, &key, index.places_of_row_key(def))?;
        let rows = Arc::new(rows);
        let codec = |schema: &KeySchema| match index.local {
            true => RowKeyCodec::of_local_entries(schema, &rows),
            false => RowKeyCodec::new(schema),
        };
        let entries = Table::new(Arc::new(entries_def(def, index)))?;
        let entries = Table { codec: Arc::new(codec(&entries.def.key)?), ..entries };
        let rebuilt = index.rebuild.zip(index.rebuilt()).map(|(Rebuild { ttl_s, .. }, index)| {
            let index = Self::new(&TableDef { ttl_s, ..def.clone() }, &index)?;
            Ok::<_, TableError>(Box::new(index))
        });
        Ok(Self {
            rebuilt: rebuilt.transpose()?,
            entries: Arc::new(entries),
            columns: index.columns(def),
            never_null: index.parts.iter().map(|part| !part.expr.is_nullable()).collect(),
            key_columns: def.key.columns.iter().filter_map(KeyColumn::column).collect(),
            codec: Arc::new(codec(&key)?),
            rows,
            key,
            table: Arc::new(def.name.clone()),
            def: index.clone(),
        })
    }

    /// The definition.
    pub fn def(&self) -> &IndexDef {
        &self.def
    }

    /// The name of the table that it indexes.
    pub fn table_name(&self) -> &TableName {
        &self.table
    }

    /// The table of its entries.
    pub fn entries(&self) -> &Arc<Table> {
        &self.entries
    }

    /// The same with another form of the table of its entries, as a store has opened it.
    #[must_use]
    pub fn with_entries(self, open: &dyn Fn(Table) -> Arc<Table>) -> Self {
        let rebuilt = self.rebuilt.map(|index| Box::new(index.with_entries(open)));
        Self { entries: open(Table::clone(&self.entries)), rebuilt, ..self }
    }

    /// The index with the entries that are to take the place of these, while it is rebuilt. They are not complete.
    pub fn rebuilt(&self) -> Option<&Self> {
        self.rebuilt.as_deref()
    }

    /// The columns of the table that an entry has, by index, in the order of the entry's columns.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The columns of the table's key, by index in the table, in key order.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// Whether each of its parts is never NULL.
    pub fn never_null(&self) -> &[bool] {
        &self.never_null
    }

    /// The column of an entry that is this column of the table; `None` if entries do not have it.
    pub fn entry_column(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// The key of its entries over the columns of the table.
    pub fn key(&self) -> &KeySchema {
        &self.key
    }

    /// The codec of [`Index::key`].
    pub fn codec(&self) -> &Arc<RowKeyCodec> {
        &self.codec
    }

    /// Whether each row has its entry, so that statements may read it.
    pub fn is_ready(&self) -> bool {
        self.def.state == IndexState::Ready
    }

    /// Whether each row has its entry.
    pub fn is_complete(&self) -> bool {
        self.def.state != IndexState::Building
    }

    /// The values of its parts in an entry.
    ///
    /// # Errors
    /// [`TableError::Value`] where one cannot be computed.
    pub fn part_values(&self, entry: &[Value]) -> Result<Vec<Value>, TableError> {
        let value = |part: &IndexPart| {
            let mut expr = part.expr.clone();
            expr.map_columns(&mut |column| column.index = self.entry_column(column.index).unwrap_or(column.index));
            let column = || Some(format!("{}.{}", self.def.name, part.text));
            eval::eval(&expr, entry).map_err(|source| TableError::Value { column: column(), source })
        };
        self.def.parts.iter().map(value).collect()
    }

    /// The physical key of the row that an entry names, by the physical key of the entry.
    ///
    /// # Errors
    /// [`TableError::RowKey`] if this is not the key of an entry.
    pub fn row_key(&self, entry: &[u8], slices: &mut KeySlices) -> Result<Vec<u8>, TableError> {
        Ok(self.rows.row_key(&self.codec, entry, slices)?)
    }

    /// The entry of a row: a value for each column of [`Index::entries`]. `None` if the index is partial and the row is not
    /// one of its rows.
    ///
    /// # Errors
    /// [`TableError::Value`] where its predicate cannot be computed.
    pub fn entry(&self, row: &[Value]) -> Result<Option<Vec<Value>>, TableError> {
        if let Some(predicate) = &self.def.predicate {
            let column = || Some(format!("{}, WHERE {}", self.def.name, predicate.text));
            let met = eval::eval(&predicate.expr, row);
            if met.map_err(|source| TableError::Value { column: column(), source })? != Value::Bool(true) {
                return Ok(None);
            }
        }
        Ok(Some(self.columns.iter().map(|column| row.get(*column).cloned().unwrap_or(Value::Null)).collect()))
    }
}

fn split_keys(def: &TableDef) -> Vec<Vec<u8>> {
    let keys = def.option(SPLIT_KEYS).and_then(Value::as_text).unwrap_or_default();
    keys.split(',').filter(|key| !key.is_empty()).filter_map(text::unhex).collect()
}

fn arrow_schema(def: &TableDef) -> Schema {
    let columns = def.columns.iter().map(|c| Field::new(def.unique_name(c), arrow_type(c.ty), c.nullable));
    let row_key = Field::new(ROW_KEY_COLUMN, DataType::Binary, false);
    let row_time = Field::new(ROW_TIME_COLUMN, arrow_type(SqlType::Date), true);
    Schema::new(columns.chain([row_key, row_time]).collect::<Vec<_>>())
}
