//! VARBINARY_ENCODED: bytes in which 00 is escaped, so that a separator can
//! follow anywhere in a key.
//!
//! Ascending, every 00 becomes `00 FF` and the separator is `00 01`; descending
//! all of this is inverted: `FF 00`, and `FF FE`. An escape sorts above the
//! separator (below it when inverted), so a value sorts before longer ones.

use crate::BadBytes;

const BAD_ESCAPE: BadBytes = BadBytes("00 without its escape");

/// Appends the ascending bytes.
pub(crate) fn write(data: &[u8], out: &mut Vec<u8>) {
    for piece in data.split_inclusive(|byte| *byte == 0) {
        out.extend_from_slice(piece);
        if piece.last() == Some(&0) {
            out.push(0xff);
        }
    }
}

/// Bytes of `key` before the separator, `None` when the value goes on to the end.
pub(crate) fn find_separator(key: &[u8], mask: u8) -> Result<Option<usize>, BadBytes> {
    let zero = mask;
    let mut at = 0;
    while let Some(found) = key.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == zero)) {
        at += found;
        match key.get(at + 1).map(|next| next ^ mask) {
            Some(0x01) => return Ok(Some(at)),
            Some(0xff) => at += 2,
            _ => return Err(BAD_ESCAPE),
        }
    }
    Ok(None)
}

/// Appends the data of a stored value without its separator.
pub(crate) fn read(stored: &[u8], mask: u8, out: &mut Vec<u8>) -> Result<(), BadBytes> {
    let mut bytes = stored.iter().map(|byte| byte ^ mask);
    while let Some(byte) = bytes.next() {
        out.push(byte);
        if byte == 0 && bytes.next() != Some(0xff) {
            return Err(BAD_ESCAPE);
        }
    }
    Ok(())
}
