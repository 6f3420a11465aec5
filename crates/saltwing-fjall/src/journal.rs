//! A reader of fjall's journal format that trusts nothing it reads.
//!
//! ```text
//! batch   start | item or clear, as many as the start says | end
//! start   1 | count 4 | order number 8, under no checksum
//! item    2 | type 1 | compression 1 | keyspace 8 | key bytes 2 | value bytes 4 | stored bytes 4 | key | stored value
//! clear   4 | keyspace 8
//! end     3 | XXH3 of the items and clears 8 | "FJL" 3
//! ```
//!
//! Numbers are little endian. After the last batch of a file come zeros, which fjall preallocates, or nothing. fjall
//! itself takes an unknown tag for the end of the file, allocates by unchecked lengths, and refuses a batch with a
//! wrong checksum anywhere. This reader therefore checks all files first, and cuts them if necessary.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use saltwing_store::commit_number::CommitMark;
use xxhash_rust::xxh3::Xxh3;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: &[u8] = b"FJL\x03";

const START_BYTES: u64 = 13;
const END_BYTES: u64 = 13;
const CLEAR_BYTES: u64 = 9;
/// Bytes of an item before its key.
const ITEM_HEAD_BYTES: usize = 21;
/// The shortest batch: one clear.
const BATCH_BYTES_MIN: u64 = START_BYTES + CLEAR_BYTES + END_BYTES;
/// Types of items that fjall writes: value, tombstone, weak tombstone.
const ITEM_TYPES: [u8; 3] = [0, 1, 2];
/// Compressions of fjall's journals: none, and LZ4, which early releases used.
const COMPRESSIONS: [u8; 2] = [0, 1];

const BUFFER_BYTES: usize = 256 << 10;

/// A batch whose checksum holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Bytes of the file before it.
    pub(crate) start: u64,
    /// Bytes of the file up to its end.
    pub(crate) end: u64,
    /// The number by which fjall orders it.
    pub(crate) order: u64,
    /// Our mark; batches of releases before the marks have none.
    pub(crate) mark: Option<CommitMark>,
}

/// The content at an offset of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A whole batch.
    Batch(Batch),
    /// Zeros up to the end of the file, or nothing.
    End,
    /// Anything else.
    Bad {
        /// The reason.
        why: &'static str,
        /// The mark, if it can still be read.
        mark: Option<CommitMark>,
    },
}

/// A journal file, read from front to back.
pub(crate) struct Journal {
    reader: BufReader<File>,
    /// Made once: making it costs more than most batches' checksums.
    checksum: Xxh3,
    at: u64,
    bytes: u64,
}

/// Why a batch is none.
enum Broken {
    Format(&'static str),
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Format("the file ends inside a batch"),
            _ => Self::Io(error),
        }
    }
}

impl Journal {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let reader = BufReader::with_capacity(BUFFER_BYTES, file);
        Ok(Self { reader, checksum: Xxh3::new(), at: 0, bytes })
    }

    /// The place behind the last whole batch.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Goes on at another place, where a batch may start.
    pub(crate) fn skip_to(&mut self, at: u64) -> io::Result<()> {
        self.seek(at)
    }

    /// The next batch. After [`Next::Bad`] the position stays where it was.
    pub(crate) fn next(&mut self) -> io::Result<Next> {
        let start = self.at;
        let mut batch = BatchReader::new(&mut self.reader, &mut self.checksum, self.bytes - start);
        let read = batch.read();
        let mark = batch.mark;
        match read {
            Ok((order, length)) => {
                self.at += length;
                Ok(Next::Batch(Batch { start, end: self.at, order, mark }))
            }
            Err(Broken::Format(why)) => {
                self.seek(start)?;
                if self.is_zero_from_here()? {
                    self.seek(start)?;
                    return Ok(Next::End);
                }
                self.seek(start)?;
                Ok(Next::Bad { why, mark })
            }
            Err(Broken::Io(error)) => Err(error),
        }
    }

    /// The next batch that starts behind the position, wherever it starts; `None` if there is none up to the end.
    pub(crate) fn find_batch(&mut self) -> io::Result<Option<Batch>> {
        let mut from = self.at + 1;
        while let Some(start) = self.find_start(from)? {
            self.seek(start)?;
            if let Next::Batch(batch) = self.next_here()? {
                return Ok(Some(batch));
            }
            from = start + 1;
        }
        self.at = self.bytes;
        Ok(None)
    }

    /// As [`Self::next`], without telling zeros from other bad bytes.
    fn next_here(&mut self) -> io::Result<Next> {
        let start = self.at;
        let mut batch = BatchReader::new(&mut self.reader, &mut self.checksum, self.bytes - start);
        match batch.read() {
            Ok((order, length)) => {
                let mark = batch.mark;
                self.at += length;
                Ok(Next::Batch(Batch { start, end: self.at, order, mark }))
            }
            Err(Broken::Format(why)) => Ok(Next::Bad { why, mark: None }),
            Err(Broken::Io(error)) => Err(error),
        }
    }

    /// The first place from `from` on where a batch may start: the tag of a start, and an item or a clear behind it.
    fn find_start(&mut self, from: u64) -> io::Result<Option<u64>> {
        let mut from = from;
        let mut window = vec![0; BUFFER_BYTES];
        while from + BATCH_BYTES_MIN <= self.bytes {
            self.seek(from)?;
            let wanted = usize::try_from(self.bytes - from).map_or(window.len(), |left| left.min(window.len()));
            let Some(window) = window.get_mut(..wanted) else { break };
            self.reader.read_exact(window)?;
            let found = window.windows(START_BYTES as usize + 1).position(is_start);
            if let Some(at) = found {
                return Ok(Some(from + at as u64));
            }
            // The last bytes may be the first ones of a start.
            from += wanted as u64 - START_BYTES;
        }
        Ok(None)
    }

    fn is_zero_from_here(&mut self) -> io::Result<bool> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = self.reader.read(&mut buffer)?;
            let bytes = buffer.get(..read).unwrap_or_default();
            // Without an early exit, which would prevent vectorization.
            if bytes.iter().fold(0, |all, byte| all | byte) != 0 {
                return Ok(false);
            }
            if read == 0 {
                return Ok(true);
            }
        }
    }

    fn seek(&mut self, to: u64) -> io::Result<()> {
        self.at = to;
        self.reader.seek(SeekFrom::Start(to)).map(drop)
    }
}

