//! Settings and transactions: BEGIN, COMMIT, ROLLBACK and savepoints.
//!
//! # Laws
//! 1. After ROLLBACK every setting is as it was at BEGIN, and after ROLLBACK TO as it was at the savepoint.
//! 2. After COMMIT a setting has the value of its last SET that was not local.

use super::error::SettingError;
use super::open_transaction::{OpenTransaction, Savepoint};
use super::session::PostgresSettings;
use super::text_at::shortened;
use super::transaction_modes::{Characteristics, TransactionModes};

impl PostgresSettings {
    /// A transaction begins: by BEGIN, or as the implicit one of several statements. The session opens one of the library with
    /// these modes. If one is open, nothing changes, and the modes are those of the open one.
    pub(crate) fn begin(&mut self, modes: TransactionModes) -> Characteristics {
        if self.transaction.is_none() {
            let modes = self.current.default_characteristics().with(modes);
            self.transaction = Some(OpenTransaction { modes, before: self.lasting.clone(), savepoints: Vec::new() });
        }
        self.characteristics()
    }

    /// The transaction has committed. Local values end.
    pub(crate) fn commit(&mut self) {
        if self.transaction.take().is_some() {
            self.current = self.lasting.clone();
            self.may_differ = true;
        }
    }

    /// The transaction was rolled back, by ROLLBACK or because it could not commit: all settings are those of its beginning.
    pub(crate) fn rollback(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            (self.current, self.lasting) = (transaction.before.clone(), transaction.before);
            self.may_differ = true;
        }
    }

    /// The library has set a savepoint, which it does in a transaction alone.
    pub(crate) fn savepoint(&mut self, name: &str) {
        let Some(transaction) = &mut self.transaction else { return };
        transaction.savepoints.push(Savepoint {
            name: name.to_lowercase(),
            current: self.current.clone(),
            lasting: self.lasting.clone(),
            modes: transaction.modes,
        });
    }

    /// Whether the open transaction has savepoints.
    pub(crate) fn has_savepoints(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| !transaction.savepoints.is_empty())
    }

    /// The library has released a savepoint, and the later ones with it.
    ///
    /// # Errors
    /// [`SettingError::NoSuchSavepoint`].
    pub(crate) fn release(&mut self, name: &str) -> Result<(), SettingError> {
        let (transaction, index) = self.find_savepoint(name)?;
        transaction.savepoints.truncate(index);
        Ok(())
    }

    /// The library has rolled back to a savepoint, which stays. Later ones are gone.
    ///
    /// # Errors
    /// [`SettingError::NoSuchSavepoint`].
    pub(crate) fn rollback_to(&mut self, name: &str) -> Result<(), SettingError> {
        let (transaction, index) = self.find_savepoint(name)?;
        transaction.savepoints.truncate(index.saturating_add(1));
        let savepoint = transaction.savepoints.last().cloned();
        let Some(Savepoint { current, lasting, modes, .. }) = savepoint else { return Err(no_savepoint(name)) };
        transaction.modes = modes;
        (self.current, self.lasting, self.may_differ) = (current, lasting, true);
        Ok(())
    }

    fn find_savepoint(&mut self, name: &str) -> Result<(&mut OpenTransaction, usize), SettingError> {
        let lower = name.to_lowercase();
        let transaction = self.transaction.as_mut().ok_or_else(|| no_savepoint(name))?;
        let found = transaction.savepoints.iter().rposition(|savepoint| savepoint.name == lower);
        found.map(|index| (transaction, index)).ok_or_else(|| no_savepoint(name))
    }
}

fn no_savepoint(name: &str) -> SettingError {
    SettingError::NoSuchSavepoint { name: shortened(name) }
}
