//! What a session tells of itself.

use saltwing::Connection;

/// A session that asks for the catalog.
#[derive(Clone, Copy)]
pub struct SessionFacts<'a> {
    /// Its connection. Queries for the catalog take its timeout.
    pub connection: &'a Connection,
    /// The user, or the name that the client of a database without users gave.
    pub user: &'a str,
    /// Whether the session is the owner's, and not a user's of the database.
    pub is_owner: bool,
    /// The name of the database, as the client gave it.
    pub database: &'a str,
    /// The number of the session.
    pub process: u32,
    /// The version, as `server_version` has it: `15.8 (Saltwing 0.1.0)`.
    pub server_version: &'a str,
    /// The value of a setting; `None` if there is none of the name.
    pub setting: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Its prepared statements that have names, in any order.
    pub statements: &'a [NamedStatement<'a>],
    /// Its open cursors that have names, in any order.
    pub cursors: &'a [NamedCursor<'a>],
}

/// A prepared statement of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedStatement<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text, as the client sent it: that of PREPARE, if `is_from_sql`.
    pub text: &'a str,
    /// When it was prepared, in milliseconds since 1970.
    pub prepared_ms: i64,
    /// The OIDs of the types of its parameters.
    pub parameter_types: Vec<u32>,
    /// Whether PREPARE made it, and not a message of the protocol.
    pub is_from_sql: bool,
}

/// A cursor of a session: of DECLARE, or a portal of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCursor<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text: that of DECLARE, or that of the portal's statement.
    pub text: &'a str,
    /// When it was opened, in milliseconds since 1970.
    pub opened_ms: i64,
    /// Whether its rows are sent in binary form.
    pub is_binary: bool,
}

/// A setting that a query changes, by `set_config`. The session makes the change when the query runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// The setting.
    pub name: SettingText,
    /// Its new value; NULL resets it.
    pub value: SettingText,
    /// Whether it ends with the transaction.
    pub is_local: bool,
}

/// A text in a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingText {
    /// In the query.
    Text(String),
    /// The value of a parameter, by its number from 1.
    Parameter(usize),
    /// NULL.
    Null,
}
