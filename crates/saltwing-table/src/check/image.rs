//! The layout of a store as far as it can be read: what opening needs, without the damaged parts.
//!
//! ```text
//!   store below      META  DIR  DELTAS  REPLACED      FIX  VAR  OVERFLOW
//!                      │    │     │        │           │    │    │
//!   image            mended copies where damaged     as they are: a block is checked when it is read
//! ```
//! Opening reads four kinds of records as a whole, and refuses all tables for one bad record. An image is a store that
//! opening accepts: a space with damage in it is a copy in memory without the damaged records, every other space is
//! the store's own. An entry that cannot be read is made anew from the parts of its block (`orphans.rs`).
//!
//! # Laws
//! 1. Nothing is written to the store below.
//! 2. Without damage the image equals the store.
//! 3. Every omitted or rebuilt record is reported.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use saltwing_access::{Damage, Loss, StorageError, TableError};
use saltwing_store::{
    Bytes, Cursor, Direction, Durability, KeyBounds, MemoryStore, OrderedKv, Snapshot, Space, StoreError, WriteBatch,
};

use crate::check::named::{Named, walk};
use crate::check::orphans;
use crate::check::read_only::ReadOnlyKv;
use crate::format::delta_record;
use crate::format::meta::{Cursor as Place, Meta};
use crate::format::spaces::{DELTAS, DIR, META, META_KEY, OLD_ROWS, REPLACED, hex, id_of, label, split_table};

/// The readable tables of a store, and the damage of the rest.
pub(crate) struct Image {
    pub(crate) kv: Arc<dyn OrderedKv>,
    pub(crate) damages: Vec<Damage>,
}

impl Image {
    /// Reads everything of a store but its blocks, of which it reads the keys. `go_on` may end it.
    ///
    /// # Errors
    /// [`TableError::OtherLayout`]; what `go_on` fails with.
    pub(crate) fn read(
        below: Arc<dyn OrderedKv>,
        go_on: &dyn Fn() -> Result<(), TableError>,
    ) -> Result<Self, TableError> {
        let mut reading = Reading { below, mended: Mended::default(), damages: Vec::new(), go_on };
        let meta = reading.meta()?;
        reading.replaced_and_directories(&meta)?;
        for space in DELTAS {
            reading.recent_rows(space)?;
        }
        let Reading { below, mended, damages, .. } = reading;
        let kv: Arc<dyn OrderedKv> = match mended.spaces.is_empty() {
            true => below,
            false => {
                let (capabilities, name) = (below.capabilities().clone(), "the readable part of a damaged database");
                Arc::new(ReadOnlyKv { capabilities, content: Box::new(Overlay { below, mended }), name })
            }
        };
        Ok(Self { kv, damages })
    }
}

/// Copies in memory of the spaces that have damage.
#[derive(Default)]
struct Mended {
    store: MemoryStore,
    spaces: Vec<Space>,
}

struct Reading<'a> {
    below: Arc<dyn OrderedKv>,
    mended: Mended,
    damages: Vec<Damage>,
    go_on: &'a dyn Fn() -> Result<(), TableError>,
}

