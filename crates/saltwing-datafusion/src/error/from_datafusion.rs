//! The translation of DataFusion's errors.

use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use saltwing_types::ValueError;

use super::datafusion_texts::{Variant, cause_in, missing};
use super::message::first_line;
use super::{MEMORY_HELP, RelationalError, RelationalErrorKind};

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
        DataFusionError::Diagnostic(_, inner) => translate(inner),
        DataFusionError::Collection(list) => {
            list.first().map_or_else(|| RelationalError::bug("an empty list of errors"), translate)
        }
        DataFusionError::External(inner) => translate_any(inner.as_ref()),
        DataFusionError::ArrowError(inner, _) => translate_arrow(inner),
        DataFusionError::NotImplemented(text) => RelationalError::not_supported(missing(text)),
        DataFusionError::Plan(text) => {
            cause_in(Variant::Plan, text).unwrap_or_else(|| RelationalErrorKind::Syntax(first_line(text)).into())
        }
        DataFusionError::Execution(text) => translate_execution(text),
        DataFusionError::ResourcesExhausted(text) => {
            let error = RelationalError::from(RelationalErrorKind::OutOfMemory(memory_text(text)));
            error.help(MEMORY_HELP)
        }
        // All of it: a bug report has nothing else to show.
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
        None => RelationalError::bug(error.to_string()),
    }
}

fn translate_arrow(error: &ArrowError) -> RelationalError {
    match error {
        ArrowError::ExternalError(inner) => translate_any(inner.as_ref()),
        ArrowError::DivideByZero => ValueError::DivisionByZero.into(),
        ArrowError::ArithmeticOverflow(text) => RelationalErrorKind::OutOfRange(text.clone()).into(),
        ArrowError::CastError(text) | ArrowError::ParseError(text) => {
            ValueError::BadText { text: text.clone(), target: "value of its type".to_owned() }.into()
        }
        ArrowError::InvalidArgumentError(text) | ArrowError::ComputeError(text) => translate_execution(text),
        other => RelationalError::bug(other.to_string()),
    }
}

fn translate_execution(text: &str) -> RelationalError {
    cause_in(Variant::Execution, text).unwrap_or_else(|| ValueError::BadArgument(first_line(text)).into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use saltwing_access::{MemoryScope, TableError};
    use saltwing_types::{ErrorCode, Span};

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
        for scope in [MemoryScope::Statements, MemoryScope::Statement] {
            let own = TableError::OutOfMemory { wanted: 5, used: 7, limit: 10, scope }.to_string();
            let error = DataFusionError::ResourcesExhausted(format!("Sort failed: {own}. Consider datafusion.runtime"));
            assert_eq!(RelationalError::from(error).to_string(), own);
        }
        let other = RelationalError::from(DataFusionError::ResourcesExhausted("no".into()));
        assert_eq!(other.to_string(), "the statement needs more memory than memory_limit allows");
    }
}
