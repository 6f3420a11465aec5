//! Values of the catalog's columns, as Phoenix's types have them: numbers are big endian with their sign flipped.

pub(super) fn int(number: i32) -> Vec<u8> {
    (number.cast_unsigned() ^ 1 << 31).to_be_bytes().to_vec()
}

/// A number of things that a table has at most some thousands of.
pub(super) fn count(number: usize) -> Vec<u8> {
    int(i32::try_from(number).unwrap_or(i32::MAX))
}

pub(super) fn big_int(number: i64) -> Vec<u8> {
    (number.cast_unsigned() ^ 1 << 63).to_be_bytes().to_vec()
}

pub(super) fn small_int(number: usize) -> Vec<u8> {
    (i16::try_from(number).unwrap_or(i16::MAX).cast_unsigned() ^ 1 << 15).to_be_bytes().to_vec()
}

pub(super) fn tiny_int(number: u8) -> Vec<u8> {
    vec![number ^ 1 << 7]
}

pub(super) fn boolean(value: bool) -> Vec<u8> {
    vec![u8::from(value)]
}

pub(super) fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}
