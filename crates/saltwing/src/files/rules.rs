//! The rules for the files that the statements of a session may use.

use super::file::{FileRules, Purpose};
use crate::session::Session;

/// The rules for the files that statements may use.
pub(crate) fn file_rules(session: &Session, purpose: Purpose) -> FileRules<'_> {
    let shared = session.shared();
    FileRules { access: &shared.options.file_access, own_directory: shared.directory.as_deref(), purpose }
}
