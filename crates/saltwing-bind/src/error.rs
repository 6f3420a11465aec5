//! Errors between a statement and the catalog.

use saltwing_catalog::CatalogError;
use saltwing_sql::SqlError;
use saltwing_types::{ErrorCode, Interrupted, Span, ValueError};

/// An error of this crate: what, where, and what to do about it.
#[derive(Debug)]
pub struct BindError {
    /// The error.
    pub kind: BindErrorKind,
    /// Where in the statement.
    pub span: Option<Span>,
    /// Advice for the user.
    pub help: Option<String>,
    /// The number under which Phoenix reports it, where its code alone does not say.
    pub phoenix: Option<u16>,
}

/// The error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindErrorKind {
    /// What must hold whatever the statement is.
    #[error("{0}")]
    Bug(&'static str),
    /// The statement's text.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// A name, or a definition.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Types that do not meet, a value beyond its type.
    #[error("{}{source}", .column.as_ref().map(|c| format!("{c}: ")).unwrap_or_default())]
    Value {
        /// `table.column`, where one is concerned.
        column: Option<String>,
        /// The reason.
        source: ValueError,
    },
    /// No column of this name.
    #[error("{table} has no column {column}")]
    NoSuchColumn {
        /// Table.
        table: String,
        /// As written.
        column: String,
    },
    /// A quoted name in Phoenix's dialect, where something of another case is meant.
    #[error("there is no {name}, but {known}")]
    OtherCase {
        /// As written.
        name: String,
        /// As it is called.
        known: String,
        /// Whether that is a column.
        is_column: bool,
    },
    /// A name that columns of several families have.
    #[error("column {column} is ambiguous: {candidates}")]
    AmbiguousColumn {
        /// As written.
        column: String,
        /// The columns, each with its family.
        candidates: String,
    },
    /// A column where there is none to name.
    #[error("{place} takes no columns, and {column} is one")]
    ColumnInConstant {
        /// The object that takes none.
        place: &'static str,
        /// As written.
        column: String,
    },
    /// A column of a table that the statement does not read.
    #[error("no table {0} in the FROM clause")]
    NoSuchQualifier(String),
    /// A column is named twice.
    #[error("column {0} is named twice")]
    DuplicateColumn(String),
    /// A column that the table has already.
    #[error("{table} has a column {column} already")]
    ColumnExists {
        /// Table.
        table: String,
        /// As the table spells it.
        column: String,
    },
    /// A name for a column that a view declares for its own.
    #[error("view {view} has a column {column} of its own beside those of {table}: drop the view first")]
    ColumnOfView {
        /// Table.
        table: String,
        /// As the view spells it.
        column: String,
        /// The view.
        view: String,
    },
    /// A constraint that the table has already.
    #[error("{table} has a constraint {name} already")]
    DuplicateConstraint {
        /// Table.
        table: String,
        /// Its name.
        name: String,
    },
    /// No constraint of this name.
    #[error("{table} has no constraint {name}")]
    NoSuchConstraint {
        /// Table.
        table: String,
        /// As written.
        name: String,
    },
    /// The rows that are there would break a constraint.
    #[error("the rows of {table} would break its CHECK constraint {constraint}")]
    CheckBroken {
        /// Table.
        table: String,
        /// The constraint.
        constraint: String,
    },
    /// ON CONFLICT by columns that identify no row.
    #[error("{table} has no unique key on ({parts})")]
    NoUniqueKey {
        /// Table.
        table: String,
        /// As written.
        parts: String,
    },
    /// ON CONFLICT by the columns of a unique index that does not tell of conflicts.
    #[error("the unique index {index} of {table} {why}")]
    UnfitUniqueIndex {
        /// Table.
        table: String,
        /// The index.
        index: String,
        /// The reason.
        why: String,
    },
    /// More columns than a table may have.
    #[error("{count} columns are above the limit of {limit}")]
    TooManyColumns {
        /// How many.
        count: usize,
        /// Most.
        limit: usize,
    },
    /// More views than a statement may read.
    #[error("the statement reads more than {0} views, those inside views counted")]
    TooManyViews(usize),
    /// A statement beyond what can be planned.
    #[error("{0}")]
    TooLarge(String),
    /// A write to a view that takes none.
    #[error("view {view} cannot be written: {why}")]
    ReadOnlyView {
        /// The view.
        view: String,
        /// The reason.
        why: String,
    },
    /// A row for a view that the view would not show.
    #[error("view {view} shows rows whose {column} is {value}, and takes no others")]
    ViewCheck {
        /// The view.
        view: String,
        /// A column of its condition.
        column: String,
        /// The value that the condition demands, as SQL text.
        value: String,
    },
    /// A definition that makes no table.
    #[error("{0}")]
    InvalidDefinition(String),
    /// A NOT NULL column gets no value.
    #[error("{0} is NOT NULL, and the statement gives it no value")]
    NotNull(String),
    /// NULL for a NOT NULL column.
    #[error("{0} is NOT NULL, and the row has no value for it")]
    NullGiven(String),
    /// A row has NULL in a column that is to be NOT NULL.
    #[error("{0}")]
    NullInRow(String),
    /// A value for a generated column.
    #[error("{0}")]
    GeneratedColumn(String),
    /// Values and columns differ in number.
    #[error("{} for {}", counted(*.values, "value"), counted(*.columns, "column"))]
    WrongValueCount {
        /// Values.
        values: usize,
        /// Columns.
        columns: usize,
    },
    /// No function of this name.
    #[error("no function {0}")]
    NoSuchFunction(String),
    /// A call that the relational engine refuses.
    #[error("{text}")]
    Engine {
        /// The engine's code.
        code: ErrorCode,
        /// Its words.
        text: String,
    },
    /// A parameter that got no value.
    #[error("parameter {0} has no value")]
    MissingParameter(usize),
    /// The statement must stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// Legal SQL that is not built yet.
    #[error("{0} is not supported")]
    NotSupported(String),
    /// Legal SQL that is misplaced.
    #[error("{0}")]
    Syntax(String),
}

