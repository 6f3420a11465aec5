//! The rules for the files that the statements of a session may use.

use saltwing_sql::quote_name;

use super::file::{FileRules, Purpose};
use crate::Error;
use crate::file_access::refused;
use crate::session::Session;

/// The rules for the files that statements may use.
///
/// # Errors
/// As [`check_files`].
pub(crate) fn file_rules(session: &Session, purpose: Purpose) -> Result<FileRules<'_>, Error> {
    check_files(session)?;
    let shared = session.shared();
    Ok(FileRules { access: &shared.options.file_access, own_directory: shared.directory.as_deref(), purpose })
}

/// # Errors
/// [`ErrorCode::FileAccessRefused`](saltwing_types::ErrorCode::FileAccessRefused) if the session is that of a user: files are accessed with
/// the rights of the process, and no grant permits that.
pub(crate) fn check_files(session: &Session) -> Result<(), Error> {
    match session.user() {
        None => Ok(()),
        Some(user) => Err(refused(format!("user {} may use no files", quote_name(&user.name)))
            .with_help(Some("COPY takes rows from STDIN, and gives them to STDOUT"))),
    }
}
