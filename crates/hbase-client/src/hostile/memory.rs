//! How much memory a decoder may take.

use bytes::Bytes;

use super::decoders::Decoder;

/// What a decoder may take whatever it reads: an error with its text, a list with room for a few items.
pub(super) const BYTES_ANYWAY: u64 = 2 << 10;
/// What a decoder may take for each byte: two bytes are an empty message, which is a struct in a list that grows by doubling.
const BYTES_PER_BYTE: u64 = 400;

/// The most bytes that a decoder had at one time.
pub(super) fn bytes_taken(decoder: &Decoder, bytes: &Bytes) -> u64 {
    let bytes = bytes.clone();
    allocation_counter::measure(|| (decoder.decode)(bytes)).bytes_max
}

/// The bound for bytes of any kind.
pub(super) fn bound(bytes: &Bytes) -> u64 {
    BYTES_ANYWAY + BYTES_PER_BYTE * bytes.len() as u64
}
