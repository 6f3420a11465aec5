//! The settings: each is one entry of [`SETTINGS`], which SET, SHOW, completion and the documentation use.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::Duration;

use saltwing_access::Durability;
use saltwing_plan::Policy;
use saltwing_planner::Guard;
use saltwing_sql::Dialect;
use saltwing_sql::statement::{OptionValue, Set};
use saltwing_types::{ErrorCode, parse_bytes};

use crate::Error;
use crate::builder::{Builder, COMMIT_BYTES};
use crate::shared::Shared;

/// Which executor runs queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecutorChoice {
    /// The direct path if it supports the query, else the relational engine.
    #[default]
    Auto,
    /// The direct path only: other queries are refused with 0A000.
    Direct,
    /// The relational engine only.
    DataFusion,
}

/// Settings of a connection; `SET name = value` changes them. [`SETTINGS`] describes each.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `None` leaves the decision to the table and the database.
    pub full_scan: Option<Policy>,
    /// `None` is no limit.
    pub statement_timeout: Option<Duration>,
    /// `None` is no limit.
    pub rows_max: Option<u64>,
    /// `None` is no limit.
    pub bytes_max: Option<u64>,
    /// `None` is never.
    pub rows_warn: Option<u64>,
    /// `None` is never.
    pub bytes_warn: Option<u64>,
    /// `None` is never.
    pub time_warn: Option<Duration>,
    /// `None` is no limit.
    pub recursion_rounds_max: Option<u64>,
    /// `None` is no limit.
    pub recursion_rows_max: Option<u64>,
    /// `None` is no limit.
    pub transaction_timeout: Option<Duration>,
    /// In bytes; at most what the database was opened with ([`Builder::statement_memory_limit`]).
    pub statement_memory_limit: usize,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// In bytes of encoded rows.
    pub commit_bytes_max: usize,
    /// `None` is never: each statement is one commit, except COPY, which commits some thousand rows at a time.
    pub autocommit_rows: Option<NonZeroU64>,
    /// Which executor runs queries.
    pub executor: ExecutorChoice,
    /// The language of statements.
    pub dialect: Dialect,
}

impl Settings {
    /// The settings of a new connection.
    pub(crate) fn new(options: &Builder) -> Self {
        Self {
            full_scan: None,
            statement_timeout: None,
            rows_max: None,
            bytes_max: None,
            rows_warn: Some(10_000_000),
            bytes_warn: None,
            time_warn: None,
            // A few seconds.
            recursion_rounds_max: Some(100_000),
            recursion_rows_max: Some(10_000_000),
            transaction_timeout: None,
            statement_memory_limit: options.statement_memory_most(),
            durability: options.durability,
            commit_bytes_max: options.commit_bytes_max,
            autocommit_rows: None,
            executor: ExecutorChoice::Auto,
            dialect: Dialect::Saltwing,
        }
    }

    /// Whether a statement that reads at most `rows_most` rows can exceed no limit and cause no notice.
    pub(crate) fn allows_unmetered(&self, rows_most: u64) -> bool {
        let Self { rows_max, bytes_max, rows_warn, bytes_warn, time_warn, .. } = self;
        let is_metered = bytes_max.is_some() || bytes_warn.is_some() || time_warn.is_some();
        !is_metered && rows_max.is_none_or(|most| most >= rows_most) && rows_warn.is_none_or(|least| least > rows_most)
    }
}

/// The owner of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Each connection has its own value.
    Connection,
    /// All connections to a database share one value.
    Database,
}

/// A setting: `SET name = value` changes it, `SET name = DEFAULT` resets it, and `SHOW name` shows it in a form that
/// SET accepts.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, in lower case; statements may write it in any case.
    pub name: &'static str,
    /// The values that the setting accepts, for messages.
    pub values: &'static str,
    /// The effect of the setting.
    pub description: &'static str,
    place: Place,
}

