//! The registries of functions in SQL: each example on each executor, SHOW FUNCTIONS, and `docs/functions.md`.

use std::fmt::Write;

use saltwing::blocking::Connection;
use saltwing::{Database, Error};
use saltwing_types::Function;
use saltwing_types::function::aggregate::{AggregateEntry, EXAMPLE_ROWS, Executors};
use saltwing_types::function::syntax::FORMS;
use saltwing_types::function::window::WINDOW_FUNCTIONS;

use crate::{code, texts};

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

/// The statement of an example over several rows: what stands behind ` .. ` in it stands behind FROM.
fn statement_of(call: &str, clause: &str) -> String {
    let (call, clause) = call.split_once(" .. ").unwrap_or((call, clause));
    format!("SELECT {call} FROM t WHERE k >= 1 {clause}")
}

/// The rows of these examples.
fn several_rows() -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    connection.execute("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, n INTEGER, s VARCHAR)", ()).unwrap();
    connection.execute(&format!("UPSERT INTO t VALUES {EXAMPLE_ROWS}"), ()).unwrap();
    connection
}

fn check_examples_of_rows<'a>(executor: &str, examples: impl Iterator<Item = (&'a str, &'a str)>, clause: &str) {
    let connection = several_rows();
    connection.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
    for (call, results) in examples {
        let answer: Result<Vec<String>, Error> = texts(&connection, &statement_of(call, clause));
        let found = answer.unwrap_or_else(|error| panic!("{call}: {error}")).join(", ");
        assert_eq!(found, results, "{call}");
    }
}

#[test]
fn examples_give_their_results_on_the_direct_path() {
    check_examples("direct");
    let aggregates = AggregateEntry::all().filter(|entry| entry.executors() == Executors::Both);
    check_examples_of_rows("direct", aggregates.map(|entry| entry.example), "");
}

#[cfg(feature = "datafusion")]
#[test]
fn examples_give_their_results_on_the_relational_engine() {
    check_examples("datafusion");
    check_examples_of_rows("datafusion", AggregateEntry::all().map(|entry| entry.example), "");
    check_examples_of_rows("datafusion", WINDOW_FUNCTIONS.iter().map(|entry| entry.example), "ORDER BY k");
}

/// No function runs there that the registries say is relational.
#[test]
fn the_direct_path_refuses_relational_functions() {
    let connection = several_rows();
    connection.execute("SET executor = 'direct'", ()).unwrap();
    let aggregates = AggregateEntry::all().filter(|entry| entry.executors() == Executors::Relational);
    let windows = WINDOW_FUNCTIONS.iter().map(|entry| entry.example.0);
    for call in aggregates.map(|entry| entry.example.0).chain(windows) {
        assert_eq!(code(texts(&connection, &statement_of(call, ""))), "not_supported", "{call}");
    }
}

/// Whether this build computes a function.
fn is_here(entry: &AggregateEntry) -> bool {
    cfg!(feature = "datafusion") || entry.executors() == Executors::Both
}

/// Each name of a function is one of the function: a call by it gives the same.
#[test]
fn aliases_of_aggregates_are_the_function() {
    let connection = several_rows();
    for entry in AggregateEntry::all().filter(|entry| is_here(entry)) {
        for alias in entry.aliases {
            let call = entry.example.0.replacen(entry.name, alias, 1);
            assert_eq!(texts(&connection, &statement_of(&call, "")).unwrap(), [entry.example.1], "{call}");
        }
    }
}

