//! A space as two tables: values, and what of them did not fit a page.
//!
//! ```text
//!  space_007   key           -> pieces 1 │ the first piece
//!  rest_007    key, number 1 -> piece; from 1 on
//! ```
//!
//! redb's pages are powers of two, from 4 KiB, and a value larger than a page has one of its own: 16 KiB for 9,000
//! bytes, so a third of the page is empty on average. Such a value is therefore split: its first pieces fill a page
//! each, and the last one shares its page with others.

use std::sync::Arc;

use redb::{
    AccessGuard, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, TableError, TableHandle,
    WriteTransaction,
};
use saltwing_store::{Bytes, Mutation, Space, WriteBatch};

use crate::damages::Damages;
use crate::stand_in;

/// redb's smallest page.
const PAGE: usize = 4096;
/// Maximum overhead of a page with one entry, besides key and value: redb's, and our count of pieces.
const PAGE_TAKEN: usize = 24;
/// Most pieces of a value.
const PIECES_MAX: usize = 3;
/// Pieces are counted and named by one byte.
const _: () = assert!(PIECES_MAX <= u8::MAX as usize);
/// A page is filled well if at most this part of it is empty.
const EMPTY_PART_MAX: usize = 8;
/// Values of longer keys are not cut: the key is written with each piece.
const CUT_KEY_BYTES_MAX: usize = 256;

type Definition<'a> = TableDefinition<'a, &'static [u8], &'static [u8]>;
pub(crate) type BytesTable = ReadOnlyTable<&'static [u8], &'static [u8]>;
type Stored = AccessGuard<'static, &'static [u8]>;

/// The names of the tables, by space.
pub(crate) struct TableNames(Vec<[String; 2]>);

impl TableNames {
    pub(crate) fn new() -> Self {
        Self((0..=u8::MAX).map(|id| [format!("space_{id:03}"), format!("rest_{id:03}")]).collect())
    }

    /// Those of the values and of the rest.
    fn of(&self, space: Space) -> [Definition<'_>; 2] {
        let names = self.0.get(usize::from(space.id()));
        [0, 1].map(|table| TableDefinition::new(names.map_or("", |names| names[table].as_str())))
    }
}

/// A space's tables in the snapshot of a transaction.
pub(crate) struct SpaceTables {
    pub(crate) values: BytesTable,
    rest: Option<BytesTable>,
    damages: Arc<Damages>,
}

impl SpaceTables {
    /// `None` if nothing was written to the space since it was empty.
    pub(crate) fn open(
        names: &TableNames,
        transaction: &ReadTransaction,
        space: Space,
        damages: &Arc<Damages>,
    ) -> Result<Option<Self>, redb::Error> {
        let open = |name| match transaction.open_table(name) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(redb::Error::from(error)),
        };
        let [values, rest] = names.of(space);
        let Some(values) = open(values)? else { return Ok(None) };
        Ok(Some(Self { values, rest: open(rest)?, damages: damages.clone() }))
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>, redb::Error> {
        match self.find(&self.values, key)? {
            Some(stored) => self.whole(key, stored.value()).map(Some),
            None => Ok(None),
        }
    }

    /// An entry of a table. A page with marks in it has no entry, and says nothing about the key.
    fn find(&self, table: &BytesTable, key: &[u8]) -> Result<Option<Stored>, redb::Error> {
        let found = table.get(key)?;
        match found {
            None if self.damages.is_any() => self.damage_at(table, key).map_or(Ok(None), |number| Err(refused(number))),
            found => Ok(found),
        }
    }

    /// The number of the damage in whose page a key's entry would be.
    fn damage_at(&self, table: &BytesTable, key: &[u8]) -> Option<u32> {
        if stand_in::is_after_marks(key) {
            return Some(0);
        }
        // An error is about a later page: the key's own has just been read.
        let (next, value) = table.range(key..).ok()?.next()?.ok()?;
        stand_in::mark(next.value(), value.value()).filter(|mark| mark.is_last).map(|mark| mark.number)
    }

    /// The number of the damage in whose page a value's entry would be.
    pub(crate) fn damage_of_value(&self, key: &[u8]) -> Option<u32> {
        self.damage_at(&self.values, key)
    }

    /// The value for which an entry is stored in the table of values.
    pub(crate) fn whole(&self, key: &[u8], stored: &[u8]) -> Result<Bytes, redb::Error> {
        let Some((pieces, first)) = stored.split_first() else { return Err(missing(0)) };
        if *pieces <= 1 {
            return Ok(Bytes::new(first));
        }
        let rest = self.rest.as_ref().ok_or_else(|| missing(1))?;
        let mut key = [key, &[1]].concat();
        let second = self.find(rest, &key)?.ok_or_else(|| missing(1))?;
        if *pieces == 2 {
            return Ok(Bytes::fused(first, second.value()));
        }
        let mut whole = [first, second.value()].concat();
        for number in 2..*pieces {
            set_number(&mut key, number);
            whole.extend_from_slice(self.find(rest, &key)?.ok_or_else(|| missing(number))?.value());
        }
        Ok(Bytes::from(whole))
    }
}

