//! Damage of stored tables, as data: for checks and for salvage.

use std::fmt;
use std::sync::Arc;

use saltwing_types::{TableId, Value};

use crate::{ScanContext, Table, TableError, TableStore};

/// A store that can be read where it is damaged.
pub trait Examine: TableStore {
    /// Reads everything that is stored of a table, and checks it: parts of blocks against their checksums and their
    /// directory, the order of keys, keys against values, and values against the types of their columns. `take` gets the
    /// rows that can be read, in key order, expired ones included.
    ///
    /// # Errors
    /// Those of `take`; as [`ScanContext::check`]. Damage is no error.
    fn examine(&self, table: &Arc<Table>, context: &ScanContext, take: TakeRow<'_>) -> Result<Examined, TableError>;
}

/// One damage of a store: its place, and the rows that it makes unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The table's number, where the place tells it.
    pub table: Option<TableId>,
    /// The part of the layout, with the number of its space in the store: `directory (space 4)`.
    pub space: &'static str,
    /// The block, record or key in that space.
    pub place: String,
    /// The mismatch.
    pub what: String,
    /// The rows that cannot be read because of it.
    pub loss: Loss,
}

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// None: everything else tells the same.
    Nothing,
    /// This many at most, with keys in this range where it is known.
    Rows {
        /// Rows, those that a newer row would have hidden included.
        count: u64,
        /// First and last key, as text.
        keys: Option<(String, String)>,
    },
    /// An unknown number.
    Unknown,
}

impl Damage {
    /// Damage that costs no row.
    pub fn new(space: &'static str, table: Option<TableId>, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { table, space, place: place.into(), what: what.into(), loss: Loss::Nothing }
    }

    /// The same with rows lost.
    #[must_use]
    pub fn losing(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }
}

impl Loss {
    /// This many rows with these keys.
    pub fn rows(count: u64, first: String, last: String) -> Self {
        Self::Rows { count, keys: Some((first, last)) }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no row is lost"),
            Self::Unknown => f.write_str("an unknown number of rows is lost"),
            Self::Rows { count, keys } => {
                write!(f, "{count} {} lost", if *count == 1 { "row is" } else { "rows are" })?;
                match keys {
                    Some((first, last)) if first == last => write!(f, ", key {first}"),
                    Some((first, last)) => write!(f, ", keys from {first} to {last}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The result of a walk over a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examined {
    /// Rows that can be read, expired ones included.
    pub rows: u64,
    /// Blocks and runs, damaged ones included.
    pub blocks: u64,
    /// Bytes of their parts and of recent rows, as far as they can be read.
    pub bytes: u64,
    /// The damage.
    pub damages: Vec<Damage>,
}

impl Examined {
    /// Adds what another walk came to.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.damages.extend(other.damages);
    }
}

/// A row of a table that can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadableRow {
    /// A value for each column.
    pub values: Vec<Value>,
    /// When it was written, in milliseconds since 1970.
    pub written_ms: i64,
}

/// Takes a row that can be read; an error ends the walk.
pub type TakeRow<'a> = &'a mut dyn FnMut(ReadableRow) -> Result<(), TableError>;
