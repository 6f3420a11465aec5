//! What can be wrong with the rows of a client.

use pgwire::error::ErrorInfo;

use crate::messages::error;
use crate::values::WireError;

/// The most bytes of a row of a COPY, in the form that the client sends.
pub(crate) const ROW_BYTES_MAX: usize = 64 << 20;

/// An error in the bytes of a COPY FROM STDIN, or in its options for the columns.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CopyError {
    /// A row with fewer fields than columns.
    #[error("missing data for column \"{column}\"")]
    MissingField {
        /// The first column without a field.
        column: String,
    },
    /// A row with more fields than columns.
    #[error("extra data after last expected column")]
    ExtraField,
    /// `\.` with other characters in its line.
    #[error("end-of-copy marker corrupt")]
    CorruptEnd,
    /// A carriage return in a value.
    #[error("{} found in data", if *in_csv { "unquoted carriage return" } else { "literal carriage return" })]
    CarriageReturn {
        /// Whether the format is CSV.
        in_csv: bool,
    },
    /// A line that ends otherwise than the lines before.
    #[error("{} found in data", if *in_csv { "unquoted newline" } else { "literal newline" })]
    Newline {
        /// Whether the format is CSV.
        in_csv: bool,
    },
    /// The last field has no closing quote.
    #[error("unterminated CSV quoted field")]
    UnterminatedQuote,
    /// A row beyond the limit.
    #[error("a row has more than {ROW_BYTES_MAX} bytes, which is the limit of COPY")]
    RowTooLong,
    /// The first bytes are not those of the binary format.
    #[error("COPY file signature not recognized")]
    Signature,
    /// Flags that are not known and must not be passed over.
    #[error("unrecognized critical flags in COPY file header: {flags:#x}")]
    Flags {
        /// The flags.
        flags: i32,
    },
    /// A header whose extension has an impossible length.
    #[error("invalid COPY file header (wrong length)")]
    HeaderLength,
    /// A binary row with another number of fields than columns.
    #[error("row field count is {found}, expected {expected}")]
    FieldCount {
        /// The fields.
        found: i16,
        /// The columns.
        expected: usize,
    },
    /// A binary field with an impossible length.
    #[error("invalid field size")]
    FieldSize,
    /// The binary data ends inside a row.
    #[error("unexpected EOF in COPY data")]
    EndInRow,
    /// Bytes after the trailer of the binary format.
    #[error("received copy data after EOF marker")]
    AfterEnd,
    /// A header with another number of names than columns.
    #[error("wrong number of fields in header line: got {found}, expected {expected}")]
    HeaderCount {
        /// The names.
        found: usize,
        /// The columns.
        expected: usize,
    },
    /// A header with another name.
    #[error("column name mismatch in header line field {place}: got \"{found}\", expected \"{expected}\"")]
    HeaderName {
        /// The place of the name, from 1.
        place: usize,
        /// The name in the header.
        found: String,
        /// The name of the column.
        expected: String,
    },
    /// An option names a column that the statement does not copy.
    #[error("{option} column \"{column}\" not referenced by COPY")]
    ForcedColumn {
        /// The option.
        option: &'static str,
        /// The column.
        column: String,
    },
    /// A field that is no value of its column.
    #[error(transparent)]
    Value(#[from] WireError),
}

impl CopyError {
    /// Five characters.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::RowTooLong => "54000",
            Self::ForcedColumn { .. } => "42P10",
            Self::Value(error) => error.sqlstate(),
            _ => "22P04",
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self {
            Self::CarriageReturn { in_csv: false } => Some("write \"\\r\" for a carriage return"),
            Self::Newline { in_csv: false } => Some("write \"\\n\" for a newline"),
            Self::CarriageReturn { in_csv: true } => Some("put a field with a carriage return in quotes"),
            Self::Newline { in_csv: true } => Some("put a field with a newline in quotes"),
            _ => None,
        }
    }
}

impl From<CopyError> for Box<ErrorInfo> {
    fn from(failed: CopyError) -> Self {
        let mut info = error(failed.sqlstate(), failed.to_string());
        info.hint = failed.help().map(str::to_owned);
        info
    }
}

/// An error of one row, with its place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {error}")]
pub(crate) struct RowError {
    /// The error.
    #[source]
    pub(crate) error: CopyError,
    /// The table, the line, and the column and its value as far as the error is about one: `COPY t, line 3, column v: "x"`.
    pub(crate) place: String,
}

impl From<RowError> for Box<ErrorInfo> {
    fn from(failed: RowError) -> Self {
        let mut info = Self::from(failed.error);
        info.where_context = Some(failed.place);
        info
    }
}