/// The field that holds the value of a setting.
#[derive(Clone, Copy, Debug)]
enum Place {
    Connection(fn(&mut Settings) -> Field<'_>),
    MemoryLimit,
    StatementMemoryLimit,
}

/// A field of [`Settings`] by its type.
enum Field<'s> {
    Limit(&'s mut Option<u64>),
    Time(&'s mut Option<Duration>),
    Bytes(&'s mut usize, RangeInclusive<usize>),
    Parts(&'s mut Option<NonZeroU64>),
    Policy(&'s mut Option<Policy>),
    Durability(&'s mut Durability),
    Executor(&'s mut ExecutorChoice),
    Dialect(&'s mut Dialect),
}

/// All settings.
pub const SETTINGS: [Setting; 17] = [
    Setting {
        name: "full_scan",
        values: "'allow', 'warn' or 'error'",
        description: "what becomes of a statement that reads a whole table; 'default' leaves it to the table and the database",
        place: Place::Connection(|settings| Field::Policy(&mut settings.full_scan)),
    },
    Setting {
        name: "statement_timeout",
        values: "'5s', '200ms' or milliseconds",
        description: "the time after which a statement is cancelled; 0 is no limit",
        place: Place::Connection(|settings| Field::Time(&mut settings.statement_timeout)),
    },
    Setting {
        name: "rows_max",
        values: "a number of rows, 0 for no limit",
        description: "the most rows that a statement may scan",
        place: Place::Connection(|settings| Field::Limit(&mut settings.rows_max)),
    },
    Setting {
        name: "bytes_max",
        values: "a number of bytes, 0 for no limit",
        description: "the most stored bytes that a statement may scan",
        place: Place::Connection(|settings| Field::Limit(&mut settings.bytes_max)),
    },
    Setting {
        name: "rows_warn",
        values: "a number of rows, 0 for never",
        description: "a statement that scans as many rows gets a notice",
        place: Place::Connection(|settings| Field::Limit(&mut settings.rows_warn)),
    },
    Setting {
        name: "bytes_warn",
        values: "a number of bytes, 0 for never",
        description: "a statement that scans as many stored bytes gets a notice",
        place: Place::Connection(|settings| Field::Limit(&mut settings.bytes_warn)),
    },
    Setting {
        name: "time_warn",
        values: "'5s', '200ms' or milliseconds, 0 for never",
        description: "a statement that takes as long gets a notice",
        place: Place::Connection(|settings| Field::Time(&mut settings.time_warn)),
    },
    Setting {
        name: "recursion_rounds_max",
        values: "a number of rounds, 0 for no limit",
        description: "the most rounds of the recursive queries of a statement",
        place: Place::Connection(|settings| Field::Limit(&mut settings.recursion_rounds_max)),
    },
    Setting {
        name: "recursion_rows_max",
        values: "a number of rows, 0 for no limit",
        description: "the most rows that these rounds make",
        place: Place::Connection(|settings| Field::Limit(&mut settings.recursion_rows_max)),
    },
    Setting {
        name: "transaction_timeout",
        values: "'30s', '200ms' or milliseconds",
        description: "the time after which a transaction that BEGIN opens is rolled back; 0 is no limit",
        place: Place::Connection(|settings| Field::Time(&mut settings.transaction_timeout)),
    },
    Setting {
        name: "durability",
        values: "'synced' or 'buffered'",
        description: "whether a write is acknowledged when it is on the disk, or before: then a crash may take it",
        place: Place::Connection(|settings| Field::Durability(&mut settings.durability)),
    },
    Setting {
        name: "commit_bytes_max",
        values: "a number of bytes, 1 to 1000000000",
        description: "the most bytes of encoded rows that one commit may hold",
        place: Place::Connection(|settings| Field::Bytes(&mut settings.commit_bytes_max, COMMIT_BYTES)),
    },
    Setting {
        name: "autocommit_rows",
        values: "a number of rows, 0 for never",
        description: "UPSERT SELECT, INSERT SELECT, UPDATE of no key column, DELETE and COPY commit after so many rows",
        place: Place::Connection(|settings| Field::Parts(&mut settings.autocommit_rows)),
    },
    Setting {
        name: "executor",
        values: "'auto', 'direct' or 'datafusion'",
        description: "which executor runs queries; 'auto' is the direct one where it can",
        place: Place::Connection(|settings| Field::Executor(&mut settings.executor)),
    },
    Setting {
        name: "dialect",
        values: "'saltwing' or 'phoenix'",
        description: "the language of statements; 'phoenix' is for those that were written for Apache Phoenix",
        place: Place::Connection(|settings| Field::Dialect(&mut settings.dialect)),
    },
    Setting {
        name: "statement_memory_limit",
        values: "a number of bytes, such as '512MB'",
        description: "the most memory of one running statement; at most what the database was opened with",
        place: Place::StatementMemoryLimit,
    },
    Setting {
        name: "memory_limit",
        values: "a number of bytes, such as '512MB'",
        description: "the most memory of all running statements; at most what the database was opened with",
        place: Place::MemoryLimit,
    },
];

impl Setting {
    /// The setting of this name, in any case.
    ///
    /// # Errors
    /// [`ErrorCode::BadArgument`], with the nearest name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, Error> {
        const ALL: &[Setting] = &SETTINGS;
        ALL.iter().find(|setting| setting.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names = || ALL.iter().map(|setting| setting.name);
            let near = saltwing_types::suggest(name, names());
            let all = names().collect::<Vec<_>>().join(", ");
            let help = near.map_or_else(|| format!("there are {all}"), |near| format!("did you mean {near}?"));
            Error::new(ErrorCode::BadArgument, format!("there is no setting {name}")).with_help(Some(help))
        })
    }

    /// The scope of the setting.
    pub fn scope(&self) -> SettingScope {
        match self.place {
            Place::Connection(_) | Place::StatementMemoryLimit => SettingScope::Connection,
            Place::MemoryLimit => SettingScope::Database,
        }
    }

    /// The value, in the form that SET accepts.
    pub(crate) fn show(&self, settings: &mut Settings, shared: &Shared) -> String {
        match self.place {
            Place::Connection(field) => field(settings).show(),
            Place::MemoryLimit => shared.memory.limit().to_string(),
            Place::StatementMemoryLimit => settings.statement_memory_limit.to_string(),
        }
    }

    /// `SET name = value`, or `SET name = DEFAULT`.
    pub(crate) fn set(&self, set: &Set, settings: &mut Settings, shared: &Shared) -> Result<(), Error> {
        let refused = |text: String| Error::new(ErrorCode::BadArgument, text).at(Some(set.value_span));
        let takes = || refused(format!("{} takes {}", self.name, self.values));
        let value = set.value.as_ref().map(|value| value_text(value).ok_or_else(takes)).transpose()?;
        match self.place {
            Place::Connection(field) => {
                let default = || field(&mut Settings::new(&shared.options)).show();
                field(settings).set(&value.unwrap_or_else(default)).ok_or_else(takes)
            }
            Place::MemoryLimit | Place::StatementMemoryLimit => {
                let is_of_all = matches!(self.place, Place::MemoryLimit);
                let options = &shared.options;
                let most = if is_of_all { options.memory_limit } else { options.statement_memory_most() };
                let bytes = value.map_or(Some(most), |value| usize::try_from(parse_bytes(&value)?).ok());
                let bytes = bytes.filter(|bytes| *bytes > 0).ok_or_else(takes)?;
                if bytes > most {
                    let name = self.name;
                    return Err(refused(format!("{name} is at most {most} bytes, with which the database was opened")));
                }
                match is_of_all {
                    true => shared.memory.set_limit(bytes),
                    false => settings.statement_memory_limit = bytes,
                }
                Ok(())
            }
        }
    }
}

fn value_text(value: &OptionValue) -> Option<String> {
    match value {
        OptionValue::Number(text) | OptionValue::Text(text) | OptionValue::Word(text) => Some(text.to_lowercase()),
        OptionValue::Bool(truth) => Some(truth.to_string()),
        OptionValue::Names(_) => None,
    }
}

impl Field<'_> {
    fn show(&self) -> String {
        match self {
            Self::Limit(limit) => limit.unwrap_or(0).to_string(),
            Self::Time(time) => format!("{}ms", time.map_or(0, |time| time.as_millis())),
            Self::Bytes(bytes, _) => bytes.to_string(),
            Self::Parts(rows) => rows.map_or(0, NonZeroU64::get).to_string(),
            Self::Policy(None) => "default".into(),
            Self::Policy(Some(Policy::Allow)) => "allow".into(),
            Self::Policy(Some(Policy::Warn)) => "warn".into(),
            Self::Policy(Some(Policy::Error)) => "error".into(),
            Self::Durability(Durability::Synced) => "synced".into(),
            Self::Durability(Durability::Buffered) => "buffered".into(),
            Self::Executor(ExecutorChoice::Auto) => "auto".into(),
            Self::Executor(ExecutorChoice::Direct) => "direct".into(),
            Self::Executor(ExecutorChoice::DataFusion) => "datafusion".into(),
            Self::Dialect(Dialect::Saltwing) => "saltwing".into(),
            Self::Dialect(Dialect::Phoenix) => "phoenix".into(),
        }
    }

    /// Changes the value; `None` if the text is not a permitted value.
    fn set(self, text: &str) -> Option<()> {
        match self {
            Self::Limit(limit) => *limit = Some(text.parse().ok()?).filter(|limit| *limit > 0),
            Self::Time(time) => *time = duration(text)?,
            Self::Bytes(bytes, range) => *bytes = text.parse().ok().filter(|bytes| range.contains(bytes))?,
            Self::Parts(rows) => *rows = NonZeroU64::new(text.parse().ok()?),
            Self::Policy(policy) if text == "default" => *policy = None,
            Self::Policy(policy) => *policy = Some(Guard::policy(text)?),
            Self::Durability(durability) => {
                *durability = match text {
                    "synced" => Durability::Synced,
                    "buffered" => Durability::Buffered,
                    _ => return None,
                }
            }
            Self::Executor(executor) => {
                *executor = match text {
                    "auto" => ExecutorChoice::Auto,
                    "direct" => ExecutorChoice::Direct,
                    "datafusion" => ExecutorChoice::DataFusion,
                    _ => return None,
                }
            }
            Self::Dialect(dialect) => {
                *dialect = match text {
                    "saltwing" => Dialect::Saltwing,
                    "phoenix" => Dialect::Phoenix,
                    _ => return None,
                }
            }
        }
        Some(())
    }
}

/// Parses `5s`, `200ms`, `2min`, or milliseconds; 0 is `None`.
fn duration(text: &str) -> Option<Option<Duration>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        _ => return None,
    };
    let ms = number.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    Some((ms > 0).then(|| Duration::from_millis(ms)))
}
