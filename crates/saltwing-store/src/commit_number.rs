//! Numbers of commits, and the mark that each batch carries.
//!
//! A store that cannot distinguish a torn end of its log from damage numbers its batches 1, 2, 3, without gaps, in the
//! order of the log. Each batch then has a [`CommitMark`] as its first entry: its number, and the newest number that
//! was on the disk when the batch was made. If the valid part of a log ends below a number that was on the disk,
//! acknowledged commits are lost. If it ends above, a crash has torn unacknowledged batches.
//!
//! The newest number on the disk is also kept outside the log, in the [`Watermark`](crate::watermark::Watermark).

/// The mark of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMark {
    /// The batch's number, from 1.
    pub number: u64,
    /// The newest number that was on the disk when the batch was made; below [`Self::number`].
    pub synced: u64,
    /// A lower bound of the number by which the store itself orders the batch; 0 where it has none. Below 2^40.
    pub order_min: u64,
    /// Numbers between the batch before in the log and this one that the log has lost, and the store has elsewhere. 0 but for
    /// the first batch after some crashes; below 2^24.
    pub skipped: u64,
}

/// Bits of a lower bound.
const ORDER_BITS: u32 = 40;

impl CommitMark {
    /// The key of marks. One key: a store keeps only the newest mark.
    pub const KEY: &[u8] = b"\0commit\xf5";

    /// Bytes of an encoded mark.
    pub const BYTES: usize = 28;

    /// The mark as bytes: number, newest number on the disk, skipped numbers above 40 bits of the lower bound, little
    /// endian; and the CRC-32 of key and numbers.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let packed = self.skipped << ORDER_BITS | self.order_min & ((1 << ORDER_BITS) - 1);
        let numbers = [self.number, self.synced, packed].map(u64::to_le_bytes);
        bytes[..24].copy_from_slice(numbers.as_flattened());
        bytes[24..].copy_from_slice(&checksum(numbers.as_flattened()).to_le_bytes());
        bytes
    }

    /// The mark in these bytes; `None` if they are not one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (numbers, sum) = bytes.split_at_checked(24)?;
        if sum != checksum(numbers).to_le_bytes() {
            return None;
        }
        let number = |at: usize| numbers.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        let packed = number(16)?;
        let (skipped, order_min) = (packed >> ORDER_BITS, packed & ((1 << ORDER_BITS) - 1));
        let mark = Self { number: number(0)?, synced: number(8)?, order_min, skipped };
        (mark.synced < mark.number).then_some(mark)
    }
}

fn checksum(numbers: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(CommitMark::KEY);
    hasher.update(numbers);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::CommitMark;

    #[test]
    fn a_mark_with_any_flipped_bit_is_none() {
        let mark = CommitMark { number: 77, synced: 70, order_min: 1 << 39, skipped: 5 };
        let bytes = mark.encode();
        assert_eq!(CommitMark::decode(&bytes), Some(mark));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(CommitMark::decode(&flipped), None, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(CommitMark::decode(&bytes[..len]), None);
        }
    }
}
