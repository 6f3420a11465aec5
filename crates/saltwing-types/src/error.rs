//! Stable error codes, and the errors of values.

use std::error::Error;
use std::fmt;

/// The text of an error, and after it the texts of its causes. A transparent error repeats its cause's text: no text comes
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

/// Makes the codes: of each its word, its SQLSTATE, and the number under which Phoenix reports the same, where it has one
/// for all that the word means.
macro_rules! codes {
    ($($code:ident = $word:literal, $state:literal $(, $phoenix:literal)?;)*) => {
        /// The kind of an error: one stable word with an SQLSTATE.
        ///
        /// The words and states are a contract (`docs/contracts.md#error-codes`): scripts match on
        /// them. SQLSTATEs follow PostgreSQL where it has one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs)] // each is its own word; see `as_str`
        pub enum ErrorCode {
            $($code,)*
        }

        impl ErrorCode {
            /// The stable word.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $word,)*
                }
            }

            /// The SQLSTATE, five characters.
            pub fn sqlstate(self) -> &'static str {
                match self {
                    $(Self::$code => $state,)*
                }
            }

            /// The number under which Phoenix reports the same.
            pub fn phoenix_number(self) -> Option<u16> {
                match self {
                    $(Self::$code => None::<u16>$(.or(Some($phoenix)))?,)*
                }
            }
        }
    };
}

codes! {
    FullScanRefused = "full_scan_refused", "54F01";
    BudgetExceeded = "budget_exceeded", "54F02";
    OutOfMemory = "out_of_memory", "53200";
    StatementTooLarge = "statement_too_large", "54000";
    TooDeep = "too_deep", "54001";
    TooManyColumns = "too_many_columns", "54011";
    Cancelled = "cancelled", "57014";
    Timeout = "timeout", "57014", 6000;
    DuplicateKey = "duplicate_key", "23505";
    NotNull = "not_null", "23502", 218;
    Check = "check", "23514";
    ViewCheck = "view_check", "44000";
    Conflict = "conflict", "40001", 523;
    SnapshotTooOld = "snapshot_too_old", "40001";
    CommitUnknown = "commit_unknown", "40003";
    OutOfRange = "out_of_range", "22003", 203;
    BadDatetime = "bad_datetime", "22007", 201;
    DatetimeOverflow = "bad_datetime", "22008";
    TooLong = "too_long", "22001", 206;
    BadKey = "bad_key", "22023";
    DivisionByZero = "division_by_zero", "22012", 202;
    SeveralRows = "several_rows", "21000", 215;
    NoRow = "no_row", "02000";
    BadText = "bad_text", "22P02", 201;
    BadArgument = "bad_argument", "22023";
    BadParameter = "bad_parameter", "08P01";
    TypeMismatch = "type_mismatch", "42804", 203;
    Syntax = "syntax", "42601", 601;
    NoSuchTable = "no_such_table", "42P01", 1012;
    NoSuchSchema = "no_such_schema", "3F000", 722;
    NoSuchColumn = "no_such_column", "42703", 504;
    NoSuchFunction = "no_such_function", "42883", 6001;
    NoSuchSequence = "no_such_sequence", "42P01", 1201;
    NoSuchConstraint = "no_such_constraint", "42704";
    NoSuchUser = "no_such_user", "42704";
    NoUniqueKey = "no_unique_key", "42P10";
    AmbiguousColumn = "ambiguous_column", "42702", 502;
    DuplicateTable = "duplicate_table", "42P07", 1013;
    DuplicateSequence = "duplicate_sequence", "42P07", 1200;
    DuplicateSchema = "duplicate_schema", "42P06", 721;
    DuplicateColumn = "duplicate_column", "42701", 514;
    DuplicateConstraint = "duplicate_constraint", "42710";
    DuplicateFunction = "duplicate_function", "42723";
    DuplicateUser = "duplicate_user", "42710";
    InvalidDefinition = "invalid_definition", "42P16";
    WrongObject = "wrong_object", "42809";
    GeneratedColumn = "generated_column", "428C9";
    Dependents = "dependents", "2BP01", 1010;
    NotSupported = "not_supported", "0A000";
    MisplacedSequence = "misplaced_sequence", "0A000", 1205;
    SequenceLimit = "sequence_limit", "2200H";
    NoCurrentValue = "no_current_value", "55000", 1206;
    ReadOnly = "read_only", "25006", 518;
    NoTransaction = "no_transaction", "25P01";
    FailedTransaction = "failed_transaction", "25P02";
    ActiveTransaction = "active_transaction", "25001";
    NoSuchStatement = "no_such_statement", "26000";
    DuplicateStatement = "duplicate_statement", "42P05";
    NoSuchSavepoint = "no_such_savepoint", "3B001";
    FileAccessRefused = "file_access_refused", "42501";
    InsufficientPrivilege = "insufficient_privilege", "42501";
    InvalidPassword = "invalid_password", "28P01";
    Locked = "locked", "55P03";
    DiskFull = "disk_full", "53100";
    Io = "io", "58030";
    Unavailable = "unavailable", "58000";
    Corrupt = "corrupt", "XX001";
    Bug = "bug", "XX000";
}

