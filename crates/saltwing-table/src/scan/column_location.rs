//! Where the values of a column come from.

use saltwing_rowkey::ValueCodec;
use saltwing_types::{KeyColumn, SqlType};

use crate::engine::stored_table::StoredTable;
use crate::format::slot_format;

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnLocation {
    /// A slot of a family.
    Slot { family: usize, slot: u16 },
    /// The end of the key: one of the last key columns, all of fixed width in every key. It starts `from_end` bytes
    /// before the key's end.
    KeySuffix { position: usize, codec: ValueCodec, from_end: usize, width: usize },
    /// A column of the key before those. Neighbours mostly have the same.
    KeyPrefix { position: usize, codec: ValueCodec },
    /// The key as it is.
    RowKey,
    /// The time of the row.
    RowTime,
}

impl ColumnLocation {
    /// That of a column of the table, by index.
    pub(crate) fn of(table: &StoredTable, column: usize) -> Self {
        let def = table.def();
        let codec =
            def.key.position(column).and_then(|position| Some((position, table.codec().value_codec(position)?)));
        match (codec, def.columns.get(column)) {
            (Some((position, codec)), _) if position >= tail_from(table) => {
                let from_end = bytes_from(table, position);
                Self::KeySuffix { position, codec, from_end, width: from_end - bytes_from(table, position + 1) }
            }
            (Some((position, codec)), _) => Self::KeyPrefix { position, codec },
            (None, Some(c)) => Self::Slot { family: c.family.unwrap_or(0), slot: c.slot },
            (None, None) if column == table.row_time_index() => Self::RowTime,
            (None, None) => Self::RowKey,
        }
    }
}

/// Bytes of all key columns that stand at the end of every key with a fixed width.
pub(crate) fn tail_bytes(table: &StoredTable) -> usize {
    bytes_from(table, tail_from(table))
}

/// The first of the key columns that stand at the end of every key with a fixed width.
fn tail_from(table: &StoredTable) -> usize {
    let is_fixed = |k: &KeyColumn| slot_format::width(k.ty).is_some() && !matches!(k.ty, SqlType::Decimal(_));
    let columns = &table.def().key.columns;
    columns.len() - columns.iter().rev().take_while(|k| is_fixed(k)).count()
}

/// Bytes of such a column and those after it.
fn bytes_from(table: &StoredTable, position: usize) -> usize {
    table.def().key.columns.iter().skip(position).filter_map(|part| part.ty.fixed_key_bytes()).sum()
}
