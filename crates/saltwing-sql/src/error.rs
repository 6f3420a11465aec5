//! Errors in the text of a statement.

use saltwing_types::{ErrorCode, Span};

/// Why a text is no statement of ours.
///
/// Every error says where: [`crate::render_caret`] draws the line with a caret
/// under [`SqlError::span`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The text does not follow the grammar.
    #[error("{message}")]
    Syntax {
        /// The expected and the actual token.
        message: String,
        /// The place.
        span: Span,
        /// How to put it right, if that can be guessed.
        help: Option<String>,
    },
    /// Legal SQL that is not built yet.
    #[error("not supported yet: {what}")]
    NotSupported {
        /// The construct, as the user would call it.
        what: String,
        /// The place.
        span: Span,
        /// The replacement, if there is one.
        help: Option<String>,
    },
    /// A type, or a column, that cannot be: `CHAR(0)`, `DECIMAL(5,6)`.
    #[error("{message}")]
    InvalidDefinition {
        /// The reason.
        message: String,
        /// The place.
        span: Span,
        /// How to put it right, if that can be guessed.
        help: Option<String>,
    },
    /// Nested too deep, or chained too long.
    #[error("{what}: at most {limit} allowed")]
    TooDeep {
        /// The nested or chained construct.
        what: &'static str,
        /// The limit that was hit.
        limit: usize,
        /// The first place beyond the limit.
        span: Span,
    },
    /// More text than a statement may have.
    #[error("the statement has {size} {unit}, at most {limit} allowed")]
    TooLarge {
        /// The unit: bytes or tokens.
        unit: &'static str,
        /// How many there are.
        size: usize,
        /// The limit.
        limit: usize,
        /// Where the statement starts.
        span: Span,
    },
    /// Placeholders that do not fit together.
    #[error("{message}")]
    BadParameter {
        /// The reason.
        message: String,
        /// The place.
        span: Span,
        /// How to put it right, if that is known.
        help: Option<String>,
    },
}

impl SqlError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::Syntax,
            Self::NotSupported { .. } => ErrorCode::NotSupported,
            Self::InvalidDefinition { .. } => ErrorCode::InvalidDefinition,
            Self::TooDeep { .. } => ErrorCode::TooDeep,
            Self::TooLarge { .. } => ErrorCode::StatementTooLarge,
            Self::BadParameter { .. } => ErrorCode::BadParameter,
        }
    }

    /// Where in the text.
    pub fn span(&self) -> Span {
        match self {
            Self::Syntax { span, .. }
            | Self::NotSupported { span, .. }
            | Self::InvalidDefinition { span, .. }
            | Self::TooDeep { span, .. }
            | Self::TooLarge { span, .. }
            | Self::BadParameter { span, .. } => *span,
        }
    }

    /// How to put it right, where that is known.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Syntax { help, .. }
            | Self::NotSupported { help, .. }
            | Self::InvalidDefinition { help, .. }
            | Self::BadParameter { help, .. } => help.as_deref(),
            Self::TooDeep { .. } => {
                Some("write it flatter: VALUES, IN lists and chains of AND or of OR may be as long as they like")
            }
            Self::TooLarge { .. } => Some("send the rows in several statements, or load them with COPY"),
        }
    }

    pub(crate) fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::Syntax { message: message.into(), span, help: None }
    }

    pub(crate) fn not_supported(what: impl Into<String>, span: Span) -> Self {
        Self::NotSupported { what: what.into(), span, help: None }
    }

    pub(crate) fn invalid(message: impl Into<String>, span: Span) -> Self {
        Self::InvalidDefinition { message: message.into(), span, help: None }
    }

    /// The same error with advice, where its kind can carry it.
    pub(crate) fn with_help(mut self, text: impl Into<String>) -> Self {
        if let Self::Syntax { help, .. } | Self::NotSupported { help, .. } | Self::InvalidDefinition { help, .. } =
            &mut self
        {
            *help = Some(text.into());
        }
        self
    }
}
