//! What users of other systems type first: which of it works, and with which words the rest is refused.
//!
//! Each file of `sql-tests/first_statements/` has statements and their outcomes. A statement runs on a database of its own, with the tables of
//! [`TABLES`]. Its outcome is `works`, or the SQLSTATE and words of the refusal, and lines with words of its help. The test fails if a statement
//! ends otherwise, or if the words are no longer there. `UPDATE_GOLDEN=1 cargo test --release -p sql-tests first_statements` writes those
//! outcomes anew, with all words of the refusal; leave out what may change, such as a list of settings. No statement is refused with the
//! words of the engine.

use std::cell::RefCell;
use std::path::Path;

use saltwing::blocking::Response;
use saltwing::{Database, Error};
use sql_tests::has_relational_engine;

const WORKS: &str = "works";
const HELP: &str = "help: ";
/// What statements write for the folder of the test.
const FOLDER: &str = "FOLDER";

const TABLES: &str = r#"
CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, a INTEGER, b VARCHAR, d DATE, ts TIMESTAMP, x DOUBLE, n DECIMAL(10,2), j JSON,
  arr INTEGER ARRAY, bo BOOLEAN);
UPSERT INTO t VALUES
  (1, 10, 'one', DATE '2024-01-31', TIMESTAMP '2024-01-31 10:11:12.345', 1.5, 1.25, '{"a":{"b":[1,2]},"s":"x"}', ARRAY[1,2,3], TRUE),
  (2, 20, 'two', DATE '2024-02-29', TIMESTAMP '2024-02-29 00:00:00', 2.5, 2.50, '[1,"q",null]', ARRAY[4], FALSE),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, 20, 'Two', DATE '2023-12-31', TIMESTAMP '2023-12-31 23:59:59', -0.5, 99.99, '{}', ARRAY[7,8], TRUE);
CREATE TABLE u (k INTEGER NOT NULL PRIMARY KEY, w VARCHAR);
UPSERT INTO u VALUES (1, 'uno'), (2, 'dos'), (9, 'nueve');
SET full_scan = 'allow'
"#;

/// Words of the engines below, which say nothing to a user.
const WORDS_OF_ENGINES: [&str; 14] = [
    "datafusion",
    "sqlparser",
    "physical plan",
    "logical plan",
    "retract_batch",
    "Unsupported SQL",
    "This feature is not implemented",
    "is not supported is not supported",
    "is not implemented",
    "Float64",
    "Int64(",
    "Utf8",
    "Invalid function",
    "Error during planning",
];

/// A refusal: its SQLSTATE and message, and its help.
struct Refusal {
    said: String,
    help: String,
}

impl Refusal {
    fn of(error: &Error, folder: &str) -> Self {
        let text = |text: &str| text.replace(folder, FOLDER);
        Self { said: text(&format!("{} {error}", error.sqlstate())), help: text(error.help().unwrap_or_default()) }
    }

    /// The refusal with all its words.
    fn text(&self) -> String {
        let help = self.help.lines().map(|line| format!("\n{HELP}{line}")).collect::<String>();
        format!("{}{help}", self.said)
    }

    /// Whether an outcome of the list has the SQLSTATE of this refusal, and no words that it has not.
    fn has(&self, outcome: &str) -> bool {
        let has = |(index, line): (usize, &str)| match (index, line.strip_prefix(HELP)) {
            (0, _) => match (line.split_once(' '), self.said.split_once(' ')) {
                (Some((state, words)), Some((its_state, its_words))) => state == its_state && its_words.contains(words),
                _ => line == self.said,
            },
            (_, Some(words)) => self.help.contains(words),
            (_, None) => false,
        };
        !outcome.is_empty() && outcome.lines().enumerate().all(has)
    }
}

/// Runs the statements of a text on a database of its own, and reads their rows to the end.
fn run(text: &str) -> Result<(), Error> {
    let connection = Database::memory()?.connect().blocking();
    connection.execute_batch(TABLES)?;
    for response in connection.run_batch(text)? {
        if let Response::Rows(mut rows) = response? {
            while rows.next_blocking()?.is_some() {}
        }
    }
    Ok(())
}

#[test]
fn the_first_statements_end_as_the_list_says() {
    if !has_relational_engine().unwrap() {
        println!("skipped: no relational engine in this build, and many of the statements need it");
        return;
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("first_statements");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let words_of_engines = RefCell::new(Vec::new());
    golden_files::assert_files(&list, |_, text| {
        golden_files::with_outcomes_after(text, |statement, before| {
            let Err(error) = run(&statement.replace(FOLDER, folder)) else { return WORKS.to_owned() };
            let refusal = Refusal::of(&error, folder);
            let all = refusal.text();
            if WORDS_OF_ENGINES.iter().any(|words| all.contains(words)) {
                words_of_engines.borrow_mut().push(format!("{statement}\n{all}"));
            }
            if refusal.has(before) { before.to_owned() } else { all }
        })
    });
    let found = words_of_engines.into_inner();
    assert!(found.is_empty(), "words of an engine:\n{}", found.join("\n\n"));
}
