//! Single rows as values, without batches.

use std::sync::Arc;

use saltwing_rowkey::KeySlices;
use saltwing_types::{SqlType, Value};

use crate::decode::{Source, corrupt};
use crate::packed::block::{FixCells, FixPart, VarPart};
use crate::packed::block_ref::BlockRef;
use crate::packed::delta::StoredRow;
use crate::row_format::{SlotBytes, slot_value};
use crate::walk::{Found, Piece};
use crate::{Table, TableError};

/// Which columns are wanted of single rows, made ready once for many rows.
pub struct PointShape {
    table: Arc<Table>,
    columns: Box<[PointColumn]>,
}

struct PointColumn {
    index: usize,
    ty: SqlType,
    source: Source,
}

impl PointShape {
    /// These columns of the table, by index; [`Table::row_key_index`] is `_row_key`.
    pub fn new(table: &Arc<Table>, columns: impl IntoIterator<Item = usize>) -> Self {
        let column = |index| PointColumn { index, ty: table.column_type(index), source: Source::of(table, index) };
        Self { table: table.clone(), columns: columns.into_iter().map(column).collect() }
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// How many columns are wanted.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The values of a row that was found by its key.
    pub(crate) fn values(&self, key: &[u8], found: Found) -> Result<Vec<Value>, TableError> {
        let table = &*self.table;
        let Found { piece, lead } = found;
        let mut parts = RowParts { fix: lead.map(|lead| (0, Some(lead))), var: None };
        let mut slices = KeySlices::default();
        let mut values = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            values.push(match (column.source, &piece) {
                (Source::RowKey, _) => Value::Bytes(key.to_vec()),
                (Source::Key { position, .. }, _) => {
                    if slices.is_empty() {
                        table.codec().split(key, &mut slices)?;
                    }
                    table.codec().decode_column(key, &slices, position)?
                }
                (Source::Stored { family, slot }, Piece::Row { row, .. }) => {
                    recent_value(table, key, row, (family, slot), column)?
                }
                (Source::Stored { family, slot }, Piece::Block { block, rows }) => {
                    let value = parts.value(block, rows.start, (family, slot), column.ty)?;
                    value.unwrap_or_else(|| table.absent(column.index).clone())
                }
                (Source::Stored { .. }, Piece::Passed(_)) => Value::Null,
            });
        }
        Ok(values)
    }
}

fn recent_value(
    table: &Table,
    key: &[u8],
    row: &StoredRow,
    (family, slot): (usize, u16),
    column: &PointColumn,
) -> Result<Value, TableError> {
    let absent = || table.absent(column.index).clone();
    let (Some(bytes), Some(layout)) = (row.family(family), table.layout(family)) else { return Ok(absent()) };
    let row = layout.read(bytes).ok_or_else(|| corrupt(table, key, "header"))?;
    match row.slot(slot.into()).ok_or_else(|| corrupt(table, key, "column"))? {
        SlotBytes::Null => Ok(Value::Null),
        SlotBytes::Absent => Ok(absent()),
        SlotBytes::Value(bytes) => slot_value(column.ty, bytes).ok_or_else(|| corrupt(table, key, "column")),
    }
}

/// What is needed of a block for single values, as far as it was read.
struct RowParts {
    fix: Option<(usize, Option<Arc<FixPart>>)>,
    var: Option<(usize, Option<Arc<VarPart>>)>,
}

impl RowParts {
    /// A value; `None` where the column is younger than the block, or all of its family are NULL.
    fn value(
        &mut self,
        block: &Arc<BlockRef>,
        row: usize,
        (family, slot): (usize, u16),
        ty: SqlType,
    ) -> Result<Option<Value>, TableError> {
        if self.fix.as_ref().is_none_or(|(of, _)| *of != family) {
            self.fix = Some((family, block.fix(family as u8)?));
        }
        let Some((_, Some(fix))) = &self.fix else { return Ok(None) };
        let Some(stored) = fix.column(slot) else { return Ok(None) };
        if stored.nulls.is_null(fix.bytes(), row) {
            return Ok(Some(Value::Null));
        }
        let value = match stored.cells {
            FixCells::Ints(ints) => Some(int_value(ty, ints.get(fix.bytes(), row))),
            FixCells::Raw { width, at } => fix.raw(width, at, row..row + 1).and_then(|bytes| slot_value(ty, bytes)),
            FixCells::Var => {
                if self.var.as_ref().is_none_or(|(of, _)| *of != family) {
                    self.var = Some((family, block.var(family as u8)?));
                }
                let part = self.var.as_ref().and_then(|(_, part)| part.as_ref());
                part.and_then(|part| slot_value(ty, part.column(slot)?.value(part.bytes(), row)?))
            }
        };
        value.map(Some).ok_or_else(|| block.damaged("a value"))
    }
}

/// A value that blocks keep as an integer.
fn int_value(ty: SqlType, value: i64) -> Value {
    use SqlType::*;
    match ty {
        Boolean => Value::Bool(value != 0),
        Date | Time | UnsignedDate | UnsignedTime => Value::Date(value),
        _ => Value::Int(value),
    }
}
