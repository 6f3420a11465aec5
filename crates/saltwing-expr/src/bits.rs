//! Masks from tests of values, 64 rows at a time.

use arrow::array::GenericByteArray;
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::ByteArrayType;

/// Rows of one word of a mask.
const WORD_ROWS: usize = 64;

/// The rows whose value passes the test.
pub(crate) fn pack<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> BooleanBuffer {
    // The compiler vectorizes loops over chunks of a known length.
    let (chunks, rest) = values.as_chunks::<WORD_ROWS>();
    let mut words: Vec<u64> = Vec::with_capacity(chunks.len() + 1);
    words.extend(chunks.iter().map(|chunk| word(chunk.iter().map(|value| test(*value)))));
    words.push(word(rest.iter().map(|value| test(*value))));
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

/// The rows whose two values pass the test; the slices are of one length.
pub(crate) fn pack_pairs<A: Copy, B: Copy>(a: &[A], b: &[B], test: impl Fn(A, B) -> bool) -> BooleanBuffer {
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<WORD_ROWS>(), b.as_chunks::<WORD_ROWS>());
    let mut words: Vec<u64> = Vec::with_capacity(a_chunks.len() + 1);
    let chunks = a_chunks.iter().zip(b_chunks);
    words.extend(chunks.map(|(a, b)| word(a.iter().zip(b).map(|(a, b)| test(*a, *b)))));
    words.push(word(a_rest.iter().zip(b_rest).map(|(a, b)| test(*a, *b))));
    BooleanBuffer::new(Buffer::from_vec(words), 0, a.len().min(b.len()))
}

/// The rows whose bytes pass the test.
pub(crate) fn pack_bytes<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    test: impl Fn(&T::Native) -> bool,
) -> BooleanBuffer {
    use arrow::array::Array;
    BooleanBuffer::collect_bool(array.len(), |row| test(array.value(row)))
}

/// Up to 64 bits, the first one lowest, in the byte order that Arrow reads.
fn word(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |word, (place, bit)| word | u64::from(bit) << place).to_le()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mask_has_the_tests_answers(values in prop::collection::vec(any::<i8>(), 0..200)) {
            let mask = pack(&values, |v| v > 3);
            prop_assert_eq!(mask.iter().collect::<Vec<_>>(), values.iter().map(|v| *v > 3).collect::<Vec<_>>());
            let other: Vec<i8> = values.iter().rev().copied().collect();
            let mask = pack_pairs(&values, &other, |a, b| a < b);
            let expected: Vec<bool> = values.iter().zip(&other).map(|(a, b)| a < b).collect();
            prop_assert_eq!(mask.iter().collect::<Vec<_>>(), expected);
        }
    }
}
