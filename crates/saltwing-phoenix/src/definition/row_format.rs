//! The format of a table's rows, by its definition.

use saltwing_types::{KeyColumn, KeySchema, KeySource, Salt, SortOrder};

use super::error::DefinitionError;
use super::table::{IndexKind, TableDefinition, TableKind};
use crate::{RowFormat, StorageScheme, ValueColumn};

/// The family of columns that name none.
const DEFAULT_FAMILY: &str = "0";

impl TableDefinition {
    /// How the rows lie in cells. Key columns of the format have their place among [`TableDefinition::columns`].
    ///
    /// # Errors
    /// [`DefinitionError::NotUnderstood`] for a local index: its keys begin with that of a region.
    pub fn row_format(&self) -> Result<RowFormat, DefinitionError> {
        if matches!(&self.kind, TableKind::Index(index) if index.kind == IndexKind::Local) {
            return Err(self.not_understood("rows of a local index"));
        }
        let mut key = Vec::new();
        let mut columns = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let Some(family) = &column.family else {
                key.push(KeyColumn {
                    source: KeySource::Column(place),
                    name: column.name.clone(),
                    ty: column.ty,
                    order: column.order,
                    nullable: column.nullable,
                });
                continue;
            };
            columns.push(ValueColumn {
                name: column.name.clone(),
                family: family.clone(),
                qualifier: column.qualifier.clone().unwrap_or_default(),
                ty: column.ty,
                nullable: column.nullable,
                has_default: column.expression.is_some() && !matches!(self.kind, TableKind::Index(_)),
            });
        }
        if columns.iter().any(|column| column.qualifier.is_empty()) {
            return Err(self.not_understood("a value column without a qualifier"));
        }
        debug_assert!(self.columns.iter().all(|column| column.is_key() || column.order == SortOrder::Asc));
        Ok(RowFormat {
            key: KeySchema { columns: key, salt: self.salt_buckets.map(|buckets| Salt { buckets, by: None }) },
            empty_family: self.empty_family().to_owned(),
            columns,
            storage: self.storage,
            qualifiers: self.qualifiers,
            store_nulls: self.store_nulls,
            immutable: self.immutable,
        })
    }

    /// The family of columns that name none.
    pub fn family_of_unnamed(&self) -> &str {
        self.default_family.as_deref().unwrap_or(DEFAULT_FAMILY)
    }

    /// The family among whose columns one of this family gets its number: its own one if columns share a cell, else that of columns that name none.
    pub fn counting_family<'a>(&'a self, family: &'a str) -> &'a str {
        if self.storage == StorageScheme::CellPerFamily { family } else { self.family_of_unnamed() }
    }

    /// Family of the cell that every row has: that of the first value column, else the default one.
    pub fn empty_family(&self) -> &str {
        let first = self.columns.iter().find_map(|column| column.family.as_deref());
        first.unwrap_or_else(|| self.family_of_unnamed())
    }

    fn not_understood(&self, what: &str) -> DefinitionError {
        DefinitionError::NotUnderstood { object: self.full_name(), what: what.to_owned() }
    }
}
