//! The error for a subquery that no join is made of.

use saltwing_types::Span;

use crate::error::{BindError, BindErrorKind};

/// The error for a subquery that cannot be made a join, where it stands in the statement.
pub(super) fn not_supported(span: Option<Span>) -> BindError {
    let error = BindErrorKind::NotSupported("a correlated subquery of this form".to_owned());
    BindError::from(error).at(span).help("name the outer query in the WHERE of the subquery, or join its table instead")
}
