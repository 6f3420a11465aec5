//! Stored rows into columns: only the columns that are asked for.

use arrow::array::ArrayRef;
use saltwing_expr::ColumnBuilder;
use saltwing_rowkey::{BadBytes, KeySlices, ValueCodec};
use saltwing_types::{SqlType, Value, ValueError, text};

use crate::bucket::StoredPair;
use crate::row_format::{SlotBytes, StoredRow, slot_decimal, slot_int, slot_timestamp, slot_value};
use crate::{Table, TableError};

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    Key { position: usize, codec: ValueCodec },
    RowKey,
    Stored { family: usize, slot: usize },
}

/// Builds batches of chosen columns.
pub(crate) struct RowDecoder {
    columns: Vec<(usize, Source, SqlType)>,
    builders: Vec<ColumnBuilder>,
    needs_key: bool,
    families: Vec<usize>,
    slices: KeySlices,
    scratch: Vec<u8>,
}

impl RowDecoder {
    /// A decoder of these columns of the table, by index.
    pub(crate) fn new(table: &Table, columns: &[usize], capacity: usize) -> Self {
        let columns: Vec<_> = columns.iter().map(|&c| (c, source(table, c), table.column_type(c))).collect();
        let builders = columns.iter().map(|(_, _, ty)| ColumnBuilder::new(*ty, capacity)).collect();
        let mut families: Vec<usize> = columns
            .iter()
            .filter_map(|(_, s, _)| if let Source::Stored { family, .. } = s { Some(*family) } else { None })
            .collect();
        families.sort_unstable();
        families.dedup();
        let needs_key = columns.iter().any(|(_, s, _)| matches!(s, Source::Key { .. }));
        Self { columns, builders, needs_key, families, slices: KeySlices::default(), scratch: Vec::new() }
    }

    /// Families beyond the first that must be read.
    pub(crate) fn other_families(&self) -> Vec<u8> {
        self.families.iter().filter(|f| **f > 0).map(|f| *f as u8).collect()
    }

    /// Adds one row.
    pub(crate) fn append(&mut self, table: &Table, pair: &StoredPair) -> Result<(), TableError> {
        if self.needs_key {
            table.codec().split(pair.row_key(), &mut self.slices)?;
        }
        let mut rows: Vec<Option<StoredRow<'_>>> = Vec::new();
        for &family in &self.families {
            let bytes = pair.families.get(family).and_then(Option::as_ref);
            let row = match (bytes, table.layout(family)) {
                (Some(bytes), Some(layout)) => Some(layout.read(bytes).ok_or_else(|| corrupt(table, pair, "header"))?),
                _ => None,
            };
            rows.push(row);
        }
        for ((column, source, ty), builder) in self.columns.iter().zip(&mut self.builders) {
            let appended = match *source {
                Source::RowKey => builder.append_bytes(pair.row_key()),
                Source::Key { position, codec } => match self.slices.get(pair.row_key(), position) {
                    None => builder.append_null(),
                    Some(bytes) => append_key(builder, codec, bytes, &mut self.scratch)
                        .map_err(|bad| table.codec().corrupt(position, pair.row_key(), &self.slices, bad))?,
                },
                Source::Stored { family, slot } => {
                    let row = self.families.binary_search(&family).ok().and_then(|i| rows.get(i)?.as_ref());
                    match row.map(|row| row.slot(slot)) {
                        None => builder.append_null(),
                        Some(None) => return Err(corrupt(table, pair, "column")),
                        Some(Some(SlotBytes::Null)) => builder.append_null(),
                        Some(Some(SlotBytes::Absent)) => builder.append_value(table.absent(*column)),
                        Some(Some(SlotBytes::Value(bytes))) => {
                            append_slot(builder, *ty, bytes).ok_or_else(|| corrupt(table, pair, "column"))?
                        }
                    }
                }
            };
            appended.map_err(|source| TableError::Value { column: Some(column_name(table, *column)), source })?;
        }
        Ok(())
    }

    /// The columns built so far; the decoder starts anew.
    pub(crate) fn finish(&mut self) -> Vec<ArrayRef> {
        self.builders.iter_mut().map(ColumnBuilder::finish).collect()
    }
}

