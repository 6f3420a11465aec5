//! A parameter of PostgreSQL: its name, and where its value comes from.

use saltwing::Dialect;

use super::transaction_modes::{Characteristics, IsolationLevel, TransactionModes};
use super::value::{Refusal, Value, truth};
use super::values::Values;

/// The facts of a session that no SET changes.
#[derive(Clone, Debug)]
pub(crate) struct SessionFacts {
    /// The user that has logged in.
    pub(crate) user: String,
    /// Whether the user may do everything: the owner of a database.
    pub(crate) is_superuser: bool,
    /// Whether the database is open for reading alone.
    pub(crate) is_read_only_database: bool,
    /// The language of the session's statements, which is the library's setting `dialect`.
    pub(crate) dialect: Dialect,
}

/// A parameter.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    /// Its name as PostgreSQL writes it. Statements may write it in any case.
    pub(crate) name: &'static str,
    /// Its meaning.
    pub(crate) description: &'static str,
    /// Whether the server reports it at the start, and when it changes.
    pub(crate) is_reported: bool,
    /// Where its value comes from.
    pub(super) source: Source,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// The server or the session. Nobody sets it.
    Fixed(fn(&SessionFacts) -> String),
    /// There is one value, and SET accepts it in each of its forms.
    Single(SingleValue),
    /// The session keeps the value.
    Kept { get: fn(&Values) -> &dyn Value, get_mut: fn(&mut Values) -> &mut dyn Value },
    /// A mode of the open transaction.
    Mode(TransactionMode),
}

/// The value of a parameter that has one.
#[derive(Clone, Copy)]
pub(super) struct SingleValue {
    pub(super) value: fn(&SessionFacts) -> &'static str,
    /// Other forms of it. Forms of a Boolean are known.
    pub(super) aliases: &'static [&'static str],
    /// Why there is no other one.
    pub(super) reason: &'static str,
}

/// A mode of the open transaction that is a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionMode {
    Isolation,
    ReadOnly,
    Deferrable,
}

impl SingleValue {
    /// Whether a text is the value.
    pub(super) fn check(&self, text: &str, facts: &SessionFacts) -> Result<(), Refusal> {
        let (text, value) = (text.trim(), (self.value)(facts));
        let is_same = |form: &str| form.eq_ignore_ascii_case(text);
        let is_same_truth = truth(text).is_some() && truth(text) == truth(value);
        match is_same(value) || is_same_truth || self.aliases.iter().any(|alias| is_same(alias)) {
            true => Ok(()),
            false => Err(Refusal::NotSupported(self.reason)),
        }
    }
}

impl TransactionMode {
    /// The text of the mode.
    pub(super) fn show(self, modes: Characteristics) -> String {
        match self {
            Self::Isolation => modes.isolation.show(),
            Self::ReadOnly => modes.is_read_only.show(),
            Self::Deferrable => modes.is_deferrable.show(),
        }
    }

    /// The modes that a text gives.
    pub(super) fn read(self, text: &str) -> Result<TransactionModes, Refusal> {
        let mut modes = TransactionModes::default();
        match self {
            Self::Isolation => modes.isolation.insert(IsolationLevel::default()).read(text)?,
            Self::ReadOnly => modes.is_read_only.insert(false).read(text)?,
            Self::Deferrable => modes.is_deferrable.insert(false).read(text)?,
        }
        Ok(modes)
    }

    /// The mode among these.
    pub(super) fn of(self, from: Characteristics) -> TransactionModes {
        let mut modes = TransactionModes::default();
        match self {
            Self::Isolation => modes.isolation = Some(from.isolation),
            Self::ReadOnly => modes.is_read_only = Some(from.is_read_only),
            Self::Deferrable => modes.is_deferrable = Some(from.is_deferrable),
        }
        modes
    }
}
