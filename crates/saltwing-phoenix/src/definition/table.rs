//! Tables, views and indexes.

use super::column::ColumnDefinition;
use super::error::DefinitionError;
use crate::{QualifierScheme, StorageScheme};

/// What Phoenix's catalog knows of a table, a view or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDefinition {
    /// The tenant whose view it is.
    pub tenant: Option<String>,
    /// Schema.
    pub schema: Option<String>,
    /// Name in the schema.
    pub name: String,
    /// Table, view or index.
    pub kind: TableKind,
    /// Name of the HBase table with the rows.
    pub physical_name: String,
    /// Grows with each change of the definition.
    pub sequence_number: i64,
    /// Time of the definition in milliseconds: a request that names it gets no table if nothing has changed.
    pub timestamp: i64,
    /// Salt buckets, 1 to 256.
    pub salt_buckets: Option<u16>,
    /// Name of the key's constraint.
    pub key_name: Option<String>,
    /// Columns in the order of their declaration, without the salt.
    pub columns: Vec<ColumnDefinition>,
    /// DEFAULT_COLUMN_FAMILY.
    pub default_family: Option<String>,
    /// How qualifiers are made.
    pub qualifiers: QualifierScheme,
    /// The number of the next column of a family, if columns have numbers: [`TableDefinition::counting_family`] says of which.
    pub counters: Vec<(String, u32)>,
    /// How many columns a cell has.
    pub storage: StorageScheme,
    /// Rows are written once.
    pub immutable: bool,
    /// STORE_NULLS.
    pub store_nulls: bool,
    /// Whether descending key columns that vary in width have the separators of Phoenix 4.5 and later.
    pub row_key_order_optimizable: bool,
    /// DISABLE_WAL: writes are lost with their region server.
    pub wal_disabled: bool,
    /// Whether the first key column is a tenant, which tenants' connections fill in.
    pub multi_tenant: bool,
    /// Whether the HBase table lies in the namespace that is named like the schema.
    pub namespace_mapped: bool,
    /// Its indexes; one that is not understood has its reason here.
    pub indexes: Vec<IndexEntry>,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its name.
    pub name: String,
    /// Its definition, or why it cannot be read.
    pub definition: Result<Box<TableDefinition>, DefinitionError>,
}

/// What a definition defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A table of Phoenix itself.
    System,
    /// A table.
    Table,
    /// A view.
    View(ViewDefinition),
    /// An index.
    Index(IndexDefinition),
}

/// What a view has beside a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewDefinition {
    /// Kind.
    pub kind: ViewKind,
    /// Its SELECT as text; `None` if it has all rows.
    pub statement: Option<String>,
    /// Full name of the table or view that it is over.
    pub parent: Option<String>,
}

/// Kinds of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    /// Over an HBase table that Phoenix did not make.
    Mapped,
    /// Rows are not written by it.
    ReadOnly,
    /// Its conditions are equalities: they are the constants of the rows that are written.
    Updatable,
}

/// What an index has beside a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Kind.
    pub kind: IndexKind,
    /// State.
    pub state: IndexState,
    /// Name of the table or view, in the index's schema.
    pub data_table: Option<String>,
    /// The number of the index among those that share its HBase table: the first value of its keys.
    pub view_index_id: Option<i64>,
    /// The condition of a partial index as SQL text.
    pub condition: Option<String>,
}

/// Kinds of indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// An HBase table of its own.
    Global,
    /// Among the rows of its table.
    Local,
    /// Global, without values beside the key.
    UncoveredGlobal,
}

/// Whether an index is kept and may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexState {
    /// Kept, and complete.
    Active,
    /// Being built.
    Building,
    /// In any other state; the letter is that of Phoenix's catalog.
    Other(char),
}

impl TableDefinition {
    /// `SCHEMA.NAME`, or the name alone.
    pub fn full_name(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
