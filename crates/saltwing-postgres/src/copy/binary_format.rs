//! The format `binary`.
//!
//! ```text
//! PGCOPY\n\xff\r\n\0 | flags, i32 | length of an extension, i32, and the extension
//! number of fields, i16 | (length, i32, -1 for NULL | bytes) a field                    for each row
//! -1, i16
//! ```
//! The trailer may be missing, if the data ends between two rows.

use bytes::{Buf, BytesMut};

use super::error::{CopyError, ROW_BYTES_MAX};
use super::fields::Fields;

/// The first bytes.
pub(super) const SIGNATURE: [u8; 11] = *b"PGCOPY\n\xff\r\n\0";
/// The last ones: the number of fields of no row.
pub(super) const TRAILER: [u8; 2] = [0xff, 0xff];
/// A flag of these must be known to a reader. None is: the one for object identifiers in rows is of old servers.
const CRITICAL_FLAGS: i32 = 0xffff_0000_u32 as i32;

/// The rows of bytes that come in parts.
#[derive(Debug)]
pub(super) struct BinaryRows {
    input: BytesMut,
    stage: Stage,
    columns: usize,
    is_complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The signature, the flags and the length of the extension come.
    Header,
    /// So many bytes of the extension come.
    Extension(usize),
    Rows,
    /// The trailer has come.
    End,
}

/// What there is to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextFields {
    /// The fields of a row.
    Row,
    /// More bytes are needed.
    NeedsInput,
    /// There are no more rows.
    End,
}

