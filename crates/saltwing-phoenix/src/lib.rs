#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod attribute;
mod catalog;
mod ddl;
mod definition;
mod error;
mod maintainer;
mod offsets;
mod qualifier;
mod row;
mod serialized_column;
mod value;
mod writable;

pub use aggregate::{Aggregate, AggregateFunction, AggregateScan, GroupKey, Grouping, ScanExpression};
pub use attribute::Attribute;
pub use catalog::{
    CATALOG_FAMILY, CATALOG_TABLE, CATALOG_TABLE_IN_NAMESPACE, CatalogKey, CatalogKeys, CatalogListing,
    LISTED_QUALIFIERS, ListedKind, ListedTable,
};
pub use ddl::{
    CatalogCall, CatalogReply, CatalogRow, NewTable, RefusedChange, RowChange, TableProperties, added_columns,
    dropped_columns, dropped_table, new_table, numbered_columns,
};
pub use definition::{
    ColumnDefinition, DefinitionError, IndexDefinition, IndexEntry, IndexKind, IndexState, TableDefinition, TableKind,
    TableReply, TableRequest, ViewDefinition, ViewKind, literal_value,
};
pub use error::PhoenixError;
pub use maintainer::index_attributes;
pub use qualifier::{FIRST_QUALIFIER, QualifierScheme};
pub use row::{
    CellRef, DeletedCell, EmptyCell, Row, RowCells, RowCodec, RowDelete, RowFormat, StorageScheme, ValueColumn,
    WrittenCell,
};
pub use value::{BadCell, CellCodec, CellTypeError, CellValueError};
