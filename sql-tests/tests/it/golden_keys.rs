//! Keys that a live Phoenix wrote, against those that the same statements write here.
//!
//! `sql-tests/golden/keys.jsonl` has a CREATE TABLE, an UPSERT and the row key it wrote on a
//! line. Both statements are run as they are, and `_row_key` is read. Then the row's
//! values are read and written again as parameters, which must give the same key.
//!
//! Where we differ by design, `sql-tests/golden/differs.txt` and `sql-tests/golden/refused.txt` say so,
//! line by line with a reason; what they say is held in both directions, and each
//! reason to the statement it stands for. `UPDATE_GOLDEN=1` writes them.
//! `GOLDEN_KEYS=file` runs another file of the same form instead, and holds it to
//! the reasons alone: no line may differ or be refused without one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use saltwing::blocking::Connection;
use saltwing::{Database, Error, ErrorCode, Params, Value};
use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    id: String,
    ddl: String,
    upsert: String,
    key: String,
    phoenix_bug: Option<String>,
    sound_key: Option<String>,
}

impl Line {
    /// The key that this statement has here, unless a list says otherwise.
    fn expected(&self) -> &str {
        match self.phoenix_bug.as_deref() {
            None => &self.key,
            // Its plain inversion, which reads back as written here.
            Some("boolean_desc") => &self.key,
            Some("decimal_desc_not_inverted") => self.sound_key.as_deref().unwrap(),
            Some(other) => panic!("{}: unknown fault {other}", self.id),
        }
    }

    /// The strings of the UPSERT, as Phoenix writes them: with '' and \' inside.
    fn strings(&self) -> Vec<String> {
        let (mut strings, mut chars) = (Vec::new(), self.upsert.chars().peekable());
        while let Some(c) = chars.next() {
            if c != '\'' {
                continue;
            }
            let mut string = String::new();
            while let Some(c) = chars.next() {
                match c {
                    '\\' => string.extend([c].into_iter().chain(chars.next())),
                    '\'' if chars.peek() == Some(&'\'') => string.extend(chars.next()),
                    '\'' => break,
                    c => string.push(c),
                }
            }
            strings.push(string);
        }
        strings
    }

    /// Why its key differs here.
    fn why_differs(&self) -> Option<&'static str> {
        let strings = self.strings();
        let julian = |s: &&String| s.as_str() < "1582-10-15" && is_date(s);
        if strings.iter().any(|s| s.contains('\\')) {
            return Some("backslash");
        }
        strings.iter().find(julian).map(|_| "julian")
    }

    /// Why it is refused here with this error.
    fn why_refused(&self, error: &Error) -> Option<&'static str> {
        let (code, message) = (error.code().as_str(), error.to_string());
        match code {
            "bad_key" if message.contains("empty") && self.strings().iter().any(String::is_empty) => {
                Some("empty_string")
            }
            "out_of_range" | "bad_key" if self.ddl.contains("DECIMAL") && message.contains("DECIMAL") => {
                Some("decimal_magnitude")
            }
            // What Phoenix reads as an escape ends a string here.
            "syntax" if self.strings().iter().any(|s| s.contains(r"\'")) => Some("backslash"),
            "too_long" if self.strings().iter().any(|s| s.contains('\\')) => Some("backslash"),
            _ => None,
        }
    }
}

/// `yyyy-..`
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8 && bytes.iter().take(4).all(u8::is_ascii_digit) && bytes.get(4) == Some(&b'-')
}

/// The name behind CREATE TABLE, as written.
fn table_of(ddl: &str) -> &str {
    let rest = ddl.strip_prefix("CREATE TABLE ").unwrap();
    rest.get(..rest.find(" (").unwrap()).unwrap()
}

/// The table that the lines with one CREATE TABLE share.
struct Table {
    connection: Connection,
    name: String,
}

impl Table {
    fn create(ddl: &str) -> Result<Self, Error> {
        let connection = Database::memory()?.connect().blocking();
        connection.execute(ddl, ())?;
        Ok(Self { connection, name: table_of(ddl).to_owned() })
    }

    /// The keys of all rows, which are then deleted.
    fn take_key(&self) -> Result<String, Error> {
        let query = format!("SELECT /*+ FULL_SCAN */ _row_key FROM {}", self.name);
        let keys =
            self.connection.query(&query, ())?.map(|row| row?.get::<String>(0)).collect::<Result<Vec<_>, _>>()?;
        self.connection.execute(&format!("TRUNCATE TABLE {}", self.name), ())?;
        Ok(keys.join(" "))
    }

