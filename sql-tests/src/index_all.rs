//! Indexes that a file does not ask for: every column of every table gets one, and the rows must be the same. They are, in
//! turn, global with the buckets of the table, local, and global with three buckets.
//!
//! A record is skipped if it is about the access rather than the rows: plans, definitions, counts of keys and refusals of full
//! scans.

use saltwing::Value;
use saltwing::blocking::Connection;

use crate::answer::Answer;

/// Words of statements that show plans, definitions or how much was read.
const OF_ACCESS: [&str; 12] = [
    "EXPLAIN",
    "ADVISE",
    "SHOW ",
    "DESCRIBE ",
    "INFORMATION_SCHEMA",
    "EXPORT ",
    " AFTER ",
    "RENAME",
    "INDEX ",
    "FULL_SCAN",
    "ATTACH ",
    "INDEX_ALL",
];

/// Gives every column of every table an index, except columns that cannot have one.
pub(crate) fn add(connection: &Connection) {
    for row in rows(connection, "SHOW TABLES") {
        let table = path(&row);
        let Ok(columns) = connection.query(&format!("SELECT * FROM {table} LIMIT 0"), ()) else { continue };
        const KINDS: [(&str, &str); 3] = [("", ""), ("LOCAL", ""), ("", "SALT_BUCKETS = 3")];
        let columns = columns.columns().iter().map(|column| column.label.to_string());
        for (column, (kind, options)) in columns.zip(KINDS.iter().cycle()) {
            let index = quoted(&format!("of {} {column}", name(&row, 1)));
            let sql = format!("CREATE {kind} INDEX IF NOT EXISTS {index} ON {table} ({}) {options}", quoted(&column));
            // Views, arrays and the like have none.
            drop(connection.execute(&sql, ()));
        }
    }
}

/// Drops the indexes that a message names: a row may have no entry, and a column that has an index cannot be dropped.
/// Whether there were any.
pub(crate) fn drop_named(connection: &Connection, message: &str) -> bool {
    let is_named = |row: &Vec<Value>| message.contains(name(row, 2));
    let drops = |row: Vec<Value>| {
        let sql = format!("DROP INDEX {} ON {}", quoted(name(&row, 2)), path(&row));
        connection.execute(&sql, ()).is_ok()
    };
    rows(connection, "SHOW INDEXES").into_iter().filter(is_named).filter_map(|row| drops(row).then_some(())).count() > 0
}

fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let Ok(rows) = connection.query(sql, ()) else { return Vec::new() };
    rows.filter_map(|row| row.and_then(|row| row.values()).ok()).collect()
}

fn name(row: &[Value], column: usize) -> &str {
    row.get(column).and_then(Value::as_text).unwrap_or_default()
}

/// The table of a row whose first columns are its schema and its name.
fn path(row: &[Value]) -> String {
    match name(row, 0) {
        "" => quoted(name(row, 1)),
        schema => format!("{}.{}", quoted(schema), quoted(name(row, 1))),
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether a statement makes or changes tables.
pub(crate) fn makes_tables(sql: &str) -> bool {
    let upper = sql.trim_start().to_uppercase();
    upper.starts_with("CREATE") && upper.contains("TABLE") || upper.starts_with("ALTER TABLE")
}

/// Whether a record is about the access.
pub(crate) fn is_of_access(sql: &str) -> bool {
    let upper = sql.to_uppercase();
    OF_ACCESS.iter().any(|words| upper.contains(words))
}

/// Whether a statement would do what it is refused for without an index, or sets a limit that entries count against.
pub(crate) fn is_left_out(sql: &str, expected: Option<&str>) -> bool {
    let upper = sql.trim_start().to_uppercase();
    let sets_limit =
        ["SET ROWS_MAX", "SET BYTES_MAX", "SET COMMIT_BYTES_MAX"].iter().any(|words| upper.starts_with(words));
    let is_write = ["UPDATE", "DELETE", "UPSERT", "INSERT", "MERGE"].iter().any(|verb| upper.starts_with(verb));
    let is_refusal = expected
        .is_some_and(|error| ["54F01", "full_scan", "54000", "54F02", "53200"].iter().any(|code| error.contains(code)));
    sets_limit || is_write && is_refusal
}

/// Whether a query says nothing about which rows it gives, or in which order.
pub(crate) fn has_any_order(sql: &str) -> bool {
    !sql.to_uppercase().contains("ORDER BY")
}

/// Whether an answer has the expected values in another order.
pub(crate) fn has_same_values(answer: &Answer, expected: &[String]) -> bool {
    let words = |lines: &mut dyn Iterator<Item = String>| {
        let mut words: Vec<String> =
            lines.flat_map(|line| line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
        words.sort();
        words
    };
    words(&mut answer.lines()) == words(&mut expected.iter().cloned())
}
