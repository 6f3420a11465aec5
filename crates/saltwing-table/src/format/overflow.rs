//! Values too long for a block. Each is stored separately, and the block of its row references it.
//!
//! ```text
//! part   version 1 | bytes 4 | the value, lz4 if that makes it smaller | checksum 4
//! ```

use saltwing_store::Bytes;

use crate::format::bits::{Reader, seal};

/// The version that is written.
const VERSION: u8 = 1;
/// Bytes before a part's value.
const HEADER_BYTES: usize = 5;
/// Bytes of a value that its block has too.
pub(crate) const HEAD_BYTES: usize = 16;
/// The reference of a block to an overflow value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OverflowName {
    pub(crate) row: u32,
    pub(crate) id: u64,
    pub(crate) bytes: u32,
    pub(crate) head: [u8; HEAD_BYTES],
}

/// Reads an overflow value for the block that names it.
pub(crate) trait OverflowSource: Send + Sync {
    /// The value, which has `bytes` bytes; `None` if it cannot be read.
    fn read(&self, bytes: u32) -> Option<Bytes>;
}

/// A value as it is stored.
pub(crate) fn overflow_part(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + value.len() + 4);
    out.push(VERSION);
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    let packed = lz4_flex::block::compress(value);
    out.extend_from_slice(if packed.len() < value.len() { &packed } else { value });
    seal(out)
}

/// Reads what [`overflow_part`] wrote; `None` if the bytes are damaged.
pub(crate) fn read_part(stored: &Bytes) -> Option<Bytes> {
    let mut reader = Reader::checked(stored)?;
    let (version, bytes) = (reader.u8()?, reader.u32()? as usize);
    let rest = reader.rest();
    match rest.len() {
        _ if version != VERSION => None,
        held if held == bytes => Some(stored.slice(rest)),
        held if held < bytes => {
            let value = lz4_flex::block::decompress(stored.get(rest)?, bytes).ok()?;
            (value.len() == bytes).then(|| Bytes::from(value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_reads_as_it_was_written(
            value in prop_oneof![prop::collection::vec(any::<u8>(), 0..90), (any::<u8>(), 0usize..9000).prop_map(|(b, n)| vec![b; n])],
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let stored = overflow_part(&value);
            prop_assert_eq!(&read_part(&Bytes::from(&stored[..])).unwrap()[..], &value[..]);
            let mut damaged = stored.clone();
            damaged[at.index(stored.len())] ^= flip;
            prop_assert!(read_part(&Bytes::from(damaged)).is_none());
            prop_assert!(read_part(&Bytes::from(&stored[..at.index(stored.len())])).is_none());
            // With a right checksum over wrong content, reading still must not panic.
            let mut content = stored[..stored.len() - 4].to_vec();
            content[at.index(stored.len() - 4)] ^= flip;
            let _ = read_part(&Bytes::from(seal(content)));
        }
    }
}
