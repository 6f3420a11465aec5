//! The table, the column and the key that an error is about, as data.

use saltwing_access::TableError;
use saltwing_bind::{BindError, BindErrorKind};
use saltwing_catalog::CatalogError;
use saltwing_exec::ExecError;

/// The object of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) table: Option<String>,
    /// The column, without its table.
    pub(crate) column: Option<String>,
    pub(crate) key: Option<String>,
    /// The constraint or the unique index that a row breaks.
    pub(crate) constraint: Option<String>,
}

impl Subject {
    fn table(table: &str) -> Self {
        Self { table: Some(table.to_owned()), ..Self::default() }
    }

    fn of_column(table: &str, column: &str) -> Self {
        Self { column: Some(column.to_owned()), ..Self::table(table) }
    }

    fn of_row(table: &str, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..Self::table(table) }
    }

    /// The subject of `table.column`, or of a column alone.
    pub(crate) fn qualified(name: Option<&str>) -> Self {
        match name.map(|name| name.rsplit_once('.').ok_or(name)) {
            Some(Ok((table, column))) => Self::of_column(table, column),
            Some(Err(column)) => Self { column: Some(column.to_owned()), ..Self::default() },
            None => Self::default(),
        }
    }

    pub(crate) fn of_bind(error: &BindError) -> Self {
        match &error.kind {
            BindErrorKind::Catalog(error) => Self::of_catalog(error),
            BindErrorKind::Value { column, .. } => Self::qualified(column.as_deref()),
            BindErrorKind::NoSuchColumn { table, column } | BindErrorKind::ColumnExists { table, column } => {
                Self::of_column(table, column)
            }
            BindErrorKind::NotNull(name) | BindErrorKind::NullGiven(name) => Self::qualified(Some(name)),
            BindErrorKind::ColumnInConstant { column, .. } | BindErrorKind::DuplicateColumn(column) => {
                Self::qualified(Some(column))
            }
            BindErrorKind::NoSuchQualifier(table) => Self::table(table),
            _ => Self::default(),
        }
    }

    pub(crate) fn of_catalog(error: &CatalogError) -> Self {
        match error {
            CatalogError::NoSuchTable { name, .. } | CatalogError::DuplicateTable { name, .. } => Self::table(name),
            _ => Self::default(),
        }
    }

    pub(crate) fn of_table(error: &TableError) -> Self {
        match error {
            TableError::Value { column, .. } => Self::qualified(column.as_deref()),
            TableError::NotNull { table, column } | TableError::ValueTooLarge { table, column, .. } => {
                Self::of_column(table, column)
            }
            TableError::Conflict { table, key } | TableError::Corrupt { table, key, .. } => Self::of_row(table, key),
            TableError::DefinitionChanged { table } | TableError::CorruptBlock { table, .. } => Self::table(table),
            _ => Self::default(),
        }
    }

    pub(crate) fn of_exec(error: &ExecError) -> Self {
        match error {
            ExecError::Value { column, .. } => Self::qualified(column.as_deref()),
            ExecError::DuplicateKey { table, key, constraint } => {
                Self { constraint: constraint.clone(), ..Self::of_row(table, key) }
            }
            ExecError::Check { table, key, constraint } => {
                Self { constraint: Some(constraint.clone()), ..Self::of_row(table, key) }
            }
            ExecError::NotUnique { table, index, .. } => Self { constraint: Some(index.clone()), ..Self::table(table) },
            _ => Self::default(),
        }
    }
}
