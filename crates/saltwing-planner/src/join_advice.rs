//! What would let a join look up the rows of a table that is refused.

use std::fmt;
use std::sync::Arc;

use crate::index_advice::IndexAdvice;

/// Advice for a refused table of a join. Its text continues the advice of a refusal.
#[derive(Clone, Debug)]
pub enum JoinAdvice {
    /// An index on the columns that the join equates.
    Index(Arc<IndexAdvice>),
    /// A full scan of the other table, for whose rows those of this table are looked up.
    FullScanOf {
        /// The other table, as hints name it.
        table: String,
        /// About how many rows it has, if that is known.
        rows: Option<u64>,
        /// About how many rows the refused table has.
        own_rows: Option<u64>,
    },
}

impl fmt::Display for JoinAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(advice) => {
                write!(f, "or create an index by which the join looks its rows up: {}", advice.statement)
            }
            Self::FullScanOf { table, rows, own_rows } => {
                write!(f, "or read all of {table} instead")?;
                if let (Some(rows), Some(own_rows)) = (rows, own_rows) {
                    write!(f, " (about {rows} rows, not {own_rows})")?;
                }
                write!(f, ", for whose rows these are looked up: /*+ FULL_SCAN({table}) */")
            }
        }
    }
}
