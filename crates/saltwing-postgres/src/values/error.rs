//! What can be wrong with a value of the protocol.

use pgwire::api::Type;
use saltwing::SqlType;

use super::pg_type::PgType;

/// The characters of a value that an error shows.
const SHOWN_CHARS_MAX: usize = 40;

/// The most elements of an array in a parameter. Elements take more memory than bytes of the message, and this bounds how much.
pub(super) const ARRAY_ELEMENTS_MAX: usize = 1 << 22;

/// An error of a value on its way to or from a client. The text names the type as PostgreSQL does.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WireError {
    /// A code of a format that is neither 0 nor 1.
    #[error("unsupported format code: {code}")]
    FormatCode {
        /// The code.
        code: i16,
    },
    /// Neither none, nor one, nor as many format codes as there are values.
    #[error("{codes} format codes for {values} values: none, one or {values} are needed")]
    FormatCount {
        /// The codes.
        codes: usize,
        /// The values.
        values: usize,
    },
    /// A type of which no parameters are taken.
    #[error("parameters of type {} are not supported", type_of_oid(*oid))]
    UnsupportedType {
        /// The number of the type.
        oid: u32,
    },
    /// Bytes that are not UTF-8.
    #[error("invalid byte sequence for encoding \"UTF8\" in a value of type {ty}, after {valid_bytes} bytes: {bytes}")]
    BadEncoding {
        /// The type.
        ty: PgType,
        /// The bytes before the sequence.
        valid_bytes: usize,
        /// The sequence in hex.
        bytes: String,
    },
    /// Text that is no value of the type.
    #[error("invalid input syntax for type {ty}: \"{value}\"")]
    BadText {
        /// The type.
        ty: PgType,
        /// The text, shortened.
        value: String,
    },
    /// Text that is no array.
    #[error("malformed array literal: \"{value}\": {reason}")]
    BadArrayText {
        /// The text, shortened.
        value: String,
        /// Why not.
        reason: &'static str,
    },
    /// Text that is no instant or length of time.
    #[error("invalid input syntax for type {ty}: \"{value}\"")]
    BadDatetime {
        /// The type.
        ty: PgType,
        /// The text, shortened.
        value: String,
    },
    /// An instant or a length of time that there is not, or that lies beyond the calendar.
    #[error("date/time value out of range for type {ty}: \"{value}\"")]
    DatetimeOverflow {
        /// The type.
        ty: PgType,
        /// The value, shortened.
        value: String,
    },
    /// A number outside its type.
    #[error("value \"{value}\" is out of range for type {ty}")]
    OutOfRange {
        /// The type.
        ty: PgType,
        /// The number, shortened.
        value: String,
    },
    /// Bytes that are no value of the type.
    #[error("incorrect binary data format for type {ty}: {reason}")]
    BadBinary {
        /// The type.
        ty: PgType,
        /// What is wrong.
        reason: String,
    },
    /// An array in an array.
    #[error("arrays of several dimensions are not supported: a value of type {ty} has one dimension")]
    SeveralDimensions {
        /// The type.
        ty: PgType,
    },
    /// An array with too many elements.
    #[error("an array of a parameter has at most {ARRAY_ELEMENTS_MAX} elements")]
    TooManyElements,
    /// A value that is too long for the protocol.
    #[error("a value of {bytes} bytes is too long for the protocol, whose lengths have 31 bits")]
    TooLong {
        /// The bytes of the value.
        bytes: usize,
    },
    /// A value that cannot be written as text: a broken invariant.
    #[error("a value of type {ty} could not be written as text")]
    NoText {
        /// The column's type.
        ty: SqlType,
    },
    /// A value that is not of its column's type: a broken invariant.
    #[error("a column of type {ty} has a value of another type")]
    WrongType {
        /// The column's type.
        ty: SqlType,
    },
}

impl WireError {
    /// Five characters, as PostgreSQL gives for the same.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::FormatCode { .. } | Self::FormatCount { .. } => "08P01",
            Self::UnsupportedType { .. } | Self::SeveralDimensions { .. } => "0A000",
            Self::BadEncoding { .. } => "22021",
            Self::BadText { .. } | Self::BadArrayText { .. } => "22P02",
            Self::BadDatetime { .. } => "22007",
            Self::DatetimeOverflow { .. } => "22008",
            Self::OutOfRange { .. } => "22003",
            Self::BadBinary { .. } => "22P03",
            Self::TooManyElements | Self::TooLong { .. } => "54000",
            Self::NoText { .. } | Self::WrongType { .. } => "XX000",
        }
    }

    /// Text that is no value of a type.
    pub(super) fn bad_text(ty: impl Into<PgType>, text: &str) -> Self {
        Self::BadText { ty: ty.into(), value: shortened(text) }
    }

    /// Text that is no instant or length of time.
    pub(super) fn bad_datetime(ty: impl Into<PgType>, text: &str) -> Self {
        Self::BadDatetime { ty: ty.into(), value: shortened(text) }
    }

    /// An instant or a length of time that there is not.
    pub(super) fn datetime_overflow(ty: impl Into<PgType>, value: &str) -> Self {
        Self::DatetimeOverflow { ty: ty.into(), value: shortened(value) }
    }

    /// A number outside its type.
    pub(super) fn out_of_range(ty: impl Into<PgType>, value: &str) -> Self {
        Self::OutOfRange { ty: ty.into(), value: shortened(value) }
    }

    /// Bytes that are no value of a type.
    pub(super) fn bad_binary(ty: impl Into<PgType>, reason: impl Into<String>) -> Self {
        Self::BadBinary { ty: ty.into(), reason: reason.into() }
    }

    /// Text that is no array.
    pub(super) fn bad_array(text: &str, reason: &'static str) -> Self {
        Self::BadArrayText { value: shortened(text), reason }
    }
}

/// A number with the name that drivers have for it.
fn type_of_oid(oid: u32) -> String {
    match Type::from_oid(oid) {
        Some(ty) => format!("{} (OID {oid})", ty.name()),
        None => format!("OID {oid}"),
    }
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.split_at(end).0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pg_type::BaseType;
    use super::*;

    #[test]
    fn a_text_shows_the_type_and_the_beginning_of_the_value() {
        let error = WireError::bad_text(BaseType::Int4, "abc");
        assert_eq!(error.to_string(), "invalid input syntax for type integer: \"abc\"");
        let long = "é".repeat(1000);
        let shown = WireError::out_of_range(PgType::Array(BaseType::Numeric), &long).to_string();
        assert_eq!(shown, format!("value \"{}…\" is out of range for type numeric[]", "é".repeat(40)));
        assert_eq!(shortened(&"x".repeat(40)), "x".repeat(40));
    }
}
