//! The heat of keys: how often the keys of a table or an index were read and written lately.

use saltwing_types::ErrorCode;

use crate::Error;
use crate::session::Session;

/// The size of the picture of [`Connection::key_heat`](crate::Connection::key_heat).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatShape {
    /// The most spans of keys: rows of the picture, at least 1.
    pub key_spans: usize,
    /// The most slots of time: columns of the picture, at least 1. A slot is a whole number of seconds long.
    pub time_slots: usize,
    /// How far back the picture goes, in seconds, at least 1. Counts of more than a day ago are forgotten.
    pub seconds: u64,
}

/// How often the keys of a table or an index were read and written: see [`Connection::key_heat`](crate::Connection::key_heat).
#[derive(Clone, Debug, PartialEq)]
pub struct KeyHeat {
    /// The name of the table, or `table.index`.
    pub relation: String,
    /// The columns of the key, in its order; `_salt` is the first one if the relation is salted.
    pub key_columns: Vec<String>,
    /// Spans of keys, ascending in key order. Empty if nothing was counted.
    pub spans: Vec<HeatSpan>,
    /// Slots of time of equal length, the oldest first, without gaps. The last one has the current second.
    pub slots: Vec<HeatSlot>,
    /// Accesses that read, estimated, by `[slot][span]`: one for each row that is read by its key, and one for the rows that a scan reads of
    /// one block. An access that finds no row counts, too.
    pub reads: Vec<Vec<f64>>,
    /// Rows written or deleted, estimated, by `[slot][span]`.
    pub writes: Vec<Vec<f64>>,
}

/// The keys of a row of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatSpan {
    /// The least key of the span, or the first bytes of it, as stored: with the salt byte if the relation is salted. Empty for the first span.
    pub from: Vec<u8>,
    /// The end, exclusive, which is the beginning of the next span; `None` for the last span.
    pub to: Option<Vec<u8>>,
    /// The values of `from` as SQL text, as far as its bytes go; `bucket 3` for a salt byte alone. Empty for the first span.
    pub from_text: String,
    /// The values of `to` as SQL text.
    pub to_text: Option<String>,
}

/// The time of a column of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatSlot {
    /// The start, in milliseconds since 1970.
    pub start_ms: i64,
    /// The length in seconds.
    pub seconds: u64,
    /// The length, in seconds, of the time in which these accesses are known to lie: older times are known less exactly. If it is longer than
    /// the slot, the counts of that time were divided evenly.
    pub known_seconds: u64,
}

/// The heat of a relation's keys.
pub(crate) fn key_heat(session: &Session, relation: &str, shape: HeatShape) -> Result<KeyHeat, Error> {
    let _ = (session, shape);
    Err(Error::new(ErrorCode::NotSupported, format!("the keys of {relation} are not counted")))
}