fn is_start(bytes: &[u8]) -> bool {
    bytes.first() == Some(&START)
        && bytes.get(1..5) != Some(&[0; 4])
        && matches!(bytes.get(START_BYTES as usize), Some(&(ITEM | CLEAR)))
}

/// Reads one batch; never more bytes than the file has left.
struct BatchReader<'r> {
    reader: &'r mut BufReader<File>,
    left: u64,
    read: u64,
    checksum: &'r mut Xxh3,
    mark: Option<CommitMark>,
}

impl<'r> BatchReader<'r> {
    fn new(reader: &'r mut BufReader<File>, checksum: &'r mut Xxh3, left: u64) -> Self {
        checksum.reset();
        Self { reader, left, read: 0, checksum, mark: None }
    }

    /// The batch's order number, and its length in bytes.
    fn read(&mut self) -> Result<(u64, u64), Broken> {
        let start: [u8; START_BYTES as usize] = self.take()?;
        let [START, count @ ..] = start else { return Err(Broken::Format("no batch starts here")) };
        let [c0, c1, c2, c3, order @ ..] = count;
        let (count, order) = (u32::from_le_bytes([c0, c1, c2, c3]), u64::from_le_bytes(order));
        if count == 0 {
            return Err(Broken::Format("a batch without entries"));
        }
        for entry in 0..count {
            match self.take::<1>()? {
                [ITEM] => self.item(entry == 0)?,
                [CLEAR] => {
                    let keyspace: [u8; CLEAR_BYTES as usize - 1] = self.take()?;
                    self.checksum.update(&[CLEAR]);
                    self.checksum.update(&keyspace);
                }
                [END] => return Err(Broken::Format("a batch with fewer entries than it says")),
                _ => return Err(Broken::Format("an entry of a batch has an unknown tag")),
            }
        }
        let [tag, end @ ..] = self.take::<{ END_BYTES as usize }>()?;
        let (checksum, trailer) = end.split_at(8);
        if tag != END || trailer != TRAILER {
            return Err(Broken::Format("a batch has no end"));
        }
        if checksum != self.checksum.digest().to_le_bytes() {
            return Err(Broken::Format("a batch's checksum does not hold"));
        }
        Ok((order, self.read))
    }

    fn item(&mut self, may_be_mark: bool) -> Result<(), Broken> {
        let head: [u8; ITEM_HEAD_BYTES - 1] = self.take()?;
        let [kind, compression, _, _, _, _, _, _, _, _, k0, k1, v0, v1, v2, v3, s0, s1, s2, s3] = head;
        let (key_bytes, value_bytes) = (u16::from_le_bytes([k0, k1]), u32::from_le_bytes([v0, v1, v2, v3]));
        let stored_bytes = u32::from_le_bytes([s0, s1, s2, s3]);
        let is_plain = compression == 0;
        if !ITEM_TYPES.contains(&kind)
            || !COMPRESSIONS.contains(&compression)
            || is_plain && value_bytes != stored_bytes
        {
            return Err(Broken::Format("an item's head does not hold"));
        }
        self.checksum.update(&[ITEM]);
        self.checksum.update(&head);
        let is_mark = may_be_mark
            && usize::from(key_bytes) == CommitMark::KEY.len()
            && usize::try_from(stored_bytes) == Ok(CommitMark::BYTES);
        if is_mark {
            let mark: [u8; CommitMark::KEY.len() + CommitMark::BYTES] = self.take()?;
            self.checksum.update(&mark);
            self.mark = mark.strip_prefix(CommitMark::KEY).and_then(CommitMark::decode);
            return Ok(());
        }
        self.sum(u64::from(key_bytes) + u64::from(stored_bytes))
    }

    /// Adds bytes to the checksum.
    fn sum(&mut self, mut bytes: u64) -> Result<(), Broken> {
        self.spend(bytes)?;
        while bytes > 0 {
            let buffer = io::BufRead::fill_buf(self.reader)?;
            let part = usize::try_from(bytes).map_or(buffer.len(), |bytes| bytes.min(buffer.len()));
            let Some(taken) = buffer.get(..part).filter(|taken| !taken.is_empty()) else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            };
            self.checksum.update(taken);
            io::BufRead::consume(self.reader, part);
            bytes -= part as u64;
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        self.spend(N as u64)?;
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn spend(&mut self, bytes: u64) -> Result<(), Broken> {
        let Some(left) = self.left.checked_sub(bytes) else {
            return Err(Broken::Format("the file ends inside a batch"));
        };
        self.left = left;
        self.read += bytes;
        Ok(())
    }
}
