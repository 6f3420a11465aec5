//! What the store knows of a table beyond its definition: how its rows lie in HBase.

use std::sync::Arc;

use hbase_client::TableName;
use saltwing_access::{Table, TableError};
use saltwing_phoenix::{Attribute, RowCodec};
use saltwing_types::Value;

use crate::HbaseError;

/// Where the value of a column is in a decoded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnPlace {
    /// The part of the key.
    Key(usize),
    /// The value column.
    Value(usize),
}

/// How the rows of a table lie in HBase.
#[derive(Debug)]
pub(crate) struct PhoenixTable {
    /// The HBase table with the rows.
    pub(crate) physical: TableName,
    pub(crate) codec: RowCodec,
    /// The place of each column of the definition.
    pub(crate) places: Vec<ColumnPlace>,
    /// The value that all rows of a view have in a column, by index: a row with another one is not the view's.
    pub(crate) constants: Vec<(usize, Value)>,
    /// Whether rows may lack the cell that Phoenix gives each row: another program has written the HBase table.
    pub(crate) is_mapped: bool,
    /// Whether Phoenix's coprocessors add up its rows: it is a table of a user, and no view.
    pub(crate) adds_up: bool,
    /// Why its rows are not written from here; `None` if they are.
    pub(crate) not_written: Option<String>,
    /// What goes along with each change, so that the servers keep the table's indexes.
    pub(crate) attributes: Vec<Attribute>,
}

impl PhoenixTable {
    /// Whether each row that servers give is one of the table, if the cells are read that tell it.
    pub(crate) fn has_all_rows(&self) -> bool {
        self.constants.is_empty() && !self.is_mapped
    }

    /// That of a table.
    ///
    /// # Errors
    /// If the table is of another store: a broken invariant of its caller.
    pub(crate) fn of(table: &Table) -> Result<Arc<Self>, TableError> {
        let data = table.store_data::<Self>();
        debug_assert!(data.is_some(), "{} is not a table of Phoenix's catalog", table.def().name);
        data.ok_or_else(|| HbaseError::NotSupported("a table that is not in Phoenix's catalog has no rows here").into())
    }
}
