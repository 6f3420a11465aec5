//! The rows of a commit as a generation's space has them.
//!
//! One record has rows of one table, so a commit costs the store one key per table and megabyte instead of one per row.
//! Records are numbered, and replay in this order repeats the commits.
//!
//! ```text
//! key     table 4, number 8, both big endian
//! record  each row: bytes of its key 2 | bytes of the row 4; 0: the row is deleted | key | row
//! ```

use saltwing_store::Bytes;
use saltwing_types::TableId;

use crate::format::bits::Reader;
use crate::format::stored_row::{RecentRow, StoredRow};

/// Bytes from which on a record takes no more rows.
const RECORD_BYTES: usize = 1 << 20;

/// Room that is made for a row and its key before they are written, so that most commits of one row allocate once.
const ROW_BYTES_EXPECTED: usize = 256;

/// Rows of one table.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) table: TableId,
    pub(crate) rows: u64,
    pub(crate) bytes: Bytes,
}

impl Record {
    /// One record of the rows of several, which begin with `first` and are of one table.
    fn join(records: &[Self], first: &Self) -> Self {
        if records.len() == 1 {
            return first.clone();
        }
        let bytes: Vec<&[u8]> = records.iter().map(|record| &*record.bytes).collect();
        let rows = records.iter().map(|record| record.rows).sum();
        Self { table: first.table, rows, bytes: Bytes::from(&bytes.concat()) }
    }

    /// Each row by its key; `None` for a deletion. All share the record's memory.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RecentRow> {
        rows(&self.bytes).map_while(|row| row)
    }
}

/// The rows of a record as stored; an item is `None`, and the last, where the bytes are no row.
pub(crate) fn rows(record: &Bytes) -> impl Iterator<Item = Option<RecentRow>> {
    let mut reader = Reader::new(record);
    std::iter::from_fn(move || {
        if reader.is_at_end() {
            return None;
        }
        let mut next = || {
            let (key_bytes, row_bytes) = (reader.u16()?, reader.u32()?);
            let key = record.slice(reader.skip(key_bytes.into())?);
            let row = record.slice(reader.skip(row_bytes as usize)?);
            Some((key, (!row.is_empty()).then_some(StoredRow(row))))
        };
        let row = next();
        if row.is_none() {
            reader = Reader::new(&[]);
        }
        Some(row)
    })
}

/// The keys of a record that was just made, with the bytes of their rows; none of a row that is deleted.
pub(crate) fn keyed_rows(record: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = record;
    std::iter::from_fn(move || {
        let (key_bytes, after) = rest.split_first_chunk::<2>()?;
        let (row_bytes, after) = after.split_first_chunk::<4>()?;
        let (key, after) = after.split_at_checked(u16::from_le_bytes(*key_bytes).into())?;
        let (row, after) = after.split_at_checked(u32::from_le_bytes(*row_bytes) as usize)?;
        rest = after;
        Some((key, row))
    })
}

/// Makes records of rows. The rows of a table keep the order of their coming: of several with one key the last one counts.
/// Those of several tables may come by turns, as rows and the entries of their indexes do.
#[derive(Debug, Default)]
pub(crate) struct RecordBuilder {
    done: Vec<Record>,
    /// Bytes of all rows.
    bytes: usize,
    /// A record for each table that is written to, to which rows are added.
    open: Vec<OpenRecord>,
}

/// A record to which rows are added.
#[derive(Debug)]
struct OpenRecord {
    table: TableId,
    rows: u64,
    bytes: Vec<u8>,
}

impl OpenRecord {
    fn add(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.rows += 1;
        self.bytes.reserve(ROW_BYTES_EXPECTED + key.len());
        self.bytes.extend_from_slice(&(key.len() as u16).to_le_bytes());
        let length_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(key);
        let row_at = self.bytes.len();
        write(&mut self.bytes);
        let row_bytes = (self.bytes.len() - row_at) as u32;
        if let Some(length) = self.bytes.get_mut(length_at..length_at + 4) {
            length.copy_from_slice(&row_bytes.to_le_bytes());
        }
    }

