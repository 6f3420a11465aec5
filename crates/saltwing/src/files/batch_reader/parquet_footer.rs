//! Checks the footer of a Parquet file before it is decoded: the decoder allocates memory for the stated lengths of lists before it
//! checks that the bytes exist.
//!
//! ```text
//! PAR1 | pages .. | footer, as Thrift's compact protocol writes it | its length | PAR1
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::BatchError;

const SIGNATURE: &[u8; 4] = b"PAR1";
/// Most bytes of a footer: enough for a million row groups of a few columns.
const FOOTER_BYTES_MAX: u64 = 256 << 20;
/// The limit for the nesting of structs and lists; the format has fewer than ten levels.
const DEPTH_MAX: usize = 32;

/// The bytes of the footer, with every length verified.
///
/// # Errors
/// The file is not Parquet, or cannot be read.
pub(super) fn footer(file: &mut File, size: u64) -> Result<Vec<u8>, BatchError> {
    let mut begin = [0; 4];
    let mut end = [0; 8];
    if size < 12 {
        return Err(BatchError::damaged("it is too short for Parquet"));
    }
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut begin)?;
    file.seek(SeekFrom::Start(size - 8))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, signature @ ..] = end;
    if signature == *b"PARE" {
        return Err(BatchError::NotSupported("it is encrypted".to_owned()));
    }
    if begin != *SIGNATURE || signature != *SIGNATURE {
        return Err(BatchError::damaged("it does not begin and end as Parquet does"));
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > FOOTER_BYTES_MAX.min(size - 12) {
        return Err(BatchError::Damaged(format!("its footer would have {length} bytes")));
    }
    file.seek(SeekFrom::Start(size - 8 - length))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    let mut walk = Walk { rest: &bytes };
    walk.structure(0).ok_or_else(|| BatchError::damaged("its footer contradicts itself"))?;
    Ok(bytes)
}

/// Walks through values of Thrift's compact protocol. `None` means that the bytes are not such values, or that the values do not end at
/// the end of the bytes.
struct Walk<'b> {
    rest: &'b [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// A number with seven bits in each byte.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn structure(&mut self, depth: usize) -> Option<()> {
        loop {
            let header = self.byte()?;
            let (delta, ty) = (header >> 4, header & 0x0f);
            if ty == 0 {
                return Some(());
            }
            if delta == 0 {
                // The number of the field.
                self.number()?;
            }
            // The value of a boolean field is in its type.
            if !matches!(ty, 1 | 2) {
                self.value(ty, depth)?;
            }
        }
    }

    fn value(&mut self, ty: u8, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match ty {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            12 => self.structure(depth + 1),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        let header = self.byte()?;
        let length = match header >> 4 {
            15 => self.number()?,
            length => length.into(),
        };
        // Each element has at least one byte.
        if length > self.rest.len() as u64 {
            return None;
        }
        (0..length).try_for_each(|_| self.value(header & 0x0f, depth + 1))
    }

    fn map(&mut self, depth: usize) -> Option<()> {
        let length = self.number()?;
        if length == 0 {
            return Some(());
        }
        let types = self.byte()?;
        if length > self.rest.len() as u64 {
            return None;
        }
        (0..length).try_for_each(|_| {
            self.value(types >> 4, depth + 1)?;
            self.value(types & 0x0f, depth + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_whole(bytes: &[u8]) -> bool {
        Walk { rest: bytes }.structure(0).is_some()
    }

    #[test]
    fn lengths_are_true_or_nothing_is() {
        // Field 1: an i32 of 3; field 2: a list of two i32; field 3: the text "ab".
        let good = [0x15, 6, 0x19, 0x25, 2, 4, 0x18, 2, b'a', b'b', 0];
        assert!(is_whole(&good));
        for length in 0..good.len() {
            assert!(!is_whole(&good[..length]), "{length}");
        }
        // A list of two billion elements.
        assert!(!is_whole(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 1, 0]));
        // Nested structs without an end.
        assert!(!is_whole(&[0x1c; 1000]));
    }
}
