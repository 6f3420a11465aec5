//! Rows of HBase as values of columns.

use std::sync::Arc;

use bytes::Bytes;
use hbase_client::{Get, Row, Scan};
use saltwing_access::Table;
use saltwing_phoenix::CellRef;
use saltwing_types::Value;

use crate::HbaseError;
use crate::phoenix_table::{ColumnPlace, PhoenixTable};

/// A row, with the values that its reader was made for.
#[derive(Clone, Debug)]
pub(crate) struct ReadRow {
    /// The physical key.
    pub(crate) key: Bytes,
    /// The values, in the order of the reader's columns.
    pub(crate) values: Vec<Value>,
    /// Bytes of its cells.
    pub(crate) bytes: u64,
}

/// What a scan asks the servers for, and reads in their answers.
pub(crate) trait AnswerReader: Send + Sync {
    /// Lets a scan ask for it.
    fn ask(&self, scan: Scan) -> Scan;

    /// Whether servers make rows of their own of those of the table.
    fn is_computed(&self) -> bool;

    /// Adds what an answer's row has, for rows of the table; how many of them servers have read for it.
    ///
    /// # Errors
    /// [`HbaseError::Row`], [`HbaseError::NotComputed`].
    fn read(&self, row: &Row, rows: &mut Vec<ReadRow>) -> Result<u64, HbaseError>;
}

/// Reads some columns of a table's rows.
pub(crate) struct RowReader {
    table: Arc<Table>,
    phoenix: Arc<PhoenixTable>,
    columns: Vec<usize>,
    /// The cells that are read, by family and qualifier; none are all cells.
    cells: Vec<(Bytes, Option<Bytes>)>,
}

impl RowReader {
    /// A reader of these columns, by index; the physical key and the time of the row follow the last one.
    pub(crate) fn new(table: &Arc<Table>, phoenix: Arc<PhoenixTable>, columns: Vec<usize>) -> Self {
        let cells = with_whole_families(&phoenix, cells_of(&phoenix, &columns));
        Self { table: table.clone(), phoenix, columns, cells }
    }

    /// The place of a column among those that are read.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        self.columns.iter().position(|read| *read == column)
    }

    /// The row of a physical key.
    pub(crate) fn get(&self, key: &[u8]) -> Get {
        let get = Get::new(Bytes::copy_from_slice(key));
        self.cells.iter().fold(get, |get, (family, qualifier)| match qualifier {
            Some(qualifier) => get.column(family.clone(), qualifier.clone()),
            None => get.family(family.clone()),
        })
    }

    /// The values of a row; `None` if it is no row of the table.
    ///
    /// # Errors
    /// [`HbaseError::Row`].
    pub(crate) fn read(&self, row: &Row) -> Result<Option<ReadRow>, HbaseError> {
        if row.is_empty() {
            return Ok(None);
        }
        let cells = row.cells().iter().map(|cell| CellRef {
            family: cell.family(),
            qualifier: cell.qualifier(),
            value: cell.value(),
        });
        let damaged = |error| HbaseError::Row { table: self.table.def().name.to_string(), error };
        let Some(decoded) = self.phoenix.codec.decode(row.key(), cells).map_err(damaged)? else { return Ok(None) };
        let value = |column: usize| match self.phoenix.places.get(column) {
            Some(ColumnPlace::Key(place)) => decoded.key.get(*place).cloned().unwrap_or(Value::Null),
            Some(ColumnPlace::Value(place)) => match decoded.values.get(*place) {
                Some(Some(value)) => value.clone(),
                _ => self.table.absent(column).clone(),
            },
            None if column == self.table.row_key_index() => Value::Bytes(row.key().to_vec()),
            None => time_of(&self.phoenix, row),
        };
        if !self.phoenix.constants.iter().all(|(column, constant)| is_same(&value(*column), constant)) {
            return Ok(None);
        }
        let bytes = row.cells().iter().map(|cell| cell.key_value().len() as u64).sum();
        let values = self.columns.iter().map(|column| value(*column)).collect();
        Ok(Some(ReadRow { key: Bytes::copy_from_slice(row.key()), values, bytes }))
    }
}

impl AnswerReader for RowReader {
    /// The cells that are needed.
    fn ask(&self, scan: Scan) -> Scan {
        self.cells.iter().fold(scan, |scan, (family, qualifier)| match qualifier {
            Some(qualifier) => scan.column(family.clone(), qualifier.clone()),
            None => scan.family(family.clone()),
        })
    }

    fn is_computed(&self) -> bool {
        false
    }

    fn read(&self, row: &Row, rows: &mut Vec<ReadRow>) -> Result<u64, HbaseError> {
        rows.extend(RowReader::read(self, row)?);
        Ok(1)
    }
}

/// The cells, and in place of all cells of a family the family: servers then take each cell as it comes, and look for none.
fn with_whole_families(phoenix: &PhoenixTable, cells: Vec<(Bytes, Bytes)>) -> Vec<(Bytes, Option<Bytes>)> {
    let all = cells_of(phoenix, &(0..phoenix.places.len()).collect::<Vec<_>>());
    let of_family = |cells: &[(Bytes, Bytes)], family: &Bytes| cells.iter().filter(|(of, _)| of == family).count();
    let is_whole = |family: &Bytes| of_family(&all, family) > 1 && of_family(&cells, family) == of_family(&all, family);
    let chosen = cells.iter().map(|(family, cell)| (family.clone(), (!is_whole(family)).then(|| cell.clone())));
    let mut chosen: Vec<_> = chosen.collect();
    chosen.dedup();
    chosen
}

/// The cells that have these columns, and those that tell whether there is a row.
pub(crate) fn cells_of(phoenix: &PhoenixTable, columns: &[usize]) -> Vec<(Bytes, Bytes)> {
    if phoenix.is_mapped {
        return Vec::new();
    }
    let format = phoenix.codec.format();
    let cell =
        |family: &str, qualifier: &[u8]| (Bytes::copy_from_slice(family.as_bytes()), Bytes::copy_from_slice(qualifier));
    let mut cells = vec![cell(&format.empty_family, format.qualifiers.of_empty_cell())];
    let of_view = phoenix.constants.iter().map(|(column, _)| *column);
    for column in columns.iter().copied().chain(of_view) {
        let Some(ColumnPlace::Value(place)) = phoenix.places.get(column) else { continue };
        cells.extend(phoenix.codec.cell_of_column(*place).map(|(family, qualifier)| cell(family, qualifier)));
    }
    cells.sort();
    cells.dedup();
    cells
}

/// The time of a row: that of the cell that every row has.
fn time_of(phoenix: &PhoenixTable, row: &Row) -> Value {
    let format = phoenix.codec.format();
    let is_empty_cell = |cell: &&hbase_client::cell::Cell| {
        cell.qualifier() == format.qualifiers.of_empty_cell() && cell.family() == format.empty_family.as_bytes()
    };
    let of_any = || row.cells().iter().map(hbase_client::cell::Cell::timestamp).max();
    let time = row.cells().iter().find(is_empty_cell).map(hbase_client::cell::Cell::timestamp).or_else(of_any);
    time.and_then(|ms| i64::try_from(ms).ok()).map_or(Value::Null, Value::Date)
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        _ => a.compare(b) == Some(std::cmp::Ordering::Equal),
    }
}
