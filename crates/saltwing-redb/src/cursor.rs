//! A walk over a table.

use std::sync::Arc;

use redb::{OwnedRange, ReadTransaction};
use saltwing_store::{Bytes, Cursor, Direction, KEY_BYTES_MAX, KeyBounds, Range, RangeCursor, Space, StoreError};

use crate::above::MergedCursor;
use crate::inner::Inner;
use crate::space::SpaceTables;
use crate::stand_in;

type Entries = OwnedRange<&'static [u8], &'static [u8]>;

/// A walk over a space in the snapshot of a transaction.
pub(crate) fn cursor(
    inner: &Arc<Inner>,
    transaction: &ReadTransaction,
    space: Space,
    bounds: KeyBounds,
    direction: Direction,
) -> Result<Box<dyn Cursor>, StoreError> {
    let is_cleared = inner.above.as_ref().is_some_and(|above| above.is_cleared(space));
    let tables = if is_cleared { None } else { inner.tables(transaction, space)? };
    let cursor = RangeCursor::new(TableRange::new(inner.clone(), tables), bounds.clone(), direction);
    Ok(match &inner.above {
        Some(above) => Box::new(MergedCursor::new(cursor, above.clone(), space, bounds, direction)),
        None => Box::new(cursor),
    })
}

/// A range of a table in one snapshot. Fields drop in order: the database goes last, as its directory's lock must.
pub(crate) struct TableRange {
    /// `None` if there is nothing to walk over; an error of the start is reported by the next call.
    iter: Option<Result<Entries, StoreError>>,
    /// `None` for a space that does not exist.
    tables: Option<SpaceTables>,
    /// The first key that there may be.
    start: Vec<u8>,
    /// The damages that were reported since the start.
    reported: Vec<u32>,
    inner: Arc<Inner>,
}

/// What a step of a walk comes to.
enum Step {
    Entry(Bytes, Bytes),
    /// An entry whose value cannot be read.
    Unreadable(redb::Error),
    /// A damaged page, by the number of the damage.
    Damage(u32),
    End,
}

impl TableRange {
    pub(crate) fn new(inner: Arc<Inner>, tables: Option<SpaceTables>) -> Self {
        Self { iter: None, tables, start: Vec::new(), reported: Vec::new(), inner }
    }

    fn step(tables: &SpaceTables, iter: &mut Entries, direction: Direction) -> Result<Step, redb::Error> {
        let entry = match direction {
            Direction::Forward => iter.next(),
            Direction::Reverse => iter.next_back(),
        };
        let Some((key, stored)) = entry.transpose()? else { return Ok(Step::End) };
        let (key, stored) = (key.value(), stored.value());
        if let Some(mark) = stand_in::mark(key, stored) {
            return Ok(Step::Damage(mark.number));
        }
        Ok(match tables.whole(key, stored) {
            Ok(value) => Step::Entry(Bytes::new(key), value),
            Err(error) => Step::Unreadable(error),
        })
    }

    /// The damage in whose page the range begins: if it ends there, too, the walk does not come to its marks.
    fn damage_at_start(&self, tables: &SpaceTables) -> Option<u32> {
        let may_be_damaged = self.inner.readonly && self.inner.damages.is_any() && !self.start.is_empty();
        may_be_damaged.then(|| self.inner.read_values(|| Ok(tables.damage_of_value(&self.start))).ok()?)?
    }

    /// The error of a damage, if it was not reported yet.
    fn report(&mut self, number: u32) -> Option<StoreError> {
        if self.reported.contains(&number) {
            return None;
        }
        self.reported.push(number);
        let why = self.inner.damages.text(number);
        Some(StoreError::Corrupt { path: self.inner.path().to_path_buf(), why })
    }
}

impl Range for TableRange {
    fn start(&mut self, bounds: &KeyBounds, _: Direction) {
        self.reported.clear();
        self.start.clear();
        self.start.extend_from_slice(bounds.start());
        self.iter = match &self.tables {
            Some(tables) if !bounds.is_empty() => {
                let limits = bounds.limits(KEY_BYTES_MAX);
                Some(self.inner.read_values(|| Ok(tables.values.range_owned::<&[u8]>(limits)?)))
            }
            _ => None,
        };
    }

    fn next(&mut self, direction: Direction) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        loop {
            let mut iter = match self.iter.take() {
                None => return Ok(None),
                Some(started) => started?,
            };
            let Some(tables) = &self.tables else { return Ok(None) };
            // After an error, redb's iterator has no further entry: the range stays without one.
            let step = self.inner.read_values(|| Self::step(tables, &mut iter, direction))?;
            let damage = match step {
                Step::End => match self.damage_at_start(tables) {
                    Some(damage) => damage,
                    None => return Ok(None),
                },
                Step::Damage(damage) => {
                    self.iter = Some(Ok(iter));
                    damage
                }
                Step::Entry(key, value) => {
                    self.iter = Some(Ok(iter));
                    return Ok(Some((key, value)));
                }
                Step::Unreadable(error) => {
                    self.iter = Some(Ok(iter));
                    return self.inner.read(|| Err(error));
                }
            };
            if let Some(error) = self.report(damage) {
                return Err(error);
            }
        }
    }
}
