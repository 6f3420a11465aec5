//! A table as this layer uses it: its definition with codec and layouts made ready.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parking_lot::Mutex;
use saltwing_expr::arrow_type;
use saltwing_rowkey::{KEY_BYTES_EXPECTED, RowKeyCodec};
use saltwing_types::table::{BLOCK_BYTES, BLOCK_BYTES_MAX, BLOCK_ROWS, BLOCK_ROWS_MAX, ROW_KEY_COLUMN};
use saltwing_types::{KeyColumn, SqlType, TableDef, Value, eval};

use crate::packed::BlockLimits;
use crate::row_format::FamilyLayout;
use crate::{LayoutOptions, TableError};

/// A table that can be read and written.
#[derive(Debug)]
pub struct Table {
    def: Arc<TableDef>,
    codec: Arc<RowKeyCodec>,
    schema: SchemaRef,
    layouts: Vec<FamilyLayout>,
    /// By family: the column of each slot; `None` where it was dropped.
    slot_columns: Vec<Vec<Option<usize>>>,
    /// What a column reads as in rows older than it.
    absent: Vec<Value>,
    /// The next hidden row id; `None` until the first insert has looked for the largest.
    pub(crate) next_row_id: Mutex<Option<i64>>,
}

impl Table {
    /// Makes a definition ready.
    ///
    /// # Errors
    /// [`TableError::RowKey`] when the key cannot be encoded.
    pub fn new(def: Arc<TableDef>) -> Result<Self, TableError> {
        let codec = Arc::new(RowKeyCodec::new(&def.key)?);
        let slots: Vec<_> = (0..def.families.len()).map(|family| def.slots(family)).collect();
        let layouts = slots.iter().map(|slots| FamilyLayout::new(slots.iter().map(|(ty, _)| *ty))).collect();
        let slot_columns =
            slots.into_iter().map(|slots| slots.into_iter().map(|(_, column)| column).collect()).collect();
        let absent = def
            .columns
            .iter()
            .map(|c| c.default.as_ref().and_then(|d| eval::eval(&d.expr, &[]).ok()).unwrap_or(Value::Null))
            .collect();
        let schema = Arc::new(arrow_schema(&def));
        Ok(Self { def, codec, schema, layouts, slot_columns, absent, next_row_id: Mutex::default() })
    }

    /// Which of the table's definitions this is: each change makes the next one.
    pub(crate) fn version(&self) -> u32 {
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

    /// Every column with its declared name, and `_row_key` last.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The index of the hidden column that holds the physical row key.
    pub fn row_key_index(&self) -> usize {
        self.def.columns.len()
    }

    /// The type of a column by index, `_row_key` included.
    pub fn column_type(&self, index: usize) -> SqlType {
        self.def.columns.get(index).map_or(SqlType::Varbinary, |c| c.ty)
    }

    /// The physical key of a row of all columns, its computed parts included.
    ///
    /// # Errors
    /// [`TableError::NotNull`] for a NULL that a computed part of fixed width is made from;
    /// [`TableError::Value`] where a part cannot be computed; [`TableError::RowKey`].
    pub fn row_key(&self, row: &[Value]) -> Result<Vec<u8>, TableError> {
        let key = &self.def.key.columns;
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

    pub(crate) fn layout(&self, family: usize) -> Option<&FamilyLayout> {
        self.layouts.get(family)
    }

    /// How large blocks of the table are: as its definition says, else as the options say. What the definition says
    /// beyond the limits counts as the limit.
    pub(crate) fn block_limits(&self, options: &LayoutOptions) -> BlockLimits {
        let said = |name, most: u64| match self.def.option(name) {
            Some(Value::Int(number)) => Some(number.clamp(&1, &(most as i64)).unsigned_abs() as usize),
            _ => None,
        };
        BlockLimits {
            rows: said(BLOCK_ROWS, BLOCK_ROWS_MAX).unwrap_or(options.block_rows),
            bytes: said(BLOCK_BYTES, BLOCK_BYTES_MAX).unwrap_or(options.block_bytes),
        }
    }

    pub(crate) fn family_count(&self) -> usize {
        self.layouts.len()
    }

    /// The time at or before which a row written is expired at `now_ms`; `None` without a TTL.
    pub(crate) fn expired_ms(&self, now_ms: i64) -> Option<i64> {
        let ttl_ms = i64::try_from(self.def.ttl_s?).ok()?.checked_mul(1000)?;
        now_ms.checked_sub(ttl_ms)
    }

    /// The value of a family's slot in a row of all columns.
    pub(crate) fn slot_value<'a>(&self, family: usize, slot: usize, row: &'a [Value]) -> &'a Value {
        let column = self.slot_columns.get(family).and_then(|slots| slots.get(slot));
        column.copied().flatten().and_then(|c| row.get(c)).unwrap_or(&Value::Null)
    }

    /// Whether the family is stored with the row: the first always is, another one where it has a value, or NULL for
    /// a column that reads otherwise in a row without the family.
    pub(crate) fn is_stored(&self, family: usize, row: &[Value]) -> bool {
        let has_value = |column: usize| row.get(column).is_some_and(|v| !v.is_null());
        family == 0 || self.has_default(family) || self.slot_columns(family).any(has_value)
    }

    /// Whether a column of the family reads as a value in rows that are older than it.
    pub(crate) fn has_default(&self, family: usize) -> bool {
        self.slot_columns(family).any(|column| !self.absent(column).is_null())
    }

    /// How many slots a family has, those of dropped columns included.
    pub(crate) fn slot_count(&self, family: usize) -> usize {
        self.slot_columns.get(family).map_or(0, Vec::len)
    }

    /// The columns of a family, by index, in slot order.
    pub(crate) fn slot_columns(&self, family: usize) -> impl Iterator<Item = usize> {
        self.slot_columns.get(family).into_iter().flatten().copied().flatten()
    }

    pub(crate) fn absent(&self, column: usize) -> &Value {
        self.absent.get(column).unwrap_or(&Value::Null)
    }
}

fn arrow_schema(def: &TableDef) -> Schema {
    let columns = def.columns.iter().map(|c| Field::new(&c.name, arrow_type(c.ty), c.nullable));
    let row_key = Field::new(ROW_KEY_COLUMN, DataType::Binary, false);
    Schema::new(columns.chain([row_key]).collect::<Vec<_>>())
}
