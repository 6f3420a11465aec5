//! Bytes as text: hex, and the older form with escapes.
//!
//! # Law
//! Bytes read back as they were written.

use bytes::{BufMut, BytesMut};

const HEX_DIGITS: [u8; 16] = *b"0123456789abcdef";
/// The hyphens of a UUID stand after these bytes.
const HYPHENS_AFTER: [usize; 4] = [4, 6, 8, 10];

fn push_hex_byte(out: &mut BytesMut, byte: u8) {
    out.put_slice(&[HEX_DIGITS[usize::from(byte >> 4)], HEX_DIGITS[usize::from(byte & 15)]]);
}

/// Appends bytes in hex: `\x00ff`.
pub(super) fn push_text(out: &mut BytesMut, bytes: &[u8]) {
    out.reserve(2 + 2 * bytes.len());
    out.put_slice(b"\\x");
    bytes.iter().for_each(|byte| push_hex_byte(out, *byte));
}

/// Appends the bytes of a UUID in hex, in groups with hyphens.
pub(super) fn push_uuid(out: &mut BytesMut, id: &[u8; 16]) {
    for (place, byte) in id.iter().enumerate() {
        if HYPHENS_AFTER.contains(&place) {
            out.put_u8(b'-');
        }
        push_hex_byte(out, *byte);
    }
}

/// Reads `\x00 ff`, with blanks between the pairs of digits, or text in which `\\` is a backslash and `\` with three octal
/// digits a byte; `None` of a text in neither form.
pub(super) fn read_text(text: &str) -> Option<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(hex) => read_hex(hex.as_bytes()),
        None => read_escaped(text.as_bytes()),
    }
}

fn read_hex(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let digit = |character: u8| char::from(character).to_digit(16);
    let mut rest = text.iter().copied();
    while let Some(high) = rest.find(|character| !b" \t\n\r".contains(character)) {
        let byte = digit(high)? * 16 + digit(rest.next()?)?;
        bytes.push(u8::try_from(byte).ok()?);
    }
    Some(bytes)
}

fn read_escaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied();
    let digit = |character: u8| char::from(character).to_digit(8);
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                high => u8::try_from(digit(high)? * 64 + digit(rest.next()?)? * 8 + digit(rest.next()?)?).ok()?,
            },
            byte => byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_read_back(bytes: Vec<u8>) {
            let mut out = BytesMut::new();
            push_text(&mut out, &bytes);
            let text = String::from_utf8(out.to_vec()).unwrap();
            prop_assert_eq!(read_text(&text), Some(bytes.clone()));
            let escaped: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
            prop_assert_eq!(read_text(&escaped), Some(bytes));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(\\\\x)?[\\\\ 0-9a-fé]{0,12}") {
            let _ = read_text(&text);
        }
    }

    /// What PostgreSQL 15 reads, and refuses.
    #[test]
    fn forms_of_postgresql() {
        for (text, bytes) in [
            ("", &[][..]),
            ("\\x", &[]),
            ("\\x00fF", &[0, 255]),
            ("\\x 00 ff\n", &[0, 255]),
            ("abc", b"abc"),
            ("\\\\", b"\\"),
            ("a\\001\\377é", &[b'a', 1, 255, 0xc3, 0xa9]),
        ] {
            assert_eq!(read_text(text).as_deref(), Some(bytes), "{text}");
        }
        for text in ["\\x0", "\\xzz", "\\x0 0", "\\X00", "\\400", "\\1", "\\18 ", "a\\b", "\\"] {
            assert_eq!(read_text(text), None, "{text}");
        }
    }
}
