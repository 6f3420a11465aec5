//! The rows of two tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::table::{Row, Table};

/// The rows of both tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    a: BTreeMap<i64, Row>,
    b: BTreeMap<i64, Row>,
    /// Whether no two rows of `b` may have one `w`.
    pub(crate) is_unique: bool,
}

impl State {
    /// The same rows in tables that have the indexes of the workload.
    #[must_use]
    pub fn indexed(self) -> Self {
        Self { is_unique: true, ..self }
    }

    /// Whether two rows have a value that must be unique.
    pub(crate) fn has_duplicates(&self) -> bool {
        let mut values: Vec<i64> = self.b.values().filter_map(|[_, w]| *w).collect();
        values.sort_unstable();
        self.is_unique && values.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The rows of a table.
    pub fn rows(&self, table: Table) -> &BTreeMap<i64, Row> {
        match table {
            Table::A => &self.a,
            Table::B => &self.b,
        }
    }

    /// The same, to change them.
    pub fn rows_mut(&mut self, table: Table) -> &mut BTreeMap<i64, Row> {
        match table {
            Table::A => &mut self.a,
            Table::B => &mut self.b,
        }
    }

    pub(crate) fn write(&mut self, (table, key): (Table, i64), row: Option<Row>) {
        match row {
            Some(row) => drop(self.rows_mut(table).insert(key, row)),
            None => drop(self.rows_mut(table).remove(&key)),
        }
    }
}
