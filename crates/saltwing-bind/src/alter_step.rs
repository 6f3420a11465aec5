//! Steps of an ALTER TABLE that reads or writes the rows.

use saltwing_types::TableDef;

use crate::added_key::unfit_last_column;
use crate::error::{BindError, BindErrorKind};

/// A definition on the way to the one that an ALTER TABLE asks for.
#[derive(Debug)]
pub enum AlterStep {
    /// All rows meet this CHECK constraint, so that a key column can follow the last one.
    LastKeyColumn(String),
    /// All rows meet this CHECK constraint, so that the column can be NOT NULL.
    NotNull {
        /// The name of the constraint.
        check: String,
        /// The name of the column.
        column: String,
    },
    /// All rows are written again, so that the hidden column has the values of a column's new type.
    NewValues {
        /// The name of the hidden column.
        column: String,
        /// The SQL path of the column.
        set: String,
        /// The SQL path of the table.
        table: String,
    },
}

impl AlterStep {
    /// The CHECK constraint that all rows must meet.
    pub fn check(&self) -> Option<&str> {
        match self {
            Self::LastKeyColumn(check) | Self::NotNull { check, .. } => Some(check),
            Self::NewValues { .. } => None,
        }
    }

    /// The error of a table of which a row breaks the constraint; `key` is that row's, as SQL texts.
    pub fn broken(&self, def: &TableDef, key: &str) -> BindError {
        match self {
            Self::NotNull { column, .. } => {
                let text = format!("column {column} of {} is NULL in row ({key})", def.name);
                BindError::from(BindErrorKind::NullInRow(text))
                    .help(format!("UPDATE {} SET {column} = .. WHERE {column} IS NULL first", def.name))
            }
            Self::LastKeyColumn(_) | Self::NewValues { .. } => unfit_last_column(def, key),
        }
    }
}
