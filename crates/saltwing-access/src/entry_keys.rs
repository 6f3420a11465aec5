//! The keys of the rows that entries of indexes name.

use std::collections::HashSet;
use std::sync::Arc;

use saltwing_expr::{RowValues, ValueRef};
use saltwing_rowkey::KeySlices;
use saltwing_types::Expr;

use crate::short_range::ShortRange;
use crate::{
    Index, Memory, Projection, Reservation, RowSource, ScanContext, ScanRoute, ScanSpec, Snapshot, TableError,
};

/// Row keys that are read together.
pub(crate) const KEYS_AT_ONCE: usize = 1024;
/// Row keys that an intersection holds at once.
const KEYS_HELD_MAX: usize = 65_536;
/// An intersection reads at most this many entries of another index for each key found so far, and gives the index up if there
/// are more: to fetch the rows of these keys takes less time.
const ENTRIES_PER_KEY: usize = 8;
/// An intersection reads at least this many entries of another index before it gives it up.
const ENTRIES_MIN: usize = 1024;

/// Scans of the entries of an index for the keys of their rows.
pub(crate) struct EntrySpec {
    index: Index,
    /// The keys of entries.
    scan: ScanSpec,
    /// The same.
    keys: Projection,
}

impl EntrySpec {
    /// Scans of the entries that meet all of `filter`, which is over the columns of entries.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub(crate) fn new(index: &Index, filter: Vec<Expr>) -> Result<Self, TableError> {
        let key = index.entries().row_key_index();
        let keys = Projection::new(index.entries(), [key]);
        Ok(Self { scan: ScanSpec::new(index.entries(), vec![key], filter)?, keys, index: index.clone() })
    }

    pub(crate) fn is_filtered(&self) -> bool {
        self.scan.is_filtered()
    }

    /// The keys of the rows of a range of entries, if they are few ([`Snapshot::get_range`]).
    ///
    /// # Errors
    /// As [`Snapshot::get_range`].
    pub(crate) fn get_range(
        &self,
        snapshot: &dyn Snapshot,
        range: ShortRange<'_>,
    ) -> Result<Option<Vec<Vec<u8>>>, TableError> {
        let (mut slices, mut keys) = (KeySlices::new(), Vec::new());
        let is_read = snapshot.get_range_keys(self.index.entries(), range, &mut |entry| {
            keys.push(self.index.row_key(entry, &mut slices)?);
            Ok(())
        })?;
        Ok(is_read.then_some(keys))
    }
}

/// Reads the entries of an index, and makes the keys of their rows.
pub(crate) struct EntryKeys {
    spec: Arc<EntrySpec>,
    entries: Box<dyn RowSource>,
    /// The keys of the entries that were read last.
    values: RowValues,
    slices: KeySlices,
    /// Keys that are read together: fewer if the reader may stop early.
    at_once: usize,
}

impl EntryKeys {
    pub(crate) fn start(
        spec: &Arc<EntrySpec>,
        snapshot: &dyn Snapshot,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        Ok(Self {
            at_once: if route.first_batch.is_some() { 1 } else { KEYS_AT_ONCE },
            entries: snapshot.scan(&spec.scan, route, context)?,
            values: RowValues::new(1),
            slices: KeySlices::new(),
            spec: spec.clone(),
        })
    }

    /// Adds the physical row keys of the next entries; whether there were more.
    pub(crate) fn read(&mut self, keys: &mut Vec<Vec<u8>>) -> Result<bool, TableError> {
        let before = keys.len();
        while keys.len() - before < self.at_once {
            self.values.clear();
            if !self.entries.next_values(&self.spec.keys, &mut self.values)? {
                break;
            }
            keys.reserve(self.values.rows());
            for entry in 0..self.values.rows() {
                let ValueRef::Bytes(entry) = self.values.get(entry, 0) else {
                    let table = self.spec.index.def().name.clone();
                    return Err(TableError::Corrupt { table, key: String::new(), what: "an entry has no key" });
                };
                keys.push(self.spec.index.row_key(entry, &mut self.slices)?);
            }
        }
        Ok(keys.len() > before)
    }
}

/// The row keys that entries of other indexes name, too.
///
/// An index that has too many entries for the keys found, or for the memory, is left out: rows are checked in any case.
pub(crate) struct Intersection {
    others: Vec<HashSet<Vec<u8>>>,
    reserved: Reservation,
}

impl Intersection {
    /// Reads the first row keys of `first`, then the other indexes, and returns the keys that all indexes have. `open` starts a
    /// scan of another index; its number is the most entries that the scan gives.
    pub(crate) fn start<O>(
        first: &mut EntryKeys,
        others: &[O],
        mut open: impl FnMut(&O, u64) -> Result<EntryKeys, TableError>,
        memory: &Arc<Memory>,
    ) -> Result<(Self, Vec<Vec<u8>>), TableError> {
        let mut keys = Vec::new();
        while keys.len() < KEYS_HELD_MAX && first.read(&mut keys)? {}
        let mut intersection = Self { others: Vec::new(), reserved: Reservation::new(memory.clone()) };
        for other in others {
            if keys.is_empty() {
                break;
            }
            let most = (keys.len() * ENTRIES_PER_KEY).max(ENTRIES_MIN);
            let found = intersection.read(open(other, most as u64 + 1)?, most)?;
            if let Some(found) = found {
                keys.retain(|key| found.contains(key));
                intersection.others.push(found);
            }
        }
        Ok((intersection, keys))
    }

    /// Keeps the keys that all other indexes have.
    pub(crate) fn retain(&self, keys: &mut Vec<Vec<u8>>) {
        keys.retain(|key| self.others.iter().all(|other| other.contains(key)));
    }

    /// All keys of an index; `None` if there are more than `most`, or too many for the memory.
    fn read(&mut self, mut entries: EntryKeys, most: usize) -> Result<Option<HashSet<Vec<u8>>>, TableError> {
        let (mut found, mut keys, before) = (HashSet::new(), Vec::new(), self.reserved.bytes());
        while entries.read(&mut keys)? {
            let bytes: usize = keys.iter().map(|key| key.len() + size_of::<Vec<u8>>()).sum();
            let fits = self.reserved.resize(self.reserved.bytes() + bytes).is_ok();
            found.extend(keys.drain(..));
            if !fits || found.len() > most {
                // What was reserved before stays.
                self.reserved.resize(before)?;
                return Ok(None);
            }
        }
        Ok(Some(found))
    }
}
