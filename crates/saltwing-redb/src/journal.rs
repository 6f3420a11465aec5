//! The journal: the batches since redb's last durable commit.
//!
//! ```text
//!  data/journal        record │ record │ .. │ what an earlier round left
//!    record            checksum 4 │ bytes of the batch 4 │ base 8 │ number 8 │ synced 8 │ batch
//!    batch             each mutation: space 1 │ bytes of the key 2 │ 1 + bytes of the value 4, 0: deleted │ both
//! ```
//!
//! Batches are numbered from 1. redb's durable commit contains all batches below its *base*. After it the journal
//! restarts at the beginning of its file, with records of that base, over earlier ones. A record has the newest number
//! that was synced when it was written, and so has the database's [watermark](saltwing_store::watermark).
//!
//! # Laws
//! 1. [`Journal::replay`] hands out the batches from the base on, in order, each as a whole.
//! 2. It ends at the first record that is not whole. If a later record or the watermark says that the batch there was
//!    synced, the file is damaged, and opening it is an error. Otherwise the batch was never acknowledged: it was being
//!    written when the process or the machine ended.
//! 3. No record of this base follows the end: a [torn end](Torn) is cut off before anything is written. Otherwise a
//!    whole record in it could continue the numbers of a new one.
//! 4. [`Journal::salvage`] returns the same batches, and all later ones that are whole after a damaged place. It reports
//!    what it leaves out.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::path::Path;

use saltwing_store::torn::SALVAGE;
use saltwing_store::{Bytes, LeftOut, Mutation, Space, WriteBatch};

use crate::positioned;

/// The file in the directory's `data`.
pub(crate) const FILE: &str = "journal";

/// A round ends when it has this many bytes: redb commits durably, and the journal starts again.
pub(crate) const ROUND_BYTES_MAX: u64 = 64 << 20;

/// A round of at least [`MANY_BATCHES`] batches ends at this many bytes. Every writer waits for the end of a round, and the end takes
/// longer if the round has more bytes: writers of small batches would wait long for the bytes of others. A round of fewer, larger
/// batches goes on to [`ROUND_BYTES_MAX`], because each end costs the load throughput.
const ROUND_BYTES_OF_MANY: u64 = 8 << 20;
/// The number of batches from which on [`ROUND_BYTES_OF_MANY`] applies.
const MANY_BATCHES: u64 = 512;

/// The file grows by so much more than a record needs. These bytes take no space before they are written.
const RESERVED_BYTES: u64 = 4 << 20;

const HEADER: usize = 32;
/// Bytes of a mutation in addition to its key and its value.
const MUTATION_HEADER: usize = 7;
/// Values from this size on go to the file from where they are. Smaller ones are gathered, so that a small batch is one write.
const LARGE_VALUE_BYTES: usize = 64 << 10;
/// The search for records after a bad one reads this many bytes at once.
const SEARCHED: usize = 1 << 20;

/// The file of a journal, and where the next record goes.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    base: u64,
    /// The number of the next batch.
    next: u64,
    at: u64,
    /// The file has at least this many bytes.
    reserved: u64,
    buffer: Vec<u8>,
}

/// Records that were never acknowledged: from the first incomplete one to the end of the last one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) at: u64,
    pub(crate) end: u64,
}

/// The claims of records after the end.
struct LaterRecords {
    /// The newest number that was synced; 0 if there are none.
    synced: u64,
    /// Where the last one ends.
    end: u64,
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

    fn record_bytes(&self) -> u64 {
        (HEADER + self.bytes) as u64
    }
}

/// The key of a mutation, and its value if it puts one.
fn key_and_value(mutation: &Mutation) -> (&Bytes, Option<&Bytes>) {
    match mutation {
        Mutation::Put { key, value, .. } => (key, Some(value)),
        Mutation::Delete { key, .. } => (key, None),
    }
}

/// The bytes of a batch in its record.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for lengths that a record has no room for.
fn batch_bytes(batch: &WriteBatch) -> Result<u32> {
    let too_long = |what: &str, bytes: usize| {
        debug_assert!(false, "a batch is checked before it is written");
        Error::new(ErrorKind::InvalidInput, format!("{what} of {bytes} bytes has no place in the journal"))
    };
    let mut all = 0_usize;
    for mutation in batch.mutations() {
        let (key, value) = key_and_value(mutation);
        u16::try_from(key.len()).map_err(|_| too_long("a key", key.len()))?;
        let value_bytes = value.map_or(0, |value| value.len() + 1);
        u32::try_from(value_bytes).map_err(|_| too_long("a value", value_bytes))?;
        all += MUTATION_HEADER + key.len() + value.map_or(0, |value| value.len());
    }
    u32::try_from(all).map_err(|_| too_long("a batch", all))
}

fn damaged(why: String) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

impl Journal {
    /// The journal in a folder; `base` is that of redb's last durable commit. The file is made if `is_new`.
    pub(crate) fn open(folder: &Path, is_new: bool, base: u64) -> Result<Self> {
        Self::open_by(File::options().read(true).write(true).create(is_new).truncate(false), folder, base)
    }

