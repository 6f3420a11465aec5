//! Words for what the session is: `CURRENT_USER`, `CURRENT_CATALOG` and the like, without brackets or with empty ones.

use saltwing_catalog::CatalogReader;
use saltwing_types::{Expr, typing};

use crate::system_table::CATALOG;

/// The schema of names without one, as `current_schema()` has it.
const DEFAULT_SCHEMA: &str = "public";

/// The value of a word, in any case; `None` of another word. It is a constant: a plan is kept for one user.
pub(crate) fn session_word(word: &str, catalog: &dyn CatalogReader) -> Option<Expr> {
    let value = match word.to_ascii_uppercase().as_str() {
        "CURRENT_USER" | "CURRENT_ROLE" | "SESSION_USER" | "USER" => catalog.session_user(),
        "CURRENT_CATALOG" => CATALOG,
        "CURRENT_SCHEMA" => DEFAULT_SCHEMA,
        _ => return None,
    };
    Some(typing::string(value))
}
