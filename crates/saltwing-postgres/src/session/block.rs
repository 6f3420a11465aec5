//! The transaction block of a session.
//!
//! ```text
//! idle ──BEGIN──> explicit ──error──> explicit, failed ──ROLLBACK TO──> explicit
//!   │                └─ COMMIT, ROLLBACK ──> idle  <── COMMIT (is a ROLLBACK), ROLLBACK ─┘
//!   └─ several statements of one message, or of one series up to Sync ──> implicit ──> idle
//! ```
//!
//! A definition takes effect at once. In an explicit block that has only read, the session ends the library's transaction before the definition and
//! begins another one after it, and the block goes on: programs create their tables in transactions that they opened for them.
//!
//! The library knows of a transaction that a statement of it has failed; the block also knows of errors that the library does not see: of
//! messages, of names of portals, of rows that were not sent.

use pgwire::messages::response::TransactionStatus;
use saltwing::TransactionState;

/// The transaction block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// Whether the session opened the transaction by itself, around several statements.
    pub(super) is_implicit: bool,
    /// Whether an error came in it.
    pub(super) has_failed: bool,
    /// Whether a statement that writes rows has run in it.
    pub(super) has_written: bool,
}

impl Block {
    /// Whether statements are refused until the transaction ends.
    pub(super) fn is_failed(self, library: TransactionState) -> bool {
        match library {
            TransactionState::None => false,
            TransactionState::Open => self.has_failed,
            TransactionState::Failed => true,
        }
    }

    /// What ReadyForQuery tells. An implicit transaction is over when it is sent.
    pub(super) fn status(self, library: TransactionState) -> TransactionStatus {
        match library {
            TransactionState::None => TransactionStatus::Idle,
            _ if self.is_failed(library) => TransactionStatus::Error,
            _ => TransactionStatus::Transaction,
        }
    }
}

#[cfg(test)]
mod tests {
    use pgwire::messages::response::TransactionStatus;
    use saltwing::TransactionState;

    use super::Block;

    #[test]
    fn a_failure_counts_while_the_transaction_is_open() {
        let failed = Block { has_failed: true, ..Block::default() };
        assert_eq!(failed.status(TransactionState::Open), TransactionStatus::Error);
        assert_eq!(failed.status(TransactionState::None), TransactionStatus::Idle);
        assert_eq!(Block::default().status(TransactionState::Open), TransactionStatus::Transaction);
        assert_eq!(Block::default().status(TransactionState::Failed), TransactionStatus::Error);
    }
}
