//! What a session keeps of its settings while a transaction is open.

use std::sync::Arc;

use super::transaction_modes::Characteristics;
use super::values::Values;

/// An open transaction.
#[derive(Clone, Debug)]
pub(crate) struct OpenTransaction {
    /// Its modes.
    pub(super) modes: Characteristics,
    /// The values at its beginning.
    pub(super) before: Arc<Values>,
    /// Its savepoints, the oldest first.
    pub(super) savepoints: Vec<Savepoint>,
}

/// The settings at a savepoint.
#[derive(Clone, Debug)]
pub(crate) struct Savepoint {
    /// Its name, in lower case: the library finds savepoints in any case.
    pub(super) name: String,
    /// The values that held.
    pub(super) current: Arc<Values>,
    /// The values that would have held after COMMIT.
    pub(super) lasting: Arc<Values>,
    /// The modes of the transaction.
    pub(super) modes: Characteristics,
}
