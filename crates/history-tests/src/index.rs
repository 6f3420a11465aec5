//! The indexes of the workload, one of each kind.

use serde::{Deserialize, Serialize};

use crate::table::{COLUMNS, Row, Table};

/// An index of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Index {
    /// Of `a.v`, descending; it has the values of `w`, too, so that rows are not read.
    Global,
    /// Of `a.w`, in the buckets of the rows.
    Local,
    /// Of `b.v`, for the rows with an even `w`.
    Partial,
    /// Of `b.w`: no two rows have one value.
    Unique,
}

impl Index {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Global, Self::Local, Self::Partial, Self::Unique];

    /// The table of the index.
    pub fn table(self) -> Table {
        match self {
            Self::Global | Self::Local => Table::A,
            Self::Partial | Self::Unique => Table::B,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "a_v",
            Self::Local => "a_w",
            Self::Partial => "b_v",
            Self::Unique => "b_w",
        }
    }

    pub(crate) fn definition(self) -> &'static str {
        match self {
            Self::Global => "CREATE INDEX IF NOT EXISTS a_v ON a (v DESC) INCLUDE (w)",
            Self::Local => "CREATE LOCAL INDEX IF NOT EXISTS a_w ON a (w)",
            Self::Partial => "CREATE INDEX IF NOT EXISTS b_v ON b (v) WHERE w % 2 = 0",
            Self::Unique => "CREATE UNIQUE INDEX IF NOT EXISTS b_w ON b (w)",
        }
    }

    /// The indexed column, by its place among those after the key.
    pub(crate) fn column(self) -> usize {
        match self {
            Self::Global | Self::Partial => 0,
            Self::Local | Self::Unique => 1,
        }
    }

    /// The conditions of a statement that reads it for two values, both included.
    pub(crate) fn conditions(self) -> String {
        let predicate = if self == Self::Partial { " AND w % 2 = 0" } else { "" };
        format!("{} BETWEEN ? AND ?{predicate}", COLUMNS[self.column()])
    }

    /// The order of its entries.
    pub(crate) fn order(self) -> &'static str {
        match self {
            Self::Global => "v DESC, k",
            Self::Local => "w, k",
            Self::Partial => "v, k DESC",
            Self::Unique => "w, k DESC",
        }
    }

    /// What [`Index::order`] sorts rows by.
    pub(crate) fn place(self, key: i64, row: &Row) -> (i64, i64) {
        let value = row[self.column()].unwrap_or_default();
        match self {
            Self::Global => (-value, key),
            Self::Local => (value, key),
            Self::Partial | Self::Unique => (value, -key),
        }
    }

    /// Whether a row meets [`Index::conditions`].
    pub(crate) fn finds(self, row: &Row, from: i64, to: i64) -> bool {
        let is_in = row[self.column()].is_some_and(|value| (from..=to).contains(&value));
        is_in && (self != Self::Partial || row[1].is_some_and(|w| w % 2 == 0))
    }
}
