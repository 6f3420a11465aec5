//! Errors of relational statements, and the translation of DataFusion's errors into them.

use std::sync::Arc;

use arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError};
use saltwing_access::TableError;
use saltwing_bind::{BindError, BindErrorKind};
use saltwing_catalog::CatalogError;
use saltwing_planner::PlannerError;
use saltwing_types::{ErrorCode, Position, Span, ValueError};

use crate::datafusion_texts::{Variant, cause_in};

/// What to do about a statement that needs more memory than it may use.
const MEMORY_HELP: &str = "ask for less at a time, or open the database with a larger memory_limit";

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
    /// No column of this name among those in sight.
    #[error("no column {0}")]
    NoSuchColumn(String),
    /// A name that several columns have.
    #[error("column {0} is ambiguous")]
    AmbiguousColumn(String),
    /// A column that stands twice where it must be unique.
    #[error("column {0} stands twice")]
    DuplicateColumn(String),
    /// A qualifier that no table of the FROM clause has.
    #[error("no table {0} in the FROM clause")]
    NoSuchTable(String),
    /// No function of this name.
    #[error("no function {0}")]
    NoSuchFunction(String),
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
    #[error("{0} is not supported yet")]
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
            RelationalErrorKind::NoSuchColumn(_) => ErrorCode::NoSuchColumn,
            RelationalErrorKind::AmbiguousColumn(_) => ErrorCode::AmbiguousColumn,
            RelationalErrorKind::DuplicateColumn(_) => ErrorCode::DuplicateColumn,
            RelationalErrorKind::NoSuchTable(_) => ErrorCode::NoSuchTable,
            RelationalErrorKind::NoSuchFunction(_) => ErrorCode::NoSuchFunction,
            RelationalErrorKind::TypeMismatch(_) | RelationalErrorKind::WrongArguments { .. } => {
                ErrorCode::TypeMismatch
            }
            RelationalErrorKind::BeyondLimit(_) => ErrorCode::BudgetExceeded,
            RelationalErrorKind::NotSupported(_) => ErrorCode::NotSupported,
            RelationalErrorKind::Syntax(_) => ErrorCode::Syntax,
            RelationalErrorKind::SeveralRows => ErrorCode::SeveralRows,
            RelationalErrorKind::OutOfMemory(_) => ErrorCode::BudgetExceeded,
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

    /// A correlated subquery that cannot be made a join.
    pub(crate) fn correlated() -> Self {
        let kind = RelationalErrorKind::NotSupported("a correlated subquery of this form".to_owned());
        Self::from(kind).help("name the outer query in the WHERE of the subquery, or join its table instead")
    }

    /// Whether the names of columns may be the cause, as far as the code says.
    pub(crate) fn is_of_names(&self) -> bool {
        matches!(self.code(), ErrorCode::Syntax | ErrorCode::AmbiguousColumn | ErrorCode::DuplicateColumn)
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

impl From<DataFusionError> for RelationalError {
    fn from(error: DataFusionError) -> Self {
        translate(&error)
    }
}

impl From<ArrowError> for RelationalError {
    fn from(error: ArrowError) -> Self {
        translate_arrow(&error)
    }
}

/// Our error in DataFusion's, or DataFusion's in our words.
fn translate(error: &DataFusionError) -> RelationalError {
    match error {
        DataFusionError::Context(_, inner) => translate(inner),
        DataFusionError::Shared(inner) => translate(inner),
        DataFusionError::Diagnostic(diagnostic, inner) => {
            translate(inner).at(diagnostic.span.map(|span| source_span(&span)))
        }
        DataFusionError::Collection(list) => {
            list.first().map_or_else(|| RelationalError::bug("an empty list of errors"), translate)
        }
        DataFusionError::External(inner) => translate_any(inner.as_ref()),
        DataFusionError::ArrowError(inner, _) => translate_arrow(inner),
        DataFusionError::SchemaError(inner, _) => translate_schema(inner),
        DataFusionError::NotImplemented(text) => RelationalErrorKind::NotSupported(text.clone()).into(),
        DataFusionError::Plan(text) => {
            cause_in(Variant::Plan, text).unwrap_or_else(|| RelationalErrorKind::Syntax(first_line(text)).into())
        }
        DataFusionError::SQL(inner, _) => RelationalErrorKind::Syntax(inner.to_string()).into(),
        DataFusionError::Execution(text) => translate_execution(text),
        DataFusionError::ResourcesExhausted(text) => {
            let error = RelationalError::from(RelationalErrorKind::OutOfMemory(memory_text(text)));
            error.help(MEMORY_HELP)
        }
        // All of it: who reports a bug has nothing else to show.
        DataFusionError::Internal(text) => RelationalError::bug(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        other => RelationalError::bug(other.to_string()),
    }
}

/// The pool's own text out of what an operator made of it.
fn memory_text(text: &str) -> String {
    let (start, end) = ("the statement needs ", "memory_limit allows");
    let own = text.find(start).and_then(|from| text.get(from..));
    let own = own.and_then(|own| own.get(..own.find(end)? + end.len()));
    own.map_or_else(|| format!("{start}more memory than {end}"), str::to_owned)
}

fn translate_any(error: &(dyn std::error::Error + Send + Sync + 'static)) -> RelationalError {
    if let Some(ours) = error.downcast_ref::<RelationalError>() {
        return ours.clone();
    }
    if let Some(value) = error.downcast_ref::<ValueError>() {
        return value.clone().into();
    }
    if let Some(inner) = error.downcast_ref::<DataFusionError>() {
        return translate(inner);
    }
    match error.downcast_ref::<ArrowError>() {
        Some(inner) => translate_arrow(inner),
        None => {
            let text = error.to_string();
            cause_in(Variant::Other, &text).unwrap_or_else(|| RelationalError::bug(text))
        }
    }
}

fn translate_arrow(error: &ArrowError) -> RelationalError {
    match error {
        ArrowError::ExternalError(inner) => translate_any(inner.as_ref()),
        ArrowError::DivideByZero => ValueError::DivisionByZero.into(),
        ArrowError::ArithmeticOverflow(text) => RelationalErrorKind::OutOfRange(text.clone()).into(),
        ArrowError::CastError(text) | ArrowError::ParseError(text) => {
            let target = "value of its type".to_owned();
            let bad_text = || ValueError::BadText { text: text.clone(), target }.into();
            cause_in(Variant::Parse, text).unwrap_or_else(bad_text)
        }
        ArrowError::InvalidArgumentError(text) | ArrowError::ComputeError(text) => translate_execution(text),
        other => RelationalError::bug(other.to_string()),
    }
}

fn translate_schema(error: &SchemaError) -> RelationalError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => no_such_column(field, valid_fields),
        SchemaError::AmbiguousReference { field } => {
            let error = RelationalError::from(RelationalErrorKind::AmbiguousColumn(field.name.clone()));
            error.at(span_of(field)).help("put the table's name or alias in front of it")
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            RelationalErrorKind::DuplicateColumn(name.clone()).into()
        }
    }
}

fn no_such_column(field: &Column, valid: &[Column]) -> RelationalError {
    let written = match &field.relation {
        Some(relation) => format!("{relation}.{}", field.name),
        None => field.name.clone(),
    };
    let known = valid.iter().any(|c| field.relation.is_none() || c.relation == field.relation);
    let kind = match &field.relation {
        Some(relation) if !known => RelationalErrorKind::NoSuchTable(relation.to_string()),
        _ => RelationalErrorKind::NoSuchColumn(written),
    };
    let error = RelationalError::from(kind).at(span_of(field));
    match saltwing_types::suggest(&field.name, valid.iter().map(|c| c.name.as_str())) {
        Some(near) if known => error.help(format!("there is {near}")),
        _ => error,
    }
}

fn translate_execution(text: &str) -> RelationalError {
    cause_in(Variant::Execution, text).unwrap_or_else(|| ValueError::BadArgument(first_line(text)).into())
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or(text).to_owned()
}

/// Where a column of a plan stands in the statement.
pub(crate) fn span_of(column: &Column) -> Option<Span> {
    column.spans.first().map(|span| source_span(&span))
}

fn source_span(span: &datafusion::common::Span) -> Span {
    let position = |at: datafusion::common::Location| Position { line: at.line as u32, column: at.column as u32 };
    let (start, end) = (position(span.start), position(span.end));
    // sqlparser's end is the first character behind.
    let end = Position { column: end.column.saturating_sub(1).max(1), ..end };
    Span { start, end: end.max(start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_errors_come_out_as_they_went_in() {
        let ours = RelationalError::from(ValueError::DivisionByZero).at(Some(Span::on_line(1, 2, 3)));
        let external = DataFusionError::from(ours);
        let arrow = ArrowError::ExternalError(Box::new(external));
        let wrapped = DataFusionError::ArrowError(Box::new(arrow), None).context("a rule");
        let shared = DataFusionError::Shared(Arc::new(wrapped));
        let back = RelationalError::from(shared);
        assert_eq!((back.code(), back.span), (ErrorCode::DivisionByZero, Some(Span::on_line(1, 2, 3))));
    }

    #[test]
    fn an_operator_s_words_about_memory_are_left_out() {
        let own = TableError::OutOfMemory { wanted: 5, used: 7, limit: 10 }.to_string();
        let said = DataFusionError::ResourcesExhausted(format!("Sort failed: {own}. Consider datafusion.runtime"));
        assert_eq!(RelationalError::from(said).to_string(), own);
        let other = RelationalError::from(DataFusionError::ResourcesExhausted("no".into()));
        assert_eq!(other.to_string(), "the statement needs more memory than memory_limit allows");
    }
}