fn set_number(key: &mut [u8], number: u8) {
    if let Some(last) = key.last_mut() {
        *last = number;
    }
}

fn refused(number: u32) -> redb::Error {
    redb::Error::Corrupted(stand_in::error(number))
}

fn missing(piece: u8) -> redb::Error {
    redb::Error::Corrupted(format!("piece {piece} of a value is missing"))
}

/// Bytes of the pieces of a value: such that their pages are well filled, or as many pieces as there may be.
fn cut(key_bytes: usize, bytes: usize) -> impl Iterator<Item = usize> {
    let room = move |order: usize| (PAGE << order) - PAGE_TAKEN - key_bytes;
    let may_cut = key_bytes <= CUT_KEY_BYTES_MAX;
    let (mut left, mut made) = (bytes, 0);
    std::iter::from_fn(move || {
        if made > 0 && left == 0 {
            return None;
        }
        made += 1;
        let mut piece = left;
        if may_cut && made < PIECES_MAX && left > room(0) {
            // The largest page that is filled, and the next one.
            let order = (0..).take_while(|order| room(*order) <= left).last().unwrap_or(0);
            let larger = room(order + 1);
            if larger - left > larger / EMPTY_PART_MAX {
                piece = room(order);
            }
        }
        left -= piece;
        Some(piece)
    })
}

/// Bytes of keys and values, by space: the size of a file without free space.
#[derive(Clone)]
pub(crate) struct LiveBytes(Vec<u64>);

const LIVE: TableDefinition<u8, u64> = TableDefinition::new("live");

impl Default for LiveBytes {
    fn default() -> Self {
        Self(vec![0; usize::from(u8::MAX) + 1])
    }
}

impl LiveBytes {
    /// As the last durable commit recorded them.
    pub(crate) fn load(transaction: &ReadTransaction) -> Result<Self, redb::Error> {
        let mut live = Self::default();
        let table = match transaction.open_table(LIVE) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(live),
            table => table?,
        };
        for entry in table.iter()? {
            let (space, bytes) = entry?;
            *live.of(Space::new(space.value())) = bytes.value();
        }
        Ok(live)
    }

    pub(crate) fn save(&self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(LIVE)?;
        for (space, bytes) in (0..=u8::MAX).zip(&self.0) {
            if *bytes > 0 {
                table.insert(space, bytes)?;
            } else {
                table.remove(space)?;
            }
        }
        Ok(())
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn of(&mut self, space: Space) -> &mut u64 {
        &mut self.0[usize::from(space.id())]
    }
}

/// A space's tables in a transaction that writes.
struct Writing<'t> {
    space: Space,
    /// Bytes that came and that went.
    grown: u64,
    shrunk: u64,
    names: [Definition<'t>; 2],
    values: Table<'t, &'static [u8], &'static [u8]>,
    /// Opened by the first value that needs it.
    rest: Option<Table<'t, &'static [u8], &'static [u8]>>,
}

impl<'t> Writing<'t> {
    fn put(&mut self, transaction: &'t WriteTransaction, key: &[u8], mut value: &[u8]) -> Result<(), redb::Error> {
        let pieces: Vec<usize> = cut(key.len(), value.len()).collect();
        let mut stored = Vec::with_capacity(1 + pieces.first().copied().unwrap_or(0));
        stored.push(pieces.len() as u8);
        let mut take = |bytes: usize| {
            let (piece, rest) = value.split_at(bytes.min(value.len()));
            value = rest;
            piece
        };
        stored.extend_from_slice(take(pieces.first().copied().unwrap_or(0)));
        let before = Before::of(self.values.insert(key, &*stored)?);
        self.shrunk += before.bytes(key);
        self.grown += (key.len() + stored.len()) as u64;
        for (number, bytes) in pieces.iter().enumerate().skip(1) {
            let (name, piece) = ([key, &[number as u8]].concat(), take(*bytes));
            self.grown += (name.len() + piece.len()) as u64;
            let old = self.rest(transaction)?.insert(&*name, piece)?.map(|old| old.value().len());
            self.shrunk += old.map_or(0, |old| name.len() + old) as u64;
        }
        self.remove_rest(transaction, key, pieces.len() as u8, before.pieces)
    }

    fn delete(&mut self, transaction: &'t WriteTransaction, key: &[u8]) -> Result<(), redb::Error> {
        let before = Before::of(self.values.remove(key)?);
        self.shrunk += before.bytes(key);
        self.remove_rest(transaction, key, 1, before.pieces)
    }

    /// Takes the pieces of a value away from one number on.
    fn remove_rest(
        &mut self,
        transaction: &'t WriteTransaction,
        key: &[u8],
        from: u8,
        to: u8,
    ) -> Result<(), redb::Error> {
        for number in from.max(1)..to {
            let name = [key, &[number]].concat();
            let old = self.rest(transaction)?.remove(&*name)?.map(|old| old.value().len());
            self.shrunk += old.map_or(0, |old| name.len() + old) as u64;
        }
        Ok(())
    }

