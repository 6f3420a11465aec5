//! Relations whose rows are the session's: its settings, activity, prepared statements and cursors.

use sqlparser::ast::{Expr, Query};

use super::build::{array, boolean, call, int, null, text};
use super::from::outputs_of;
use super::scope::Output;
use super::set_returning::parsed;
use super::translator::Translator;
use crate::relations::{Attribute, relation_named};
use crate::{CatalogError, NamedCursor, NamedStatement};

/// A setting that `pg_settings` lists.
pub(super) struct SettingEntry {
    pub(super) name: &'static str,
    unit: Option<&'static str>,
    category: &'static str,
    /// `bool`, `string`, `integer` or `enum`.
    kind: &'static str,
    description: &'static str,
}

const fn setting(
    name: &'static str,
    unit: Option<&'static str>,
    category: &'static str,
    kind: &'static str,
    description: &'static str,
) -> SettingEntry {
    SettingEntry { name, unit, category, kind, description }
}

const CLIENT: &str = "Client Connection Defaults";
const PRESET: &str = "Preset Options";

/// The settings of which clients ask; the session says which of them it has.
pub(super) static SETTINGS: &[SettingEntry] = &[
    setting("DateStyle", None, CLIENT, "string", "The form of dates."),
    setting("IntervalStyle", None, CLIENT, "enum", "The form of intervals."),
    setting("TimeZone", None, CLIENT, "string", "The time zone of instants."),
    setting("application_name", None, "Reporting and Logging", "string", "The name that the client gave itself."),
    setting("bytea_output", None, CLIENT, "enum", "The form of bytes as text."),
    setting("client_encoding", None, CLIENT, "string", "The encoding of texts of the client."),
    setting("client_min_messages", None, CLIENT, "enum", "The least level of messages for the client."),
    setting("default_table_access_method", None, CLIENT, "string", "The access method of new tables."),
    setting("default_transaction_isolation", None, CLIENT, "enum", "The isolation of new transactions."),
    setting("default_transaction_read_only", None, CLIENT, "bool", "Whether new transactions only read."),
    setting("extra_float_digits", None, CLIENT, "integer", "Further digits of floats as text."),
    setting(
        "idle_in_transaction_session_timeout",
        Some("ms"),
        CLIENT,
        "integer",
        "The longest wait inside a transaction.",
    ),
    setting("integer_datetimes", None, PRESET, "bool", "Whether instants are whole numbers."),
    setting("is_superuser", None, PRESET, "bool", "Whether the user is the owner of the database."),
    setting("jit", None, "Query Tuning", "bool", "Whether expressions are compiled."),
    setting("lc_collate", None, PRESET, "string", "The order of texts."),
    setting("lc_ctype", None, PRESET, "string", "The kinds of characters."),
    setting("lc_messages", None, CLIENT, "string", "The language of messages."),
    setting("lc_monetary", None, CLIENT, "string", "The form of amounts of money."),
    setting("lc_numeric", None, CLIENT, "string", "The form of numbers."),
    setting("lc_time", None, CLIENT, "string", "The form of dates in TO_CHAR."),
    setting("lock_timeout", Some("ms"), CLIENT, "integer", "The longest wait for a lock."),
    setting("max_identifier_length", None, PRESET, "integer", "The most bytes of a name."),
    setting("max_index_keys", None, PRESET, "integer", "The most columns of an index."),
    setting("row_security", None, CLIENT, "bool", "Whether policies of rows hold."),
    setting("search_path", None, CLIENT, "string", "The schemas of names without a schema."),
    setting("server_encoding", None, PRESET, "string", "The encoding of texts of the server."),
    setting("server_version", None, PRESET, "string", "The version of the server."),
    setting("server_version_num", None, PRESET, "integer", "The version of the server as a number."),
    setting("session_authorization", None, CLIENT, "string", "The user of the session."),
    setting(
        "standard_conforming_strings",
        None,
        "Version and Platform Compatibility",
        "bool",
        "Whether a backslash is a character.",
    ),
    setting("statement_timeout", Some("ms"), CLIENT, "integer", "The longest time of a statement."),
    setting("transaction_isolation", None, CLIENT, "enum", "The isolation of the transaction."),
    setting("transaction_read_only", None, CLIENT, "bool", "Whether the transaction only reads."),
];

