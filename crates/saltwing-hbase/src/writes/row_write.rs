//! The change of one row, as it is sent.

use hbase_client::{Delete, Mutation, Put};
use saltwing_access::{OldRow, Table, TableError};
use saltwing_phoenix::{PhoenixError, RowCells};
use saltwing_types::Value;

use crate::HbaseError;
use crate::phoenix_table::{ColumnPlace, PhoenixTable};

/// What a statement has read of a row: it must still be so.
#[derive(Clone, Debug)]
pub(super) enum Demand {
    Nothing,
    Absent,
    /// A value for each column.
    Equal(Vec<Value>),
}

impl Demand {
    pub(super) fn of(old: OldRow<'_>) -> Self {
        match old {
            OldRow::Unknown => Self::Nothing,
            OldRow::Absent => Self::Absent,
            OldRow::Present(row) => Self::Equal(row.to_vec()),
        }
    }
}

/// What is written: a value for each column of the definition that is, or nothing, which deletes the row.
type Written = Option<Vec<Option<Value>>>;

/// The change of a row.
#[derive(Clone, Debug)]
pub(super) struct RowWrite {
    /// The physical key.
    pub(super) key: Vec<u8>,
    pub(super) demand: Demand,
    written: Written,
    /// One, or several that are made in one step.
    pub(super) mutations: Vec<Mutation>,
}

impl RowWrite {
    /// Writes these columns: a value for each column of the definition, `None` for one that stays.
    ///
    /// # Errors
    /// [`TableError::NotNull`], [`TableError::RowKey`]; values that cells cannot hold.
    pub(super) fn upsert(
        table: &Table,
        phoenix: &PhoenixTable,
        mut values: Vec<Option<Value>>,
        demand: Demand,
    ) -> Result<Self, TableError> {
        hold_to_view(table, phoenix, &mut values)?;
        let (mut key, mut cells) = (Vec::new(), Vec::new());
        for (place, value) in phoenix.places.iter().zip(&values) {
            match place {
                ColumnPlace::Key(_) => key.push(value.clone().unwrap_or(Value::Null)),
                ColumnPlace::Value(_) => cells.push(value.clone()),
            }
        }
        let written = phoenix.codec.upsert(&key, &cells).map_err(|error| refused(table, error))?;
        let whole: Vec<Value> = values.iter().map(|value| value.clone().unwrap_or(Value::Null)).collect();
        let time = table.row_time_ms(&whole)?.and_then(|ms| u64::try_from(ms).ok());
        let mutations = mutations(phoenix, &written, time).map_err(HbaseError::from)?;
        Ok(Self { key: written.key, demand, written: Some(values), mutations })
    }

    /// Deletes the row with a physical key.
    ///
    /// # Errors
    /// A key of a length that no row has.
    pub(super) fn delete(phoenix: &PhoenixTable, key: &[u8], demand: Demand) -> Result<Self, TableError> {
        let families = phoenix.codec.family_names();
        let delete = Delete::new(key.to_vec()).and_then(|delete| {
            families.into_iter().try_fold(delete, |delete, family| delete.family(family.as_bytes(), None))
        });
        let delete = delete.map_err(HbaseError::from)?;
        let attributes = phoenix.attributes.iter();
        let delete = attributes.fold(delete, |delete, of| delete.attribute(of.name, of.value.clone()));
        Ok(Self { key: key.to_vec(), demand, written: None, mutations: vec![delete.into()] })
    }

    /// Bytes of its cells.
    pub(super) fn bytes(&self) -> usize {
        self.mutations.iter().map(Mutation::cells_bytes).sum()
    }

    /// This change and a later one of the same row as one: it demands what this one demands.
    pub(super) fn then(self, table: &Table, phoenix: &PhoenixTable, later: Self) -> Result<Self, TableError> {
        let Some(of_later) = later.written else { return Ok(Self { demand: self.demand, ..later }) };
        // A row that was deleted has none of the columns that are not written again: they are read as their DEFAULTs.
        let absent = || (0..of_later.len()).map(|column| Some(table.absent(column).clone())).collect();
        let before: Vec<_> = self.written.unwrap_or_else(absent);
        let both = of_later.into_iter().zip(before).map(|(later, before)| later.or(before)).collect();
        Self::upsert(table, phoenix, both, self.demand)
    }
}

/// The columns of a view's condition have its values.
fn hold_to_view(table: &Table, phoenix: &PhoenixTable, values: &mut [Option<Value>]) -> Result<(), TableError> {
    for (column, constant) in &phoenix.constants {
        match values.get_mut(*column) {
            Some(value) if value.as_ref().is_none_or(Value::is_null) || value.as_ref() == Some(constant) => {
                *value = Some(constant.clone());
            }
            _ => {
                let column = table.column_name(*column).unwrap_or_default().to_owned();
                return Err(HbaseError::NotOfView { view: table.def().name.to_string(), column }.into());
            }
        }
    }
    Ok(())
}

/// The cells of an UPSERT, with the server's time or that of the row. The columns that become NULL are markers beside the others; but if servers keep
/// indexes they take all cells of a put for values, and the markers are a deletion of its own.
fn mutations(
    phoenix: &PhoenixTable,
    cells: &RowCells<'_>,
    time: Option<u64>,
) -> Result<Vec<Mutation>, hbase_client::Error> {
    let mut put = Put::new(cells.key.clone())?;
    for cell in &cells.puts {
        let (family, qualifier) = (cell.family.as_bytes(), cell.qualifier);
        put = match time {
            None => put.column(family, qualifier, &cell.value)?,
            Some(time) => put.column_at(family, qualifier, time, &cell.value)?,
        };
    }
    if phoenix.attributes.is_empty() {
        for cell in &cells.deletes {
            put = put.delete_column(cell.family.as_bytes(), cell.qualifier)?;
        }
        return Ok(vec![put.into()]);
    }
    let put = phoenix.attributes.iter().fold(put, |put, of| put.attribute(of.name, of.value.clone()));
    if cells.deletes.is_empty() {
        return Ok(vec![put.into()]);
    }
    let delete = cells.deletes.iter().try_fold(Delete::new(cells.key.clone())?, |delete, cell| {
        delete.column(cell.family.as_bytes(), cell.qualifier, time)
    })?;
    let delete = phoenix.attributes.iter().fold(delete, |delete, of| delete.attribute(of.name, of.value.clone()));
    Ok(vec![put.into(), delete.into()])
}

fn refused(table: &Table, error: PhoenixError) -> TableError {
    match error {
        PhoenixError::NotNull { column } => TableError::NotNull { table: table.def().name.to_string(), column },
        PhoenixError::Key(error) => error.into(),
        error => HbaseError::Value { table: table.def().name.to_string(), error }.into(),
    }
}
