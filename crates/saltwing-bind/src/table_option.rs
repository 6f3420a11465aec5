//! Options of tables, in CREATE TABLE and in ALTER TABLE .. SET.

use saltwing_sql::statement::{OptionSpec, OptionValue};
use saltwing_types::suggest;
use saltwing_types::table::{
    BLOCK_BYTES, BLOCK_BYTES_MAX, BLOCK_ROWS, BLOCK_ROWS_MAX, IMMUTABLE_ROWS, KEEP_VERSIONS, ROW_TIMESTAMP, TTL_COLUMN,
    TableOption, VERSIONS, VERSIONS_MAX,
};
use saltwing_types::{Salt, Span, TableDef, Value};

use crate::error::{BindError, BindErrorKind, Result, invalid};

/// Options of Phoenix and HBase that have no effect on an embedded store, and are kept.
const KEPT_OPTIONS: &[&str] = &[
    "APPEND_ONLY_SCHEMA",
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "CHANGE_DETECTION_ENABLED",
    "COLUMN_ENCODED_BYTES",
    "COMPRESSION",
    "DATA_BLOCK_ENCODING",
    "DEFAULT_COLUMN_FAMILY",
    "DISABLE_MIGRATION",
    "DISABLE_WAL",
    "GUIDE_POSTS_WIDTH",
    IMMUTABLE_ROWS,
    "IMMUTABLE_STORAGE_SCHEME",
    "IN_MEMORY",
    "KEEP_DELETED_CELLS",
    "MAX_FILESIZE",
    "MEMSTORE_FLUSHSIZE",
    "MIN_VERSIONS",
    "REPLICATION_SCOPE",
    "STORE_NULLS",
    TRANSACTIONAL,
    "TRANSACTION_PROVIDER",
    "UPDATE_CACHE_FREQUENCY",
    "USE_STATS_FOR_PARALLELIZATION",
    VERSIONS,
];

/// Whether a table takes transactions. Each one does here, whatever the option says.
const TRANSACTIONAL: &str = "TRANSACTIONAL";

/// Whether a table or a family of Phoenix has the option, or Phoenix hands it to HBase: an export keeps it.
pub fn is_phoenix_option(name: &str) -> bool {
    KEPT_OPTIONS.contains(&name)
}

/// Options that have an effect and can be changed.
const HONOURED_OPTIONS: &[&str] = &[BLOCK_BYTES, BLOCK_ROWS, "FULL_SCAN", KEEP_VERSIONS, "TTL"];

/// Options that decide where a table's rows lie: given at its creation.
pub(crate) const KEY_OPTIONS: &[&str] = &["SALT_BUCKETS", "SALT_BY"];

/// Options of Phoenix whose meaning is missing, with the reason: to keep them without it would be a lie.
const UNSUPPORTED_OPTIONS: &[(&str, &str)] = &[
    ("AUTO_PARTITION_SEQ", "there are no partitions of views"),
    ("MULTI_TENANT", "make the tenant the first column of the key"),
    ("PHYSICAL_TABLE_NAME", "a table has one name"),
];

/// The options of a table, except for those of its key.
pub(crate) struct TableOptions {
    pub(crate) ttl_s: Option<u64>,
    pub(crate) options: Vec<TableOption>,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
}

impl TableOptions {
    /// No options.
    pub(crate) fn new() -> Self {
        Self { ttl_s: None, options: Vec::new(), notices: Vec::new() }
    }

    /// Those that a table has.
    pub(crate) fn of(def: &TableDef) -> Self {
        Self { ttl_s: def.ttl_s, options: def.options.clone(), notices: Vec::new() }
    }

    /// Takes an option; one that is there gets the new value.
    ///
    /// # Errors
    /// [`BindErrorKind::InvalidDefinition`] for a name that is none, with the nearest one, and for a value that is
    /// none of the option's; [`BindErrorKind::NotSupported`].
    pub(crate) fn set(&mut self, spec: &OptionSpec) -> Result<()> {
        let name = spec.name.text.to_uppercase();
        match name.as_str() {
            "TTL" => self.ttl_s = ttl(spec)?,
            BLOCK_ROWS => self.set_limit(spec, name, BLOCK_ROWS_MAX)?,
            BLOCK_BYTES => self.set_limit(spec, name, BLOCK_BYTES_MAX)?,
            // That of a family has no effect.
            VERSIONS if spec.family.is_none() => {
                let count = whole(spec, 1, VERSIONS_MAX)?;
                self.put(TableOption { name, value: Value::Int(count as i64), honoured: true });
            }
            KEEP_VERSIONS => match word(spec).as_str() {
                "NONE" => self.options.retain(|known| known.name != name),
                _ => {
                    let seconds = seconds(spec)?;
                    self.put(TableOption { name, value: Value::Int(seconds as i64), honoured: true });
                }
            },
            "FULL_SCAN" => {
                let policy = word(spec);
                if !["ALLOW", "WARN", "ERROR"].contains(&policy.as_str()) {
                    return Err(invalid("FULL_SCAN is 'allow', 'warn' or 'error'").at(Some(spec.value_span)));
                }
                self.put(TableOption { name, value: Value::Text(policy.to_lowercase()), honoured: true });
            }
            kept if KEPT_OPTIONS.contains(&kept) => {
                let shown = spec.family.as_ref().map_or_else(|| name.clone(), |f| format!("{}.{name}", f.text));
                self.notices.push(kept_notice(&shown));
                self.put(TableOption { name: shown, value: kept_value(&spec.value), honoured: false });
            }
            ROW_TIMESTAMP => {
                let text = "ROW_TIMESTAMP is said of a column in the key: PRIMARY KEY (k, ts ROW_TIMESTAMP)";
                return Err(invalid(text).at(Some(spec.span)));
            }
            TTL_COLUMN => {
                let error = invalid("TTL_COLUMN is fixed when a table is made: each row keeps its time");
                return Err(error.at(Some(spec.span)));
            }
            other => {
                let Some((_, reason)) = UNSUPPORTED_OPTIONS.iter().find(|(option, _)| *option == other) else {
                    return Err(unknown(spec, &name));
                };
                let error = BindErrorKind::NotSupported(format!("the table option {other}"));
                return Err(BindError::from(error).at(Some(spec.span)).help(*reason));
            }
        }
        Ok(())
    }

