//! Errors of relational statements.

mod datafusion_texts;
mod from_datafusion;
mod message;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use saltwing_access::TableError;
use saltwing_bind::{BindError, BindErrorKind};
use saltwing_catalog::{ArrowSourceError, CatalogError};
use saltwing_planner::PlannerError;
use saltwing_types::{ErrorCode, Span, ValueError};

/// What to do about a statement that needs more memory than it may use.
const MEMORY_HELP: &str = "ask for less at a time, or raise the limit: SET statement_memory_limit, SET memory_limit, each up to that with which the database was opened";

/// An error of this crate: what, where, and what to do about it.
///
/// Inside DataFusion it travels as [`DataFusionError::External`], and comes out as it went in.
#[derive(Clone, Debug)]
pub struct RelationalError {
    /// What is wrong.
    pub kind: RelationalErrorKind,
    /// Where in the statement.
    pub span: Option<Span>,
    /// What the user can do about it.
    pub help: Option<String>,
}

/// What is wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelationalErrorKind {
    /// Types that do not meet, a value beyond its type.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Reading a table failed, or was stopped.
    #[error(transparent)]
    Table(Arc<TableError>),
    /// A parameter without a value.
    #[error(transparent)]
    Bind(Arc<BindError>),
    /// A table's conditions, or its refusal by the guard.
    #[error(transparent)]
    Planner(Arc<PlannerError>),
    /// The name of a table or schema.
    #[error(transparent)]
    Catalog(Arc<CatalogError>),
    /// Reading a file failed.
    #[error(transparent)]
    Source(ArrowSourceError),
    /// No function of this name.
    #[error("no function {0}")]
    NoSuchFunction(String),
    /// A function is to be registered whose name another one has.
    #[error("there is a function {0}")]
    DuplicateFunction(String),
    /// A function that does not take values of these types.
    #[error("{function} does not take ({types})")]
    WrongArguments {
        /// Its name.
        function: String,
        /// The types that it was given, as SQL calls them.
        types: String,
    },
    /// More than a limit allows.
    #[error("{0}")]
    BeyondLimit(String),
    /// Types that do not meet, in DataFusion's words.
    #[error("{0}")]
    TypeMismatch(String),
    /// Legal SQL that is not built yet.
    #[error("{0} is not supported")]
    NotSupported(String),
    /// SQL that makes no sense.
    #[error("{0}")]
    Syntax(String),
    /// A subquery that stands for one value has several rows.
    #[error("a subquery that stands for one value has several rows")]
    SeveralRows,
    /// The memory that statements may use is not enough.
    #[error("{0}")]
    OutOfMemory(String),
    /// A statement beyond what can be planned, or a value beyond what a function may make.
    #[error("{0}")]
    TooLarge(String),
    /// A number beyond what a native function can compute.
    #[error("{0}")]
    OutOfRange(String),
    /// A broken invariant, of ours or of DataFusion's.
    #[error("the relational engine failed: {0}")]
    Bug(String),
}

impl RelationalError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            RelationalErrorKind::Value(error) => error.code(),
            RelationalErrorKind::Table(error) => error.code(),
            RelationalErrorKind::Bind(error) => error.code(),
            RelationalErrorKind::Planner(error) => error.code(),
            RelationalErrorKind::Catalog(error) => error.code(),
            RelationalErrorKind::Source(error) => error.code,
            RelationalErrorKind::NoSuchFunction(_) => ErrorCode::NoSuchFunction,
            RelationalErrorKind::DuplicateFunction(_) => ErrorCode::DuplicateFunction,
            RelationalErrorKind::TypeMismatch(_) | RelationalErrorKind::WrongArguments { .. } => {
                ErrorCode::TypeMismatch
            }
            RelationalErrorKind::BeyondLimit(_) => ErrorCode::BudgetExceeded,
            RelationalErrorKind::NotSupported(_) => ErrorCode::NotSupported,
            RelationalErrorKind::Syntax(_) => ErrorCode::Syntax,
            RelationalErrorKind::SeveralRows => ErrorCode::SeveralRows,
            RelationalErrorKind::OutOfMemory(_) => ErrorCode::OutOfMemory,
            RelationalErrorKind::TooLarge(_) => ErrorCode::StatementTooLarge,
            RelationalErrorKind::OutOfRange(_) => ErrorCode::OutOfRange,
            RelationalErrorKind::Bug(_) => ErrorCode::Bug,
        }
    }

    /// With a place, unless it has one.
    #[must_use]
    pub fn at(mut self, span: Option<Span>) -> Self {
        self.span = self.span.or(span);
        self
    }

    /// With advice, unless it has some.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    pub(crate) fn several_rows() -> Self {
        RelationalErrorKind::SeveralRows.into()
    }

    pub(crate) fn not_supported(what: impl Into<String>) -> Self {
        RelationalErrorKind::NotSupported(what.into()).into()
    }

    /// A broken invariant.
    pub(crate) fn bug(what: impl Into<String>) -> Self {
        RelationalErrorKind::Bug(what.into()).into()
    }
}

impl std::fmt::Display for RelationalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for RelationalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

impl From<RelationalErrorKind> for RelationalError {
    fn from(kind: RelationalErrorKind) -> Self {
        Self { kind, span: None, help: None }
    }
}

impl From<ValueError> for RelationalError {
    fn from(source: ValueError) -> Self {
        RelationalErrorKind::Value(source).into()
    }
}

impl From<TableError> for RelationalError {
    fn from(source: TableError) -> Self {
        let help = matches!(source, TableError::OutOfMemory { .. }).then(|| MEMORY_HELP.to_owned());
        Self { kind: RelationalErrorKind::Table(Arc::new(source)), span: None, help }
    }
}

impl From<CatalogError> for RelationalError {
    fn from(source: CatalogError) -> Self {
        let help = source.help();
        Self { kind: RelationalErrorKind::Catalog(Arc::new(source)), span: None, help }
    }
}

impl From<BindError> for RelationalError {
    fn from(source: BindError) -> Self {
        let (span, help) = (source.span, source.help.clone());
        let kind = match source.kind {
            BindErrorKind::Value { column: None, source } => RelationalErrorKind::Value(source),
            _ => RelationalErrorKind::Bind(Arc::new(source)),
        };
        Self { kind, span, help }
    }
}

impl From<PlannerError> for RelationalError {
    fn from(source: PlannerError) -> Self {
        let (span, help) = (source.span(), source.help());
        Self { kind: RelationalErrorKind::Planner(Arc::new(source)), span, help }
    }
}

impl From<RelationalError> for DataFusionError {
    fn from(error: RelationalError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}
