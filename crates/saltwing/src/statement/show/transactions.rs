//! SHOW TRANSACTIONS.

use super::Listing;
use crate::Error;
use crate::session::Session;
use crate::text_rows::TextRow;

/// SHOW TRANSACTIONS.
pub(crate) struct Transactions;

impl Listing for Transactions {
    fn labels(&self) -> &'static [&'static str] {
        &[
            "number",
            "mode",
            "state",
            "open_ms",
            "statements",
            "rows_written",
            "bytes_written",
            "commits_since",
            "pinned_bytes",
        ]
    }

    fn what(&self) -> String {
        "open transactions".into()
    }

    fn rows(&self, session: &Session) -> Result<Vec<TextRow>, Error> {
        let newest = session.shared().tables.newest_commit();
        Ok(session.shared().transactions.open().iter().map(|open| open.row(newest)).collect())
    }
}
