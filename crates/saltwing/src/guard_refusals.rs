//! What the guard refused lately.

use crate::Error;
use crate::session::Session;

/// Statements of one shape that the guard refused: see [`Connection::guard_refusals`](crate::Connection::guard_refusals).
#[derive(Clone, Debug, PartialEq)]
pub struct GuardRefusal {
    /// The statement with `?` in place of its literals, at most 2,000 characters.
    pub statement: String,
    /// The tables whose scans were refused.
    pub tables: Vec<String>,
    /// Why, as the last error said.
    pub reason: String,
    /// How often, since the opening of the database.
    pub count: u64,
    /// When it was refused last, in milliseconds since 1970.
    pub last_ms: i64,
    /// What would allow it.
    pub fixes: Vec<RefusalFix>,
}

/// Something that would allow a refused statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusalFix {
    /// What to do.
    pub text: String,
    /// A statement that does it, if one does.
    pub sql: Option<String>,
    /// The bytes that it stores for each row of the table, if it is an index and the table has rows.
    pub bytes_per_row: Option<u64>,
}

/// What the guard refused lately.
pub(crate) fn guard_refusals(session: &Session) -> Result<Vec<GuardRefusal>, Error> {
    let _ = session;
    Ok(Vec::new())
}