    /// The same for a replay that writes nothing.
    pub(crate) fn open_to_read(folder: &Path, base: u64) -> Result<Self> {
        Self::open_by(File::options().read(true), folder, base)
    }

    fn open_by(options: &OpenOptions, folder: &Path, base: u64) -> Result<Self> {
        let file = options.open(folder.join(FILE)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => damaged(format!("the file data/{FILE} is missing")),
            _ => error,
        })?;
        Ok(Self { file, base, next: base, at: 0, reserved: 0, buffer: Vec::new() })
    }

    /// The handle that syncs the file while others write.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// The number of the newest batch.
    pub(crate) fn newest(&self) -> u64 {
        self.next - 1
    }

    /// Whether there are records of this base.
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.base
    }

    /// Bytes of the records of this base.
    pub(crate) fn bytes(&self) -> u64 {
        self.at
    }

    /// Whether the round must end: at `bytes_max` bytes, or earlier if it has many batches.
    pub(crate) fn is_full(&self, bytes_max: u64) -> bool {
        let is_of_many = self.next - self.base >= MANY_BATCHES;
        self.at >= bytes_max || is_of_many && self.at >= ROUND_BYTES_OF_MANY
    }

    /// Writes a batch after the others, without a sync. All up to the number `synced` are on the disk.
    ///
    /// The checksum of a batch with large values is written last: a record without it is not whole.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for lengths that a record has no room for, and then nothing is written; the file's.
    pub(crate) fn append(&mut self, batch: &WriteBatch, synced: u64) -> Result<()> {
        let bytes = batch_bytes(batch)?;
        let end = self.at + HEADER as u64 + u64::from(bytes);
        self.reserve(end)?;
        self.buffer.clear();
        self.buffer.extend([0; 4]);
        self.buffer.extend(bytes.to_le_bytes());
        [self.base, self.next, synced].iter().for_each(|number| self.buffer.extend(number.to_le_bytes()));
        let (mut hasher, mut hashed, mut at) = (crc32fast::Hasher::new(), 4, self.at);
        for mutation in batch.mutations() {
            let (key, value) = key_and_value(mutation);
            let value_bytes = value.map_or(0, |value| value.len() + 1);
            self.buffer.push(mutation.space().id());
            self.buffer.extend((key.len() as u16).to_le_bytes());
            self.buffer.extend((value_bytes as u32).to_le_bytes());
            self.buffer.extend_from_slice(key);
            match value {
                Some(value) if value.len() >= LARGE_VALUE_BYTES => {
                    hasher.update(&self.buffer[hashed..]);
                    positioned::write(&self.file, at, &self.buffer)?;
                    hasher.update(value);
                    positioned::write(&self.file, at + self.buffer.len() as u64, value)?;
                    at += (self.buffer.len() + value.len()) as u64;
                    self.buffer.clear();
                    hashed = 0;
                }
                value => self.buffer.extend_from_slice(value.map_or(&[], |value| value)),
            }
        }
        hasher.update(&self.buffer[hashed..]);
        let sum = hasher.finalize().to_le_bytes();
        if at == self.at {
            self.buffer[..4].copy_from_slice(&sum);
            positioned::write(&self.file, at, &self.buffer)?;
        } else {
            positioned::write(&self.file, at, &self.buffer)?;
            positioned::write(&self.file, self.at, &sum)?;
        }
        debug_assert_eq!(at + self.buffer.len() as u64, end, "a record has the bytes that its header tells");
        self.at = end;
        self.next += 1;
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    /// Makes the file longer than a record that ends at `end`, if it is shorter. A sync of a file that has grown also
    /// writes its new length: if each record made the file longer, each sync would wait for that.
    fn reserve(&mut self, end: u64) -> Result<()> {
        if end <= self.reserved {
            return Ok(());
        }
        self.reserved = self.file.metadata()?.len();
        if end > self.reserved {
            self.reserved = end + RESERVED_BYTES;
            self.file.set_len(self.reserved)?;
        }
        Ok(())
    }

    /// Restarts: all batches so far are on the disk in redb. The file keeps at most twice `round_bytes`.
    pub(crate) fn begin_round(&mut self, round_bytes: u64) -> Result<()> {
        self.base = self.next;
        self.at = 0;
        if self.file.metadata()?.len() > 2 * round_bytes {
            self.file.set_len(2 * round_bytes)?;
            self.reserved = 0;
        }
        Ok(())
    }

    /// Frees the space of a journal without records.
    pub(crate) fn shrink(&mut self) -> Result<()> {
        if !self.is_empty() {
            return Ok(());
        }
        self.reserved = 0;
        self.file.set_len(0)
    }

    /// Returns the batches since the base, and continues after them: before a torn end, which is to be cut off. Batches
    /// up to the number `acknowledged` must be present.
    pub(crate) fn replay<E: From<Error>>(
        &mut self,
        acknowledged: u64,
        mut take: impl FnMut(WriteBatch) -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Torn>, E> {
        let len = self.file.metadata()?.len();
        let synced = acknowledged.max(self.take_records(len, &mut take)?);
        let later = self.later_records(len)?;
        let synced = synced.max(later.synced);
        if synced >= self.next {
            let (missing, at) = (self.next, self.at);
            return Err(E::from(damaged(format!(
                "data/{FILE} is damaged at byte {at}: write {missing} cannot be read, and all up to {synced} were \
                 synced. Nothing was changed; {SALVAGE}"
            ))));
        }
        Ok((later.end > self.at).then_some(Torn { at: self.at, end: later.end }))
    }

    /// Returns the readable batches since the base, including those after a damaged place, and the omitted parts.
    /// Batches up to the number `acknowledged` should be present.
    pub(crate) fn salvage<E: From<Error>>(
        &mut self,
        acknowledged: u64,
        mut take: impl FnMut(WriteBatch) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<LeftOut>, E> {
        let (len, mut synced, mut lost) = (self.file.metadata()?.len(), acknowledged, Vec::new());
        loop {
            synced = synced.max(self.take_records(len, &mut take)?);
            let mut later = None;
            self.each_later(len, |at, header| {
                later = Some((at, header.number));
                ControlFlow::Break(())
            })?;
            let Some((at, number)) = later else { break };
            lost.push(left_out(self.at..at, self.next..=number - 1));
            (self.at, self.next) = (at, number);
        }
        if synced >= self.next {
            lost.push(left_out(self.at..len, self.next..=synced));
        }
        Ok(lost)
    }

    /// Returns the consecutive batches from here on and continues after them; also the newest number that their records
    /// have as synced, 0 if there are none.
    fn take_records<E: From<Error>>(
        &mut self,
        len: u64,
        take: &mut impl FnMut(WriteBatch) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let mut synced = 0;
        while let Some((header, batch)) = self.record_at(self.at, len)?.filter(|(header, _)| header.number == self.next)
        {
            take(batch)?;
            self.at += header.record_bytes();
            self.next += 1;
            synced = synced.max(header.synced);
        }
        Ok(synced)
    }

    /// A header of a record of this base; its fields are not verified yet.
    fn header_at(&self, at: u64, len: u64) -> Result<Option<(Header, [u8; HEADER])>> {
        if at + HEADER as u64 > len {
            return Ok(None);
        }
        let mut bytes = [0; HEADER];
        positioned::read(&self.file, at, &mut bytes)?;
        let header = Header::read(&bytes);
        Ok((header.base == self.base).then_some((header, bytes)))
    }

    /// A record of this base, if there is a whole one.
    fn record_at(&self, at: u64, len: u64) -> Result<Option<(Header, WriteBatch)>> {
        // The length is under the checksum, but it is needed before.
        let header = self.header_at(at, len)?.filter(|(header, _)| header.record_bytes() <= len - at);
        let Some((header, bytes)) = header else { return Ok(None) };
        let mut body = vec![0; header.bytes];
        positioned::read(&self.file, at + HEADER as u64, &mut body)?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[4..]);
        hasher.update(&body);
        if hasher.finalize() != header.sum {
            return Ok(None);
        }
        let batch = read_batch(&body).ok_or_else(|| damaged(format!("data/journal holds no batch at byte {at}")))?;
        Ok(Some((header, batch)))
    }

    /// Searches for records of this base after the end.
    fn later_records(&self, len: u64) -> Result<LaterRecords> {
        let mut later = LaterRecords { synced: 0, end: self.at };
        if let Some((header, _)) = self.header_at(self.at, len)?.filter(|(header, _)| header.number == self.next) {
            later.end = len.min(self.at + header.record_bytes());
        }
        self.each_later(len, |at, header| {
            later.synced = later.synced.max(header.synced);
            later.end = later.end.max(at + header.record_bytes());
            ControlFlow::Continue(())
        })?;
        Ok(later)
    }

    /// Visits the whole records of this base after the end whose numbers are above the next one: the place and the header.
    fn each_later(&self, len: u64, mut visit: impl FnMut(u64, Header) -> ControlFlow<()>) -> Result<()> {
        let (mut from, base) = (self.at, self.base.to_le_bytes());
        while from < len {
            let mut bytes = vec![0; (len - from).min((SEARCHED + HEADER) as u64) as usize];
            positioned::read(&self.file, from, &mut bytes)?;
            for place in (0..SEARCHED).take_while(|place| place + HEADER <= bytes.len()) {
                let at = from + place as u64;
                if bytes[place + 8..place + 16] == base
                    && let Some((header, _)) = self.record_at(at, len)?
                    && header.number > self.next
                    && visit(at, header).is_break()
                {
                    return Ok(());
                }
            }
            from += SEARCHED as u64;
        }
        Ok(())
    }
}

fn left_out(bytes: Range<u64>, writes: RangeInclusive<u64>) -> LeftOut {
    LeftOut {
        file: format!("data/{FILE}"),
        place: format!("bytes {} to {}", bytes.start, bytes.end),
        what: format!("damaged; writes {} to {} are lost", writes.start(), writes.end()),
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
mod tests;
