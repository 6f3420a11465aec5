//! A definition of Phoenix as a table of statements.

use std::sync::Arc;

use hbase_client::TableName as PhysicalName;
use saltwing_access::Table;
use saltwing_phoenix::{
    Attribute, ColumnDefinition, RowCodec, TableDefinition, TableKind, ViewDefinition, ViewKind, index_attributes,
};
use saltwing_types::table::{ROW_TIMESTAMP, TableHistory, TableOption};
use saltwing_types::{ColumnDef, ObjectId, TableDef, TableId, TableName, Value};

use super::default_value::default_value;
use crate::phoenix_table::{ColumnPlace, PhoenixTable};

/// The family of columns that name none, unless the table has another one.
const DEFAULT_FAMILY: &str = "0";

/// Names an update of indexes; no server looks at more than its length, because the definitions of the indexes come along.
const UPDATE_ID: [u8; 16] = *b"saltwing-indexes";

/// The numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) id: TableId,
    pub(super) object_id: ObjectId,
    /// Which of its definitions this is.
    pub(super) version: u32,
}

/// The table that a definition is.
///
/// # Errors
/// What is not understood of it, as a sentence without the table's name.
pub(super) fn table_of(definition: &TableDefinition, numbers: Numbers) -> Result<Table, String> {
    let view = match &definition.kind {
        TableKind::Index(index) => {
            let table = index.data_table.as_deref().unwrap_or("a table");
            return Err(format!("it is an index of {table}: its entries are not read by name"));
        }
        TableKind::View(view) => Some(view),
        TableKind::System | TableKind::Table => None,
    };
    let format = definition.row_format().map_err(|error| error.to_string())?;
    let codec = RowCodec::new(format).map_err(|error| error.to_string())?;
    let def = Arc::new(table_def(definition, &codec, numbers)?);
    let constants = view.map_or_else(|| Ok(Vec::new()), |view| constants(view, &definition.columns))?;
    let physical: PhysicalName =
        definition.physical_name.parse().map_err(|error: hbase_client::Error| error.to_string())?;
    let attributes = attributes(definition);
    let data = PhoenixTable {
        physical,
        places: places(&definition.columns),
        constants: constants.clone(),
        not_written: attributes.as_ref().err().cloned(),
        attributes: attributes.unwrap_or_default(),
        is_mapped: view.is_some_and(|view| view.kind == ViewKind::Mapped),
        adds_up: definition.kind == TableKind::Table,
        codec,
    };
    let table = Table::new(def).map_err(|error| error.to_string())?;
    Ok(table.compared().with_constants(constants).with_store_data(Arc::new(data)))
}

fn table_def(definition: &TableDefinition, codec: &RowCodec, numbers: Numbers) -> Result<TableDef, String> {
    let default_family = definition.default_family.as_deref().unwrap_or(DEFAULT_FAMILY);
    let mut families: Vec<Option<String>> = Vec::new();
    let mut slots: Vec<u16> = Vec::new();
    let mut columns = Vec::with_capacity(definition.columns.len());
    let mut row_timestamp = None;
    for column in &definition.columns {
        let mut def = ColumnDef::new(&column.name, column.ty);
        def.nullable = column.nullable;
        let default = column.expression.as_deref().filter(|_| !column.is_key());
        let default = default.map(|text| default_value(text, column.ty)).transpose();
        def.default = default.map_err(|reason| format!("column {}: {reason}", column.name))?;
        if let Some(family) = &column.family {
            let family = (family != default_family).then(|| family.clone());
            let place = families.iter().position(|known| *known == family).unwrap_or_else(|| {
                families.push(family);
                slots.push(0);
                families.len() - 1
            });
            def.family = Some(place);
            if let Some(next) = slots.get_mut(place) {
                def.slot = *next;
                *next = next.checked_add(1).ok_or("a family with 65,536 columns")?;
            }
        } else if column.is_row_timestamp {
            row_timestamp = Some(column.name.clone());
        }
        columns.push(def);
    }
    if families.is_empty() {
        families.push(None);
    }
    let option =
        |name: String| TableOption { name: ROW_TIMESTAMP.to_owned(), value: Value::Text(name), honoured: true };
    Ok(TableDef {
        id: numbers.id,
        object_id: numbers.object_id,
        name: TableName { schema: definition.schema.clone(), name: definition.name.clone() },
        columns,
        key: codec.format().key.clone(),
        key_name: None,
        families,
        // The servers leave out rows that are expired.
        ttl_s: None,
        options: row_timestamp.map(option).into_iter().collect(),
        history: TableHistory { version: numbers.version, ..TableHistory::default() },
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    })
}

/// Where the values of the columns are in a decoded row, as [`TableDefinition::row_format`] has them.
fn places(columns: &[ColumnDefinition]) -> Vec<ColumnPlace> {
    let (mut keys, mut values) = (0.., 0..);
    let place = |column: &ColumnDefinition| match column.is_key() {
        true => ColumnPlace::Key(keys.next().unwrap_or_default()),
        false => ColumnPlace::Value(values.next().unwrap_or_default()),
    };
    columns.iter().map(place).collect()
}

/// What goes along with changes of a table's rows, for its indexes.
///
/// # Errors
/// Why its rows are not written from here.
fn attributes(definition: &TableDefinition) -> Result<Vec<Attribute>, String> {
    match &definition.kind {
        TableKind::System => return Err("it is a table of Phoenix itself".to_owned()),
        TableKind::View(ViewDefinition { kind: ViewKind::Mapped, .. }) => {
            return Err("it is a view over a table that Phoenix did not make".to_owned());
        }
        TableKind::View(ViewDefinition { kind: ViewKind::ReadOnly, .. }) => {
            return Err("it is a read-only view".to_owned());
        }
        TableKind::View(_) | TableKind::Table | TableKind::Index(_) => {}
    }
    index_attributes(definition, UPDATE_ID).map_err(|error| error.to_string())
}

/// The values that all rows of a view have.
fn constants(view: &ViewDefinition, columns: &[ColumnDefinition]) -> Result<Vec<(usize, Value)>, String> {
    let constants = columns.iter().enumerate();
    let constants: Vec<_> =
        constants.filter_map(|(place, column)| Some((place, column.view_constant.clone()?))).collect();
    match (view.kind, &view.statement) {
        (ViewKind::ReadOnly, Some(statement)) => {
            Err(format!("it is a view whose conditions are more than equalities: run its query instead, {statement}"))
        }
        _ => Ok(constants),
    }
}
