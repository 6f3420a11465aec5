//! The one error of the library.

use std::fmt;
use std::io;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_bind::BindError;
use saltwing_catalog::{CatalogError, ChangeError};
use saltwing_exec::{ExecError, Unfinished};
use saltwing_planner::{PlannerError, RefusedScans};
use saltwing_sql::{SqlError, without_passwords};
use saltwing_store::StoreError;
use saltwing_types::{ErrorCode, Span, StorageCause, StorageError, ValueError, with_causes};

use crate::error_subject::Subject;

/// An error: a stable code with its SQLSTATE, one line of text, the position in the statement, and advice.
///
/// # Of statements
/// Every call that runs a statement may return these errors; docs/contracts.md has all codes.
///
/// | [`ErrorCode`] | if |
/// |---|---|
/// | `Syntax`, `NotSupported` | the text is not a statement, or the statement is not supported |
/// | `NoSuchTable`, `NoSuchColumn`, `TypeMismatch` and their like | a name or a type does not fit |
/// | `BadParameter` | there are more or fewer values than parameters, or other names |
/// | `FullScanRefused` | the statement would read a whole table |
/// | `DuplicateKey`, `NotNull`, `Check`, `OutOfRange`, `DivisionByZero` and their like | a row or a value is not permitted |
/// | `Conflict` | another commit came first: [`Error::is_retryable`] |
/// | `Timeout`, `BudgetExceeded`, `OutOfMemory`, `Cancelled` | a limit, an [interrupt](crate::InterruptHandle), or a dropped future ends the statement |
/// | `FailedTransaction`, `ActiveTransaction` | the [transaction](crate::Transaction) does not accept the statement |
/// | `NoTransaction`, `Locked` | the [transaction](crate::Transaction) has ended, or runs another statement |
/// | `InsufficientPrivilege`, `FileAccessRefused` | the [user](crate::Database::connect_as) of the connection lacks the right |
/// | `Unavailable` | a server of a cluster gives no answer: [`Error::is_retryable`] |
/// | `ReadOnly`, `Io`, `Corrupt`, `CommitUnknown` | the database, or the device that holds it, refuses or fails |
///
/// The error of a row is returned when the row is read. It fails the transaction, if one is open.
///
/// `{}` is the line of text; `{:?}` is the text of [`Error::render`] with the statement that failed, so that a `main`
/// that returns this error shows it as the shell does.
pub struct Error(Box<Inner>);

struct Inner {
    code: ErrorCode,
    message: String,
    span: Option<Span>,
    help: Option<String>,
    rows_committed: u64,
    phoenix: Option<u16>,
    subject: Subject,
    /// The statement's text, in which the span is a position.
    sql: Option<Arc<str>>,
    /// The full scans that the guard refuses.
    refused: Option<RefusedScans>,
    /// The kind of the operating system's error that is the cause.
    io_kind: Option<io::ErrorKind>,
}

