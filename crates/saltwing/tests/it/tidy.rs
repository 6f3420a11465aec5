//! The structure that ARCHITECTURE.md promises.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::repository::{metadata, root, sources_below};

fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = page.split("```arrows\n").nth(1).unwrap().split("```").next().unwrap();
    block
        .lines()
        .map(|line| {
            let (from, to) = line.split_once("->").unwrap();
            (from.trim().to_owned(), to.split_whitespace().map(str::to_owned).collect())
        })
        .collect()
}

#[test]
fn arrows_are_those_of_the_picture() {
    let metadata = metadata();
    let packages: Vec<&Value> = metadata["packages"].as_array().unwrap().iter().collect();
    let ours: BTreeSet<&str> = packages.iter().map(|p| p["name"].as_str().unwrap()).collect();
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in &packages {
        let from = package["name"].as_str().unwrap();
        let Some(list) = allowed.get(from) else {
            wrong.push(format!("{from} is not in ARCHITECTURE.md"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            if dependency["kind"].is_null() && ours.contains(to) && !list.contains(to) {
                wrong.push(format!("{from} -> {to} is not in ARCHITECTURE.md"));
            }
        }
    }
    wrong.extend(
        allowed.keys().filter(|name| !ours.contains(name.as_str())).map(|name| format!("there is no crate {name}")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Our syntax is known to the parser and the binder alone, that of PostgreSQL's clients to their catalog, and DataFusion's plans to one crate.
#[test]
fn trees_of_others_stay_in_their_crates() {
    let metadata = metadata();
    for (library, users) in [
        ("sqlparser", &["saltwing-sql", "saltwing-bind", "saltwing-pg-catalog"][..]),
        ("datafusion", &["saltwing-datafusion"]),
    ] {
        let uses = |package: &&Value| {
            let mut dependencies = package["dependencies"].as_array().unwrap().iter();
            dependencies.any(|dependency| dependency["kind"].is_null() && dependency["name"] == library)
        };
        let packages = metadata["packages"].as_array().unwrap().iter().filter(uses);
        let found: BTreeSet<&str> = packages.map(|package| package["name"].as_str().unwrap()).collect();
        let found: Vec<&str> = found.into_iter().filter(|name| *name != "workspace-hack").collect();
        assert_eq!(BTreeSet::from_iter(found), users.iter().copied().collect(), "{library}");
    }
}

#[test]
fn arrow_datafusion_and_sqlparser_have_one_version() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in ["arrow", "arrow-array", "datafusion", "sqlparser"] {
        assert_eq!(lock.matches(&format!("\nname = \"{name}\"\n")).count(), 1, "{name}");
    }
}

/// The last column of each row of docs/semantics.md names the tests that hold it.
#[test]
fn the_tests_that_semantics_names_are_there() {
    let page = std::fs::read_to_string(root().join("docs/semantics.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| matter"));
    let (mut rows_seen, mut wrong) = (0, Vec::new());
    for row in rows {
        rows_seen += 1;
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        let is_there = |name: &&str| root().join("sql-tests/slt").join(name).exists() || root().join(name).exists();
        if names.is_empty() || !names.iter().all(is_there) {
            wrong.push(row);
        }
    }
    assert!(rows_seen > 30, "{rows_seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `PROPTEST_CASES` scales every property: none says a number of its own.
#[test]
fn properties_run_as_many_cases_as_they_are_asked_for() {
    let folders = ["crates", "sql-tests", "benches"];
    let files: Vec<_> = folders.iter().flat_map(|folder| sources_below(&root().join(folder))).collect();
    assert!(files.len() > 300, "{} files", files.len());
    let says_number = |text: &str, before: &str| {
        text.split(before).skip(1).any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    let wrong = files.iter().filter(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        text.contains("proptest") && (says_number(&text, "with_cases(") || says_number(&text, " cases:"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "take a share of ProptestConfig::default().cases in {wrong:?}");
}

/// A session is state. What statements do with it is in files of their own.
#[test]
fn few_files_add_methods_to_sessions() {
    let sources = crate::repository::sources_below(&root().join("crates/saltwing/src"));
    let adds = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).unwrap().lines().any(|line| line.starts_with("impl Session {"))
    };
    let found: Vec<_> = sources.into_iter().filter(adds).collect();
    assert!((1..=5).contains(&found.len()), "{found:?}");
}

/// A parameter is the only placeholder that the parser's trees have: no other meaning is carried in its text.
#[test]
fn no_syntax_is_made_with_placeholders() {
    for name in ["saltwing-sql", "saltwing-bind", "saltwing", "saltwing-datafusion"] {
        for path in crate::repository::sources_below(&root().join("crates").join(name).join("src")) {
            let source = std::fs::read_to_string(&path).unwrap();
            assert!(!source.contains("Value::Placeholder(format!"), "{}", path.display());
        }
    }
}