#[test]
fn functions_are_shown() {
    let connection = Database::memory().unwrap().connect().blocking();
    let shown = |like: &str| texts(&connection, &format!("SHOW FUNCTIONS LIKE '{like}'")).unwrap();
    let abs = "ABS|scalar|ABS(value number) -> number|immutable|The number without its sign.";
    assert_eq!(shown("abs"), [abs]);
    assert_eq!(shown("round").len(), 2);
    let count = "immutable|How many values are not NULL; with * how many rows there are.";
    let forms = ["COUNT(*) -> BIGINT", "COUNT(value any) -> BIGINT"];
    assert_eq!(shown("count"), forms.map(|form| format!("COUNT|aggregate|{form}|{count}")));
    assert_eq!(shown("mean").len(), 3);
    let all = texts(&connection, "SHOW FUNCTIONS").unwrap();
    for function in Function::all() {
        let prefix = format!("{}|scalar|{}(", function.name, function.name);
        assert!(all.iter().any(|row| row.starts_with(&prefix)), "{function:?}");
    }
    let has_engine = cfg!(feature = "datafusion");
    assert_eq!(has_engine, all.iter().any(|row| row.starts_with("RANDOM|scalar|")));
    let listed = |kind: &str| all.iter().filter(|row| row.split('|').nth(1) == Some(kind)).count();
    let here = AggregateEntry::all().filter(|entry| is_here(entry));
    assert_eq!(listed("aggregate"), here.map(|entry| entry.names().count() * entry.forms.len()).sum::<usize>());
    assert_eq!(listed("window"), if has_engine { WINDOW_FUNCTIONS.len() } else { 0 });
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The ways to call a function, and its other names.
fn calls(signatures: impl Iterator<Item = String>, aliases: &[&str]) -> String {
    let signatures: Vec<String> = signatures.map(|signature| format!("`{signature}`")).collect();
    let also = if aliases.is_empty() { String::new() } else { format!("<br>also {}", aliases.join(", ")) };
    signatures.join("<br>") + &also
}

/// The page as the registries have it.
fn page() -> String {
    let mut page =
        String::from("# Functions\n\nWritten from the registries (`crates/saltwing-types/src/function/`) by\n`");
    page += COMMAND;
    page += "`.\n\nEach function means the same on both executors. Unless its text says otherwise, a function is NULL if an argument \
             is.\n`SHOW FUNCTIONS [LIKE 'pattern']` lists these, and the functions that only relational queries \
             have.\n\n| function | gives | example | result |\n|---|---|---|---|\n";
    for function in Function::all() {
        let signatures = function.signatures.iter().map(|signature| format!("{}{signature}", function.name));
        let calls = calls(signatures, function.aliases);
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
    page + &aggregates() + &windows()
}

/// The section of aggregate functions.
fn aggregates() -> String {
    let mut section = format!(
        "\n## Aggregate functions\n\nNULLs do not count unless the text says so. DISTINCT before the argument makes equal values count \
         once, and FILTER (WHERE ..) after the\nbrackets chooses rows. Those on both executors run on the direct path in this form; with \
         more, such as IGNORE NULLS, they are relational, as the others are\nalways. The examples are over the table \
         `t (k INTEGER PRIMARY KEY, n INTEGER, s VARCHAR)` with the rows\n`{EXAMPLE_ROWS}`; what stands behind `..` stands behind \
         FROM.\n\n| function | gives | executors | example | result |\n|---|---|---|---|---|\n"
    );
    let mut entries: Vec<_> = AggregateEntry::all().collect();
    entries.sort_by_key(|entry| entry.name);
    for entry in entries {
        let calls = calls(entry.forms.iter().map(|form| format!("{}{form}", entry.name)), entry.aliases);
        let (description, executors) = (cell(entry.description), entry.executors());
        let (call, result) = entry.example;
        writeln!(section, "| {calls} | {description} | {executors} | `{}` | `{}` |", cell(call), cell(result)).unwrap();
    }
    section
}

/// The section of window functions.
fn windows() -> String {
    let mut section = String::from(
        "\n## Window functions\n\nThey are relational. Aggregate functions may be called with OVER, too, but not those with WITHIN GROUP, and without an \
         ORDER BY in the brackets.\nThe examples are over the table above; the results are those of its rows in the order of \
         `k`.\n\n| function | gives | example | results |\n|---|---|---|---|\n",
    );
    for entry in WINDOW_FUNCTIONS {
        let (call, results) = entry.example;
        let description = cell(entry.description);
        writeln!(section, "| `{entry}` | {description} | `{}` | `{}` |", cell(call), cell(results)).unwrap();
    }
    section
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
