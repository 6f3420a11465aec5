//! `docs/phoenix-compatibility.md` against the records in `slt/phoenix`, in both directions.

use std::collections::BTreeMap;
use std::path::Path;

/// The comment behind which a file's records are those of the page.
const RECORDS: &str = "# The rows of the page.";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The statements of the page, and whether each is refused.
fn page() -> BTreeMap<String, bool> {
    let text = std::fs::read_to_string(folder().join("../docs/phoenix-compatibility.md")).unwrap();
    let mut statements = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Phoenix ")) {
        let row = row.replace("\\|", "\u{1}");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, status, how, statement] = cells[..] else { panic!("a row has four cells: {row}") };
        assert!(["works", "differs", "refused"].contains(&status), "{row}");
        assert!(status == "works" || !how.is_empty() || statement.contains("/*+"), "no reason: {row}");
        let statement = statement.trim_matches('`').replace('\u{1}', "|");
        statements.insert(statement, status == "refused");
    }
    statements
}

/// The statements of the files, and whether each is an error.
fn records() -> BTreeMap<String, bool> {
    let mut statements = BTreeMap::new();
    for file in std::fs::read_dir(folder().join("slt/phoenix")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let (_, records) = text.split_once(RECORDS).unwrap();
        for record in records.split("\n\n") {
            let mut lines = record.lines().skip_while(|line| line.is_empty() || line.starts_with("skipif"));
            let Some(head) = lines.next() else { continue };
            let statement = lines.next().unwrap_or_else(|| panic!("a record has a statement: {record}"));
            statements.insert(statement.to_owned(), head.contains(" error"));
        }
    }
    statements
}

#[test]
fn the_page_of_phoenix_is_what_its_records_say() {
    let (page, records) = (page(), records());
    assert!(page.len() > 150, "{}", page.len());
    let only_here: Vec<_> =
        page.iter().filter(|(statement, refused)| records.get(*statement) != Some(refused)).collect();
    let only_there: Vec<_> = records.keys().filter(|statement| !page.contains_key(*statement)).collect();
    assert!(only_here.is_empty(), "no such record, or it ends otherwise: {only_here:#?}");
    assert!(only_there.is_empty(), "no row of the page: {only_there:#?}");
}
