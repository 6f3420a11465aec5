//! Stable error codes, and the errors of values.

use std::error::Error;
use std::fmt;

/// The text of an error, and behind it the texts of its causes. A transparent error repeats its cause's text: no text comes
/// twice.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}

/// The kind of an error: one stable word with an SQLSTATE.
///
/// The words and states are a contract (`docs/contracts.md#error-codes`): scripts match on
/// them. SQLSTATEs follow PostgreSQL where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // each is its own word; see `as_str`
pub enum ErrorCode {
    FullScanRefused,
    BudgetExceeded,
    StatementTooLarge,
    TooDeep,
    TooManyColumns,
    Cancelled,
    Timeout,
    DuplicateKey,
    NotNull,
    Check,
    Conflict,
    SnapshotTooOld,
    CommitUnknown,
    OutOfRange,
    BadDatetime,
    DatetimeOverflow,
    TooLong,
    BadKey,
    DivisionByZero,
    SeveralRows,
    NoRow,
    BadText,
    BadArgument,
    BadParameter,
    TypeMismatch,
    Syntax,
    NoSuchTable,
    NoSuchSchema,
    NoSuchColumn,
    NoSuchFunction,
    AmbiguousColumn,
    DuplicateTable,
    DuplicateSchema,
    DuplicateColumn,
    InvalidDefinition,
    NotSupported,
    ReadOnly,
    NoTransaction,
    FailedTransaction,
    ActiveTransaction,
    NoSuchSavepoint,
    FileAccessRefused,
    Locked,
    DiskFull,
    Io,
    Corrupt,
    Bug,
}

