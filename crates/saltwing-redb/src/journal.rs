//! The journal: what was written since redb's last durable commit.
//!
//! ```text
//!  data/journal        record │ record │ .. │ what an earlier round left
//!    record            checksum 4 │ bytes of the batch 4 │ base 8 │ number 8 │ synced 8 │ batch
//!    batch             each mutation: space 1 │ bytes of the key 2 │ 1 + bytes of the value 4, 0: deleted │ both
//!  data/acknowledged   number 8 │ checksum 4, at 0 and at 512 by turns
//! ```
//!
//! Batches are numbered from 1 on. redb's durable commit holds all batches below its *base*; behind it the journal
//! begins anew at its start, with records of that base, over those of earlier ones. A record says up to which number
//! the file was synced when it was written. After each sync `acknowledged` says so too: written, not synced, so that
//! it costs a microsecond. It never says more than is true.
//!
//! # Laws
//! 1. [`Journal::replay`] hands out the batches from the base on, in order, each as a whole.
//! 2. It ends at the first record that is not whole. If a record behind that place or `acknowledged` says that the
//!    batch there was synced, the file is damaged, and opening it is an error. Otherwise nobody was told that the
//!    batch is there: it was being written when the process or the machine ended.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use saltwing_store::{Bytes, Mutation, Space, WriteBatch};

use crate::positioned;

/// Bytes from which on a round ends: redb commits durably, and the journal begins anew.
pub(crate) const ROUND_BYTES_MAX: u64 = 64 << 20;
/// What a file may keep beyond it for the next round; a longer one is cut.
const FILE_BYTES_MAX: u64 = 2 * ROUND_BYTES_MAX;

const HEADER: usize = 32;
/// Bytes that are looked through at once for records behind a bad one.
const SEARCHED: usize = 1 << 20;
const SLOTS: [u64; 2] = [0, 512];

/// The files of a journal, and where the next record goes.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    acknowledged: File,
    base: u64,
    /// The number of the next batch.
    next: u64,
    at: u64,
    synced: u64,
    buffer: Vec<u8>,
}

struct Header {
    sum: u32,
    bytes: usize,
    base: u64,
    number: u64,
    synced: u64,
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Self {
        let u32_at = |at: usize| bytes[at..].first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk));
        let u64_at = |at: usize| bytes[at..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        Self { sum: u32_at(0), bytes: u32_at(4) as usize, base: u64_at(8), number: u64_at(16), synced: u64_at(24) }
    }
}

fn damaged(why: String) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

impl Journal {
    /// The journal in a folder; `base` is that of redb's last durable commit. The files are made if `is_new`.
    pub(crate) fn open(folder: &Path, is_new: bool, base: u64) -> Result<Self> {
        Self::open_by(File::options().read(true).write(true).create(is_new).truncate(false), folder, base)
    }

    /// The same for one who replays it, and then writes nothing.
    pub(crate) fn open_to_read(folder: &Path, base: u64) -> Result<Self> {
        Self::open_by(File::options().read(true), folder, base)
    }

    fn open_by(options: &OpenOptions, folder: &Path, base: u64) -> Result<Self> {
        let open = |name: &str| {
            options.open(folder.join(name)).map_err(|error| match error.kind() {
                ErrorKind::NotFound => damaged(format!("the file data/{name} is missing")),
                _ => error,
            })
        };
        let (file, acknowledged) = (open("journal")?, open("acknowledged")?);
        Ok(Self { file, acknowledged, base, next: base, at: 0, synced: base.saturating_sub(1), buffer: Vec::new() })
    }

    /// The handle to sync the file by, beside writers.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// The number of the newest batch.
    pub(crate) fn newest(&self) -> u64 {
        self.next - 1
    }

    /// Whether a round should end.
    pub(crate) fn is_full(&self) -> bool {
        self.at >= ROUND_BYTES_MAX
    }

