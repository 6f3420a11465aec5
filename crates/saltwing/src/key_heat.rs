//! The heat of keys: how often the keys of a table or an index were read and written lately.

use saltwing_types::ErrorCode;

use crate::Error;
use crate::session::Session;

/// The size of the picture of [`Connection::key_heat`](crate::Connection::key_heat).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatShape {
    /// The most spans of keys: rows of the picture, at least 1.
    pub key_spans: usize,
    /// Slots of time: columns of the picture, at least 1.
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
    /// Slots of time, the oldest first, without gaps. All have the same length, within a second.
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
    /// The first key that was counted in the span, at most its first 32 bytes as stored: with the salt byte if the relation is salted.
    pub from: Vec<u8>,
    /// The last one, inclusive.
    pub to: Vec<u8>,
    /// The values of the first key as SQL text, as far as its bytes go.
    pub from_text: String,
    /// The values of the last key as SQL text.
    pub to_text: String,
}

/// The time of a column of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatSlot {
    /// The start, in milliseconds since 1970.
    pub start_ms: i64,
    /// The length in seconds.
    pub seconds: f64,
    /// The length, in seconds, of the slots in which the times are known. If it is longer than the slot itself, the counts were divided evenly.
    pub known_seconds: u64,
}

/// The heat of a relation's keys.
pub(crate) fn key_heat(session: &Session, relation: &str, shape: HeatShape) -> Result<KeyHeat, Error> {
    let _ = (session, shape);
    Err(Error::new(ErrorCode::NotSupported, format!("the keys of {relation} are not counted")))
}
