//! The registry of functions in SQL: each example on each executor, SHOW FUNCTIONS, and `docs/functions.md`.

use std::fmt::Write;

use saltwing::blocking::Connection;
use saltwing::{Database, Error};
use saltwing_types::Function;
use saltwing_types::function::syntax::FORMS;

use crate::texts;

/// Writes `docs/functions.md` anew.
const COMMAND: &str = "UPDATE_DOCS=1 cargo test -p saltwing --test it functions";

fn one_row(executor: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE one (k INTEGER NOT NULL PRIMARY KEY)", ()).unwrap();
    connection.execute("UPSERT INTO one VALUES (1)", ()).unwrap();
    connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
    connection
}

fn examples() -> Vec<(&'static str, &'static str)> {
    let functions = Function::all().map(|function| function.example);
    functions.chain(FORMS.iter().map(|form| form.example)).collect()
}

fn check_examples(executor: &str) {
    let connection = one_row(executor);
    for (call, result) in examples() {
        let answer: Result<Vec<String>, Error> = texts(&connection, &format!("SELECT {call} FROM one WHERE k = 1"));
        assert_eq!(answer.unwrap_or_else(|error| panic!("{call}: {error}")), [result], "{call}");
    }
}

#[test]
fn examples_give_their_results_on_the_direct_path() {
    check_examples("direct");
}

#[cfg(feature = "datafusion")]
#[test]
fn examples_give_their_results_on_the_relational_engine() {
    check_examples("datafusion");
}

#[test]
fn functions_are_shown() {
    let connection = Database::memory().unwrap().connect().blocking();
    let shown = |like: &str| texts(&connection, &format!("SHOW FUNCTIONS LIKE '{like}'")).unwrap();
    let abs = "ABS|scalar|ABS(value number) -> number|immutable|The number without its sign.";
    assert_eq!(shown("abs"), [abs]);
    assert_eq!(shown("round").len(), 2);
    assert!(shown("count").iter().all(|row| row.starts_with("COUNT|aggregate|")));
    let all = texts(&connection, "SHOW FUNCTIONS").unwrap();
    for function in Function::all() {
        let prefix = format!("{}|scalar|{}(", function.name, function.name);
        assert!(all.iter().any(|row| row.starts_with(&prefix)), "{function:?}");
    }
    assert_eq!(cfg!(feature = "datafusion"), all.iter().any(|row| row.starts_with("RANDOM|scalar|")));
}

/// The page as the registry has it.
fn page() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut page =
        String::from("# Functions\n\nWritten from the registry (`crates/saltwing-types/src/function/`) by\n`");
    page += COMMAND;
    page += "`.\n\nEach function means the same on both executors. Unless its text says otherwise, a function is NULL if an argument \
             is.\n`SHOW FUNCTIONS [LIKE 'pattern']` lists these, the aggregates, and the functions that only relational queries \
             have.\n\n| function | gives | example | result |\n|---|---|---|---|\n";
    for function in Function::all() {
        let signatures = function.signatures.iter().map(|signature| format!("`{}{signature}`", function.name));
        let mut calls = signatures.collect::<Vec<_>>().join("<br>");
        if !function.aliases.is_empty() {
            write!(calls, "<br>also {}", function.aliases.join(", ")).unwrap();
        }
        let (call, result) = function.example;
        let description = cell(function.description);
        writeln!(page, "| {calls} | {description} | `{}` | `{}` |", cell(call), cell(result)).unwrap();
    }
    page += "\n## Forms with a syntax of their own\n\n| form | gives | example | result |\n|---|---|---|---|\n";
    for form in FORMS {
        let (call, result) = form.example;
        let description = cell(form.description);
        writeln!(page, "| `{}{}` | {description} | `{}` | `{}` |", form.name, form.form, cell(call), cell(result))
            .unwrap();
    }
    page
}

#[test]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == page,
        "docs/functions.md is out of date: run {COMMAND}"
    );
}