impl Translator<'_> {
    /// A relation of the session as a query of its rows; `None` of any other relation.
    pub(super) fn session_relation(
        &mut self,
        schema: &str,
        name: &str,
    ) -> Result<Option<(Vec<Output>, Query)>, CatalogError> {
        if schema != "pg_catalog" {
            return Ok(None);
        }
        let Some(found) = relation_named(schema, name) else { return Ok(None) };
        let rows = match name {
            "pg_settings" => self.settings(),
            "pg_stat_activity" => vec![row_of(&found.attributes, self.activity())],
            "pg_prepared_statements" => {
                self.session.statements.iter().map(|named| row_of(&found.attributes, statement(named))).collect()
            }
            "pg_cursors" => self.session.cursors.iter().map(|named| row_of(&found.attributes, cursor(named))).collect(),
            _ => return Ok(None),
        };
        self.depends_on_session = true;
        Ok(Some((outputs_of(found), rows_query(&found.attributes, &rows)?)))
    }

    fn settings(&self) -> Vec<Vec<String>> {
        let row = |entry: &SettingEntry| {
            let value = text(&(self.session.setting)(entry.name)?).to_string();
            let context = if entry.category == PRESET { "internal" } else { "user" };
            let unit = entry.unit.map_or_else(|| null().to_string(), |unit| text(unit).to_string());
            let texts = |values: [&str; 3]| values.map(|value| text(value).to_string());
            let [category, description, context] = texts([entry.category, entry.description, context]);
            let [kind, source, none] = [text(entry.kind).to_string(), text("default").to_string(), null().to_string()];
            Some(vec![
                text(entry.name).to_string(),
                value.clone(),
                unit,
                category,
                description,
                none.clone(),
                context,
                kind,
                source,
                none.clone(),
                none.clone(),
                none.clone(),
                value.clone(),
                value,
                none.clone(),
                none,
                "false".to_owned(),
            ])
        };
        SETTINGS.iter().filter_map(row).collect()
    }

    fn activity(&self) -> impl IntoIterator<Item = Cell> {
        let definitions = &self.lookups.definitions;
        let user = definitions.user_oid(self.session.user).unwrap_or(crate::definitions::OWNER);
        let application = (self.session.setting)("application_name").unwrap_or_default();
        let database = crate::relations::DATABASE;
        [
            ("datid", int(database.into())),
            ("datname", text(self.session.database)),
            ("pid", int(self.session.process.into())),
            ("usesysid", int(user.into())),
            ("usename", text(self.session.user)),
            ("application_name", text(&application)),
            ("state", text("active")),
            ("backend_type", text("client backend")),
        ]
    }
}

/// A column's name and its value.
type Cell = (&'static str, Expr);

fn statement(named: &NamedStatement<'_>) -> [Cell; 7] {
    [
        ("name", text(named.name)),
        ("statement", text(named.text)),
        ("prepare_time", instant(named.prepared_ms)),
        ("parameter_types", array(named.parameter_types.iter().map(|oid| int((*oid).into())).collect())),
        ("from_sql", boolean(named.is_from_sql)),
        // A statement is planned once, and each run takes that plan.
        ("generic_plans", int(1)),
        ("custom_plans", int(0)),
    ]
}

fn cursor(named: &NamedCursor<'_>) -> [Cell; 6] {
    [
        ("name", text(named.name)),
        ("statement", text(named.text)),
        ("is_holdable", boolean(false)),
        ("is_binary", boolean(named.is_binary)),
        ("is_scrollable", boolean(false)),
        ("creation_time", instant(named.opened_ms)),
    ]
}

/// An instant, in milliseconds since 1970.
fn instant(ms: i64) -> Expr {
    call("to_timestamp_millis", vec![int(ms)])
}

/// A row of these columns, in SQL; NULL where it has no cell.
fn row_of(columns: &[Attribute], cells: impl IntoIterator<Item = Cell>) -> Vec<String> {
    let mut row = vec![null().to_string(); columns.len()];
    for (name, value) in cells {
        let place = columns.iter().position(|column| column.name == name);
        debug_assert!(place.is_some(), "the relation has the column {name}");
        if let Some(cell) = place.and_then(|place| row.get_mut(place)) {
            *cell = value.to_string();
        }
    }
    row
}

/// `SELECT CAST (value AS type) AS name, .. UNION ALL ..`; without rows, one row that does not count.
fn rows_query(columns: &[Attribute], rows: &[Vec<String>]) -> Result<Query, CatalogError> {
    let select = |row: &[String]| {
        let cells = row.iter().zip(columns).map(|(value, column)| {
            format!("CAST({value} AS {}) AS {}", super::casts::engine_type(column.ty), super::build::name(column.name))
        });
        format!("SELECT {}", cells.collect::<Vec<_>>().join(", "))
    };
    let nothing = vec![null().to_string(); columns.len()];
    let sql = match rows.is_empty() {
        true => format!("{} WHERE false", select(&nothing)),
        false => rows.iter().map(|row| select(row)).collect::<Vec<_>>().join(" UNION ALL "),
    };
    parsed(&sql)
}
