//! What is wrong with stored tables, as data: for checks and for salvage.

use std::fmt;

use saltwing_types::TableId;

/// One thing that is wrong in a store, where it is, and what cannot be read because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The table's number, where the place tells it.
    pub table: Option<TableId>,
    /// The part of the layout, with the number of its space in the store: `directory (space 4)`.
    pub space: &'static str,
    /// The block, record or key in that space.
    pub place: String,
    /// What does not fit.
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
    /// Nobody knows how many.
    Unknown,
}

impl Damage {
    /// Damage that costs no row.
    pub(crate) fn new(
        space: &'static str,
        table: Option<TableId>,
        place: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        Self { table, space, place: place.into(), what: what.into(), loss: Loss::Nothing }
    }

    /// The same with rows lost.
    #[must_use]
    pub(crate) fn losing(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }
}

impl Loss {
    /// This many rows with these keys.
    pub(crate) fn rows(count: u64, first: String, last: String) -> Self {
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

/// Bytes as text: `00ff`, of long ones the first 32.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const SHOWN_MAX: usize = 32;
    let shown = bytes.get(..SHOWN_MAX).unwrap_or(bytes);
    let mut out: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    if shown.len() < bytes.len() {
        out.push_str("..");
    }
    out
}
