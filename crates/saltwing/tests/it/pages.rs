//! The pages of docs/ that list what the code has: nothing may be missing there, and nothing too much.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use saltwing::Database;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of each row of the page's tables, headings left out.
pub(crate) fn rows(page: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = page.lines().collect();
    let is_heading = |at: usize| lines.get(at + 1).is_some_and(|next| next.starts_with("|---"));
    let cells =
        |line: &str| line.trim_matches('|').replace("\\|", "/").split('|').map(|cell| cell.trim().to_owned()).collect();
    let row = |(at, line): (usize, &&str)| {
        (line.starts_with('|') && !line.starts_with("|---") && !is_heading(at)).then(|| cells(line))
    };
    lines.iter().enumerate().filter_map(row).collect()
}

/// The words in code font at the front of each row, without arguments.
fn words(page: &str) -> BTreeSet<String> {
    let word = |row: &Vec<String>| {
        let code = row.first()?.split('`').nth(1)?;
        Some(code.split('(').next().unwrap_or(code).to_owned())
    };
    rows(page).iter().filter_map(word).collect()
}

#[test]
fn every_hint_has_its_row() {
    let known = saltwing_bind::PHOENIX_HINTS.into_iter().chain([saltwing_bind::FULL_SCAN]);
    assert_eq!(words(&read("docs/hints.md")), known.map(str::to_owned).collect());
}

#[test]
fn every_option_of_copy_has_its_row() {
    let connection = Database::memory().unwrap().connect().blocking();
    let error = connection.execute("COPY t FROM 'f' WITH (FROBNICATE)", ()).unwrap_err();
    let help = error.help().unwrap_or_default().to_owned();
    let known = help.strip_prefix("the options are ").unwrap_or_else(|| panic!("{error:?}"));
    assert_eq!(words(&read("docs/copy.md")), known.split(", ").map(str::to_owned).collect());
}

#[test]
fn every_setting_has_its_row_and_its_default() {
    let connection = Database::memory().unwrap().connect().blocking();
    let row = |setting: &saltwing::Setting| {
        let shown = crate::texts(&connection, &format!("SHOW {}", setting.name)).unwrap().remove(0);
        let scope = match setting.scope() {
            saltwing::SettingScope::Connection => "connection",
            saltwing::SettingScope::Database => "database",
        };
        let default = shown.split('|').nth(1).unwrap_or_else(|| panic!("{shown}")).to_owned();
        [format!("`{}`", setting.name), setting.values.into(), default, scope.into(), setting.description.into()]
    };
    let mut documented = rows(&read("docs/settings.md"));
    for row in &mut documented {
        // The default of some depends on how the database is opened, and the machine.
        let default = row[2].split_once(',').map(|(default, _)| default.to_owned());
        row[2] = default.unwrap_or_else(|| row[2].clone());
    }
    let mut known: Vec<Vec<String>> = saltwing::SETTINGS.iter().map(|setting| row(setting).into()).collect();
    let depending = [
        ("`statement_memory_limit`", "that of `memory_limit`"),
        ("`memory_limit`", "a quarter of the memory that the process may use"),
    ];
    for (name, default) in depending {
        known.iter_mut().find(|row| row[0] == name).unwrap()[2] = default.into();
    }
    assert_eq!(documented, known);
}

#[test]
fn every_error_code_has_its_row() {
    let source = read("crates/saltwing-types/src/error.rs");
    let entries = source.lines().filter_map(|line| line.split_once(" = \"")?.1.split_once("\", \""));
    let known: BTreeSet<(String, String)> =
        entries.map(|(word, rest)| (word.to_owned(), rest.split('"').next().unwrap_or_default().to_owned())).collect();
    assert!(known.len() > 40, "{known:?}");
    let page = read("docs/contracts.md");
    let table = page.split_once("## Error codes").map(|(_, section)| rows(section)).unwrap_or_default();
    let listed = table.iter().map(|row| (row[0].trim_matches('`').to_owned(), row[1].clone())).collect();
    assert_eq!(known, listed);
}

/// The files whose public `.._MAX` are limits that users meet.
const LIMITS: [&str; 7] = [
    "saltwing-plan/src/guard.rs",
    "saltwing-sql/src/column_type.rs",
    "saltwing-sql/src/guard.rs",
    "saltwing-sql/src/parameter.rs",
    "saltwing-sql/src/parse.rs",
    "saltwing-types/src/sql_type.rs",
    "saltwing-types/src/table.rs",
];

#[test]
fn every_limit_has_its_row_and_its_value() {
    let mut listed = BTreeSet::new();
    for row in rows(&read("docs/limits.md")) {
        let [what, value, place] = row.as_slice() else { panic!("{row:?}") };
        let (file, name) = match place.split('`').collect::<Vec<_>>().as_slice() {
            [_, file, _, name, _] => ((*file).to_owned(), (*name).to_owned()),
            _ => panic!("{what}: {place}"),
        };
        let source = read(&format!("crates/{file}"));
        let found = constant(&source, &name).unwrap_or_else(|| panic!("{file} has no {name}"));
        assert_eq!(number(value), found, "{what}: {file} {name}");
        listed.insert((file, name));
    }
    for file in LIMITS {
        for name in public_limits(&read(&format!("crates/{file}"))) {
            assert!(listed.contains(&(file.to_owned(), name.clone())), "docs/limits.md lacks {name} of {file}");
        }
    }
}

/// `1,000` and `16 MB` as numbers.
fn number(text: &str) -> u64 {
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let shift = match unit {
        "" => 0,
        "MB" => 20,
        "GB" => 30,
        other => panic!("no unit: {other}"),
    };
    digits.replace(',', "").parse::<u64>().unwrap() << shift
}

fn public_limits(source: &str) -> Vec<String> {
    let names = source.lines().filter_map(|line| line.trim_start().strip_prefix("pub const ")?.split_once(':'));
    names.map(|(name, _)| name.to_owned()).filter(|name| name.ends_with("_MAX")).collect()
}

/// The value of a constant: a number, `a << b`, or the quotient of two constants of the same file.
fn constant(source: &str, name: &str) -> Option<u64> {
    let after = source.split(&format!("const {name}:")).nth(1)?;
    let value = after.split_once('=')?.1.split(';').next()?.trim();
    let plain = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
    if let Some((a, b)) = value.split_once("<<") {
        return Some(plain(a)? << plain(b)?);
    }
    if let Some((a, b)) = value.split_once('/') {
        return Some(constant(source, a.trim())? / constant(source, b.trim())?);
    }
    plain(value)
}
