//! Errors in the text of a statement.

use std::borrow::Cow;

use saltwing_types::{ErrorCode, Span};

/// Why a text is no statement of ours.
///
/// Every error says where: [`crate::render_caret`] draws the line with a caret
/// under [`SqlError::span`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    code: ErrorCode,
    message: String,
    span: Span,
    help: Option<Cow<'static, str>>,
}

impl SqlError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Where in the text.
    pub fn span(&self) -> Span {
        self.span
    }

    /// How to put it right, where that is known.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    fn new(code: ErrorCode, message: impl Into<String>, span: Span) -> Self {
        Self { code, message: message.into(), span, help: None }
    }

    /// The text does not follow the grammar: the expected and the actual token.
    pub(crate) fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorCode::Syntax, message, span)
    }

    /// A reserved word in the place of a name; `what` says of what.
    pub(crate) fn reserved(word: &str, what: &str, span: Span) -> Self {
        Self::syntax(format!("expected {what}, found the reserved word {}", word.to_uppercase()), span)
            .with_help(format!("to use it as a name, quote it: \"{word}\""))
    }

    /// Legal SQL that is not built yet: the construct, as the user would call it.
    pub(crate) fn not_supported(what: impl std::fmt::Display, span: Span) -> Self {
        Self::new(ErrorCode::NotSupported, format!("not supported: {what}"), span)
    }

    /// A value of a sequence where none may stand.
    pub(crate) fn misplaced_sequence(span: Span) -> Self {
        Self::new(ErrorCode::MisplacedSequence, "a value of a sequence may not stand here", span)
    }

    /// A type, or a column, that cannot be: `CHAR(0)`, `DECIMAL(5,6)`.
    pub(crate) fn invalid(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorCode::InvalidDefinition, message, span)
    }

    /// Placeholders that do not fit together.
    pub(crate) fn bad_parameter(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorCode::BadParameter, message, span)
    }

    /// Nested too deep, or chained too long, from this place on.
    pub(crate) fn too_deep(what: &str, limit: usize, span: Span) -> Self {
        Self::new(ErrorCode::TooDeep, format!("{what}: at most {limit} allowed"), span)
            .with_help("write it flatter: VALUES, IN lists and chains of AND or of OR may be as long as they like")
    }

    /// More text than a statement may have, in bytes or tokens.
    pub(crate) fn too_large(unit: &str, size: usize, limit: usize, span: Span) -> Self {
        let message = format!("the statement has {size} {unit}, at most {limit} allowed");
        Self::new(ErrorCode::StatementTooLarge, message, span)
            .with_help("send the rows in several statements, or load them with COPY")
    }

    /// The same error with advice.
    pub(crate) fn with_help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}