impl ErrorCode {
    /// Whether the same statement may succeed if it is sent again unchanged.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Conflict | Self::SnapshotTooOld | Self::Locked | Self::Unavailable)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a statement must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Interrupted {
    /// It was cancelled.
    #[error("the statement was cancelled")]
    Cancelled,
    /// Its time is over.
    #[error("the statement took longer than its limit of {limit_ms} ms")]
    Timeout {
        /// The limit.
        limit_ms: u64,
    },
}

impl Interrupted {
    /// The stable code.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Cancelled => ErrorCode::Cancelled,
            Self::Timeout { .. } => ErrorCode::Timeout,
        }
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
    /// Text that is one day in one country and another day in another.
    #[error("'{text}' is not a valid {target}: {why}; write yyyy-MM-dd, or the month as a word: 8 January 1999")]
    AmbiguousDate {
        /// The text, shortened.
        text: String,
        /// The type.
        target: String,
        /// What is not certain.
        why: &'static str,
    },
    /// Text that has the form of an instant, and is none.
    #[error("'{text}' is not a valid {target}: there is no such {part}")]
    NoSuchInstant {
        /// The text, shortened.
        text: String,
        /// The type.
        target: String,
        /// The part of it that there is not.
        part: &'static str,
    },
    /// Text that is no time of day.
    #[error("'{text}' is not a valid TIME; write HH:mm:ss[.SSS], or yyyy-MM-dd HH:mm:ss[.SSS]")]
    BadTime {
        /// The text, shortened.
        text: String,
    },
    /// Text that is no length of time.
    #[error("'{text}' is not a valid INTERVAL; write '1 day 02:03:04', '1 year 6 months' or 'P1DT2H'")]
    BadInterval {
        /// The text, shortened.
        text: String,
    },
    /// Text that is no instant by a pattern.
    #[error("'{text}' does not follow the pattern '{pattern}': {why}")]
    NotByPattern {
        /// The text, shortened.
        text: String,
        /// The pattern, shortened.
        pattern: String,
        /// The first place where they differ.
        why: String,
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
    #[error("{0} is not supported")]
    NotSupported(String),
    /// An operand that the typed expression repeats has too many parts; the limit.
    #[error("an operand of BETWEEN, CASE, NULLIF or SIGN has at most {0} parts")]
    TooManyParts(usize),
    /// No function of this name with these arguments.
    #[error("no function {0}")]
    NoSuchFunction(String),
    /// The statement must stop.
    #[error(transparent)]
    Interrupted(Interrupted),
    /// An element of an array that fails.
    #[error("element {place}: {error}")]
    InElement {
        /// Its place, from 1.
        place: usize,
        /// What is wrong with it.
        error: Box<ValueError>,
    },
    /// A broken invariant.
    #[error("{0}")]
    Internal(String),
}

impl ValueError {
    /// The error of the element at an index of an array.
    pub(crate) fn in_element(self, index: usize) -> Self {
        Self::InElement { place: index + 1, error: Box::new(self) }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InElement { error, .. } => error.code(),
            Self::Interrupted(interrupted) => interrupted.code(),
            Self::OutOfRange { .. } => ErrorCode::OutOfRange,
            Self::TooLong { .. } => ErrorCode::TooLong,
            Self::ValueTooLarge { .. } => ErrorCode::StatementTooLarge,
            Self::BadText { .. } => ErrorCode::BadText,
            Self::BadDatetime { .. }
            | Self::AmbiguousDate { .. }
            | Self::NoSuchInstant { .. }
            | Self::BadTime { .. }
            | Self::BadInterval { .. }
            | Self::NotByPattern { .. } => ErrorCode::BadDatetime,
            Self::DatetimeOverflow { .. } => ErrorCode::DatetimeOverflow,
            Self::DivisionByZero => ErrorCode::DivisionByZero,
            Self::TypeMismatch(_) => ErrorCode::TypeMismatch,
            Self::BadArgument(_) => ErrorCode::BadArgument,
            Self::NotSupported(_) => ErrorCode::NotSupported,
            Self::TooManyParts(_) => ErrorCode::TooDeep,
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