    /// Whether there are records of this base.
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.base
    }

    /// Writes a batch behind the others, without a sync.
    pub(crate) fn append(&mut self, batch: &WriteBatch) -> Result<()> {
        self.buffer.clear();
        self.buffer.resize(HEADER, 0);
        for mutation in batch.mutations() {
            let (key, value) = match mutation {
                Mutation::Put { key, value, .. } => (key, Some(value)),
                Mutation::Delete { key, .. } => (key, None),
            };
            self.buffer.push(mutation.space().id());
            self.buffer.extend((key.len() as u16).to_le_bytes());
            self.buffer.extend(value.map_or(0, |value| value.len() as u32 + 1).to_le_bytes());
            self.buffer.extend_from_slice(key);
            self.buffer.extend_from_slice(value.map_or(&[], |value| value));
        }
        let bytes = (self.buffer.len() - HEADER) as u32;
        self.buffer[4..8].copy_from_slice(&bytes.to_le_bytes());
        self.buffer[8..16].copy_from_slice(&self.base.to_le_bytes());
        self.buffer[16..24].copy_from_slice(&self.next.to_le_bytes());
        self.buffer[24..32].copy_from_slice(&self.synced.to_le_bytes());
        let sum = crc32fast::hash(&self.buffer[4..]);
        self.buffer[..4].copy_from_slice(&sum.to_le_bytes());
        positioned::write(&self.file, self.at, &self.buffer)?;
        self.at += self.buffer.len() as u64;
        self.next += 1;
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    /// Records that all batches up to a number are on the disk.
    pub(crate) fn acknowledge(&mut self, number: u64) -> Result<()> {
        if number <= self.synced {
            return Ok(());
        }
        self.synced = number;
        let mut slot = [0; 12];
        slot[..8].copy_from_slice(&number.to_le_bytes());
        let sum = crc32fast::hash(&slot[..8]);
        slot[8..].copy_from_slice(&sum.to_le_bytes());
        positioned::write(&self.acknowledged, SLOTS[(number % 2) as usize], &slot)
    }

    /// Begins anew: redb has all batches so far on the disk.
    pub(crate) fn begin_round(&mut self) -> Result<()> {
        self.base = self.next;
        self.at = 0;
        self.synced = self.newest();
        if self.file.metadata()?.len() > FILE_BYTES_MAX {
            self.file.set_len(FILE_BYTES_MAX)?;
        }
        Ok(())
    }

    /// Gives the disk back what a journal without records takes.
    pub(crate) fn shrink(&self) -> Result<()> {
        if self.is_empty() { self.file.set_len(0) } else { Ok(()) }
    }

    /// Hands out the batches since the base, and goes on behind them.
    pub(crate) fn replay<E: From<Error>>(
        &mut self,
        mut take: impl FnMut(WriteBatch) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let len = self.file.metadata()?.len();
        while let Some((header, batch)) = self.record_at(self.at, len)?.filter(|(header, _)| header.number == self.next)
        {
            take(batch)?;
            self.at += (HEADER + header.bytes) as u64;
            self.next += 1;
            self.synced = self.synced.max(header.synced);
        }
        let told = self.told()?.max(self.synced);
        let told = told.max(self.told_behind(len)?);
        if told >= self.next {
            let (missing, at) = (self.next, self.at);
            return Err(E::from(damaged(format!(
                "data/journal is damaged at byte {at}: write {missing} cannot be read, and all up to {told} were synced"
            ))));
        }
        Ok(())
    }

    /// The newest number that `acknowledged` has; 0 if it has none.
    fn told(&self) -> Result<u64> {
        let mut newest = 0;
        for at in SLOTS {
            let mut slot = [0; 12];
            match positioned::read(&self.acknowledged, at, &mut slot) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => continue,
                read => read?,
            }
            if let Some((number, sum)) = slot.split_first_chunk::<8>()
                && *sum == crc32fast::hash(number).to_le_bytes()
            {
                newest = newest.max(u64::from_le_bytes(*number));
            }
        }
        Ok(newest)
    }

    /// A record of this base, if one lies there as a whole.
    fn record_at(&self, at: u64, len: u64) -> Result<Option<(Header, WriteBatch)>> {
        if at + HEADER as u64 > len {
            return Ok(None);
        }
        let mut start = [0; HEADER];
        positioned::read(&self.file, at, &mut start)?;
        let header = Header::read(&start);
        // The length is under the checksum, but it is needed before.
        if header.base != self.base || header.bytes as u64 > len - at - HEADER as u64 {
            return Ok(None);
        }
        let mut body = vec![0; header.bytes];
        positioned::read(&self.file, at + HEADER as u64, &mut body)?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&start[4..]);
        hasher.update(&body);
        if hasher.finalize() != header.sum {
            return Ok(None);
        }
        let batch = read_batch(&body).ok_or_else(|| damaged(format!("data/journal holds no batch at byte {at}")))?;
        Ok(Some((header, batch)))
    }

    /// The newest number that records behind the end say was synced; 0 if there are none.
    fn told_behind(&self, len: u64) -> Result<u64> {
        let (mut newest, mut from, base) = (0, self.at, self.base.to_le_bytes());
        while from < len {
            let mut bytes = vec![0; (len - from).min((SEARCHED + HEADER) as u64) as usize];
            positioned::read(&self.file, from, &mut bytes)?;
            for place in (0..SEARCHED).take_while(|place| place + HEADER <= bytes.len()) {
                if bytes[place + 8..place + 16] == base
                    && let Some((header, _)) = self.record_at(from + place as u64, len)?
                    && header.number > self.next
                {
                    newest = newest.max(header.synced);
                }
            }
            from += SEARCHED as u64;
        }
        Ok(newest)
    }
}