    fn put(&mut self, option: TableOption) {
        match self.options.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&option.name)) {
            Some(known) => *known = option,
            None => self.options.push(option),
        }
    }

    /// A limit of blocks; NONE leaves it to the database.
    fn set_limit(&mut self, spec: &OptionSpec, name: String, most: u64) -> Result<()> {
        if word(spec) == "NONE" {
            self.options.retain(|known| known.name != name);
            return Ok(());
        }
        let limit = whole(spec, 1, most).map_err(|e| e.help("NONE leaves it to the database"))?;
        self.put(TableOption { name, value: Value::Int(limit as i64), honoured: true });
        Ok(())
    }
}

fn unknown(spec: &OptionSpec, name: &str) -> BindError {
    let known = [KEPT_OPTIONS, HONOURED_OPTIONS, KEY_OPTIONS, &[TTL_COLUMN]].into_iter().flatten().copied();
    let error = invalid(format!("there is no table option {}", spec.name.text)).at(Some(spec.name.span));
    match suggest(name, known) {
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error,
    }
}

/// The notice for an option that has no effect.
fn kept_notice(option: &str) -> String {
    if option == TRANSACTIONAL {
        return format!("{option} is kept: every table is transactional");
    }
    format!("{option} is kept, and has no effect on an embedded store")
}

/// The salt of SALT_BUCKETS, and of SALT_BY: how many leading columns it names, and its place.
pub(crate) fn salt(buckets: Option<u16>, by: Option<(usize, Span)>) -> Result<Option<Salt>> {
    match (buckets, by) {
        (None, Some((_, span))) => Err(invalid("SALT_BY needs SALT_BUCKETS").at(Some(span))),
        (buckets, by) => Ok(buckets.map(|buckets| Salt { buckets, by: by.map(|(count, _)| count) })),
    }
}

/// A whole number in a range.
pub(crate) fn whole(spec: &OptionSpec, least: u64, most: u64) -> Result<u64> {
    let found = match &spec.value {
        OptionValue::Number(text) | OptionValue::Text(text) => text.parse::<u64>().ok(),
        _ => None,
    };
    found.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
        invalid(format!("{} is a whole number from {least} to {most}", spec.name.text)).at(Some(spec.value_span))
    })
}

fn word(spec: &OptionSpec) -> String {
    match &spec.value {
        OptionValue::Text(text) | OptionValue::Word(text) => text.to_uppercase(),
        _ => String::new(),
    }
}

fn ttl(spec: &OptionSpec) -> Result<Option<u64>> {
    match word(spec).as_str() {
        "NONE" | "FOREVER" => Ok(None),
        _ => whole(spec, 1, u64::from(u32::MAX)).map(Some).map_err(|e| {
            e.help(
                "TTL is in seconds, and FOREVER is none; it takes no condition: DELETE FROM t WHERE .. deletes by one",
            )
        }),
    }
}

/// A number of seconds, or a number of a unit as a text: `'7 days'`.
fn seconds(spec: &OptionSpec) -> Result<u64> {
    let wrong = || {
        let text = format!("{} is a number of seconds, or a text like '7 days'", spec.name.text);
        invalid(text).at(Some(spec.value_span)).help("the units are second, minute, hour and day; NONE keeps none")
    };
    let (OptionValue::Number(text) | OptionValue::Text(text)) = &spec.value else { return Err(wrong()) };
    let mut words = text.split_whitespace();
    let number: Option<u64> = words.next().and_then(|number| number.parse().ok());
    let unit = match words.next().map(|unit| unit.to_lowercase()).as_deref().map(|unit| unit.trim_end_matches('s')) {
        None | Some("second") => Some(1),
        Some("minute") => Some(60),
        Some("hour") => Some(3600),
        Some("day") => Some(86_400),
        Some(_) => None,
    };
    let seconds = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    seconds.filter(|n| (1..=u64::from(u32::MAX)).contains(n) && words.next().is_none()).ok_or_else(wrong)
}

fn kept_value(value: &OptionValue) -> Value {
    match value {
        OptionValue::Number(text) => text.parse::<i64>().map_or_else(|_| Value::text(text), Value::Int),
        OptionValue::Text(text) => Value::text(text),
        OptionValue::Bool(b) => Value::Bool(*b),
        OptionValue::Word(word) if word.eq_ignore_ascii_case("NONE") || word.eq_ignore_ascii_case("NULL") => {
            Value::Null
        }
        OptionValue::Word(word) => Value::text(word),
        OptionValue::Names(names) => Value::text(names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(", ")),
    }
}
