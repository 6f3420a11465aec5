//! Statements of live Phoenix sessions, which `sql-tests/golden` holds.

use std::collections::BTreeMap;
use std::path::Path;

use saltwing_sql::{Statement, parse_one};
use saltwing_types::ErrorCode;
use serde_json::Value;

use crate::support;

fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests/golden").join(file);
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Reads `sql`: a statement prints itself, and one that is not supported has that as its error.
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
        ("keys.jsonl", &["ddl", "upsert"][..]),
        ("index_keys.jsonl", &["ddl", "dml"]),
        ("ranges.jsonl", &["ddl", "query"]),
        ("results.jsonl", &["setup", "queries"]),
    ] {
        let mut texts = std::collections::BTreeSet::new();
        for line in lines(file) {
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