    /// The record, unless it has no rows.
    fn record(&self) -> Option<Record> {
        let Self { table, rows, bytes } = self;
        (*rows > 0).then(|| Record { table: *table, rows: *rows, bytes: Bytes::from(bytes) })
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.bytes.clear();
    }
}

impl RecordBuilder {
    /// Bytes of all rows added.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row, which `write` adds the bytes of; none delete it.
    pub(crate) fn add(&mut self, table: TableId, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        let mut open = match self.open.iter().position(|open| open.table == table) {
            Some(known) => self.open.swap_remove(known),
            None => OpenRecord { table, rows: 0, bytes: Vec::new() },
        };
        if open.bytes.len() >= RECORD_BYTES {
            self.done.extend(open.record());
            open.clear();
        }
        let before = open.bytes.len();
        open.add(key, write);
        self.bytes += open.bytes.len() - before;
        self.open.push(open);
    }

    /// The records of all rows added so far, to which no row is added any more.
    pub(crate) fn finished(&mut self) -> &[Record] {
        self.done.extend(self.open.iter().filter_map(OpenRecord::record));
        self.open.iter_mut().for_each(OpenRecord::clear);
        &self.done
    }

    /// Removes all finished records but the first `count`, and the rows that are in no finished one.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.done.truncate(count);
        self.bytes = self.done.iter().map(|record| record.bytes.len()).sum();
        self.open.iter_mut().for_each(OpenRecord::clear);
    }

    /// The records of all rows added; large ones share their bytes with the builder. Each statement of a transaction may
    /// finish a small record of each table: these are joined, so that the store gets few keys.
    pub(crate) fn records(&self) -> Vec<Record> {
        let open = self.open.iter().filter_map(OpenRecord::record);
        if self.done.is_empty() {
            return open.collect();
        }
        let mut all: Vec<Record> = self.done.iter().cloned().chain(open).collect();
        all.sort_by_key(|record| record.table.0);
        let mut joined = Vec::with_capacity(all.len());
        let mut rest = &all[..];
        while let [first, others @ ..] = rest {
            let mut bytes = first.bytes.len();
            let is_joined = |other: &&Record| {
                bytes += other.bytes.len();
                other.table == first.table && bytes <= RECORD_BYTES
            };
            let (group, after) = rest.split_at(1 + others.iter().take_while(is_joined).count());
            joined.push(Record::join(group, first));
            rest = after;
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_back_in_order(
            given in prop::collection::vec((0u32..3, prop::collection::vec(any::<u8>(), 0..40), 0usize..5), 0..20),
            large in any::<bool>(),
        ) {
            let scale = if large { RECORD_BYTES / 2 } else { 1 };
            let mut builder = RecordBuilder::default();
            for (number, (table, key, length)) in given.iter().enumerate() {
                builder.add(TableId(*table), key, |out| out.resize(out.len() + length * scale, 7));
                if number % 3 == 1 {
                    builder.finished();
                }
            }
            let records = builder.records();
            prop_assert_eq!(records.iter().map(|record| record.bytes.len()).sum::<usize>(), builder.bytes());
            prop_assert_eq!(records.iter().map(|record| record.rows).sum::<u64>(), given.len() as u64);
            for table in 0..3 {
                let of_table = || records.iter().filter(|record| record.table.0 == table);
                let wanted = || given.iter().filter(|row| row.0 == table).map(|(_, key, length)| (&key[..], length * scale));
                let keys: Vec<_> = of_table().flat_map(|record| keyed_rows(&record.bytes)).collect();
                prop_assert!(keys.iter().map(|(key, row)| (*key, row.len())).eq(wanted()));
                let read: Vec<_> = of_table().flat_map(Record::rows).collect();
                let bytes = |row: &Option<StoredRow>| row.as_ref().map_or(0, |row| row.0.len());
                prop_assert!(read.iter().map(|(key, row)| (&**key, bytes(row))).eq(wanted()));
            }
        }

        #[test]
        fn damaged_records_end(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..60)) {
            let bytes = Bytes::from(bytes);
            let read: Vec<_> = rows(&bytes).collect();
            let damaged = read.iter().filter(|row| row.is_none()).count();
            prop_assert!(damaged == 0 || damaged == 1 && read.last().is_some_and(Option::is_none));
        }
    }
}
