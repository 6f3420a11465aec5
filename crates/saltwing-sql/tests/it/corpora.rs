//! Statements that others wrote: Phoenix's live sessions, and sqlite's logic tests.
//!
//! They lie beside the repository; where they are missing, the tests say so and pass.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saltwing_sql::{Statement, parse_one};
use saltwing_types::ErrorCode;
use serde_json::Value;

use crate::support;

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if !path.exists() {
        println!("{} is not here: nothing to test", path.display());
        return None;
    }
    Some(path)
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Reads `sql`; what is read prints itself, and what is not supported is said to be so.
/// Gives the first words of what is not supported.
fn check(sql: &str) -> Option<String> {
    match parse_one(sql) {
        Ok(parsed) => {
            support::assert_prints_itself(&parsed.statement);
            match parsed.statement {
                Statement::Unsupported(it) => Some(it.what),
                _ => None,
            }
        }
        Err(error) if error.code() == ErrorCode::NotSupported => Some(error.to_string()),
        Err(error) => panic!("{sql}\n{error}\n{}", saltwing_sql::render_caret(sql, error.span())),
    }
}

#[test]
fn phoenix_statements_are_read() {
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for (file, fields) in [
        ("golden/keys.jsonl", &["ddl", "upsert"][..]),
        ("golden/ranges.jsonl", &["ddl", "query"]),
        ("golden/cells.jsonl", &["ddl", "dml"]),
        ("golden/results.jsonl", &["setup", "queries"]),
    ] {
        let Some(path) = shared(file) else { return };
        let mut texts = std::collections::BTreeSet::new();
        for line in lines(&path) {
            for field in fields {
                match line.get(field) {
                    Some(Value::String(sql)) => {
                        texts.insert(sql.clone());
                    }
                    Some(Value::Array(many)) => texts.extend(many.iter().filter_map(statement_of)),
                    _ => {}
                }
            }
        }
        for sql in texts {
            count += 1;
            if let Some(what) = check(&sql) {
                *unsupported.entry(what).or_default() += 1;
            }
        }
    }
    println!("{count} statements");
    unsupported.iter().for_each(|(what, count)| println!("{count:5} {what}"));
}

/// A statement as text, or as `{sql, ..}` that Phoenix accepted.
fn statement_of(value: &Value) -> Option<String> {
    match value {
        // `@tn1@` in front names the tenant whose connection it ran on.
        Value::String(sql) => Some(sql.strip_prefix("@tn1@").unwrap_or(sql).to_owned()),
        Value::Object(query) if !query.contains_key("error") => query.get("sql")?.as_str().map(str::to_owned),
        _ => None,
    }
}

#[test]
fn sqlite_statements_are_read() {
    let Some(folder) = shared("corpora/sqlite-slt") else { return };
    let mut folders = vec![folder];
    let (mut count, mut refused) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "test") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Every thirtieth of 117,000: they are much alike.
                for sql in records(&text).into_iter().step_by(30) {
                    count += 1;
                    match parse_one(&sql) {
                        Ok(_) => {}
                        Err(error) if error.code() == ErrorCode::NotSupported => {}
                        // sqlite's own inventions.
                        Err(_) if sql.contains("IN ()") || sql.contains("NOT INDEXED") => {}
                        Err(error) => refused.push(format!("{sql}\n{error}")),
                    }
                }
            }
        }
    }
    println!("{count} statements");
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

fn records(text: &str) -> Vec<String> {
    let mut records = Vec::new();
    for block in text.replace('\r', "").split("\n\n") {
        // Records for one other system are none of ours.
        if block.lines().any(|line| line.starts_with("onlyif")) {
            continue;
        }
        let mut lines =
            block.lines().skip_while(|line| line.starts_with('#') || line.starts_with("skipif") || line.is_empty());
        let head = lines.next().unwrap_or("");
        if head.starts_with("query") || head == "statement ok" {
            records.push(lines.take_while(|line| *line != "----").collect::<Vec<_>>().join("\n"));
        }
    }
    records
}
