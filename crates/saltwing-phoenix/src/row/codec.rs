//! Encodes and decodes the rows of one table.

use std::collections::BTreeMap;

use saltwing_rowkey::RowKeyCodec;
use saltwing_types::Value;

use super::format::{RowFormat, StorageScheme, ValueColumn};
use crate::{CellCodec, FIRST_QUALIFIER, PhoenixError};

/// The qualifier of a cell that has all columns of its family.
pub(super) const PACKED_QUALIFIER: &[u8] = b"1";
/// Most slots of a packed cell: as many as numbers of two bytes, of which a table has far fewer columns.
const SLOTS_MAX: u32 = 65_535;

/// Encodes and decodes the rows of one table.
///
/// Made once for a format, then shared and called for every row.
///
/// # Laws
/// 1. The cells of [`RowCodec::upsert`] with a value or NULL for each column are decoded to these values; empty ones are NULL.
/// 2. Cells of families and qualifiers that the format has not (dynamic columns, dropped columns, local indexes) change nothing.
/// 3. Any cells give a row or an error, never a panic; memory is linear in their bytes and in the table's columns.
#[derive(Clone, Debug)]
pub struct RowCodec {
    pub(super) format: RowFormat,
    pub(super) key: RowKeyCodec,
    pub(super) columns: Vec<CellCodec>,
    /// For each family what its packed cell has; empty if each column has a cell of its own.
    pub(super) families: Vec<FamilySlots>,
    /// The places of the columns, sorted by family and qualifier.
    pub(super) sorted: Vec<usize>,
}

/// Which columns a packed cell has.
#[derive(Clone, Debug)]
pub(super) struct FamilySlots {
    pub(super) family: String,
    /// Slots without the first one; those that no column has are of dropped columns.
    pub(super) count: usize,
    /// Slot and column, by slots.
    pub(super) columns: BTreeMap<usize, usize>,
}

impl RowCodec {
    /// A codec of one table's rows.
    ///
    /// # Errors
    /// [`PhoenixError`] for a key that cannot be defined, a type without cells, two columns with one cell, and qualifiers
    /// that are not of the table's scheme where cells have several columns.
    pub fn new(format: RowFormat) -> Result<Self, PhoenixError> {
        let key = RowKeyCodec::new(&format.key)?;
        let columns = format.columns.iter().map(|column| {
            CellCodec::new(column.ty).map_err(|error| PhoenixError::ColumnType { column: column.name.clone(), error })
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut sorted: Vec<usize> = (0..columns.len()).collect();
        let place = |index: &usize| format.columns.get(*index).map(cell_of);
        sorted.sort_by(|a, b| place(a).cmp(&place(b)));
        if sorted.windows(2).any(|pair| matches!(pair, [a, b] if place(a) == place(b))) {
            return Err(PhoenixError::Format("two columns have one cell".into()));
        }
        let families = match format.storage {
            StorageScheme::CellPerColumn => Vec::new(),
            StorageScheme::CellPerFamily => family_slots(&format)?,
        };
        Ok(Self { key, columns, families, sorted, format })
    }

    /// The format.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// The codec of the row keys.
    pub fn key(&self) -> &RowKeyCodec {
        &self.key
    }

    /// Family and qualifier of the cell that has the values of a column, by its place among the format's columns; `None` if there is no such
    /// column. Columns of a packed cell have the same one.
    pub fn cell_of_column(&self, column: usize) -> Option<(&str, &[u8])> {
        let column = self.format.columns.get(column)?;
        Some(match self.format.storage {
            StorageScheme::CellPerColumn => (&column.family, &column.qualifier),
            StorageScheme::CellPerFamily => (&column.family, PACKED_QUALIFIER),
        })
    }

    /// The families in which a row has cells, in the order of their names.
    pub fn family_names(&self) -> Vec<&str> {
        let columns = self.format.columns.iter().map(|column| column.family.as_str());
        let mut names: Vec<&str> = columns.chain([self.format.empty_family.as_str()]).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether Phoenix reads this value of a key column as NULL although it is none: its bytes are those of NULL.
    pub(super) fn is_empty_key_value(&self, place: usize, value: Option<&Value>) -> bool {
        let varies = self.format.key.columns.get(place).is_some_and(|column| column.ty.fixed_key_bytes().is_none());
        let is_empty = match value {
            Some(Value::Text(text)) => text.is_empty(),
            Some(Value::Bytes(bytes)) => bytes.is_empty(),
            Some(Value::Array(elements)) => elements.is_empty(),
            _ => false,
        };
        varies && is_empty
    }

    /// The place of the column with this cell; `None` if the format has none.
    pub(super) fn column(&self, family: &[u8], qualifier: &[u8]) -> Option<usize> {
        let cell = |index: &usize| self.format.columns.get(*index).map(cell_of);
        let found = self.sorted.binary_search_by(|index| cell(index).cmp(&Some((family, qualifier)))).ok()?;
        self.sorted.get(found).copied()
    }
}

fn cell_of(column: &ValueColumn) -> (&[u8], &[u8]) {
    (column.family.as_bytes(), &column.qualifier)
}

/// The slots of each family's packed cell: as many as the largest number among its columns.
fn family_slots(format: &RowFormat) -> Result<Vec<FamilySlots>, PhoenixError> {
    let mut families: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    for (index, column) in format.columns.iter().enumerate() {
        let number = format.qualifiers.decode(&column.qualifier);
        let slot = number.filter(|number| *number <= SLOTS_MAX).and_then(|number| number.checked_sub(FIRST_QUALIFIER));
        let Some(slot) = slot.and_then(|slot| usize::try_from(slot).ok()) else {
            return Err(PhoenixError::Format(format!("column {}: its qualifier tells no slot", column.name)));
        };
        families.entry(&column.family).or_default().insert(slot, index);
    }
    let slots = families.into_iter().map(|(family, columns)| FamilySlots {
        family: family.to_owned(),
        count: columns.last_key_value().map_or(0, |(slot, _)| slot + 1),
        columns,
    });
    Ok(slots.collect())
}
