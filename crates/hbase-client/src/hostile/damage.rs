//! Damage to bytes: changes that a decoder is likely to believe.

use bytes::{BufMut, Bytes};

/// Lengths and counts that no piece of the conversation has: at the limits of 8, 16, 28, 32 and 64 bits.
pub(super) const HOSTILE_LENGTHS: [u64; 9] =
    [0x7f, 0xffff, 0x0fff_ffff, i32::MAX as u64, u32::MAX as u64, 1 << 32, i64::MAX as u64, u64::MAX - 8, u64::MAX];

/// A number as protobuf writes it.
pub(super) fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A random change of a copy.
pub(super) fn damaged(bytes: &[u8], random: &mut fastrand::Rng) -> Bytes {
    let mut copy = bytes.to_vec();
    for _ in 0..random.u8(1..5) {
        let at = random.usize(..copy.len() + 1);
        let end = (at + random.usize(..24)).min(copy.len());
        let hostile = HOSTILE_LENGTHS[random.usize(..HOSTILE_LENGTHS.len())];
        match random.u8(..8) {
            0 | 1 if at < copy.len() => copy[at] = random.u8(..),
            2 if at < copy.len() => copy[at] ^= 1 << random.u8(..8),
            3 => copy.truncate(at),
            4 => drop(copy.splice(at..(at + 1).min(copy.len()), varint(hostile))),
            5 => {
                let mut length = Vec::new();
                length.put_u32(hostile as u32);
                drop(copy.splice(at..(at + 4).min(copy.len()), length));
            }
            6 => drop(copy.splice(at..at, copy[at..end].to_vec())),
            _ => drop(copy.drain(at..end)),
        }
    }
    copy.into()
}
