//! DEFAULTs: Phoenix keeps them as SQL text.

use saltwing_phoenix::literal_value;
use saltwing_types::table::{DefaultDef, DefaultKind};
use saltwing_types::{Expr, SqlType};

/// The DEFAULT of a column.
///
/// # Errors
/// A text that is no literal, or none of the type, as part of a sentence.
pub(super) fn default_value(text: &str, ty: SqlType) -> Result<DefaultDef, String> {
    let value = literal_value(text, ty).map_err(|reason| format!("its DEFAULT {text} is not understood: {reason}"))?;
    Ok(DefaultDef { text: text.to_owned(), expr: Expr::Literal(value, ty), kind: DefaultKind::Constant })
}
