//! The parameters that there are, and the ones of PostgreSQL that Saltwing has under other names.

use saltwing::{Dialect, SETTINGS};

use super::parameter::{Parameter, SingleValue, Source, TransactionMode};

/// The version that clients see. They read its first number, and ask for the columns of the catalog by it.
pub(crate) const SERVER_VERSION: &str = concat!("15.8 (Saltwing ", env!("CARGO_PKG_VERSION"), ")");

const fn parameter(name: &'static str, description: &'static str, source: Source) -> Parameter {
    Parameter { name, description, is_reported: false, source }
}

const fn reported(name: &'static str, description: &'static str, source: Source) -> Parameter {
    Parameter { name, description, is_reported: true, source }
}

/// A parameter whose value is a field of the session's values.
macro_rules! kept {
    ($field:ident) => {
        Source::Kept { get: |values| &values.$field, get_mut: |values| &mut values.$field }
    };
}

/// A parameter of one value.
macro_rules! single {
    ($value:literal, $aliases:expr, $reason:literal) => {
        Source::Single(SingleValue { value: |_| $value, aliases: &$aliases, reason: $reason })
    };
}

const LOCALE: &str = "texts compare by their bytes, and messages are in English";

const fn locale() -> Source {
    Source::Single(SingleValue { value: |_| "C", aliases: &["POSIX", "C.UTF-8", "C.utf8"], reason: LOCALE })
}

/// All parameters, by name.
pub(crate) static PARAMETERS: [Parameter; 51] = [
    reported(
        "application_name",
        "the name of the program, in the list of sessions and in the log",
        kept!(application_name),
    ),
    parameter(
        "array_nulls",
        "whether NULL in the text of an array is NULL",
        single!("on", [], "NULL in the text of an array is NULL"),
    ),
    parameter(
        "backslash_quote",
        "whether \\' is a quote in E'..'",
        single!("safe_encoding", ["on"], "\\' is a quote in strings that have escapes"),
    ),
    parameter("bytea_output", "the form of bytes in text", single!("hex", [], "bytes are written in hex")),
    parameter(
        "check_function_bodies",
        "whether bodies of functions are checked; there are none",
        kept!(check_function_bodies),
    ),
    reported("client_encoding", "the encoding of texts between client and server", kept!(client_encoding)),
    parameter(
        "client_min_messages",
        "the least severe message that the client gets besides errors",
        kept!(client_min_messages),
    ),
    reported("DateStyle", "the form of dates", kept!(date_order)),
    parameter(
        "default_table_access_method",
        "the storage of new tables",
        single!("heap", [], "there is one kind of storage"),
    ),
    parameter(
        "default_tablespace",
        "the tablespace of new tables",
        single!("", ["pg_default"], "there are no tablespaces"),
    ),
    parameter(
        "default_transaction_deferrable",
        "whether transactions are DEFERRABLE, which concerns serializable ones",
        kept!(default_transaction_deferrable),
    ),
    parameter(
        "default_transaction_isolation",
        "the isolation level of transactions that name none; each runs as snapshot isolation",
        kept!(default_transaction_isolation),
    ),
    reported(
        "default_transaction_read_only",
        "whether transactions that say nothing else, and statements outside of transactions, may write",
        kept!(default_transaction_read_only),
    ),
    parameter(
        "escape_string_warning",
        "whether a backslash in a plain string is warned of",
        single!("off", [], "a backslash in a string is no reason for a warning"),
    ),
    parameter("extra_float_digits", "how many digits floats are written with", kept!(extra_float_digits)),
    parameter(
        "idle_in_transaction_session_timeout",
        "the time after which a session that waits inside of a transaction ends; 0 is no limit",
        kept!(idle_in_transaction_session_timeout),
    ),
    parameter(
        "idle_session_timeout",
        "the time after which a session that waits outside of a transaction ends; 0 is no limit",
        kept!(idle_session_timeout),
    ),
    reported(
        "in_hot_standby",
        "whether the database is open for reading alone",
        Source::Fixed(|facts| if facts.is_read_only_database { "on" } else { "off" }.to_owned()),
    ),
    reported("integer_datetimes", "whether instants are integers in binary form", Source::Fixed(|_| "on".to_owned())),
    reported(
        "IntervalStyle",
        "the form of intervals",
        single!("postgres", [], "intervals are written in PostgreSQL's form"),
    ),
    reported(
        "is_superuser",
        "whether the user may do everything",
        Source::Fixed(|facts| if facts.is_superuser { "on" } else { "off" }.to_owned()),
    ),
    parameter("jit", "whether queries may be compiled; none is, and their results do not depend on it", kept!(jit)),
    parameter("lc_collate", "the order of texts", Source::Fixed(|_| "C".to_owned())),
    parameter("lc_ctype", "the classes of characters", Source::Fixed(|_| "C".to_owned())),
    parameter("lc_messages", "the language of messages", locale()),
    parameter("lc_monetary", "the form of amounts of money", locale()),
    parameter("lc_numeric", "the form of numbers", locale()),
    parameter("lc_time", "the names of days and months", locale()),
    parameter(
        "lock_timeout",
        "the time that a statement waits for a lock; transactions take none, so every limit holds",
        kept!(lock_timeout),
    ),
    parameter("max_identifier_length", "the bytes of a name in the catalog", Source::Fixed(|_| "63".to_owned())),
    parameter("max_index_keys", "the columns of a key", Source::Fixed(|_| "1000".to_owned())),
    parameter(
        "password_encryption",
        "the form in which passwords are stored",
        single!("scram-sha-256", [], "passwords are stored as SCRAM verifiers"),
    ),
    parameter(
        "quote_all_identifiers",
        "whether all names in texts of definitions stand in quotes",
        single!("off", [], "names stand in quotes where they must"),
    ),
    parameter("role", "the role of the session", single!("none", [], "there are users and no roles")),
    parameter(
        "row_security",
        "whether policies filter rows; there are none, so no row is left out",
        kept!(row_security),
    ),
    parameter("search_path", "the schemas of names without a schema", kept!(search_path)),
    reported("server_encoding", "the encoding of stored texts", Source::Fixed(|_| "UTF8".to_owned())),
    reported(
        "server_version",
        "the version of PostgreSQL whose protocol and catalog this is",
        Source::Fixed(|_| SERVER_VERSION.to_owned()),
    ),
    parameter("server_version_num", "the same as a number", Source::Fixed(|_| "150008".to_owned())),
    reported("session_authorization", "the user of the session", Source::Fixed(|facts| facts.user.clone())),
    reported(
        "standard_conforming_strings",
        "whether a backslash in '..' is a backslash",
        Source::Single(SingleValue {
            value: |facts| match facts.dialect {
                Dialect::Saltwing => "on",
                Dialect::Phoenix => "off",
            },
            aliases: &[],
            reason: "the dialect decides whether strings have escapes",
        }),
    ),
    parameter(
        "statement_timeout",
        "the time after which a statement is cancelled; 0 is no limit",
        kept!(statement_timeout),
    ),
    parameter(
        "synchronize_seqscans",
        "whether scans of one table join each other",
        single!("off", [], "a scan reads in the order of the key"),
    ),
    parameter(
        "temp_tablespaces",
        "the tablespaces of temporary tables",
        single!("", ["pg_default"], "there are no tablespaces"),
    ),
    reported("TimeZone", "the time zone of the session", kept!(time_zone)),
    parameter(
        "transaction_deferrable",
        "whether the transaction is DEFERRABLE",
        Source::Mode(TransactionMode::Deferrable),
    ),
    parameter(
        "transaction_isolation",
        "the isolation level of the transaction",
        Source::Mode(TransactionMode::Isolation),
    ),
    parameter("transaction_read_only", "whether the transaction may write", Source::Mode(TransactionMode::ReadOnly)),
    parameter(
        "transform_null_equals",
        "whether = NULL is IS NULL",
        single!("off", [], "a comparison with NULL is NULL"),
    ),
    parameter("xmlbinary", "the form of bytes in XML", single!("base64", [], "there is no XML")),
    parameter("xmloption", "whether XML is a document", single!("content", [], "there is no XML")),
];

