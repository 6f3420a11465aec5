//! The newest commit that is known to be on the disk, kept outside the store's log.
//!
//! ```text
//! my-database/WATERMARK
//!   0      slot 0    64 bytes: "SALTMARK" | sequence 8 | acknowledged 8 | 0 8 | CRC-32 of these 4 | zeros
//!   4096   slot 1    the same; the slot with the higher sequence counts
//! ```
//!
//! After each sync of the log, and before any acknowledgement, the older slot is overwritten. That write is not synced
//! itself: it costs a microsecond and survives a killed process, and after a power cut the older slot is still a valid
//! lower bound. The log has the number again in each later record, which covers the batches after an older slot.
//!
//! # Law
//! Every commit up to `acknowledged` was on the disk when the slot was written.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::StoreError;
use crate::directory::sync_directory;

const FILE: &str = "WATERMARK";
const MAGIC: &[u8; 8] = b"SALTMARK";
/// Each slot has its own page: losing a page loses one slot.
const SLOT_DISTANCE: u64 = 4096;
const SLOT_BYTES: usize = 64;
const SUMMED_BYTES: usize = 32;

/// The result of an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No file: the database is new, or from a release that kept none.
    Missing,
    /// A file without a valid slot. It is reported and created again: it only guards other files.
    Damaged,
    /// The newest valid slot.
    Slot {
        /// Which of its writes it was.
        sequence: u64,
        /// The newest number that a sync has covered; 0 is none.
        acknowledged: u64,
    },
}

impl Found {
    /// The notice about a file that is made again.
    pub fn notice(self, directory: &Path) -> Option<String> {
        let directory = directory.display();
        (self == Self::Damaged).then(|| {
            format!(
                "{directory}: the file WATERMARK is missing or damaged, and is made anew when the database is opened \
                 for writing; it only says which commits must be there"
            )
        })
    }

    /// The newest number that a sync has covered; 0 where nothing says so.
    pub fn acknowledged(self) -> u64 {
        match self {
            Self::Slot { acknowledged, .. } => acknowledged,
            Self::Missing | Self::Damaged => 0,
        }
    }
}

/// The open file.
#[derive(Debug)]
pub struct Watermark {
    /// What the newest slot says, for readers that must not wait for a write.
    acknowledged: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    sequence: u64,
}

/// Reads the watermark of the database in `directory`; changes nothing.
///
/// # Errors
/// [`StoreError::Io`].
pub fn read(directory: &Path) -> Result<Found, StoreError> {
    let path = directory.join(FILE);
    let mut bytes = Vec::new();
    match File::open(&path) {
        Ok(file) => file.take(2 * SLOT_DISTANCE).read_to_end(&mut bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) => Err(error),
    }
    .map_err(|error| StoreError::io("read", &path, error))?;
    Ok(newest(&bytes).map_or(Found::Damaged, |(sequence, acknowledged)| Found::Slot { sequence, acknowledged }))
}

impl Watermark {
    /// Opens the file of which `found` was read, or creates it again if no slot is valid.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub fn open(directory: &Path, found: Found) -> Result<Self, StoreError> {
        let Found::Slot { sequence, acknowledged } = found else { return Self::create(directory) };
        let path = directory.join(FILE);
        let file = File::options().write(true).open(&path).map_err(|error| StoreError::io("open", &path, error))?;
        Ok(Self { acknowledged: AtomicU64::new(acknowledged), state: Mutex::new(State { file, sequence }) })
    }

    /// Creates the file, of no commits; the file and its name are on the disk on return.
    fn create(directory: &Path) -> Result<Self, StoreError> {
        let (path, new) = (directory.join(FILE), directory.join(format!("{FILE}.new")));
        let create = || -> io::Result<File> {
            let mut file = File::create(&new)?;
            for slot in 0..2 {
                write_slot(&mut file, slot, 0)?;
            }
            file.set_len(2 * SLOT_DISTANCE)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            Ok(file)
        };
        let file = create().map_err(|error| StoreError::io("write", &path, error))?;
        sync_directory(directory)?;
        Ok(Self { acknowledged: AtomicU64::new(0), state: Mutex::new(State { file, sequence: 1 }) })
    }

    /// The newest number that was acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Says that commits up to `number` are on the disk. Goes to the operating system, not to the disk.
    ///
    /// # Errors
    /// The system's.
    pub fn acknowledge(&self, number: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        if number <= self.acknowledged() {
            return Ok(());
        }
        state.write(number)?;
        self.acknowledged.store(number, Ordering::SeqCst);
        Ok(())
    }
}

