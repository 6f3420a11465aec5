#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

mod aggregate;
mod catalog;
mod definition;
mod error;
mod offsets;
mod qualifier;
mod row;
mod value;
mod writable;

pub use aggregate::{Aggregate, AggregateFunction, AggregateScan, Grouping, ScanAttribute, ScanExpression};
pub use catalog::{
    CATALOG_FAMILY, CATALOG_TABLE, CATALOG_TABLE_IN_NAMESPACE, CatalogKey, CatalogKeys, CatalogListing,
    LISTED_QUALIFIERS, ListedKind, ListedTable,
};
pub use definition::{
    ColumnDefinition, DefinitionError, IndexDefinition, IndexEntry, IndexKind, IndexState, TableDefinition, TableKind,
    TableReply, TableRequest, ViewDefinition, ViewKind,
};
pub use error::PhoenixError;
pub use qualifier::{FIRST_QUALIFIER, QualifierScheme};
pub use row::{
    CellRef, DeletedCell, EmptyCell, Row, RowCells, RowCodec, RowDelete, RowFormat, StorageScheme, ValueColumn,
    WrittenCell,
};
pub use value::{BadCell, CellCodec, CellTypeError, CellValueError};
