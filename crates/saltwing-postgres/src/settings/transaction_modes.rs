//! The modes of transactions: isolation level, access and deferral.

use super::value::{Refusal, Value};

/// An isolation level that a client may name. Each of them runs as snapshot isolation.
///
/// PostgreSQL's fourth one, SERIALIZABLE, is refused: snapshot isolation allows write skew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IsolationLevel {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ, which is snapshot isolation in PostgreSQL as well. So it is the default, and not READ COMMITTED.
    #[default]
    RepeatableRead,
}

impl IsolationLevel {
    /// The reason why SERIALIZABLE is refused.
    pub(crate) const NOT_SERIALIZABLE: &str =
        "transactions have snapshot isolation: two that read what the other one writes may both commit (write skew)";

    const NAMES: [(&'static str, Self); 3] = [
        ("read uncommitted", Self::ReadUncommitted),
        ("read committed", Self::ReadCommitted),
        ("repeatable read", Self::RepeatableRead),
    ];
}

impl Value for IsolationLevel {
    fn show(&self) -> String {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
        }
        .to_owned()
    }

    fn read(&mut self, text: &str) -> Result<(), Refusal> {
        let text = text.trim().to_ascii_lowercase();
        if text == "serializable" {
            return Err(Refusal::NotSupported(Self::NOT_SERIALIZABLE));
        }
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        let takes = || Refusal::Takes("'read uncommitted', 'read committed' or 'repeatable read'".to_owned());
        *self = found.ok_or_else(takes)?.1;
        Ok(())
    }
}

/// The modes that a statement names; `None` of those that it leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransactionModes {
    /// `ISOLATION LEVEL ..`.
    pub(crate) isolation: Option<IsolationLevel>,
    /// `READ ONLY`, or `READ WRITE`.
    pub(crate) is_read_only: Option<bool>,
    /// `DEFERRABLE`, or `NOT DEFERRABLE`. It has an effect on SERIALIZABLE transactions alone, which there are none of.
    pub(crate) is_deferrable: Option<bool>,
}

/// The modes of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Characteristics {
    /// The level that the client named, or the default one.
    pub(crate) isolation: IsolationLevel,
    /// Whether writes are refused.
    pub(crate) is_read_only: bool,
    /// As [`TransactionModes::is_deferrable`].
    pub(crate) is_deferrable: bool,
}

impl Characteristics {
    /// These, with the modes that a statement names.
    #[must_use]
    pub(crate) fn with(self, modes: TransactionModes) -> Self {
        Self {
            isolation: modes.isolation.unwrap_or(self.isolation),
            is_read_only: modes.is_read_only.unwrap_or(self.is_read_only),
            is_deferrable: modes.is_deferrable.unwrap_or(self.is_deferrable),
        }
    }
}