fn source(table: &Table, column: usize) -> Source {
    let def = table.def();
    let codec = def.key.position(column).and_then(|position| Some((position, table.codec().value_codec(position)?)));
    match (codec, def.columns.get(column)) {
        (Some((position, codec)), _) => Source::Key { position, codec },
        (None, Some(c)) => Source::Stored { family: c.family.unwrap_or(0), slot: c.slot.into() },
        (None, None) => Source::RowKey,
    }
}

/// Appends a key column's value without a [`Value`] between.
fn append_key(
    builder: &mut ColumnBuilder,
    codec: ValueCodec,
    bytes: &[u8],
    scratch: &mut Vec<u8>,
) -> Result<Result<(), ValueError>, BadBytes> {
    use SqlType::*;
    Ok(match codec.sql_type() {
        Boolean => builder.append_bool(codec.read_bool(bytes)?),
        Float | UnsignedFloat => builder.append_f32(codec.read_f32(bytes)?),
        Double | UnsignedDouble => builder.append_f64(codec.read_f64(bytes)?),
        Date | Time | UnsignedDate | UnsignedTime => builder.append_date_ms(codec.read_i64(bytes)?),
        Timestamp | UnsignedTimestamp => builder.append_timestamp(codec.read_timestamp(bytes)?),
        Char(_) | Varchar(_) => builder.append_str(codec.read_text(bytes, scratch)?),
        Binary(_) | Varbinary | VarbinaryEncoded => builder.append_bytes(codec.read_bytes(bytes, scratch)?),
        Decimal(_) | Null => builder.append_value(&codec.decode(bytes)?),
        _ => builder.append_i64(codec.read_i64(bytes)?),
    })
}

/// Appends a stored value without a [`Value`] between; `None` when the bytes are no value of the type.
fn append_slot(builder: &mut ColumnBuilder, ty: SqlType, bytes: &[u8]) -> Option<Result<(), ValueError>> {
    use SqlType::*;
    Some(match ty {
        Boolean => builder.append_bool(*bytes.first()? != 0),
        Float | UnsignedFloat => builder.append_f32(f32::from_le_bytes(bytes.try_into().ok()?)),
        Double | UnsignedDouble => builder.append_f64(f64::from_le_bytes(bytes.try_into().ok()?)),
        Date | Time | UnsignedDate | UnsignedTime => builder.append_date_ms(slot_int(bytes)?),
        Timestamp | UnsignedTimestamp => builder.append_timestamp(slot_timestamp(bytes)?),
        Decimal(scale) => builder.append_decimal(slot_decimal(scale, bytes)?),
        Char(_) | Varchar(_) => builder.append_str(std::str::from_utf8(bytes).ok()?),
        Binary(_) | Varbinary | VarbinaryEncoded => builder.append_bytes(bytes),
        Null => builder.append_null(),
        _ => builder.append_i64(slot_int(bytes)?),
    })
}

/// A stored row as one value a column of the table.
pub(crate) fn row_values(table: &Table, pair: &StoredPair) -> Result<Vec<Value>, TableError> {
    let def = table.def();
    let mut row = vec![Value::Null; def.columns.len()];
    for (key_column, value) in def.key.columns.iter().zip(table.codec().decode(pair.row_key())?) {
        // A computed part is no column of the row.
        if let Some(place) = key_column.column().and_then(|column| row.get_mut(column)) {
            *place = value;
        }
    }
    for (column, (place, c)) in row.iter_mut().zip(&def.columns).enumerate() {
        let Some(family) = c.family else { continue };
        let bytes = pair.families.get(family).and_then(Option::as_ref);
        let (Some(bytes), Some(layout)) = (bytes, table.layout(family)) else { continue };
        let stored = layout.read(bytes).ok_or_else(|| corrupt(table, pair, "header"))?;
        *place = match stored.slot(c.slot.into()).ok_or_else(|| corrupt(table, pair, "column"))? {
            SlotBytes::Null => Value::Null,
            SlotBytes::Absent => table.absent(column).clone(),
            SlotBytes::Value(bytes) => slot_value(c.ty, bytes).ok_or_else(|| corrupt(table, pair, "column"))?,
        };
    }
    Ok(row)
}

fn column_name(table: &Table, column: usize) -> String {
    let def = table.def();
    format!("{}.{}", def.name, def.columns.get(column).map_or("_row_key", |c| &c.name))
}

fn corrupt(table: &Table, pair: &StoredPair, what: &'static str) -> TableError {
    TableError::Corrupt { table: table.def().name.to_string(), key: text::hex(pair.row_key()), what }
}