    fn rest(
        &mut self,
        transaction: &'t WriteTransaction,
    ) -> Result<&mut Table<'t, &'static [u8], &'static [u8]>, redb::Error> {
        match &mut self.rest {
            Some(rest) => Ok(rest),
            unopened => Ok(unopened.insert(transaction.open_table(self.names[1])?)),
        }
    }
}

/// The previous value of a key in the table of values.
struct Before {
    /// 0 if it was not there.
    pieces: u8,
    stored: usize,
}

impl Before {
    fn of(old: Option<AccessGuard<'_, &'static [u8]>>) -> Self {
        let stored = old.as_ref().map_or(&[][..], |old| old.value());
        Self { pieces: stored.first().copied().unwrap_or(0), stored: stored.len() }
    }

    fn bytes(&self, key: &[u8]) -> u64 {
        if self.pieces > 0 { (key.len() + self.stored) as u64 } else { 0 }
    }
}

/// How a space loses all of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clearing {
    /// Its pages become free, which reads all of them that name others.
    Freed,
    /// Its tables get names that no space has, and keep their pages: one of them is damaged.
    SetAside,
}

/// Puts the mutations of a batch into their tables, in order. The deletion of the empty key clears its space.
pub(crate) fn apply(
    names: &TableNames,
    transaction: &WriteTransaction,
    batch: &WriteBatch,
    live: &mut LiveBytes,
    clearing: Clearing,
) -> Result<(), redb::Error> {
    let mut spaces: Vec<Writing<'_>> = Vec::new();
    for mutation in batch.mutations() {
        let space = mutation.space();
        if mutation.key().is_empty() {
            spaces.retain(|open| open.space != space);
            *live.of(space) = 0;
            for name in names.of(space) {
                match clearing {
                    Clearing::Freed => drop(transaction.delete_table(name)?),
                    Clearing::SetAside => set_aside(transaction, name)?,
                }
            }
            continue;
        }
        let place = match spaces.iter().position(|open| open.space == space) {
            Some(place) => place,
            None => {
                let names = names.of(space);
                let values = transaction.open_table(names[0])?;
                spaces.push(Writing { space, grown: 0, shrunk: 0, names, values, rest: None });
                spaces.len() - 1
            }
        };
        let Some(open) = spaces.get_mut(place) else { continue };
        match mutation {
            Mutation::Put { key, value, .. } => open.put(transaction, key, value)?,
            Mutation::Delete { key, .. } => open.delete(transaction, key)?,
        }
    }
    for open in spaces {
        let bytes = live.of(open.space);
        *bytes = (*bytes + open.grown).saturating_sub(open.shrunk);
    }
    Ok(())
}

/// Gives a table a name that no space has.
fn set_aside(transaction: &WriteTransaction, name: Definition<'_>) -> Result<(), redb::Error> {
    let tables: Vec<String> = transaction.list_tables()?.map(|table| table.name().to_owned()).collect();
    if !tables.iter().any(|table| *table == name.name()) {
        return Ok(());
    }
    let free = (0_u32..).map(|number| format!("damaged_{number}_{}", name.name())).find(|free| !tables.contains(free));
    let free = free.unwrap_or_default();
    let to: Definition<'_> = TableDefinition::new(&free);
    transaction.rename_table(name, to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PAGE, PAGE_TAKEN, PIECES_MAX, cut};

    #[test]
    fn pieces_are_all_of_a_value_and_fill_their_pages() {
        for key_bytes in [1, 13, 256, 257, 65_535] {
            for bytes in (0..20_000).step_by(7).chain([1 << 20, (1 << 30) - 1]) {
                let pieces: Vec<usize> = cut(key_bytes, bytes).collect();
                assert_eq!(pieces.iter().sum::<usize>(), bytes);
                assert!((1..=PIECES_MAX).contains(&pieces.len()), "{bytes}: {pieces:?}");
                let (last, full) = pieces.split_last().unwrap();
                let page = |piece: usize| (piece + key_bytes + PAGE_TAKEN).next_power_of_two().max(PAGE);
                assert!(full.iter().all(|piece| piece + key_bytes + PAGE_TAKEN == page(*piece)), "{bytes}: {pieces:?}");
                // A value that shares a page takes its own bytes.
                let last = if *last < PAGE / 2 { *last } else { page(*last) };
                let taken = full.iter().map(|piece| page(*piece)).sum::<usize>() + last;
                assert!(key_bytes > 256 || bytes < PAGE / 2 || taken <= bytes * 2, "{bytes}: {pieces:?}");
                assert!(key_bytes > 13 || bytes < 4 * PAGE || taken <= bytes * 9 / 8, "{bytes}: {pieces:?}");
            }
        }
    }
}
