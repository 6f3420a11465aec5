//! Qualifiers: which bytes name a column's cell.

/// Number of the first column that a user declares. Those below it are Phoenix's own, and have 4 bytes in every scheme.
pub const FIRST_QUALIFIER: u32 = 11;

/// How the qualifiers of a table's cells are made: of the columns' numbers, or of their names.
///
/// | scheme | bytes of number 11 | largest number |
/// |---|---|---|
/// | [`Names`](Self::Names) | the column's name | |
/// | [`OneByte`](Self::OneByte) | `8b` | 255 |
/// | [`TwoBytes`](Self::TwoBytes) | `800b` | 65,535 |
/// | [`ThreeBytes`](Self::ThreeBytes) | `00000b` | 16,777,215 |
/// | [`FourBytes`](Self::FourBytes) | `0000000b` | 2,147,483,647 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QualifierScheme {
    /// The name of the column in UTF-8.
    Names,
    /// One byte with its top bit flipped.
    OneByte,
    /// Two bytes, the top bit flipped.
    TwoBytes,
    /// Three plain bytes.
    ThreeBytes,
    /// Four plain bytes.
    FourBytes,
}

impl QualifierScheme {
    /// The scheme that Phoenix's catalog knows by this number: the bytes of a qualifier, 0 for names.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Names,
            1 => Self::OneByte,
            2 => Self::TwoBytes,
            3 => Self::ThreeBytes,
            4 => Self::FourBytes,
            _ => return None,
        })
    }

    /// The number by which Phoenix's catalog knows it.
    pub fn number(self) -> u8 {
        match self {
            Self::Names => 0,
            Self::OneByte => 1,
            Self::TwoBytes => 2,
            Self::ThreeBytes => 3,
            Self::FourBytes => 4,
        }
    }

    /// The largest number of a column; `None` if columns have no numbers.
    pub fn largest(self) -> Option<u32> {
        match self {
            Self::Names => None,
            Self::OneByte => Some(u8::MAX.into()),
            Self::TwoBytes => Some(u16::MAX.into()),
            Self::ThreeBytes => Some(0xff_ffff),
            Self::FourBytes => Some(i32::MAX as u32),
        }
    }

    /// The qualifier of a number; `None` if it is too large, or if columns have no numbers.
    pub fn encode(self, number: u32) -> Option<Vec<u8>> {
        if number > self.largest()? {
            return None;
        }
        let bytes = number.to_be_bytes();
        let [_, high, middle, low] = bytes;
        Some(match self {
            _ if number < FIRST_QUALIFIER => bytes.to_vec(),
            Self::OneByte => vec![low ^ 0x80],
            Self::TwoBytes => vec![middle ^ 0x80, low],
            Self::ThreeBytes => vec![high, middle, low],
            Self::FourBytes | Self::Names => bytes.to_vec(),
        })
    }

    /// The number of a qualifier; `None` for bytes that [`Self::encode`] makes of no number.
    pub fn decode(self, qualifier: &[u8]) -> Option<u32> {
        let number = match (self, qualifier) {
            (_, [a, b, c, d]) => u32::from_be_bytes([*a, *b, *c, *d]),
            (Self::OneByte, [low]) => u32::from(low ^ 0x80),
            (Self::TwoBytes, [middle, low]) => u32::from_be_bytes([0, 0, middle ^ 0x80, *low]),
            (Self::ThreeBytes, [high, middle, low]) => u32::from_be_bytes([0, *high, *middle, *low]),
            _ => return None,
        };
        (self.encode(number)? == qualifier).then_some(number)
    }

    /// The qualifier of the cell that every row has.
    pub fn of_empty_cell(self) -> &'static [u8] {
        if self == Self::Names { b"_0" } else { &[0, 0, 0, 0] }
    }
}