/// `1 value`, `2 values`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The result of binding.
pub type Result<T> = std::result::Result<T, BindError>;

/// What was bound, or nothing if that cannot be.
///
/// # Errors
/// The catalog cannot tell.
pub fn if_bound<T>(bound: Result<T>) -> Result<Option<T>> {
    match bound {
        Ok(bound) => Ok(Some(bound)),
        Err(BindError { kind: BindErrorKind::Catalog(error), span, .. }) if !error.is_absence() => {
            Err(BindError::from(error).at(span))
        }
        Err(_) => Ok(None),
    }
}

impl BindError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match &self.kind {
            BindErrorKind::Bug(_) => ErrorCode::Bug,
            BindErrorKind::Sql(error) => error.code(),
            BindErrorKind::Catalog(error) => error.code(),
            BindErrorKind::Value { source, .. } => source.code(),
            BindErrorKind::NoSuchColumn { .. } | BindErrorKind::ColumnInConstant { .. } => ErrorCode::NoSuchColumn,
            BindErrorKind::OtherCase { is_column: true, .. } => ErrorCode::NoSuchColumn,
            BindErrorKind::OtherCase { is_column: false, .. } => ErrorCode::NoSuchTable,
            BindErrorKind::AmbiguousColumn { .. } => ErrorCode::AmbiguousColumn,
            BindErrorKind::NoSuchQualifier(_) => ErrorCode::NoSuchTable,
            BindErrorKind::DuplicateConstraint { .. } => ErrorCode::DuplicateConstraint,
            BindErrorKind::NoSuchConstraint { .. } => ErrorCode::NoSuchConstraint,
            BindErrorKind::CheckBroken { .. } => ErrorCode::Check,
            BindErrorKind::NoUniqueKey { .. } | BindErrorKind::UnfitUniqueIndex { .. } => ErrorCode::NoUniqueKey,
            BindErrorKind::DuplicateColumn(_) | BindErrorKind::ColumnExists { .. } => ErrorCode::DuplicateColumn,
            BindErrorKind::ColumnOfView { .. } => ErrorCode::Dependents,
            BindErrorKind::TooManyColumns { .. } => ErrorCode::TooManyColumns,
            BindErrorKind::ReadOnlyView { .. } => ErrorCode::WrongObject,
            BindErrorKind::ViewCheck { .. } => ErrorCode::ViewCheck,
            BindErrorKind::TooManyViews(_) | BindErrorKind::TooLarge(_) => ErrorCode::StatementTooLarge,
            BindErrorKind::InvalidDefinition(_) => ErrorCode::InvalidDefinition,
            BindErrorKind::GeneratedColumn(_) => ErrorCode::GeneratedColumn,
            BindErrorKind::NotNull(_) | BindErrorKind::NullGiven(_) | BindErrorKind::NullInRow(_) => ErrorCode::NotNull,
            BindErrorKind::WrongValueCount { .. } | BindErrorKind::Syntax(_) => ErrorCode::Syntax,
            BindErrorKind::MissingParameter(_) => ErrorCode::BadParameter,
            BindErrorKind::NoSuchFunction(_) => ErrorCode::NoSuchFunction,
            BindErrorKind::Engine { code, .. } => *code,
            BindErrorKind::Interrupted(interrupted) => interrupted.code(),
            BindErrorKind::NotSupported(_) => ErrorCode::NotSupported,
        }
    }

    /// The error of what cannot be.
    pub(crate) fn bug(what: &'static str) -> Self {
        debug_assert!(false, "{what}");
        BindErrorKind::Bug(what).into()
    }

    /// With a place, unless it has one.
    #[must_use]
    pub fn at(mut self, span: Option<Span>) -> Self {
        self.span = self.span.or(span);
        self
    }

    /// With the number under which Phoenix reports it.
    #[must_use]
    pub fn phoenix(mut self, number: u16) -> Self {
        self.phoenix.get_or_insert(number);
        self
    }

    /// With advice, unless it has some.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }
}

/// The error of a definition that cannot be.
pub(crate) fn invalid(text: impl Into<String>) -> BindError {
    BindErrorKind::InvalidDefinition(text.into()).into()
}

/// The same with its place.
pub(crate) fn invalid_at(text: impl Into<String>, span: Span) -> BindError {
    invalid(text).at(Some(span))
}

impl std::fmt::Display for BindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

impl From<BindErrorKind> for BindError {
    fn from(kind: BindErrorKind) -> Self {
        Self { kind, span: None, help: None, phoenix: None }
    }
}

impl From<ValueError> for BindError {
    fn from(source: ValueError) -> Self {
        BindErrorKind::Value { column: None, source }.into()
    }
}

impl From<CatalogError> for BindError {
    fn from(error: CatalogError) -> Self {
        let help = error.help();
        Self { help, ..BindErrorKind::from(error).into() }
    }
}

impl From<SqlError> for BindError {
    fn from(error: SqlError) -> Self {
        let (span, help) = (error.span(), error.help().map(str::to_owned));
        Self { span: Some(span), help, ..BindErrorKind::from(error).into() }
    }
}
