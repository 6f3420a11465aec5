//! The statements that a session answers itself.

use saltwing::{SqlType, Value};

use crate::settings::{NewValue, TextAt, TransactionModes};
use crate::tokens::Body;

/// A statement that the session answers itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionStatement {
    /// `SET name = ..`, of a parameter of PostgreSQL or of a custom setting.
    Set {
        /// The parameter, in PostgreSQL's word for it: `TimeZone` of `SET TIME ZONE`.
        name: TextAt,
        /// Its values.
        value: NewValue,
        /// `SET LOCAL`.
        is_local: bool,
    },
    /// `SET TRANSACTION ..`, of the open transaction.
    SetTransaction(TransactionModes),
    /// `SET SESSION CHARACTERISTICS AS TRANSACTION ..`, of later transactions.
    SetCharacteristics(TransactionModes),
    /// `SHOW name`.
    Show(TextAt),
    /// `SHOW ALL`: the parameters, and the settings of the library.
    ShowAll,
    /// `RESET name`.
    Reset(TextAt),
    /// `RESET ALL`: the parameters, and the settings of the library.
    ResetAll,
    /// A statement of the library with other words. Its text has the characters of the client's at the same places, or no place that an
    /// error could have.
    OfTheLibrary {
        /// The text.
        sql: String,
        /// The tag for the client.
        tag: &'static str,
    },
    /// `DISCARD ..`.
    Discard(Discard),
    /// `DEALLOCATE ..`: a prepared statement, or all.
    Deallocate(Target),
    /// `BEGIN ..`, `START TRANSACTION ..`.
    Begin {
        /// The modes that it names.
        modes: TransactionModes,
        /// The tag for the client, which differs between the two.
        tag: &'static str,
    },
    /// `COMMIT`, `END`.
    Commit,
    /// `ROLLBACK`, `ABORT`, without a savepoint.
    Rollback,
    /// `DECLARE name CURSOR FOR query`.
    Declare(Declare),
    /// `FETCH ..`.
    Fetch(Fetch),
    /// `MOVE ..`, which skips rows.
    Move(Fetch),
    /// `CLOSE ..`: a cursor, or all.
    Close(Target),
    /// `PREPARE name AS statement`.
    Prepare(Prepare),
    /// `EXECUTE name (arguments)`.
    Execute(Execute),
    /// A statement that asks for the state that there always is, such as `SET ROLE NONE`.
    Nothing {
        /// The tag for the client.
        tag: &'static str,
    },
}

/// One object by its name, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The object of this name: in lower case unless it stood in quotes.
    Named(TextAt),
    /// All.
    All,
}

/// The state that DISCARD drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    /// All of the session's state: cursors, settings, prepared statements, temporary tables.
    All,
    /// Cached plans.
    Plans,
    /// The current values of sequences.
    Sequences,
    /// Temporary tables.
    Temporary,
}

/// `DECLARE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declare {
    /// The cursor.
    pub(crate) name: TextAt,
    /// `BINARY`: rows come in the binary form of their types.
    pub(crate) is_binary: bool,
    /// The query.
    pub(crate) query: Body,
}

/// `FETCH`, `MOVE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// The cursor.
    pub(crate) name: TextAt,
    /// The most rows; at least 1. `None` is all.
    pub(crate) rows_max: Option<u64>,
}

/// `PREPARE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prepare {
    /// The prepared statement.
    pub(crate) name: TextAt,
    /// The types of its first parameters; `None` is `unknown`: the type is inferred.
    pub(crate) types: Vec<Option<SqlType>>,
    /// The statement.
    pub(crate) statement: Body,
}

/// `EXECUTE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Execute {
    /// The prepared statement.
    pub(crate) name: TextAt,
    /// The values of its parameters.
    pub(crate) arguments: Vec<Argument>,
}

/// An argument of EXECUTE.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// The value: [`Value::Text`] of a string, and [`Value::Int`] or [`Value::Decimal`] of a number.
    pub(crate) value: Value,
    /// How far its type is known.
    pub(crate) kind: ArgumentKind,
    /// Its place in the statement, in characters from 1.
    pub(crate) position: usize,
}

/// How far the type of an argument is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    /// A string or NULL: the text of a value of the parameter's type.
    Untyped,
    /// A number, which becomes one of the parameter's type.
    Number,
    /// TRUE or FALSE.
    Boolean,
    /// The value of a cast, which has this type.
    Typed(SqlType),
}

impl SessionStatement {
    /// The tag that tells the client which statement was run. FETCH and MOVE have the number of rows after it.
    pub(crate) fn tag(&self) -> &'static str {
        match self {
            Self::Set { .. } | Self::SetTransaction(_) | Self::SetCharacteristics(_) => "SET",
            Self::Show(_) | Self::ShowAll => "SHOW",
            Self::Reset(_) | Self::ResetAll => "RESET",
            Self::OfTheLibrary { tag, .. } | Self::Begin { tag, .. } | Self::Nothing { tag } => tag,
            Self::Discard(Discard::All) => "DISCARD ALL",
            Self::Discard(Discard::Plans) => "DISCARD PLANS",
            Self::Discard(Discard::Sequences) => "DISCARD SEQUENCES",
            Self::Discard(Discard::Temporary) => "DISCARD TEMP",
            Self::Deallocate(Target::Named(_)) => "DEALLOCATE",
            Self::Deallocate(Target::All) => "DEALLOCATE ALL",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
            Self::Declare(_) => "DECLARE CURSOR",
            Self::Fetch(_) => "FETCH",
            Self::Move(_) => "MOVE",
            Self::Close(Target::Named(_)) => "CLOSE CURSOR",
            Self::Close(Target::All) => "CLOSE CURSOR ALL",
            Self::Prepare(_) => "PREPARE",
            // The session answers with the tag of the prepared statement.
            Self::Execute(_) => "EXECUTE",
        }
    }
}