impl State {
    fn write(&mut self, acknowledged: u64) -> io::Result<()> {
        let sequence = self.sequence + 1;
        write_slot(&mut self.file, sequence, acknowledged)?;
        self.sequence = sequence;
        Ok(())
    }
}

fn write_slot(file: &mut File, sequence: u64, acknowledged: u64) -> io::Result<()> {
    let mut slot = [0; SLOT_BYTES];
    slot[..8].copy_from_slice(MAGIC);
    let numbers = [sequence, acknowledged, 0].map(u64::to_le_bytes);
    slot[8..SUMMED_BYTES].copy_from_slice(numbers.as_flattened());
    let checksum = crc32fast::hash(&slot[..SUMMED_BYTES]);
    slot[SUMMED_BYTES..SUMMED_BYTES + 4].copy_from_slice(&checksum.to_le_bytes());
    file.seek(SeekFrom::Start(sequence % 2 * SLOT_DISTANCE))?;
    file.write_all(&slot)
}

/// The newest valid slot: its sequence, and what it says is acknowledged.
fn newest(bytes: &[u8]) -> Option<(u64, u64)> {
    let slots = bytes.chunks(SLOT_DISTANCE as usize).filter_map(parse_slot);
    slots.max_by_key(|(sequence, _)| *sequence)
}

fn parse_slot(bytes: &[u8]) -> Option<(u64, u64)> {
    let (summed, rest) = bytes.split_at_checked(SUMMED_BYTES)?;
    let number = |at: usize| summed.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let valid = summed.starts_with(MAGIC) && rest.get(..4)? == crc32fast::hash(summed).to_le_bytes();
    valid.then_some((number(8)?, number(16)?))
}

#[cfg(test)]
mod tests {
    use super::{FILE, Found, SLOT_DISTANCE, Watermark, newest, read};

    #[test]
    fn the_newest_slot_counts() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read(home.path()).unwrap(), Found::Missing);
        let watermark = Watermark::create(home.path()).unwrap();
        for number in 1..10 {
            watermark.acknowledge(number).unwrap();
            assert_eq!(read(home.path()).unwrap().acknowledged(), number);
        }
        watermark.acknowledge(3).unwrap();
        assert_eq!(read(home.path()).unwrap().acknowledged(), 9);
    }

    #[test]
    fn a_lost_page_leaves_the_slot_before() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(FILE);
        let watermark = Watermark::create(home.path()).unwrap();
        watermark.acknowledge(7).unwrap();
        watermark.acknowledge(8).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let without = |slots: &[u64]| {
            let mut bytes = whole.clone();
            for slot in slots {
                let at = (slot * SLOT_DISTANCE) as usize;
                bytes[at..at + SLOT_DISTANCE as usize].fill(0);
            }
            std::fs::write(&path, bytes).unwrap();
            read(home.path()).unwrap()
        };
        let acknowledged = [without(&[0]), without(&[1])].map(|found| found.acknowledged());
        assert_eq!(acknowledged.into_iter().max(), Some(8));
        assert_eq!(acknowledged.into_iter().min(), Some(7));
        assert_eq!(without(&[0, 1]), Found::Damaged);
    }

    #[test]
    fn a_flipped_bit_never_makes_another_number() {
        let home = tempfile::tempdir().unwrap();
        let watermark = Watermark::create(home.path()).unwrap();
        watermark.acknowledge(5).unwrap();
        watermark.acknowledge(6).unwrap();
        let whole = std::fs::read(home.path().join(FILE)).unwrap();
        for bit in (0..64 * 8).flat_map(|bit| [bit, bit + SLOT_DISTANCE as usize * 8]) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (_, acknowledged) = newest(&bytes).unwrap();
            assert!([5, 6].contains(&acknowledged), "bit {bit}");
        }
    }

    #[test]
    fn an_opened_file_goes_on_where_it_was() {
        let home = tempfile::tempdir().unwrap();
        Watermark::create(home.path()).unwrap().acknowledge(5).unwrap();
        for number in 6..9 {
            let watermark = Watermark::open(home.path(), read(home.path()).unwrap()).unwrap();
            assert_eq!(watermark.acknowledged(), number - 1);
            watermark.acknowledge(number).unwrap();
        }
        assert_eq!(read(home.path()).unwrap().acknowledged(), 8);
    }
}
