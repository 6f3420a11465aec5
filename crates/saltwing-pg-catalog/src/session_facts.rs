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
