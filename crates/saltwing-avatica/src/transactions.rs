//! Transactions: what autocommit means.
//!
//! ```text
//! autocommit:     each statement is a transaction of its own
//! no autocommit:  query or write ──BEGIN before it──> open ──Commit, Rollback, autocommit on──> none
//!                 definition ──a transaction that has only read ends before it──> by itself
//! ```
//! A definition cannot be a part of a transaction. One that comes after writes is refused by the library, and the writes stay open.

use saltwing::{Description, Privilege, TransactionState};

use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::messages::ConnectionProperties;

/// What a statement is to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It reads or writes rows: a part of a transaction.
    Rows,
    /// It concerns the session or the transaction itself, and begins none.
    Session,
    /// It changes definitions or storage, at once.
    Definition,
}

impl Part {
    /// That of a statement with this tag.
    fn of(tag: &str) -> Self {
        match tag {
            "SELECT" | "UPSERT" | "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY" | "EXPLAIN" | "EXPORT"
            | "SAVEPOINT" => Self::Rows,
            "SET" | "SHOW" | "DESCRIBE" | "BEGIN" | "COMMIT" | "ROLLBACK" | "RELEASE" => Self::Session,
            _ => Self::Definition,
        }
    }
}

/// Whether a statement writes rows alone, so that it can be one of a batch that is a transaction.
pub(crate) fn is_write_of_rows(description: &Description) -> bool {
    matches!(description.tag, "UPSERT" | "INSERT" | "UPDATE" | "DELETE" | "MERGE")
}

impl Connection {
    /// Prepares the transaction for a statement: begins one, or ends one that has only read.
    ///
    /// # Errors
    /// [`AvaticaError::ReadOnlyConnection`] for a statement that writes on a read-only connection; the library's.
    pub(crate) async fn enter(&mut self, description: &Description) -> Result<(), AvaticaError> {
        let writes = description.touches.iter().any(|touch| touch.privilege != Privilege::Select);
        if writes && self.read_only {
            return Err(AvaticaError::ReadOnlyConnection);
        }
        let state = self.library.transaction_state();
        if state == TransactionState::None {
            self.has_written = false;
        }
        if self.auto_commit {
            return Ok(());
        }
        match Part::of(description.tag) {
            Part::Rows if state == TransactionState::None => {
                let begin = if self.read_only { "BEGIN TRANSACTION READ ONLY" } else { "BEGIN" };
                self.library.execute(begin, ()).await?;
            }
            Part::Definition if state == TransactionState::Open && !self.has_written => {
                self.library.execute("COMMIT", ()).await?;
            }
            Part::Rows | Part::Session | Part::Definition => {}
        }
        self.has_written |= writes;
        Ok(())
    }

    /// Commits the open transaction, if there is one.
    ///
    /// # Errors
    /// The library's: the transaction is over then, too.
    pub(crate) async fn commit(&mut self) -> Result<(), AvaticaError> {
        self.end("COMMIT").await
    }

    /// Rolls the open transaction back, if there is one.
    ///
    /// # Errors
    /// The library's.
    pub(crate) async fn roll_back(&mut self) -> Result<(), AvaticaError> {
        self.end("ROLLBACK").await
    }

    async fn end(&mut self, statement: &'static str) -> Result<(), AvaticaError> {
        if self.library.transaction_state() == TransactionState::None {
            return Ok(());
        }
        let running = self.session.begin(statement);
        let ended = self.library.execute(statement, ()).await;
        self.has_written = false;
        Self::ended(running, ended.map(|_| ((), 0)).map_err(AvaticaError::from))
    }

    /// Takes over the settings of a client. Autocommit that is switched on commits the open transaction.
    ///
    /// # Errors
    /// As [`Connection::set_properties`], and then nothing changes; those of the commit, after which autocommit stays off.
    pub(crate) async fn synchronize(
        &mut self,
        given: &ConnectionProperties,
    ) -> Result<ConnectionProperties, AvaticaError> {
        self.set_properties(given)?;
        if given.has_auto_commit {
            if given.auto_commit && !self.auto_commit {
                self.commit().await?;
            }
            self.auto_commit = given.auto_commit;
        }
        Ok(self.properties())
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn definitions_begin_no_transaction() {
        for (tag, part) in [
            ("SELECT", Part::Rows),
            ("UPSERT", Part::Rows),
            ("SHOW", Part::Session),
            ("COMMIT", Part::Session),
            ("CREATE TABLE", Part::Definition),
            ("TRUNCATE TABLE", Part::Definition),
            ("COMPACT", Part::Definition),
        ] {
            assert_eq!(Part::of(tag), part, "{tag}");
        }
    }
}