impl BinaryRows {
    /// The reader of rows of `columns` fields.
    pub(super) fn new(columns: usize) -> Self {
        Self { input: BytesMut::new(), stage: Stage::Header, columns, is_complete: false }
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Notes that all bytes have come.
    pub(super) fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// Bytes that are not of the format; a row that is too long.
    pub(super) fn next(&mut self, fields: &mut Fields) -> Result<NextFields, CopyError> {
        loop {
            match self.stage {
                Stage::Header => {
                    let Some(extension) = self.header()? else { return self.pending(CopyError::Signature) };
                    self.stage = Stage::Extension(extension);
                }
                Stage::Extension(left) => {
                    let here = left.min(self.input.len());
                    self.input.advance(here);
                    if here < left {
                        self.stage = Stage::Extension(left - here);
                        return self.pending(CopyError::HeaderLength);
                    }
                    self.stage = Stage::Rows;
                }
                Stage::Rows if self.input.is_empty() && self.is_complete => self.stage = Stage::End,
                Stage::Rows => match read_row(&self.input, self.columns, fields)? {
                    Some(RowLength::Row(length)) => {
                        self.input.advance(length);
                        return Ok(NextFields::Row);
                    }
                    Some(RowLength::Trailer) => {
                        self.input.advance(TRAILER.len());
                        self.stage = Stage::End;
                    }
                    None if self.input.len() > ROW_BYTES_MAX => return Err(CopyError::RowTooLong),
                    None => return self.pending(CopyError::EndInRow),
                },
                Stage::End if !self.input.is_empty() => return Err(CopyError::AfterEnd),
                Stage::End if self.is_complete => return Ok(NextFields::End),
                Stage::End => return Ok(NextFields::NeedsInput),
            }
        }
    }

    /// The answer if bytes are missing; `error` is that of data that ends here.
    fn pending(&self, error: CopyError) -> Result<NextFields, CopyError> {
        if self.is_complete { Err(error) } else { Ok(NextFields::NeedsInput) }
    }

    /// Takes the header; gives the length of its extension.
    fn header(&mut self) -> Result<Option<usize>, CopyError> {
        let known = self.input.len().min(SIGNATURE.len());
        if self.input.get(..known) != SIGNATURE.get(..known) {
            return Err(CopyError::Signature);
        }
        let mut rest = self.input.get(SIGNATURE.len()..).unwrap_or_default();
        if rest.len() < 8 {
            return Ok(None);
        }
        let (flags, extension) = (rest.get_i32(), rest.get_i32());
        if flags & CRITICAL_FLAGS != 0 {
            return Err(CopyError::Flags { flags });
        }
        self.input.advance(SIGNATURE.len() + 8);
        usize::try_from(extension).map(Some).map_err(|_| CopyError::HeaderLength)
    }
}

/// The bytes that a row takes.
enum RowLength {
    Row(usize),
    Trailer,
}

/// Reads the row at the beginning of `input`; `None` if it has not come as a whole.
fn read_row(input: &[u8], columns: usize, fields: &mut Fields) -> Result<Option<RowLength>, CopyError> {
    fields.clear();
    let mut rest = input;
    if rest.len() < 2 {
        return Ok(None);
    }
    let count = rest.get_i16();
    if count == -1 {
        return Ok(Some(RowLength::Trailer));
    }
    if usize::try_from(count) != Ok(columns) {
        return Err(CopyError::FieldCount { found: count, expected: columns });
    }
    // The lengths come first: a row that has not come as a whole is not copied.
    let mut lengths = rest;
    for _ in 0..columns {
        if lengths.len() < 4 {
            return Ok(None);
        }
        match lengths.get_i32() {
            -1 => {}
            length => {
                let length = usize::try_from(length).map_err(|_| CopyError::FieldSize)?;
                if length > ROW_BYTES_MAX {
                    return Err(CopyError::RowTooLong);
                }
                match lengths.get(length..) {
                    Some(after) => lengths = after,
                    None => return Ok(None),
                }
            }
        }
    }
    for _ in 0..columns {
        match usize::try_from(rest.get_i32()) {
            Ok(length) => {
                let (field, after) = rest.split_at_checked(length).ok_or(CopyError::EndInRow)?;
                fields.extend(field);
                fields.end_field();
                rest = after;
            }
            Err(_) => fields.end_null(),
        }
    }
    Ok(Some(RowLength::Row(input.len() - rest.len())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = Vec<Option<Vec<u8>>>;

    const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

    fn read(parts: &[&[u8]], columns: usize) -> Result<Vec<Row>, CopyError> {
        let (mut rows, mut fields, mut found) = (BinaryRows::new(columns), Fields::default(), Vec::new());
        let mut parts = parts.iter();
        loop {
            match rows.next(&mut fields)? {
                NextFields::Row => found.push(fields.all()),
                NextFields::End => return Ok(found),
                NextFields::NeedsInput => match parts.next() {
                    Some(part) => rows.push(part),
                    None => rows.complete(),
                },
            }
        }
    }

    fn written(rows: &[Row]) -> Vec<u8> {
        let mut out = HEADER.to_vec();
        for row in rows {
            out.extend((row.len() as i16).to_be_bytes());
            for field in row {
                out.extend(field.as_ref().map_or(-1, |field| field.len() as i32).to_be_bytes());
                out.extend(field.iter().flatten());
            }
        }
        out
    }

    #[test]
    fn wrong_data_is_told_apart() {
        let with = |bytes: &[u8]| [HEADER, bytes].concat();
        for (data, error) in [
            (b"PGCOPX".to_vec(), CopyError::Signature),
            (b"".to_vec(), CopyError::Signature),
            (HEADER[..15].to_vec(), CopyError::Signature),
            (b"PGCOPY\n\xff\r\n\0\0\x01\0\0\0\0\0\0".to_vec(), CopyError::Flags { flags: 0x10000 }),
            (b"PGCOPY\n\xff\r\n\0\0\0\0\0\xff\xff\xff\xff".to_vec(), CopyError::HeaderLength),
            (b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x05abc".to_vec(), CopyError::HeaderLength),
            (with(b"\0\x02"), CopyError::FieldCount { found: 2, expected: 1 }),
            (with(b"\xff\xfe"), CopyError::FieldCount { found: -2, expected: 1 }),
            (with(b"\0"), CopyError::EndInRow),
            (with(b"\0\x01\0\0\0\x05abc"), CopyError::EndInRow),
            (with(b"\0\x01\xff\xff\xff\xfe"), CopyError::FieldSize),
            (with(b"\0\x01\x7f\xff\xff\xff"), CopyError::RowTooLong),
            (with(b"\xff\xffx"), CopyError::AfterEnd),
        ] {
            assert_eq!(read(&[&data], 1), Err(error), "{data:?}");
        }
        // A flag that may be passed over, and an extension.
        let extended = b"PGCOPY\n\xff\r\n\0\0\0\0\x01\0\0\0\x02ab\0\x01\0\0\0\x01x\xff\xff";
        assert_eq!(read(&[extended], 1), Ok(vec![vec![Some(b"x".to_vec())]]));
    }

    proptest! {
        #[test]
        fn rows_do_not_depend_on_messages(
            (columns, rows) in (0..4_usize).prop_flat_map(|columns| {
                let row = prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..5)), columns);
                (Just(columns), prop::collection::vec(row, 0..4))
            }),
            has_trailer in any::<bool>(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let mut data = written(&rows);
            if has_trailer {
                data.extend(TRAILER);
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(data.len() + 1)).chain([0, data.len()]).collect();
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]).collect();
            prop_assert_eq!(read(&parts, columns), Ok(rows));
        }

        #[test]
        fn any_bytes_are_rows_or_an_error(bytes in prop::collection::vec(prop::sample::select(&[0, 1, 2, 4, 0x7f, 0xff][..]), 0..40)) {
            let _ = read(&[HEADER, &bytes], 2);
            let _ = read(&[&bytes], 2);
        }
    }
}
