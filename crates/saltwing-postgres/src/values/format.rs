//! The formats of values, and the codes by which clients choose them.

use super::error::WireError;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// As text that people read.
    Text,
    /// As bytes, whose form depends on the type.
    Binary,
}

impl Format {
    /// The format of a code: 0 is text, 1 is binary.
    ///
    /// # Errors
    /// [`WireError::FormatCode`] for another code.
    pub(crate) fn of_code(code: i16) -> Result<Self, WireError> {
        match code {
            0 => Ok(Self::Text),
            1 => Ok(Self::Binary),
            code => Err(WireError::FormatCode { code }),
        }
    }

    /// The code, as RowDescription has it.
    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Text => 0,
            Self::Binary => 1,
        }
    }
}

/// The format of each of `count` values, by the codes of a Bind message: no codes mean text for all, one code holds for all, and
/// otherwise each value has its own.
///
/// # Errors
/// [`WireError::FormatCount`] for another number of codes, [`WireError::FormatCode`] for a code that is none.
pub(crate) fn formats(codes: &[i16], count: usize) -> Result<Vec<Format>, WireError> {
    match codes {
        [] => Ok(vec![Format::Text; count]),
        [code] => Ok(vec![Format::of_code(*code)?; count]),
        codes if codes.len() == count => codes.iter().map(|code| Format::of_code(*code)).collect(),
        codes => Err(WireError::FormatCount { codes: codes.len(), values: count }),
    }
}

#[cfg(test)]
mod tests {
    use super::Format::{Binary, Text};
    use super::*;

    #[test]
    fn codes_choose_formats() {
        for (codes, count, expected) in [
            (&[][..], 2, vec![Text, Text]),
            (&[1][..], 3, vec![Binary; 3]),
            (&[0][..], 1, vec![Text]),
            (&[0, 1][..], 2, vec![Text, Binary]),
            (&[1][..], 0, vec![]),
        ] {
            assert_eq!(formats(codes, count).unwrap(), expected, "{codes:?}");
        }
        for (codes, count) in
            [(&[0, 1][..], 3), (&[0, 1][..], 1), (&[0, 0][..], 0), (&[2][..], 1), (&[0, -1][..], 2), (&[7][..], 0)]
        {
            assert_eq!(formats(codes, count).unwrap_err().sqlstate(), "08P01", "{codes:?}");
        }
        for format in [Text, Binary] {
            assert_eq!(Format::of_code(format.code()).unwrap(), format);
        }
    }
}
