//! What a view has of the table or view that it is over. The catalog's server gives a view its own columns alone, and the condition as text.

use super::column::ColumnDefinition;
use super::error::DefinitionError;
use super::table::{IndexEntry, TableDefinition, TableKind, ViewKind};
use super::view_condition::constants;

impl TableDefinition {
    /// The name of the table or view whose columns this view has besides its own; `None` of everything else.
    pub fn inherits_from(&self) -> Option<&str> {
        match &self.kind {
            TableKind::View(view) if view.kind != ViewKind::Mapped => view.parent.as_deref(),
            _ => None,
        }
    }

    /// The view with the columns of what it is over, before its own, with its indexes, and with the constants of its condition. `parent` has all columns that it
    /// inherits itself. Classes of Phoenix that work without a cluster give such definitions at once: these stay as they are.
    ///
    /// # Errors
    /// [`DefinitionError::NotUnderstood`] for a condition that is more than equalities with literals.
    pub fn inheriting(mut self, parent: &Self) -> Result<Self, DefinitionError> {
        let own = std::mem::take(&mut self.columns);
        let is_own = |column: &ColumnDefinition| {
            own.iter().find(|own| own.name == column.name && own.family == column.family).cloned()
        };
        self.columns = parent.columns.iter().map(|column| is_own(column).unwrap_or_else(|| column.clone())).collect();
        let added = own
            .into_iter()
            .filter(|own| !parent.columns.iter().any(|column| own.name == column.name && own.family == column.family));
        self.columns.extend(added);
        let has_index = |indexes: &[IndexEntry], name: &str| indexes.iter().any(|index| index.name == name);
        let indexes = parent.indexes.iter().filter(|index| !has_index(&self.indexes, &index.name));
        let inherited: Vec<_> = indexes.cloned().collect();
        self.indexes.extend(inherited);
        self.with_constants()
    }

    fn with_constants(mut self) -> Result<Self, DefinitionError> {
        let TableKind::View(view) = &self.kind else { return Ok(self) };
        let Some(statement) = &view.statement else { return Ok(self) };
        let constants = constants(statement, &self.columns)
            .map_err(|what| DefinitionError::NotUnderstood { object: self.full_name(), what })?;
        for (place, value) in constants {
            if let Some(column) = self.columns.get_mut(place) {
                column.view_constant = Some(value);
            }
        }
        Ok(self)
    }
}
