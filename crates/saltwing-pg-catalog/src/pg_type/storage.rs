//! How the relations keep the values of a type.

use super::number::PgType;

/// How the values of a type are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Boolean,
    Int2,
    Int4,
    /// Numbers of objects, too: they have 32 bits without a sign.
    Int8,
    Float4,
    Float8,
    Text,
    Timestamp,
    BooleanArray,
    Int2Array,
    Int4Array,
    Int8Array,
    TextArray,
}

impl PgType {
    /// Whether values are numbers of objects, which are written as the names of these.
    pub(crate) fn is_object(self) -> bool {
        self.object_kind().is_some()
    }

    /// The word for the kind of object in the names of functions that convert such values.
    pub(crate) fn object_kind(self) -> Option<&'static str> {
        match self.0 {
            2205 => Some("regclass"),
            2206 => Some("regtype"),
            24 | 2202 => Some("regproc"),
            4089 => Some("regnamespace"),
            4096 => Some("regrole"),
            _ => None,
        }
    }

    /// Whether values are numbers, those of objects among them.
    pub(crate) fn is_number(self) -> bool {
        use Storage as S;
        matches!(self.storage(), S::Int2 | S::Int4 | S::Int8 | S::Float4 | S::Float8) || self == Self::NUMERIC
    }

    /// Whether values are kept as texts.
    pub(crate) fn is_text(self) -> bool {
        matches!(self.storage(), Storage::Text)
    }

    /// How values are kept in the relations.
    pub(crate) fn storage(self) -> Storage {
        match self.0 {
            16 => Storage::Boolean,
            21 => Storage::Int2,
            23 | 29 => Storage::Int4,
            20 | 24 | 26 | 28 | 2202..=2206 | 4089 | 4096 | 3734 | 3769 | 4191 => Storage::Int8,
            700 => Storage::Float4,
            701 => Storage::Float8,
            1114 | 1184 => Storage::Timestamp,
            22 | 1005 => Storage::Int2Array,
            1007 => Storage::Int4Array,
            30 | 1028 | 1016 | 2210 | 2211 | 1008 => Storage::Int8Array,
            1000 => Storage::BooleanArray,
            1002 | 1003 | 1009 | 1014 | 1015 | 1034 => Storage::TextArray,
            _ => Storage::Text,
        }
    }
}
