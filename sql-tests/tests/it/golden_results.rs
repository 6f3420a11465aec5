//! Results that a live Phoenix gave, against those of the same statements here.
//!
//! A line of `sql-tests/golden/results.jsonl` has statements to run first, and queries with their rows, counts of changed rows, or
//! errors. All lines but those of the topics in [`MISSING`] are run, in each dialect. `sql-tests/golden/results_differ.txt` lists each statement
//! that ends otherwise in our own, with a reason, and `sql-tests/golden/results_differ_in_dialect.txt` in Phoenix's; both lists are held in both
//! directions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltwing::blocking::Connection;
use saltwing::{Database, Error};
use serde::Deserialize;
use serde_json::Value as Json;

/// Topics that are not run: statements that are missing here.
const MISSING: [&str; 2] = ["secondary index", "views, dynamic columns, alter"];

#[derive(Deserialize)]
struct Line {
    id: String,
    topic: String,
    setup: Vec<String>,
    queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Query {
    sql: String,
    types: Option<Vec<String>>,
    #[serde(default)]
    sorted: bool,
    #[serde(default)]
    any_rows: bool,
    rows: Option<Vec<Vec<Json>>>,
    update_count: Option<u64>,
    error: Option<Json>,
}

impl Query {
    /// What is otherwise here; `None` if nothing is.
    fn difference(&self, connection: &Connection) -> Option<String> {
        let expected = match (&self.rows, self.update_count, &self.error) {
            (Some(rows), ..) => rows,
            (_, _, Some(error)) => {
                let is_accepted = connection.execute(&self.sql, ()).is_ok();
                return is_accepted.then(|| format!("accepted; in Phoenix {error}"));
            }
            (_, count, _) => {
                let changed = connection.execute(&self.sql, ());
                return match (changed, count) {
                    (Ok(changed), Some(count)) if changed.rows_affected == count => None,
                    (changed, count) => Some(format!("{changed:?}; in Phoenix {count:?}")),
                };
            }
        };
        let types: Vec<&str> = self.types.iter().flatten().map(String::as_str).collect();
        let text = |value: &Json| match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let mut expected: Vec<Vec<Option<String>>> =
            expected.iter().map(|row| canonical(row.iter().map(text).collect(), &types)).collect();
        let mut rows = match self.rows(connection, &types) {
            Ok(rows) => rows,
            Err(error) => return Some(format!("{} {error}; in Phoenix {expected:?}", error.sqlstate())),
        };
        if !self.sorted {
            rows.sort();
            expected.sort();
        }
        let is_same = if self.any_rows { rows.len() == expected.len() } else { are_equal(&rows, &expected) };
        (!is_same).then(|| format!("{rows:?}\n    in Phoenix {expected:?}"))
    }

    fn rows(&self, connection: &Connection, types: &[&str]) -> Result<Vec<Vec<Option<String>>>, Error> {
        let rows = connection.query(&self.sql, ())?;
        rows.map(|row| {
            let row = row?;
            let texts = (0..row.values()?.len()).map(|index| row.get(index)).collect::<Result<_, Error>>()?;
            Ok(canonical(texts, types))
        })
        .collect()
    }
}

/// The texts of a row's values, in one form for equal values of these types of Phoenix's.
fn canonical(texts: Vec<Option<String>>, types: &[&str]) -> Vec<Option<String>> {
    let canonical = |(index, text): (usize, Option<String>)| {
        let text = text?;
        Some(match types.get(index).copied().unwrap_or_default() {
            "DATE" | "TIME" | "TIMESTAMP" => {
                let text = if text.contains(' ') { text } else { format!("{text} 00:00:00") };
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
            }
            "CHAR" => text.trim_end_matches(' ').to_owned(),
            // Phoenix's elements are texts, and DECIMALs without zeros at the end.
            array if array.ends_with(" ARRAY") => {
                let element = |element: &Json| match element {
                    Json::Number(number) => number.as_f64().unwrap().to_string(),
                    Json::String(text) if text.parse::<f64>().is_ok() => text.parse::<f64>().unwrap().to_string(),
                    other => other.to_string(),
                };
                serde_json::from_str::<Vec<Json>>(&text).unwrap().iter().map(element).collect::<Vec<_>>().join(",")
            }
            _ => text,
        })
    };
    texts.into_iter().enumerate().map(canonical).collect()
}

/// Whether rows have equal values: numbers may be written in several ways.
fn are_equal(a: &[Vec<Option<String>>], b: &[Vec<Option<String>>]) -> bool {
    let value = |(a, b): (&Option<String>, &Option<String>)| match (a, b) {
        (Some(a), Some(b)) if a != b => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * a.abs(),
            _ => false,
        },
        _ => a == b,
    };
    let row = |(a, b): (&Vec<_>, &Vec<_>)| a.len() == b.len() && a.iter().zip(b).all(value);
    a.len() == b.len() && a.iter().zip(b).all(row)
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// The differences of a line, by `id.number` or `id.setup.number` of the statement, from 1.
fn differences(line: &Line, dialect: &str) -> BTreeMap<String, String> {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute(&format!("SET dialect = '{dialect}'"), ()).unwrap();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    let mut all = BTreeMap::new();
    for (index, sql) in line.setup.iter().enumerate() {
        if let Err(error) = connection.execute(sql, ()) {
            all.insert(format!("{}.setup.{}", line.id, index + 1), format!("{sql}\n    {} {error}", error.sqlstate()));
        }
    }
    let queries = line.queries.iter().enumerate();
    let found = queries.filter_map(|(index, query)| {
        let difference = query.difference(&connection)?;
        Some((format!("{}.{}", line.id, index + 1), format!("{}\n    {difference}", query.sql)))
    });
    all.extend(found);
    all
}

#[test]
fn statements_give_the_results_that_phoenix_gave() {
    check("saltwing", "results_differ.txt");
}

#[test]
fn in_its_dialect_more_of_them_do() {
    check("phoenix", "results_differ_in_dialect.txt");
}

/// Holds the results in a dialect to a list of differences.
fn check(dialect: &str, list: &str) {
    if !sql_tests::has_relational_engine().unwrap() {
        println!("skipped: no relational engine in this build, and many of the statements need it");
        return;
    }
    let text = std::fs::read_to_string(golden("results.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap());
    let lines: Vec<Line> = lines.filter(|line| !MISSING.contains(&line.topic.as_str())).collect();
    let found: BTreeMap<String, String> = lines.iter().flat_map(|line| differences(line, dialect)).collect();
    let listed = std::fs::read_to_string(golden(list)).unwrap();
    let (reasons, listed): (Vec<&str>, Vec<&str>) = listed.lines().partition(|line| line.starts_with('#'));
    let listed: BTreeMap<&str, &str> = listed.into_iter().filter_map(|line| line.split_once(' ')).collect();
    for (id, reason) in &listed {
        assert!(reasons.iter().any(|line| line.starts_with(&format!("# {reason} "))), "{id}: no reason {reason}");
    }
    let missing = found.iter().filter(|(id, _)| !listed.contains_key(id.as_str()));
    let missing: Vec<String> = missing.map(|(id, difference)| format!("{id}: {difference}")).collect();
    let stale: Vec<_> = listed.keys().filter(|id| !found.contains_key(**id)).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not listed:\n{}\nequal now: {stale:?}", missing.join("\n"));
}
