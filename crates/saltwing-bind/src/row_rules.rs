//! What every row of a table obeys, whichever statement writes it: generated columns and CHECK constraints.

use std::borrow::Cow;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::{Value, ValueError, eval, number};

use crate::check::RowChecks;
use crate::error::Result;
use crate::generated::{GeneratedColumn, generated_columns};

/// The rules of a table. Tables without any have none, and pay nothing.
#[derive(Debug)]
pub struct RowRules {
    generated: Vec<GeneratedColumn>,
    checks: Option<RowChecks>,
}

impl RowRules {
    /// Those of a table; `None` if it has none.
    ///
    /// # Errors
    /// A text that is no expression, which no statement causes.
    pub fn of(table: &Arc<Table>) -> Result<Option<Self>> {
        let checks = RowChecks::of(table)?;
        let generated = if table.has_generated() { generated_columns(table)? } else { Vec::new() };
        Ok((checks.is_some() || !generated.is_empty()).then_some(Self { generated, checks }))
    }

    /// A row of all columns with the values of its generated columns.
    ///
    /// # Errors
    /// Those of the expressions, with the index of the column: such a row cannot be written.
    pub fn complete<'r>(&self, row: Cow<'r, [Value]>) -> std::result::Result<Cow<'r, [Value]>, (usize, ValueError)> {
        if self.generated.is_empty() {
            return Ok(row);
        }
        let mut row = row.into_owned();
        for GeneratedColumn { index, ty, value } in &self.generated {
            let value = eval::eval(value, &row).and_then(|value| number::assign(value, *ty));
            let value = value.map_err(|error| (*index, error))?;
            if let Some(place) = row.get_mut(*index) {
                *place = value;
            }
        }
        Ok(row.into())
    }

    /// The CHECK constraints.
    pub fn checks(&self) -> Option<&RowChecks> {
        self.checks.as_ref()
    }
}