/// The parameter of a name, in any case.
pub(super) fn parameter_named(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))
}

/// Whether a name is that of a setting that the library alone has (`docs/settings.md`).
///
/// `statement_timeout` is a parameter of PostgreSQL as well, and a session takes it as that.
pub(crate) fn is_library_setting(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name.eq_ignore_ascii_case(name)) && parameter_named(name).is_none()
}

/// Parameters of PostgreSQL whose purpose a setting of the library serves, with that setting.
const OF_THE_LIBRARY: [(&str, &str); 4] = [
    (
        "synchronous_commit",
        "SET durability = 'buffered' acknowledges commits before they are on the disk, 'synced' after",
    ),
    ("work_mem", "SET statement_memory_limit is the memory of one statement, and SET memory_limit that of all"),
    (
        "maintenance_work_mem",
        "SET statement_memory_limit is the memory of one statement, and SET memory_limit that of all",
    ),
    ("enable_seqscan", "SET full_scan decides whether a statement may read a whole table"),
];

/// What the client may have meant by a name that is no parameter.
pub(super) fn advice(name: &str) -> Option<String> {
    if let Some((_, help)) = OF_THE_LIBRARY.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
        return Some((*help).to_owned());
    }
    let known = PARAMETERS.iter().map(|parameter| parameter.name).chain(SETTINGS.iter().map(|setting| setting.name));
    saltwing::suggest(name, known).map(|near| format!("did you mean {near}?"))
}

/// What a client can do instead of a value that is refused.
pub(super) fn help_for(parameter: &Parameter) -> Option<&'static str> {
    match parameter.name {
        "search_path" => Some("name the schema with the table"),
        "TimeZone" => {
            Some("convert in the query: ts AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin' is the local time of ts")
        }
        "standard_conforming_strings" => {
            Some("SET dialect = 'phoenix' reads escapes in strings, 'saltwing' only in E'..'")
        }
        "default_transaction_isolation" | "transaction_isolation" => {
            Some("to prevent write skew, let both transactions write a common row")
        }
        _ => None,
    }
}