impl Error {
    /// An error without a position.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            span: None,
            help: None,
            rows_committed: 0,
            phoenix: None,
            subject: Subject::default(),
            sql: None,
            refused: None,
            io_kind: None,
        }))
    }

    /// The error of a part of the library, with its causes in the text.
    pub(crate) fn wrap(code: ErrorCode, error: impl std::error::Error + 'static) -> Self {
        let mut wrapped = Self::new(code, with_causes(&error));
        let causes = std::iter::successors(Some(&error as &(dyn std::error::Error + 'static)), |cause| cause.source());
        wrapped.0.io_kind = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind).next();
        wrapped
    }

    #[must_use]
    pub(crate) fn at(mut self, span: Option<Span>) -> Self {
        self.0.span = self.0.span.or(span);
        self
    }

    /// The error with another position than that of the text that caused it.
    #[must_use]
    pub(crate) fn at_instead(mut self, span: Option<Span>) -> Self {
        self.0.span = span;
        self
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: Option<impl Into<String>>) -> Self {
        self.0.help = self.0.help.or(help.map(Into::into));
        self
    }

    /// Replaces the help by one that fits the statement better.
    #[must_use]
    pub(crate) fn with_help_instead(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Puts advice before the help that the error has.
    #[must_use]
    pub(crate) fn with_more_help(mut self, more: &str) -> Self {
        self.0.help = Some(self.0.help.take().map_or_else(|| more.to_owned(), |help| format!("{more}\n{help}")));
        self
    }

    #[must_use]
    pub(crate) fn with_phoenix(mut self, number: Option<u16>) -> Self {
        self.0.phoenix = self.0.phoenix.or(number);
        self
    }

    #[must_use]
    pub(crate) fn about(mut self, subject: Subject) -> Self {
        self.0.subject = subject;
        self
    }

    #[must_use]
    pub(crate) fn with_refused(mut self, refused: Option<RefusedScans>) -> Self {
        self.0.refused = refused;
        self
    }

    /// Adds the statement's text, unless the error has one. If an unknown column is a name in double quotes, adds the advice that it may be
    /// meant as a text.
    #[must_use]
    pub(crate) fn in_sql(mut self, sql: &Arc<str>) -> Self {
        if self.0.sql.is_some() {
            return self;
        }
        if self.0.code == ErrorCode::NoSuchColumn
            && let Some(name) = self.0.span.and_then(|span| quoted_at(sql, span))
        {
            let advice = format!("text stands in single quotes: '{}'", name.replace('\'', "''"));
            let help = self.0.help.take().filter(|help| !help.contains("single quotes"));
            self.0.help = Some(help.map_or_else(|| advice.clone(), |help| format!("{advice}\n{help}")));
        }
        // A statement that could not be parsed may contain a password.
        self.0.sql = Some(without_passwords(sql).map_or_else(|| sql.clone(), Into::into));
        self
    }

    /// Combines two refusals of the guard into one, for the tables of both.
    #[must_use]
    pub(crate) fn and_refused(mut self, other: Self) -> Self {
        if let (Some(own), Some(others)) = (self.0.refused.take(), other.0.refused) {
            return PlannerError::from(own.and(others)).into();
        }
        self
    }

    /// Marks the error of a statement that has already committed `rows` rows in parts, also in the text.
    #[must_use]
    pub(crate) fn after_commits(mut self, rows: u64) -> Self {
        let committed = match rows {
            rows if rows == self.0.rows_committed => return self,
            1 => "1 row is committed and stays".to_owned(),
            rows => format!("{rows} rows are committed and stay"),
        };
        self.0.message = format!("{}; {committed}", self.0.message);
        self.0.rows_committed = rows;
        self
    }

    /// Rows that the statement committed before it failed, and that stay; 0 for a statement that commits all rows or none.
    pub fn rows_committed(&self) -> u64 {
        self.0.rows_committed
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The SQLSTATE, five characters.
    pub fn sqlstate(&self) -> &'static str {
        self.0.code.sqlstate()
    }

    /// The position in the statement's text.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// Advice for the user; may have several lines.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The number of the same error in Apache Phoenix, if it has one: 1012 for a missing table.
    pub fn phoenix_code(&self) -> Option<u16> {
        self.0.phoenix.or_else(|| self.0.code.phoenix_number())
    }

    /// The failed statement, in which [`Error::span`] is a position; `None` for an error outside a statement, such as one
    /// of opening.
    pub fn sql(&self) -> Option<&str> {
        self.0.sql.as_deref()
    }

    /// The table that the error is about, if it is about one; for a refused full scan the first table.
    pub fn table(&self) -> Option<&str> {
        let refused = self.0.refused.as_ref().and_then(|refused| refused.tables.first());
        self.0.subject.table.as_deref().or(refused.map(|table| table.table.as_str()))
    }

    /// The full scans that the guard refuses, if that is the error.
    pub(crate) fn refused_scans(&self) -> Option<&RefusedScans> {
        self.0.refused.as_ref()
    }

    /// The column that the error is about, without its table.
    pub fn column(&self) -> Option<&str> {
        let refused = self.0.refused.as_ref().and_then(|refused| refused.tables.first()?.refusal.as_ref());
        self.0.subject.column.as_deref().or(refused.map(|refusal| refusal.leading.as_str()))
    }

    /// The key of the row that the error is about: for a duplicate key or a conflict its values as SQL text, for a damaged row the row key in
    /// hex.
    pub fn key(&self) -> Option<&str> {
        self.0.subject.key.as_deref()
    }

    /// The constraint or the unique index that a row breaks, without its table. `None` for a primary key without a name of its own, and for NOT
    /// NULL.
    pub fn constraint(&self) -> Option<&str> {
        self.0.subject.constraint.as_deref()
    }

    /// The kind of the error of a file, a pipe or a device, if one is the cause: a COPY to a pipe whose reader has left is `BrokenPipe`.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.0.io_kind
    }

    /// Whether the same statement may succeed if it is sent again unchanged. False if parts are committed, because they have changed
    /// the rows from which the statement computes.
    pub fn is_retryable(&self) -> bool {
        self.0.code.is_retryable() && self.0.rows_committed == 0
    }

    /// The error as the shell shows it: code and text, the line of `sql` with a caret, the help.
    pub fn render(&self, sql: &str) -> String {
        self.rendered(Some(sql))
    }

    fn rendered(&self, sql: Option<&str>) -> String {
        let mut out = format!("error[{} {}]: {}", self.sqlstate(), self.code(), self);
        if let (Some(span), Some(sql)) = (self.span(), sql) {
            let hidden = without_passwords(sql);
            let caret = saltwing_sql::render_caret(hidden.as_deref().unwrap_or(sql), span);
            let gutter = format!("{} | ", span.start.line);
            let blank = format!("{}| ", " ".repeat(gutter.len().saturating_sub(2)));
            for (i, line) in caret.lines().enumerate() {
                out = format!("{out}\n{}{line}", if i == 0 { &gutter } else { &blank });
            }
        }
        for line in self.help().into_iter().flat_map(str::lines) {
            out = format!("{out}\n  help: {line}");
        }
        out
    }
}

/// The name in double quotes at a position of a text.
fn quoted_at(sql: &str, span: Span) -> Option<&str> {
    let line = sql.split('\n').nth((span.start.line as usize).checked_sub(1)?)?;
    let from = line.char_indices().nth((span.start.column as usize).checked_sub(1)?)?.0;
    let (name, _) = line.get(from..)?.strip_prefix('"')?.split_once('"')?;
    Some(name)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered(self.sql()))
    }
}

