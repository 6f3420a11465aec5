//! Errors of keys, and of values in keys.

use saltwing_types::text::{hex, literal};
use saltwing_types::{ErrorCode, SqlType, Value};

/// Most bytes of a value or a key that a message shows in hex.
const SHOWN_BYTES_MAX: usize = 32;
/// Most characters of a value that a message shows.
const SHOWN_CHARS_MAX: usize = 60;

/// Stored bytes that are no value of their type.
///
/// Small, so that decoders of single values stay cheap; [`crate::RowKeyCodec::corrupt`]
/// adds the column and the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadBytes(pub(crate) &'static str);

/// A value that has no key form in a type, or none at its place in the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyValueError {
    /// NULL has no value bytes: its form depends on the position in the key.
    #[error("NULL has no key bytes")]
    Null,
    /// Not a value of this type.
    #[error("{value} is not of type {ty}")]
    WrongKind {
        /// The value as text.
        value: String,
        /// The column's type.
        ty: SqlType,
    },
    /// A number or an instant outside the range of the key column.
    #[error("{value} is out of range for {ty} in a key: {limit}")]
    OutOfRange {
        /// The value as text.
        value: String,
        /// The column's type.
        ty: SqlType,
        /// The range of the column.
        limit: String,
    },
    /// Longer than the type takes.
    #[error("{value} is too long for {ty}: it takes {length} of {limit}")]
    TooLong {
        /// The value as text, shortened.
        value: String,
        /// The column's type.
        ty: SqlType,
        /// Characters (UTF-16 units for VARCHAR) or bytes of the value.
        length: usize,
        /// As many as the type has.
        limit: u32,
    },
    /// CHAR holds single-byte characters only.
    #[error("{value} does not fit {ty}: '{character}' is not a single-byte character")]
    WideCharacter {
        /// The value as text, shortened.
        value: String,
        /// The column's type.
        ty: SqlType,
        /// The first character of more than one byte.
        character: char,
    },
    /// A NUL byte that would read as a separator, or as NULL.
    #[error("{value} has a NUL byte at offset {offset}: only a last ascending key column can hold one{}",
        if *offset == 0 { ", and none in front if it is nullable" } else { "" })]
    NulByte {
        /// The value as text and hex, shortened.
        value: String,
        /// Where the NUL byte stands.
        offset: usize,
    },
    /// A value of no bytes in a nullable key column.
    #[error("an empty {ty} and NULL have the same bytes in a nullable key column")]
    EmptyNullable {
        /// The column's type.
        ty: SqlType,
    },
    /// An element that an array's bytes would not tell from another.
    #[error("{element} in an array of {ty}: {reason}")]
    ArrayElement {
        /// The element as text, shortened.
        element: String,
        /// The elements' type.
        ty: SqlType,
        /// The reason.
        reason: &'static str,
    },
    /// A value whose bytes begin like NULL's.
    #[error("{value} begins with FF: in a nullable descending {ty} key column its bytes would begin like NULL's")]
    BeginsLikeNull {
        /// The value as text, shortened.
        value: String,
        /// The column's type.
        ty: SqlType,
    },
}

impl KeyValueError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Null => ErrorCode::NotNull,
            Self::WrongKind { .. } => ErrorCode::TypeMismatch,
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::TooLong { .. } => ErrorCode::TooLong,
            Self::WideCharacter { .. }
            | Self::NulByte { .. }
            | Self::EmptyNullable { .. }
            | Self::ArrayElement { .. }
            | Self::BeginsLikeNull { .. } => ErrorCode::BadKey,
        }
    }

    /// Advice.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::EmptyNullable { .. } => Some("declare it NOT NULL, or write NULL"),
            Self::BeginsLikeNull { .. } => Some("declare it NOT NULL"),
            Self::NulByte { .. } => Some("use VARBINARY_ENCODED for bytes with 00 in them"),
            _ => None,
        }
    }
}

/// An error of a row key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowKeyError {
    /// A value that has no key form in its column.
    #[error("key column {column}: {error}")]
    Value {
        /// The column's name.
        column: String,
        /// The reason; part of the text, so not a source.
        error: KeyValueError,
    },
    /// NULL where the key cannot hold it.
    #[error("key column {column} is NOT NULL")]
    Null {
        /// The column's name.
        column: String,
    },
    /// Nothing but NULLs, or empty values, in the key.
    #[error("a row key of no bytes: key column{} {columns} {} all NULL or empty",
        if *count == 1 { "" } else { "s" }, if *count == 1 { "is" } else { "are" })]
    Empty {
        /// The names of all key columns.
        columns: String,
        /// How many they are.
        count: usize,
    },
    /// Longer than a row key may be.
    #[error("a row key of {bytes} bytes, {key}: the limit is {limit}")]
    TooLong {
        /// Bytes of the key, bucket byte included.
        bytes: usize,
        /// The key in hex, shortened.
        key: String,
        /// Most bytes.
        limit: usize,
    },
    /// Not one value for each key column.
    #[error("{given} values for a key of {expected} columns")]
    ValueCount {
        /// Values given.
        given: usize,
        /// Key columns.
        expected: usize,
    },
    /// A key that cannot be defined.
    #[error("key column {column} ({ty}): {reason}")]
    Definition {
        /// The column's name.
        column: String,
        /// Its type.
        ty: SqlType,
        /// The reason.
        reason: &'static str,
    },
    /// A key without columns, or salt that does not fit it.
    #[error("{0}")]
    Schema(String),
    /// Corruption, or a definition that does not belong to this key.
    #[error("key column {column}: {reason}, at byte {offset} of key {key}")]
    Corrupt {
        /// The column that could not be read.
        column: String,
        /// Where it starts in the physical key.
        offset: usize,
        /// The physical key in hex, shortened.
        key: String,
        /// The reason.
        reason: &'static str,
    },
}

impl RowKeyError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Value { error, .. } => error.code(),
            Self::Null { .. } => ErrorCode::NotNull,
            Self::Empty { .. } | Self::TooLong { .. } => ErrorCode::BadKey,
            Self::ValueCount { .. } => ErrorCode::Bug,
            Self::Definition { .. } | Self::Schema(_) => ErrorCode::InvalidDefinition,
            Self::Corrupt { .. } => ErrorCode::Corrupt,
        }
    }

    /// Advice.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Value { error, .. } => error.help(),
            _ => None,
        }
    }
}

/// Hex of `bytes`, cut with a note of their number.
pub(crate) fn shown_bytes(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN_BYTES_MAX) {
        Some(head) if bytes.len() > SHOWN_BYTES_MAX => format!("{}… ({} bytes)", hex(head), bytes.len()),
        _ => hex(bytes),
    }
}

/// A value as SQL writes it, cut; text that does not print as it is also in hex.
pub(crate) fn shown(value: &Value, ty: SqlType) -> String {
    match value {
        Value::Text(text) if !text.bytes().all(|b| (b' '..0x7f).contains(&b)) => {
            format!("'{}' (hex {})", cut(&text.escape_debug().to_string()), shown_bytes(text.as_bytes()))
        }
        Value::Bytes(bytes) => format!("X'{}'", shown_bytes(bytes)),
        // A longer text is not worth quoting as a whole.
        Value::Text(text) if text.len() > SHOWN_CHARS_MAX => format!("'{}'", cut(text)),
        value => literal(value, ty),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