impl ErrorCode {
    /// The stable word.
    pub fn as_str(self) -> &'static str {
        self.word_and_state().0
    }

    /// The SQLSTATE, five characters.
    pub fn sqlstate(self) -> &'static str {
        self.word_and_state().1
    }

    /// Whether the same statement may succeed if it is sent again unchanged.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Conflict | Self::SnapshotTooOld | Self::Locked)
    }

    /// The number under which Phoenix reports the same, where it has one for all that the word means.
    pub fn phoenix_number(self) -> Option<u16> {
        Some(match self {
            Self::BadText | Self::BadDatetime => 201,
            Self::DivisionByZero => 202,
            Self::TypeMismatch => 203,
            Self::TooLong => 206,
            Self::SeveralRows => 215,
            Self::NotNull => 218,
            Self::AmbiguousColumn => 502,
            Self::NoSuchColumn => 504,
            Self::DuplicateColumn => 514,
            Self::ReadOnly => 518,
            Self::Conflict => 523,
            Self::Syntax => 601,
            Self::DuplicateSchema => 721,
            Self::NoSuchSchema => 722,
            Self::NoSuchTable => 1012,
            Self::DuplicateTable => 1013,
            Self::Timeout => 6000,
            Self::NoSuchFunction => 6001,
            _ => return None,
        })
    }

    fn word_and_state(self) -> (&'static str, &'static str) {
        match self {
            Self::FullScanRefused => ("full_scan_refused", "54F01"),
            Self::BudgetExceeded => ("budget_exceeded", "54F02"),
            Self::StatementTooLarge => ("statement_too_large", "54000"),
            Self::TooDeep => ("too_deep", "54001"),
            Self::TooManyColumns => ("too_many_columns", "54011"),
            Self::Cancelled => ("cancelled", "57014"),
            Self::Timeout => ("timeout", "57014"),
            Self::DuplicateKey => ("duplicate_key", "23505"),
            Self::NotNull => ("not_null", "23502"),
            Self::Check => ("check", "23514"),
            Self::Conflict => ("conflict", "40001"),
            Self::SnapshotTooOld => ("snapshot_too_old", "40001"),
            Self::CommitUnknown => ("commit_unknown", "40003"),
            Self::OutOfRange => ("out_of_range", "22003"),
            Self::BadDatetime => ("bad_datetime", "22007"),
            Self::DatetimeOverflow => ("bad_datetime", "22008"),
            Self::TooLong => ("too_long", "22001"),
            Self::BadKey => ("bad_key", "22023"),
            Self::DivisionByZero => ("division_by_zero", "22012"),
            Self::SeveralRows => ("several_rows", "21000"),
            Self::NoRow => ("no_row", "02000"),
            Self::BadText => ("bad_text", "22P02"),
            Self::BadArgument => ("bad_argument", "22023"),
            Self::BadParameter => ("bad_parameter", "08P01"),
            Self::TypeMismatch => ("type_mismatch", "42804"),
            Self::Syntax => ("syntax", "42601"),
            Self::NoSuchTable => ("no_such_table", "42P01"),
            Self::NoSuchSchema => ("no_such_schema", "3F000"),
            Self::NoSuchColumn => ("no_such_column", "42703"),
            Self::NoSuchFunction => ("no_such_function", "42883"),
            Self::AmbiguousColumn => ("ambiguous_column", "42702"),
            Self::DuplicateTable => ("duplicate_table", "42P07"),
            Self::DuplicateSchema => ("duplicate_schema", "42P06"),
            Self::DuplicateColumn => ("duplicate_column", "42701"),
            Self::InvalidDefinition => ("invalid_definition", "42P16"),
            Self::NotSupported => ("not_supported", "0A000"),
            Self::ReadOnly => ("read_only", "25006"),
            Self::NoTransaction => ("no_transaction", "25P01"),
            Self::FailedTransaction => ("failed_transaction", "25P02"),
            Self::ActiveTransaction => ("active_transaction", "25001"),
            Self::NoSuchSavepoint => ("no_such_savepoint", "3B001"),
            Self::FileAccessRefused => ("file_access_refused", "42501"),
            Self::Locked => ("locked", "55P03"),
            Self::DiskFull => ("disk_full", "53100"),
            Self::Io => ("io", "58030"),
            Self::Corrupt => ("corrupt", "XX001"),
            Self::Bug => ("bug", "XX000"),
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Most bytes of a value that a function makes out of several, or of one many times.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// Errors of values and of computations with them.
///
/// Texts name the value and the limit; the caller adds the column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A number outside its type.
    #[error("{value} is out of range for {target}")]
    OutOfRange {
        /// The value as text.
        value: String,
        /// The type, or the operation whose result it is.
        target: String,
    },
    /// Text or bytes longer than the type takes.
    #[error("{value} is too long for {target}")]
    TooLong {
        /// The value as text, shortened.
        value: String,
        /// The type.
        target: String,
    },
    /// A value larger than a function may make.
    #[error("{function}: a value would take {bytes} bytes, above the limit of {VALUE_BYTES_MAX}")]
    ValueTooLarge {
        /// The function.
        function: &'static str,
        /// The value's bytes.
        bytes: usize,
    },
    /// Text that is no value of the type.
    #[error("'{text}' is not a valid {target}")]
    BadText {
        /// The text, shortened.
        text: String,
        /// The type.
        target: String,
    },
    /// Text that is no date.
    #[error("'{text}' is not a valid {target}; write yyyy-MM-dd, or yyyy-MM-dd HH:mm:ss[.SSS]")]
    BadDatetime {
        /// The text, shortened.
        text: String,
        /// The type.
        target: String,
    },
    /// Text that is no time of day.
    #[error("'{text}' is not a valid TIME; write HH:mm:ss[.SSS], or yyyy-MM-dd HH:mm:ss[.SSS]")]
    BadTime {
        /// The text, shortened.
        text: String,
    },
    /// An instant outside the range of output or computation.
    #[error("{value} lies outside {target}")]
    DatetimeOverflow {
        /// The instant as text.
        value: String,
        /// The limit.
        target: String,
    },
    /// Division, or remainder, by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// Types that do not meet.
    #[error("{0}")]
    TypeMismatch(String),
    /// A pattern, escape or argument that makes no sense.
    #[error("{0}")]
    BadArgument(String),
    /// Legal SQL that is not built yet.
    #[error("{0} is not supported yet")]
    NotSupported(String),
    /// No function of this name with these arguments.
    #[error("no function {0}")]
    NoSuchFunction(String),
    /// A broken invariant.
    #[error("{0}")]
    Internal(String),
}

impl ValueError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::TooLong { .. } => ErrorCode::TooLong,
            Self::ValueTooLarge { .. } => ErrorCode::StatementTooLarge,
            Self::BadText { .. } => ErrorCode::BadText,
            Self::BadDatetime { .. } | Self::BadTime { .. } => ErrorCode::BadDatetime,
            Self::DatetimeOverflow { .. } => ErrorCode::DatetimeOverflow,
            Self::DivisionByZero => ErrorCode::DivisionByZero,
            Self::TypeMismatch(_) => ErrorCode::TypeMismatch,
            Self::BadArgument(_) => ErrorCode::BadArgument,
            Self::NotSupported(_) => ErrorCode::NotSupported,
            Self::NoSuchFunction(_) => ErrorCode::NoSuchFunction,
            Self::Internal(_) => ErrorCode::Bug,
        }
    }
}

/// `text` cut to 60 characters, for messages.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
