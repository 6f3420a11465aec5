//! The log on the cluster: the rows of [`crate::rows`], of which each phone has [`ROWS_A_PHONE`].

use crate::rows::{Log, LogRow, Urls};

/// Rows of one phone.
pub const ROWS_A_PHONE: u64 = 500;
/// Rows of a commit.
pub const ROWS_A_COMMIT: u64 = 1000;

/// The log, by its number of rows.
#[derive(Clone, Copy, Debug)]
pub struct ClusterLog {
    rows: Log,
}

impl ClusterLog {
    pub fn new(rows: u64) -> Self {
        Self { rows: Log { rows, urls: Urls::Paths } }
    }

    pub fn rows(self) -> u64 {
        self.rows.rows
    }

    pub fn phones(self) -> u64 {
        (self.rows() / ROWS_A_PHONE).max(1)
    }

    pub fn phone(self, index: u64) -> String {
        (18_600_000_000 + index % self.phones()).to_string()
    }

    pub fn ts(self, index: u64) -> i64 {
        self.rows.ts(index)
    }

    pub fn row(self, index: u64) -> LogRow {
        LogRow { phone: self.phone(index), ..self.rows.row(index) }
    }

    /// The time of the row that one phone has at a place among its own.
    pub fn ts_of_phone(self, phone: u64, place: u64) -> i64 {
        self.ts(phone + place * self.phones())
    }
}
