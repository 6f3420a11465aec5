//! The heat of keys: how often the keys of a table or an index were read and written lately.

use std::sync::Arc;

use saltwing_access::{KeySet, ScanRoute, Snapshot, SplitTarget, Table};
use saltwing_heat::{Column, DAY_S, KeyPrefix, Picture, Slot, cuts_by_weight};
use saltwing_types::ErrorCode;

use crate::Error;
use crate::heat_relation::Relation;
use crate::session::Session;

/// The name of the salt byte among the columns of a key.
const SALT: &str = "_salt";

/// Most rows and columns of a picture.
const SIDE_MAX: usize = 10_000;

/// The size of the picture of [`Connection::key_heat`](crate::Connection::key_heat).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatShape {
    /// The most spans of keys: rows of the picture, 1 to 10,000.
    pub key_spans: usize,
    /// The most slots of time: columns of the picture, 1 to 10,000. A slot is a whole number of seconds long.
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
    /// Accesses that read, estimated, by `[slot][span]`: one for each row that is read by its key, found or not, and one for the
    /// rows that a scan reads together: those of one block, or up to 1,024 if recent rows lie between.
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
pub(crate) fn key_heat(session: &Session, name: &str, shape: HeatShape) -> Result<KeyHeat, Error> {
    let is_drawable = (1..=SIDE_MAX).contains(&shape.key_spans) && (1..=SIDE_MAX).contains(&shape.time_slots);
    if !is_drawable || shape.seconds == 0 {
        let text = format!("a picture has 1 to {SIDE_MAX} rows, 1 to {SIDE_MAX} columns, and at least a second");
        return Err(Error::new(ErrorCode::BadArgument, text));
    }
    let (snapshot, catalog) = session.moment()?;
    let Relation { name, keys } = Relation::named(session, &*catalog, name)?;
    let store = &session.shared().tables;
    let Some(slots) = store.accesses(keys.def().id) else {
        let text = format!("the store {} does not count the keys of {name}", store.capabilities().name);
        return Err(Error::new(ErrorCode::NotSupported, text));
    };
    let end_s = store.now_ms().div_euclid(1000).saturating_add(1);
    let seconds = shape.seconds.min(DAY_S.unsigned_abs());
    let slots: Vec<Slot> =
        slots.into_iter().filter(|slot| slot.end_s() > end_s.saturating_sub_unsigned(seconds)).collect();
    let cuts = cuts(&*snapshot, &keys, &slots, shape.key_spans)?;
    let picture = Picture::of(&slots, &cuts, end_s, seconds, shape.time_slots);
    let is_counted = !slots.is_empty();
    let emptied = |field: Vec<Vec<f64>>| field.into_iter().map(|column| if is_counted { column } else { Vec::new() });
    let slot = |column: &Column| HeatSlot {
        start_ms: column.start_s.saturating_mul(1000),
        seconds: column.seconds,
        known_seconds: column.known_seconds,
    };
    let salt = keys.def().key.salt.map(|_| SALT.to_owned());
    Ok(KeyHeat {
        relation: name,
        key_columns: salt.into_iter().chain(keys.def().key.columns.iter().map(|column| column.name.clone())).collect(),
        spans: if is_counted { spans(&keys, &cuts) } else { Vec::new() },
        slots: picture.columns.iter().map(slot).collect(),
        reads: emptied(picture.reads).collect(),
        writes: emptied(picture.writes).collect(),
    })
}

/// The keys at which the rows of a picture begin, except for the first row. A salted relation has a row for each bucket, or for some
/// neighbours; for another one the rows have as many keys each if it has enough of them, and otherwise as many accesses.
fn cuts(snapshot: &dyn Snapshot, table: &Arc<Table>, slots: &[Slot], rows_max: usize) -> Result<Vec<KeyPrefix>, Error> {
    if let Some(salt) = table.def().key.salt {
        let each = usize::from(salt.buckets).div_ceil(rows_max);
        let buckets = (0..=u8::MAX).take(salt.buckets.into()).step_by(each).skip(1);
        return Ok(buckets.map(|bucket| KeyPrefix::of(&[bucket])).collect());
    }
    let rows_each = snapshot.estimate(table, &KeySet::all())?.rows.div_ceil(rows_max as u64);
    let target = SplitTarget { rows_each, rows_min: 0 };
    let parts = snapshot.split(table, &ScanRoute::of(KeySet::all()), target)?;
    let mut cuts: Vec<KeyPrefix> = parts.iter().skip(1).map(|part| KeyPrefix::of(part.start())).collect();
    cuts.dedup();
    if 2 * (cuts.len() + 1) < rows_max {
        return Ok(cuts_by_weight(slots, rows_max));
    }
    let each = (cuts.len() + 1).div_ceil(rows_max);
    Ok(cuts.into_iter().skip(each - 1).step_by(each).collect())
}

/// The spans between the cuts.
fn spans(table: &Table, cuts: &[KeyPrefix]) -> Vec<HeatSpan> {
    let bound = |cut: &KeyPrefix| (cut.as_bytes().to_vec(), table.key_prefix_text(cut.as_bytes()));
    let starts = std::iter::once((Vec::new(), String::new())).chain(cuts.iter().map(bound));
    let ends = cuts.iter().map(|cut| Some(bound(cut))).chain([None]);
    let mut spans = Vec::with_capacity(cuts.len() + 1);
    for ((from, from_text), end) in starts.zip(ends) {
        let (to, to_text) = end.unzip();
        spans.push(HeatSpan { from, to, from_text, to_text });
    }
    spans
}
