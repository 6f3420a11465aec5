//! The types of array elements.

use crate::SqlType;
use crate::sql_type::NAMES;

/// The longest CHAR, VARCHAR or BINARY that may be an element of an array, in its own units.
pub const ELEMENT_LENGTH_MAX: u32 = 65_535;

/// The type of an array's elements: any type but an array.
///
/// Packed into three bytes, because [`SqlType`] is copied with every column and must stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    kind: u8,
    parameter: [u8; 2],
}

/// Kinds of the types with a parameter; every other kind is the type's place in [`NAMES`].
const DECIMAL: u8 = 255;
const CHAR: u8 = 254;
const VARCHAR: u8 = 253;
const BINARY: u8 = 252;

impl ElementType {
    /// `None` for an array, and for a length above [`ELEMENT_LENGTH_MAX`].
    pub(crate) fn new(ty: SqlType) -> Option<Self> {
        let length = |length: u32| u16::try_from(length).ok().map(u16::to_le_bytes);
        let (kind, parameter) = match ty {
            SqlType::Array(..) => return None,
            SqlType::Decimal(Some((precision, scale))) => (DECIMAL, [precision, scale]),
            SqlType::Char(n) => (CHAR, length(n)?),
            SqlType::Varchar(Some(n)) => (VARCHAR, length(n)?),
            SqlType::Binary(n) => (BINARY, length(n)?),
            plain => (NAMES.iter().position(|(_, ty)| *ty == plain)? as u8, [0; 2]),
        };
        Some(Self { kind, parameter })
    }

    /// The elements' type.
    pub fn sql_type(self) -> SqlType {
        let length = u32::from(u16::from_le_bytes(self.parameter));
        match self.kind {
            DECIMAL => SqlType::Decimal(Some(self.parameter.into())),
            CHAR => SqlType::Char(length),
            VARCHAR => SqlType::Varchar(Some(length)),
            BINARY => SqlType::Binary(length),
            plain => NAMES.get(usize::from(plain)).map_or(SqlType::Null, |(_, ty)| *ty),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_come_back() {
        let with_parameter = [
            SqlType::Decimal(Some((38, 2))),
            SqlType::Char(ELEMENT_LENGTH_MAX),
            SqlType::Varchar(Some(300)),
            SqlType::Binary(1),
        ];
        for ty in NAMES.into_iter().map(|(_, ty)| ty).chain(with_parameter) {
            assert_eq!(ElementType::new(ty).unwrap().sql_type(), ty, "{ty}");
        }
        assert_eq!(ElementType::new(SqlType::Char(ELEMENT_LENGTH_MAX + 1)), None);
        assert_eq!(ElementType::new(SqlType::array(SqlType::Date).unwrap()), None);
    }

    #[test]
    fn types_are_small() {
        assert_eq!(size_of::<SqlType>(), 12);
    }
}