    /// The key that the statement writes; written twice, the second time from what was read.
    fn key_of(&self, upsert: &str) -> Result<String, Error> {
        self.connection.execute(upsert, ())?;
        let rows = self.rows();
        let key = self.take_key()?;
        let rows = match rows {
            // Kept, and in the key, but beyond what Arrow's types can put out.
            Err(error) if matches!(error.code(), ErrorCode::DatetimeOverflow | ErrorCode::OutOfRange) => {
                return Ok(key);
            }
            rows => rows?,
        };
        let [row] = rows.as_slice() else { panic!("{upsert} wrote {} rows", rows.len()) };
        let holders = vec!["?"; row.len()].join(", ");
        let again = format!("UPSERT INTO {} VALUES ({holders})", self.name);
        self.connection.execute(&again, Params::Positional(row.clone()))?;
        let again = self.take_key()?;
        assert_eq!(again, key, "{upsert}: what was read writes another key: {row:?}");
        Ok(key)
    }

    fn rows(&self) -> Result<Vec<Vec<Value>>, Error> {
        let query = format!("SELECT /*+ FULL_SCAN */ * FROM {}", self.name);
        self.connection.query(&query, ())?.map(|row| row?.values()).collect()
    }
}

#[derive(Default)]
struct Outcome {
    differs: BTreeMap<String, &'static str>,
    refused: BTreeMap<String, &'static str>,
    wrong: String,
}

fn run(lines: &[Line]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut table: Option<(&str, Result<Table, Error>)> = None;
    for line in lines {
        if table.as_ref().is_none_or(|(ddl, _)| *ddl != line.ddl) {
            table = Some((&line.ddl, Table::create(&line.ddl)));
        }
        let refused = |outcome: &mut Outcome, error: &Error| match line.why_refused(error) {
            Some(reason) => drop(outcome.refused.insert(line.id.clone(), reason)),
            None => {
                let text = format!("{} {}: {error}", error.sqlstate(), error.code());
                let _ = writeln!(outcome.wrong, "{}: {}\n  {}\n  refused: {text}", line.id, line.ddl, line.upsert);
            }
        };
        match table.as_ref().unwrap().1.as_ref().map(|table| table.key_of(&line.upsert)) {
            Err(error) => refused(&mut outcome, error),
            Ok(Err(error)) => refused(&mut outcome, &error),
            Ok(Ok(key)) if key == line.expected() => {}
            Ok(Ok(key)) => match line.why_differs() {
                Some(reason) => drop(outcome.differs.insert(line.id.clone(), reason)),
                None => {
                    let _ = writeln!(
                        outcome.wrong,
                        "{}: {}\n  {}\n  wrote    {key}\n  expected {}",
                        line.id,
                        line.ddl,
                        line.upsert,
                        line.expected()
                    );
                }
            },
        }
    }
    outcome
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Holds a list to what was found; `UPDATE_GOLDEN=1` writes it instead.
fn hold(name: &str, head: &str, found: &BTreeMap<String, &'static str>) {
    let path = golden().join(name);
    let mut text = head.to_owned();
    for (id, reason) in found {
        let _ = writeln!(text, "{id} {reason}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
        return;
    }
    let listed = std::fs::read_to_string(&path).unwrap();
    let entries = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (listed, found) = (entries(&listed), entries(&text));
    let missing: Vec<_> = found.iter().filter(|line| !listed.contains(line)).collect();
    let stale: Vec<_> = listed.iter().filter(|line| !found.contains(line)).collect();
    assert!(missing.is_empty() && stale.is_empty(), "{name}: missing {missing:?}, not so any more {stale:?}");
}

const DIFFERS: &str = "\
# Lines of keys.jsonl whose statement writes another key here, by design: id, reason.
# julian     a date before 1582-10-15: Julian in Phoenix, proleptic Gregorian here
# backslash  a backslash in a string: an escape in Phoenix, a backslash here
";

const REFUSED: &str = "\
# Lines of keys.jsonl whose statement is refused here, by design: id, reason.
# array              a key column of an array type, which there is none of yet
# backslash          what Phoenix reads as an escape ends the string, or makes it too long
# decimal_magnitude  a DECIMAL whose bytes Phoenix corrupts
# empty_string       '' in a nullable key column, where it has the bytes of NULL
";

#[test]
fn statements_write_the_keys_that_phoenix_wrote() {
    let other = std::env::var_os("GOLDEN_KEYS");
    let path = other.as_ref().map_or_else(|| golden().join("keys.jsonl"), PathBuf::from);
    let lines = read(&path);
    let outcome = run(&lines);
    let (differs, refused) = (outcome.differs.len(), outcome.refused.len());
    println!("{} keys, {differs} differ and {refused} are refused by design", lines.len());
    assert!(outcome.wrong.is_empty(), "\n{}", outcome.wrong);
    if other.is_none() {
        hold("differs.txt", DIFFERS, &outcome.differs);
        hold("refused.txt", REFUSED, &outcome.refused);
    }
}