impl Reading<'_> {
    /// The record of generations; if it is unreadable, one that fits the other records.
    fn meta(&mut self) -> Result<Meta, TableError> {
        let damage = |what: String| Damage::new(label(META), None, "key layout", what);
        let found = match self.below.get(META, META_KEY) {
            Ok(Some(bytes)) => Meta::read(&bytes),
            Ok(None) => match self.first_of(OLD_ROWS) {
                Some(_) => return Err(TableError::OtherLayout),
                None if [DIR, DELTAS[0], DELTAS[1]].iter().all(|space| self.first_of(*space).is_none()) => {
                    return Ok(Meta::default());
                }
                None => Err(TableError::CorruptLayout("the record of generations, which is missing,")),
            },
            Err(error) => Err(StorageError::from(error).into()),
        };
        match found {
            Ok(meta) => Ok(meta),
            Err(TableError::OtherLayout) => Err(TableError::OtherLayout),
            Err(error) => {
                let meta = self.guessed_meta()?;
                let what = format!("{error}; which recent rows are newer is told by their write times");
                self.damages.push(damage(what));
                self.mended.put(META, META_KEY, meta.write())?;
                Ok(meta)
            }
        }
    }

    fn first_of(&self, space: Space) -> Option<Bytes> {
        let first = self.below.cursor(space, KeyBounds::all(), Direction::Forward).and_then(|mut cursor| cursor.next());
        first.ok().flatten().map(|(key, _)| key)
    }

    /// The generation whose newest row is the newer one takes writes; the other one is being merged.
    ///
    /// Rows that were merged already are in it too: they are the same as those in blocks, or newer.
    fn guessed_meta(&self) -> Result<Meta, TableError> {
        let newest = |space: Space| -> Result<Option<i64>, TableError> {
            let mut newest = None;
            self.walk(space, &mut |_, record| {
                for (_, row) in delta_record::rows(record).map_while(|row| row) {
                    newest = newest.max(row.map(|row| row.time_ms()).or(Some(i64::MIN)));
                }
            })?;
            Ok(newest)
        };
        let (even, odd) = (newest(DELTAS[0])?, newest(DELTAS[1])?);
        let active = if odd > even { 3 } else { 2 };
        // No block is made from an image: the next number is above all.
        Ok(Meta { active, frozen: even.is_some() && odd.is_some(), next_block: u64::MAX, cursor: Place::default() })
    }

    /// Has `each` see the entries of a space that can be read. Tells the gaps between them.
    fn walk(&self, space: Space, each: &mut dyn FnMut(&Bytes, &Bytes)) -> Result<Vec<Damage>, TableError> {
        walk(&*self.below, space, self.go_on, each)
    }

    fn replaced_and_directories(&mut self, meta: &Meta) -> Result<(), TableError> {
        let mut named = Named::default();
        let (mut damages, mut good) = (Vec::new(), WriteBatch::new());
        let gaps = self.walk(REPLACED, &mut |key, families| match split_table(key).zip(id_of(key)) {
            Some(((table, _), id)) => {
                named.replaced.insert((table, id));
                good.put(REPLACED, key.clone(), families.clone());
            }
            None => damages.push(Damage::new(label(REPLACED), None, hex(key), "the key is none of a replaced block")),
        })?;
        damages.extend(gaps);
        if !damages.is_empty() {
            self.mended.take_over(REPLACED, good)?;
            self.damages.append(&mut damages);
        }
        let mut unreadable = HashSet::new();
        let gaps = self.walk(DIR, &mut |key, value| {
            if let Some(damage) = named.note(key, value, meta.next_block) {
                damages.push(damage);
                unreadable.insert(key.clone());
            }
        })?;
        let is_damaged = !gaps.is_empty() || !damages.is_empty();
        let mut gaps: Vec<Damage> = gaps.into_iter().map(|gap| gap.losing(Loss::Unknown)).collect();
        let found = orphans::Orphans::find(&*self.below, &named, self.go_on)?;
        let mended = found.mend(&mut named, &mut damages, &mut gaps, &mut self.damages);
        damages.append(&mut gaps);
        if is_damaged {
            let mut good = WriteBatch::new();
            self.walk(DIR, &mut |key, value| {
                if !unreadable.contains(key) {
                    good.put(DIR, key.clone(), value.clone());
                }
            })?;
            mended.into_iter().for_each(|(key, value)| good.put(DIR, key, value));
            self.mended.take_over(DIR, good)?;
        }
        self.damages.append(&mut damages);
        Ok(())
    }

    /// Records of recent rows: of a damaged one the rows before the damage are kept.
    fn recent_rows(&mut self, space: Space) -> Result<(), TableError> {
        let (mut damages, mut good_parts) = (Vec::new(), BTreeMap::new());
        let gaps = self.walk(space, &mut |key, record| {
            let Some(((table, _), number)) = split_table(key).zip(id_of(key)) else {
                damages.push(Damage::new(label(space), None, hex(key), "the key is none of a record of rows"));
                good_parts.insert(key.clone(), None);
                return;
            };
            let mut good = 0;
            for row in delta_record::rows(record) {
                match row {
                    Some((key, row)) => good += 6 + key.len() + row.map_or(0, |row| row.0.len()),
                    None => {
                        let what = "the record ends in the middle of a row";
                        let damage = Damage::new(label(space), Some(table), format!("record {number}"), what);
                        damages.push(damage.losing(Loss::Unknown));
                        good_parts.insert(key.clone(), Some(record.slice(..good)));
                    }
                }
            }
        })?;
        let is_damaged = !gaps.is_empty() || !damages.is_empty();
        damages.extend(gaps.into_iter().map(|gap| gap.losing(Loss::Unknown)));
        self.damages.append(&mut damages);
        if is_damaged {
            let mut good = WriteBatch::new();
            self.walk(space, &mut |key, record| match good_parts.get(key) {
                None => good.put(space, key.clone(), record.clone()),
                Some(Some(part)) if !part.is_empty() => good.put(space, key.clone(), part.clone()),
                Some(_) => {}
            })?;
            self.mended.take_over(space, good)?;
        }
        Ok(())
    }
}

impl Mended {
    fn put(&mut self, space: Space, key: &[u8], value: Vec<u8>) -> Result<(), TableError> {
        let mut batch = WriteBatch::new();
        batch.put(space, key, value);
        self.take_over(space, batch)
    }

    fn take_over(&mut self, space: Space, good: WriteBatch) -> Result<(), TableError> {
        // In parts: a batch has a limit.
        let mut part = WriteBatch::new();
        for mutation in good.into_mutations() {
            part.push(mutation);
            if part.bytes() > 1 << 24 {
                self.store.write(std::mem::take(&mut part), Durability::Buffered).map_err(StorageError::from)?;
            }
        }
        self.store.write(part, Durability::Buffered).map_err(StorageError::from)?;
        self.spaces.push(space);
        Ok(())
    }
}

/// A store with some spaces in the places of those of another one.
struct Overlay {
    below: Arc<dyn OrderedKv>,
    mended: Mended,
}

impl Overlay {
    fn of(&self, space: Space) -> &dyn OrderedKv {
        if self.mended.spaces.contains(&space) { &self.mended.store } else { &*self.below }
    }
}

impl Snapshot for Overlay {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.of(space).get(space, key)
    }

    fn cursor(&self, space: Space, bounds: KeyBounds, direction: Direction) -> Result<Box<dyn Cursor>, StoreError> {
        self.of(space).cursor(space, bounds, direction)
    }
}
