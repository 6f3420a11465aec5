//! Java's Writables: numbers of variable length, and bytes with their length before them.
//!
//! A number from -112 to 127 is one byte. Any other one is a byte with sign and length (-113 to -120, or -121 to -128 for
//! numbers below zero, which are inverted), then its bytes without leading zeros, big endian.

/// Most bytes of a number after the first one.
const NUMBER_BYTES: usize = 8;

/// Appends a number.
pub(crate) fn write_number(value: i64, out: &mut Vec<u8>) {
    if let Ok(byte @ -112..=127) = i8::try_from(value) {
        out.extend(byte.to_be_bytes());
        return;
    }
    let (base, magnitude) = if value < 0 { (-120i8, !value) } else { (-112, value) };
    let bytes = magnitude.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let length = NUMBER_BYTES - zeros;
    out.extend((base - length as i8).to_be_bytes());
    out.extend(bytes.iter().skip(zeros));
}

/// Appends bytes, their length first.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    // A slice is never longer than `i64` counts.
    write_number(bytes.len() as i64, out);
    out.extend_from_slice(bytes);
}

/// Reads a number; what follows it. `None` if the bytes end before.
pub(crate) fn read_number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let first = i8::from_be_bytes([*first]);
    let (length, is_negative) = match first {
        -112..=127 => return Some((first.into(), rest)),
        -120..=-113 => (-112 - first, false),
        _ => (-120 - first, true),
    };
    let (number, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    let magnitude = number.iter().fold(0i64, |value, byte| value << 8 | i64::from(*byte));
    Some((if is_negative { !magnitude } else { magnitude }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back(value in any::<i64>(), cut in 0u32..64, after in any::<Vec<u8>>()) {
            for value in [value >> cut, value] {
                let mut bytes = Vec::new();
                write_number(value, &mut bytes);
                bytes.extend(&after);
                prop_assert_eq!(read_number(&bytes), Some((value, after.as_slice())));
            }
        }

        #[test]
        fn any_bytes_read(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = read_number(&bytes);
        }
    }

    #[test]
    fn bytes_of_java() {
        for (value, bytes) in [
            (127, &[0x7f][..]),
            (128, &[0x8f, 0x80]),
            (-112, &[0x90]),
            (-113, &[0x87, 0x70]),
            (-1, &[0xff]),
            (300, &[0x8e, 0x01, 0x2c]),
            (i64::MIN, &[0x80, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            let mut out = Vec::new();
            write_number(value, &mut out);
            assert_eq!(out, bytes, "{value}");
        }
    }
}