fn read_batch(mut body: &[u8]) -> Option<WriteBatch> {
    let mut batch = WriteBatch::new();
    while let Some((start, rest)) = body.split_first_chunk::<7>() {
        let [space, key @ .., a, b, c, d] = start;
        let (key_bytes, value) = (usize::from(u16::from_le_bytes(*key)), u32::from_le_bytes([*a, *b, *c, *d]));
        let (key, rest) = rest.split_at_checked(key_bytes)?;
        let (value_bytes, space) = ((value as usize).saturating_sub(1), Space::new(*space));
        let (bytes, rest) = rest.split_at_checked(value_bytes)?;
        match value {
            0 => batch.delete(space, Bytes::new(key)),
            _ => batch.put(space, Bytes::new(key), Bytes::new(bytes)),
        }
        body = rest;
    }
    body.is_empty().then_some(batch)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use saltwing_store::{Space, WriteBatch};

    use super::{HEADER, Journal, SLOTS};

    fn batch(number: u64) -> WriteBatch {
        let mut batch = WriteBatch::new();
        batch.put(Space::new(number as u8), number.to_le_bytes(), vec![number as u8; 50]);
        batch.put(Space::new(1), b"empty", b"");
        batch.delete(Space::new(2), number.to_le_bytes());
        batch
    }

    /// What is read back, as numbers of batches; the error's text.
    fn read(folder: &Path, base: u64) -> Result<Vec<u64>, String> {
        let mut journal = Journal::open(folder, false, base).unwrap();
        let (mut found, mut number) = (Vec::new(), base);
        let done = journal.replay::<std::io::Error>(|batch| {
            assert_eq!(batch, self::batch(number));
            found.push(number);
            number += 1;
            Ok(())
        });
        done.map(|()| found).map_err(|error| error.to_string())
    }

    fn write(journal: &mut Journal, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            assert_eq!(journal.next, number);
            journal.append(&batch(number)).unwrap();
        }
    }

    #[test]
    fn records_of_earlier_rounds_are_not_read() {
        let home = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(home.path(), true, 1).unwrap();
        assert!(journal.is_empty());
        write(&mut journal, 1..21);
        assert_eq!(read(home.path(), 1).unwrap(), (1..21).collect::<Vec<_>>());
        journal.begin_round().unwrap();
        assert_eq!(read(home.path(), 21).unwrap(), Vec::<u64>::new());
        write(&mut journal, 21..25);
        assert_eq!(read(home.path(), 21).unwrap(), (21..25).collect::<Vec<_>>());
    }

    /// Every byte of every record, by one bit: what was synced is missed, whoever says so.
    #[test]
    fn a_damaged_record_is_an_error_if_it_was_synced_and_an_end_if_not() {
        let home = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(home.path(), true, 1).unwrap();
        write(&mut journal, 1..4);
        journal.acknowledge(3).unwrap();
        write(&mut journal, 4..6);
        let (path, bytes) = (home.path().join("journal"), journal.at as usize / 5);
        let good = fs::read(&path).unwrap();
        for (told, by) in [(true, "the file"), (false, "a record behind")] {
            if !told {
                fs::write(home.path().join("acknowledged"), []).unwrap();
            }
            for place in 0..good.len() {
                let mut bad = good.clone();
                bad[place] ^= 1 << (place % 8);
                fs::write(&path, &bad).unwrap();
                let record = place / bytes + 1;
                match read(home.path(), 1) {
                    Ok(found) => {
                        assert!(record > 3, "byte {place} of record {record} was synced, says {by}");
                        assert_eq!(found, (1..record as u64).collect::<Vec<_>>());
                    }
                    Err(error) => {
                        assert!(record <= 3, "byte {place} of record {record}: {error}");
                        assert!(error.contains(&format!("at byte {}", (record - 1) * bytes)), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_torn_last_record_is_an_end() {
        let home = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(home.path(), true, 1).unwrap();
        write(&mut journal, 1..4);
        journal.acknowledge(2).unwrap();
        let path = home.path().join("journal");
        let good = fs::read(&path).unwrap();
        for cut in good.len() / 3 * 2..good.len() {
            fs::write(&path, &good[..cut]).unwrap();
            assert_eq!(read(home.path(), 1).unwrap(), [1, 2]);
        }
        fs::write(&path, &good[..HEADER]).unwrap();
        assert!(read(home.path(), 1).is_err());
        // One of the two places for numbers may be damaged as well.
        let acknowledged = home.path().join("acknowledged");
        journal.acknowledge(3).unwrap();
        for at in SLOTS {
            let mut slots = fs::read(&acknowledged).unwrap();
            slots[at as usize] ^= 4;
            fs::write(&acknowledged, slots).unwrap();
            assert!(at > 0 || read(home.path(), 1).is_err());
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        drop(Journal::open(home.path(), true, 1).unwrap());
        for name in ["journal", "acknowledged"] {
            fs::rename(home.path().join(name), home.path().join("away")).unwrap();
            assert!(Journal::open(home.path(), false, 1).unwrap_err().to_string().contains(name));
            fs::rename(home.path().join("away"), home.path().join(name)).unwrap();
        }
    }
}