/// The error has no source: the causes are in the text, and a caller that prints all sources would print them twice.
impl std::error::Error for Error {}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        let (span, help) = (error.span(), error.help().map(str::to_owned));
        Self::wrap(error.code(), error).at(Some(span)).with_help(help)
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        let (span, help, phoenix) = (error.span, error.help.clone(), error.phoenix);
        let subject = Subject::of_bind(&error);
        Self::wrap(error.code(), error).at(span).with_help(help).with_phoenix(phoenix).about(subject)
    }
}

impl From<PlannerError> for Error {
    fn from(error: PlannerError) -> Self {
        let (span, help, refused) = (error.span(), error.help(), error.refused().cloned());
        Self::wrap(error.code(), error).at(span).with_help(help).with_refused(refused)
    }
}

impl From<CatalogError> for Error {
    fn from(error: CatalogError) -> Self {
        let (help, subject, phoenix) = (error.help(), Subject::of_catalog(&error), error.phoenix());
        Self::wrap(error.code(), error).with_help(help).with_phoenix(phoenix).about(subject)
    }
}

impl From<ChangeError> for Error {
    fn from(error: ChangeError) -> Self {
        error.error.into()
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        let (help, subject, written) = (table_help(&error), Subject::of_table(&error), error.rows_written());
        let mut wrapped = Self::wrap(error.code(), error).with_help(help).about(subject);
        // The text has the number.
        wrapped.0.rows_committed = written;
        wrapped
    }
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::Table(error) => error.into(),
            error => {
                let (help, subject) = (error.help(), Subject::of_exec(&error));
                Self::wrap(error.code(), error).with_help(help).about(subject)
            }
        }
    }
}

impl<E: Into<Error>> From<Unfinished<E>> for Error {
    fn from(unfinished: Unfinished<E>) -> Self {
        let Unfinished { error, rows_committed } = unfinished;
        error.into().after_commits(rows_committed)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        TableError::from(StorageError::from(error)).into()
    }
}

impl From<ValueError> for Error {
    fn from(error: ValueError) -> Self {
        Self::wrap(error.code(), error)
    }
}

/// Advice for damaged data.
pub(crate) const DAMAGE_HELP: &str = "saltwing check says what is damaged; saltwing salvage saves the rest";

/// Advice for an error of a store.
pub(crate) fn table_help(error: &TableError) -> Option<String> {
    match error {
        TableError::RowKey(error) => error.help().map(str::to_owned),
        TableError::PartlyWritten { .. } => Some(
            "an UPSERT or DELETE of the same rows can be run again; others would also change the rows that are written"
                .into(),
        ),
        TableError::Conflict { .. } | TableError::SnapshotTooOld => Some("run the transaction again".into()),
        TableError::BudgetExceeded { .. } => {
            Some("narrow the statement, or raise the limit: SET rows_max, SET bytes_max".into())
        }
        TableError::OutOfMemory { scope, .. } => Some(format!(
            "ask for less at a time, with SET autocommit_rows if a query's rows are written; or raise the limit: SET {}, up to that with which the \
             database was opened",
            scope.setting()
        )),
        TableError::Timeout { .. } => Some("raise it: SET statement_timeout = '60s'".into()),
        TableError::Storage(error) => match error.cause {
            StorageCause::DeviceNearlyFull => Some("delete rows, or make room on the device: then writes go on".into()),
            StorageCause::DeviceFull => Some("make room on the device, close the database and open it again".into()),
            StorageCause::Locked => {
                Some("to look into it meanwhile: BACKUP TO 'directory' where it is open, and open that copy".into())
            }
            StorageCause::BatchTooLarge => {
                Some("SET autocommit_rows = 100000 commits in parts; or write in several statements".into())
            }
            _ => None,
        },
        TableError::Corrupt { .. } | TableError::CorruptBlock { .. } | TableError::CorruptLayout(_) => {
            Some(DAMAGE_HELP.into())
        }
        _ => None,
    }
}
