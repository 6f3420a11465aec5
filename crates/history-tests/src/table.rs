//! The tables of the workload.

use serde::{Deserialize, Serialize};

/// A table of the workload: `a` is salted and has its columns in two families, `b` is neither, and its keys descend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Table {
    /// `a`.
    A,
    /// `b`.
    B,
}

impl Table {
    /// Both.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }

    pub(crate) fn definition(self) -> &'static str {
        match self {
            Self::A => "CREATE TABLE IF NOT EXISTS a (k BIGINT PRIMARY KEY, f.v BIGINT, g.w BIGINT) SALT_BUCKETS = 3",
            Self::B => {
                "CREATE TABLE IF NOT EXISTS b (k BIGINT, v BIGINT, w BIGINT, PRIMARY KEY (k DESC)) SALT_BUCKETS = 0"
            }
        }
    }
}

/// The columns after the key.
pub(crate) const COLUMNS: [&str; 2] = ["v", "w"];

/// The values of the columns after the key.
pub type Row = [Option<i64>; 2];
