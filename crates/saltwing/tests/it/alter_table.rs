//! ALTER TABLE.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use proptest::prelude::*;
use saltwing::blocking::Connection;
use saltwing::{Database, StoreKind, params};

use crate::storage::numbers;
use crate::{code, texts};

fn memory(statements: &[&str]) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    run(&connection, statements);
    connection
}

fn run(connection: &Connection, statements: &[&str]) {
    for sql in statements {
        connection.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[test]
fn prepared_and_known_statements_see_the_new_definition() {
    let connection =
        memory(&["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER)", "UPSERT INTO t VALUES (1, 2)"]);
    let star = connection.prepare("SELECT * FROM t WHERE k = ?").unwrap();
    let labels = || {
        let rows = star.query(params![1]).unwrap();
        rows.columns().iter().map(|column| column.label.clone()).collect::<Vec<_>>().join(",")
    };
    let known = "SELECT * FROM t WHERE k >= 0";
    assert_eq!((labels(), texts(&connection, known).unwrap()), ("k,a".into(), vec!["1|2".to_owned()]));
    run(&connection, &["ALTER TABLE t ADD b VARCHAR DEFAULT 'x'"]);
    assert_eq!((labels(), texts(&connection, known).unwrap()), ("k,a,b".into(), vec!["1|2|x".to_owned()]));
    let upsert = connection.prepare("UPSERT INTO t (k, b) VALUES (?, ?)").unwrap();
    upsert.execute(params![1, "y"]).unwrap();
    run(&connection, &["ALTER TABLE t DROP COLUMN a"]);
    assert_eq!((labels(), texts(&connection, known).unwrap()), ("k,b".into(), vec!["1|y".to_owned()]));
    upsert.execute(params![2, "z"]).unwrap();
    assert_eq!(texts(&connection, known).unwrap(), ["1|y", "2|z"]);
    run(&connection, &["ALTER TABLE t DROP COLUMN b"]);
    assert_eq!(code(upsert.execute(params![3, "z"])), "no_such_column");
    assert_eq!((labels(), texts(&connection, known).unwrap()), ("k".into(), vec!["1".to_owned(), "2".to_owned()]));
}

#[test]
fn a_query_that_runs_keeps_its_picture() {
    let connection = memory(&["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER, b INTEGER) BLOCK_ROWS = 100"]);
    let values: Vec<String> = (0..20_000).map(|k| format!("({k}, {k}, 1)")).collect();
    run(&connection, &[&format!("UPSERT INTO t VALUES {}", values.join(", "))]);
    for merged in [false, true] {
        let mut rows = connection.query_arrow("SELECT a, b FROM t WHERE k >= 0", ()).unwrap();
        let mut count = rows.next_blocking().unwrap().unwrap().num_rows();
        assert!(count < 20_000);
        run(&connection, &["ALTER TABLE t DROP COLUMN b", "UPSERT INTO t VALUES (19999, -1)", "COMPACT t"]);
        while let Some(batch) = rows.next_blocking().unwrap() {
            assert_eq!(batch.num_columns(), 2);
            assert_eq!(batch.column(1).null_count(), 0);
            count += batch.num_rows();
        }
        assert_eq!(count, 20_000, "{merged}");
        run(&connection, &["ALTER TABLE t ADD b INTEGER DEFAULT 1"]);
    }
}

#[test]
fn errors_say_what_and_where() {
    let connection = memory(&[
        "CREATE TABLE t (p VARCHAR NOT NULL, v INTEGER, CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(p), 1, 3), p)) SALT_BUCKETS = 2",
    ]);
    let failure = |sql: &str| {
        let error = connection.execute(sql, ()).err().unwrap_or_else(|| panic!("{sql} is taken"));
        let span = error.span().unwrap_or_else(|| panic!("{sql} has no place"));
        let (from, to) = (span.start.column as usize - 1, span.end.column as usize);
        let place: String = sql.chars().skip(from).take(to - from).collect();
        (error.to_string(), place, error.help().unwrap_or_default().to_owned())
    };
    let (text, place, help) = failure("ALTER TABLE t DROP COLUMN p");
    assert!(text.contains("key part SUBSTR(MD5(p), 1, 3) is computed from it"), "{text}");
    assert!(place == "p" && help.contains("UPSERT INTO new SELECT"), "{place}: {help}");
    let (text, place, _) = failure("ALTER TABLE t ADD w INTEGER, V INTEGER");
    assert_eq!((text.contains("column v already"), place.as_str()), (true, "V"), "{text}");
    let (_, place, help) = failure("ALTER TABLE t SET BLOK_ROWS = 3");
    assert_eq!((place.as_str(), help.as_str()), ("BLOK_ROWS", "did you mean BLOCK_ROWS?"));
    let (text, place, _) = failure("ALTER TABLE t SET SALT_BUCKETS = 3");
    assert!(text.contains("fixed when a table is made") && place == "SALT_BUCKETS = 3", "{text} {place}");
    let (_, place, help) = failure("ALTER TABLE t ADD w INTEGER NOT NULL");
    assert!(place == "w INTEGER NOT NULL" && help.contains("DEFAULT"), "{place}: {help}");
    let (text, place, help) = failure("ALTER TABLE t DROP vv");
    assert!(
        place == "vv" && text.contains("has no column vv") && help.contains("it has p, v"),
        "{text} {place}: {help}"
    );
    let (_, place, _) = failure("ALTER TABLE t SET BLOCK_ROWS = 70000");
    assert_eq!(place, "70000");
}

#[test]
fn show_create_table_makes_the_altered_table() {
    let connection = memory(&[
        "CREATE TABLE t (a INTEGER, k BIGINT NOT NULL PRIMARY KEY, f.b VARCHAR) BLOCK_ROWS = 9",
        "ALTER TABLE t ADD f.c DECIMAL(5,2) DEFAULT 1.5 NOT NULL, d VARCHAR",
        "ALTER TABLE t DROP a, b",
        "ALTER TABLE t SET TTL = 50, BLOCK_BYTES = 5000, BLOCK_ROWS = NONE",
    ]);
    let shown = || texts(&connection, "SHOW CREATE TABLE t").unwrap().join("");
    let text = shown();
    for part in ["f.c DECIMAL(5,2) NOT NULL DEFAULT 1.5", "d VARCHAR", "TTL = 50", "BLOCK_BYTES = 5000"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("BLOCK_ROWS") && !text.contains(" a "), "{text}");
    run(&connection, &["DROP TABLE t", &text]);
    assert_eq!(shown(), text);
}

#[test]
fn copy_takes_and_gives_the_columns_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv").display().to_string();
    let connection = memory(&[
        "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER)",
        "UPSERT INTO t VALUES (1, 2)",
        "ALTER TABLE t ADD b VARCHAR DEFAULT 'x'",
        "ALTER TABLE t DROP a",
        &format!("COPY t TO '{file}' WITH (HEADER)"),
        "UPSERT INTO t VALUES (1, 'y')",
        &format!("COPY t FROM '{file}' WITH (HEADER)"),
    ]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "k,b\n1,x\n");
    assert_eq!(texts(&connection, "SELECT * FROM t WHERE k = 1").unwrap(), ["1|x"]);
}

#[test]
fn a_readonly_database_is_not_altered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = Database::open(&path).unwrap();
    run(&database.connect().blocking(), &["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY)"]);
    drop(database);
    let connection = Database::builder(&path).readonly(true).open().unwrap().connect().blocking();
    assert_eq!(code(connection.execute("ALTER TABLE t ADD a INTEGER", ())), "read_only");
}

/// Writers of the other columns, of whole rows and of hidden keys go on while a column comes and goes: what was
/// acknowledged is there.
#[test]
fn writers_lose_nothing_while_a_table_is_altered() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    run(
        &connection,
        &[
            "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a BIGINT)",
            "CREATE TABLE log (a BIGINT)",
            "UPSERT INTO t VALUES (1, 0)",
        ],
    );
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let part = scope.spawn(|| {
            let connection = database.connect().blocking();
            let mut last = 0;
            while !done.load(Relaxed) {
                last += 1;
                connection.execute("UPSERT INTO t (k, a) VALUES (1, ?)", params![last]).unwrap();
            }
            last
        });
        let hidden = scope.spawn(|| {
            let connection = database.connect().blocking();
            let mut count = 0;
            while !done.load(Relaxed) {
                connection.execute("INSERT INTO log (a) VALUES (?)", params![count]).unwrap();
                count += 1;
            }
            count
        });
        for round in 0..40_i64 {
            run(&connection, &["ALTER TABLE t ADD b BIGINT DEFAULT -1", "ALTER TABLE log SET TTL = 1000000"]);
            connection.execute("UPSERT INTO t (k, b) VALUES (1, ?)", params![round]).unwrap();
            assert_eq!(texts(&connection, "SELECT b FROM t WHERE k = 1").unwrap(), [round.to_string()]);
            if round % 8 == 7 {
                run(&connection, &["COMPACT t"]);
            }
            assert_eq!(texts(&connection, "SELECT b FROM t WHERE k = 1").unwrap(), [round.to_string()]);
            run(&connection, &["ALTER TABLE t DROP b", "ALTER TABLE log SET TTL = FOREVER"]);
        }
        done.store(true, Relaxed);
        (part.join().unwrap(), hidden.join().unwrap())
    });
    assert_eq!(texts(&connection, "SELECT * FROM t WHERE k = 1").unwrap(), [format!("1|{}", written.0)]);
    let count = texts(&connection, "SELECT /*+ FULL_SCAN */ count(*) FROM log").unwrap();
    assert_eq!(count, [written.1.to_string()]);
}

/// Columns come and go with the definition alone: what was written stays as it lies, on every store, and reads by the new one.
#[test]
fn columns_come_and_go_without_a_block_being_written() {
    let folder = tempfile::tempdir().unwrap();
    for store in StoreKind::ALL {
        let builder = || match store {
            StoreKind::Memory => Database::memory_builder(),
            _ => Database::builder(folder.path().join(store.as_str())).store(store),
        };
        // No merge comes by itself.
        let open = || builder().buffered().delta_limits(1 << 20, 1 << 30).merge_when_idle(None).open();
        let mut connection = open().unwrap().connect().blocking();
        let values: Vec<String> = (0..1000).map(|k| format!("({k}, {k}, 'v{k}', {k}e-1)")).collect();
        run(
            &connection,
            &[
                "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER, f.b VARCHAR, g.c DOUBLE)",
                &format!("UPSERT INTO t VALUES {}", values.join(", ")),
                "COMPACT t",
                "UPSERT INTO t VALUES (1000, 1000, 'v1000', 1e2)",
            ],
        );
        let stored = |connection: &Connection| numbers(connection, "SHOW STORAGE FOR t", 0);
        let before = stored(&connection);
        run(
            &connection,
            &["ALTER TABLE t ADD f.d INTEGER DEFAULT 7, h.e VARCHAR, i BIGINT", "ALTER TABLE t DROP a, c"],
        );
        assert_eq!(stored(&connection), before, "{store:?}");
        for reopened in [false, true] {
            if reopened && store != StoreKind::Memory {
                drop(connection);
                connection = open().unwrap().connect().blocking();
            }
            for k in [0, 500, 1000] {
                let found = texts(&connection, &format!("SELECT * FROM t WHERE k = {k}")).unwrap();
                assert_eq!(found, [format!("{k}|v{k}|7|NULL|NULL")], "{store:?} {reopened}");
            }
            let sums = texts(&connection, "SELECT COUNT(*), SUM(d), COUNT(i) FROM t WHERE k >= 0").unwrap();
            assert_eq!(sums, ["1001|7007|0"], "{store:?} {reopened}");
        }
    }
}

/// The new values are made by one statement, and by writers that come meanwhile.
#[test]
fn writers_lose_nothing_while_a_column_gets_another_type() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    let values: Vec<String> = (0..5_000).map(|k| format!("({k}, {k})")).collect();
    let upsert = format!("UPSERT INTO t VALUES {}", values.join(", "));
    run(&connection, &["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER)", &upsert]);
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let connection = database.connect().blocking();
            let mut count = 0_i64;
            while !done.load(Relaxed) {
                connection.execute("UPSERT INTO t VALUES (?, ?)", params![count % 10_000, -count]).unwrap();
                count += 1;
            }
            count
        });
        for ty in ["BIGINT", "DECIMAL(20,0)", "INTEGER", "VARCHAR", "BIGINT"] {
            run(&connection, &[&format!("ALTER TABLE t ALTER a TYPE {ty}")]);
        }
        done.store(true, Relaxed);
        writer.join().unwrap()
    });
    let last = |k: i64| if k < written { -(k + (written - 1 - k) / 10_000 * 10_000) } else { k };
    let wanted: Vec<String> = (0..written.clamp(5_000, 10_000)).map(|k| format!("{k}|{}", last(k))).collect();
    assert_eq!(texts(&connection, "SELECT * FROM t WHERE k >= 0 ORDER BY k").unwrap(), wanted);
    assert_eq!(
        texts(&connection, "SELECT column_name FROM information_schema.columns WHERE table_name = 't'").unwrap().len(),
        2
    );
}

// ---- random histories against a map ----

#[derive(Clone, Debug)]
enum Step {
    Add { name: usize, ty: usize, family: usize, default: Option<u8> },
    Drop { which: usize },
    Default { which: usize, default: Option<u8> },
    NotNull { which: usize },
    Type { which: usize },
    Upsert { k: i64, values: Vec<(usize, Option<u8>)> },
    Delete { k: i64 },
    Compact,
    Limit { rows: u8 },
    Reopen,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const FAMILIES: [&str; 3] = ["", "f.", "g."];
const TYPES: [&str; 5] = ["INTEGER", "VARCHAR", "BOOLEAN", "DECIMAL(5,2)", "BIGINT"];

/// Literal and text of a value.
fn value(ty: usize, n: u8) -> (String, String) {
    match ty {
        1 => (format!("'t{n}'"), format!("t{n}")),
        2 => ((n.is_multiple_of(2)).to_string(), (n.is_multiple_of(2)).to_string()),
        3 => (format!("{n}.25"), format!("{n}.25")),
        _ => (n.to_string(), n.to_string()),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let n = || proptest::option::weighted(0.7, 0..9_u8);
    prop_oneof![
        3 => (0..5_usize, 0..5_usize, 0..3_usize, n())
            .prop_map(|(name, ty, family, default)| Step::Add { name, ty, family, default }),
        2 => (0..5_usize).prop_map(|which| Step::Drop { which }),
        3 => (0..5_usize, n()).prop_map(|(which, default)| Step::Default { which, default }),
        1 => (0..5_usize).prop_map(|which| Step::NotNull { which }),
        2 => (0..5_usize).prop_map(|which| Step::Type { which }),
        8 => (0..12_i64, prop::collection::vec((0..5_usize, n()), 0..4)).prop_map(|(k, values)| Step::Upsert { k, values }),
        1 => (0..12_i64).prop_map(|k| Step::Delete { k }),
        2 => Just(Step::Compact),
        1 => (1..6_u8).prop_map(|rows| Step::Limit { rows }),
        1 => Just(Step::Reopen),
    ]
}

/// A column of the model: its name, family, type and default's text.
#[derive(Clone, Debug)]
struct Column {
    name: usize,
    family: usize,
    ty: usize,
    default: Option<u8>,
}

impl Column {
    /// No other column has both.
    fn id(&self) -> (usize, usize) {
        (self.name, self.family)
    }

    fn path(&self) -> String {
        format!("{}{}", FAMILIES[self.family], NAMES[self.name])
    }
}

#[derive(Default)]
struct Model {
    columns: Vec<Column>,
    /// The text of each column's value.
    rows: BTreeMap<i64, BTreeMap<(usize, usize), Option<String>>>,
}

impl Model {
    fn apply(&mut self, connection: &Connection, step: &Step) {
        match step {
            Step::Add { name, ty, family, default } => {
                let default_text = default.map(|n| format!(" DEFAULT {}", value(*ty, n).0)).unwrap_or_default();
                let column = Column { name: *name, family: *family, ty: *ty, default: *default };
                let sql = format!("ALTER TABLE t ADD {} {}{default_text}", column.path(), TYPES[*ty]);
                if self.columns.iter().any(|c| c.id() == column.id()) {
                    assert_eq!(code(connection.execute(&sql, ())), "duplicate_column");
                    return;
                }
                run(connection, &[&sql]);
                let read = default.map(|n| value(*ty, n).1);
                self.rows.values_mut().for_each(|row| drop(row.insert(column.id(), read.clone())));
                self.columns.push(column);
            }
            Step::Drop { which } => {
                let Some(place) = self.columns.iter().position(|c| c.name == *which) else { return };
                let column = self.columns.remove(place);
                run(connection, &[&format!("ALTER TABLE t DROP COLUMN {}", column.path())]);
                self.rows.values_mut().for_each(|row| drop(row.remove(&column.id())));
            }
            Step::Default { which, default } => {
                let Some(column) = self.columns.iter_mut().find(|c| c.name == *which) else { return };
                let change = match default {
                    Some(n) => format!("SET DEFAULT {}", value(column.ty, *n).0),
                    None => "DROP DEFAULT".into(),
                };
                run(connection, &[&format!("ALTER TABLE t ALTER COLUMN {} {change}", column.path())]);
                column.default = *default;
            }
            Step::NotNull { which } => {
                let Some(column) = self.columns.iter().find(|c| c.name == *which) else { return };
                let alter = |change: &str| format!("ALTER TABLE t ALTER COLUMN {} {change}", column.path());
                match self.rows.values().any(|row| row[&column.id()].is_none()) {
                    true => assert_eq!(code(connection.execute(&alter("SET NOT NULL"), ())), "not_null"),
                    false => run(connection, &[&alter("SET NOT NULL"), &alter("DROP NOT NULL")]),
                }
            }
            // INTEGER and BIGINT have different forms.
            Step::Type { which } => {
                let is_number = |c: &&mut Column| c.name == *which && (c.ty == 0 || c.ty == 4);
                let Some(column) = self.columns.iter_mut().find(is_number) else { return };
                column.ty = 4 - column.ty;
                run(connection, &[&format!("ALTER TABLE t ALTER COLUMN {} TYPE {}", column.path(), TYPES[column.ty])]);
            }
            Step::Upsert { k, values } => {
                let values: BTreeMap<usize, Option<u8>> = values.iter().copied().collect();
                let known = self.columns.iter().filter_map(|c| Some((c, *values.get(&c.name)?)));
                let known: Vec<(Column, Option<u8>)> = known.map(|(c, n)| (c.clone(), n)).collect();
                let names: String = known.iter().map(|(c, _)| format!(", {}", c.path())).collect();
                let literal = |(c, n): &(Column, Option<u8>)| n.map_or("NULL".into(), |n| value(c.ty, n).0);
                let literals: String = known.iter().map(|value| format!(", {}", literal(value))).collect();
                run(connection, &[&format!("UPSERT INTO t (k{names}) VALUES ({k}{literals})")]);
                let defaults = || self.columns.iter().map(|c| (c.id(), c.default.map(|n| value(c.ty, n).1))).collect();
                let row = self.rows.entry(*k).or_insert_with(defaults);
                known.into_iter().for_each(|(c, n)| drop(row.insert(c.id(), n.map(|n| value(c.ty, n).1))));
            }
            Step::Delete { k } => {
                run(connection, &[&format!("DELETE FROM t WHERE k = {k}")]);
                self.rows.remove(k);
            }
            Step::Compact => run(connection, &["COMPACT t"]),
            Step::Limit { rows } => run(connection, &[&format!("ALTER TABLE t SET BLOCK_ROWS = {rows}")]),
            Step::Reopen => {}
        }
    }

    fn check(&self, connection: &Connection) {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".into());
        let line = |(k, row): (&i64, &BTreeMap<(usize, usize), Option<String>>)| {
            let values = self.columns.iter().map(|c| text(&row[&c.id()]));
            std::iter::once(k.to_string()).chain(values).collect::<Vec<_>>().join("|")
        };
        let rows: Vec<String> = self.rows.iter().map(line).collect();
        assert_eq!(texts(connection, "SELECT * FROM t WHERE k >= 0 ORDER BY k").unwrap(), rows);
        if let Some((k, line)) = self.rows.keys().zip(&rows).next_back() {
            assert_eq!(texts(connection, &format!("SELECT * FROM t WHERE k = {k}")).unwrap(), [line.as_str()]);
        }
        for column in self.columns.iter().filter(|c| c.ty != 1) {
            let (literal, text) = value(column.ty, 4);
            let wanted: Vec<String> = self
                .rows
                .iter()
                .filter(|(_, row)| row[&column.id()].as_deref() == Some(&text))
                .map(|(k, _)| k.to_string())
                .collect();
            let sql = format!("SELECT k FROM t WHERE k >= 0 AND {} = {literal} ORDER BY k", column.path());
            assert_eq!(texts(connection, &sql).unwrap(), wanted, "{sql}");
        }
    }
}

fn history(steps: &[Step], open: impl Fn() -> Database) {
    let mut database = open();
    let mut connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE IF NOT EXISTS t (k BIGINT NOT NULL PRIMARY KEY) BLOCK_ROWS = 2"]);
    let mut model = Model::default();
    for step in steps {
        if matches!(step, Step::Reopen) {
            drop((connection, database));
            database = open();
            connection = database.connect().blocking();
        }
        model.apply(&connection, step);
        model.check(&connection);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(10)))]

    /// Columns that come and go, rows that are written by all these definitions, merged into tiny blocks by some:
    /// each row reads as it was written last, a column that is younger than it as its default.
    #[test]
    fn any_history_reads_as_a_map(steps in prop::collection::vec(step(), 1..40)) {
        let database = Database::memory().unwrap();
        history(&steps, || database.clone());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(64)))]

    #[test]
    fn any_history_reads_as_a_map_after_reopening(steps in prop::collection::vec(step(), 20..40)) {
        let folder = tempfile::tempdir().unwrap();
        let open = || Database::builder(folder.path().join("db")).store(StoreKind::DEFAULT).buffered().open().unwrap();
        history(&steps, open);
    }
}

/// Prepared statements, statements that are known, appenders and a database that is opened again.
#[test]
fn everything_follows_a_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = Database::open(&path).unwrap();
    let connection = database.connect().blocking();
    run(
        &connection,
        &["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER CHECK (a > 0))", "UPSERT INTO t VALUES (1, 2)"],
    );
    let select = connection.prepare("SELECT a FROM t WHERE k = ?").unwrap();
    assert_eq!(select.query(params![1]).unwrap().count(), 1);
    let mut appender = connection.appender_columns("t", &["k", "a"]).unwrap();
    appender.append_row(params![2, 20]).unwrap();
    run(&connection, &["ALTER TABLE t RENAME a TO b"]);
    assert_eq!(code(select.query(params![1])), "no_such_column");
    appender.append_row(params![3, 30]).unwrap();
    appender.close().unwrap();
    run(
        &connection,
        &["ALTER TABLE t RENAME TO u", "COMMENT ON TABLE u IS 'new'", "CREATE TABLE t (k BIGINT PRIMARY KEY)"],
    );
    drop((select, connection, database));
    let connection = Database::open(&path).unwrap().connect().blocking();
    assert_eq!(texts(&connection, "SELECT k, b FROM u WHERE k >= 1 ORDER BY k").unwrap(), ["1|2", "2|20", "3|30"]);
    assert_eq!(code(connection.execute("UPSERT INTO u VALUES (4, 0)", ())), "check");
    assert_eq!(texts(&connection, "SELECT * FROM t WHERE k >= 0").unwrap().len(), 0);
    run(&connection, &["DROP TABLE t", "ALTER TABLE u RENAME TO t"]);
    assert_eq!(texts(&connection, "SELECT b FROM t WHERE k = 2").unwrap(), ["20"]);
}

/// A constraint that is added while rows are written holds for all of them, or for none.
#[test]
fn a_constraint_comes_between_writers() {
    let database = Database::memory().unwrap();
    let connection = database.connect().blocking();
    run(&connection, &["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a BIGINT)"]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..3_i64 {
            let connection = database.connect().blocking();
            let is_over = &is_over;
            scope.spawn(move || {
                for k in 0.. {
                    if is_over.load(Relaxed) {
                        return;
                    }
                    let a = if k % 1000 == 999 { 50 } else { k % 40 };
                    let written = connection.execute("UPSERT INTO t VALUES (?, ?)", params![3 * k + writer, a]);
                    assert!(written.is_ok() || code(written) == "check");
                }
            });
        }
        let mut added_once = false;
        for _ in 0..40 {
            run(&connection, &["TRUNCATE t"]);
            let added = connection.execute("ALTER TABLE t ADD CONSTRAINT c CHECK (a < 40)", ());
            let is_added = added.is_ok();
            assert!(is_added || code(added) == "check");
            if is_added {
                let wrong = texts(&connection, "SELECT /*+ FULL_SCAN */ k FROM t WHERE a >= 40").unwrap();
                assert!(wrong.is_empty(), "{wrong:?}");
                run(&connection, &["ALTER TABLE t DROP CONSTRAINT c"]);
            }
            added_once |= is_added;
        }
        is_over.store(true, Relaxed);
        assert!(added_once);
    });
}

/// COPY and appenders check each row, and name the one that is refused.
#[test]
fn loads_obey_constraints() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, "k,a\n1,1\n2,0\n3,3\n").unwrap();
    let connection =
        memory(&["CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, a INTEGER, CONSTRAINT pos CHECK (a > 0))"]);
    let error = connection.execute(&format!("COPY t FROM '{}' WITH (HEADER)", file.display()), ()).unwrap_err();
    assert_eq!(error.code().as_str(), "check");
    assert!(error.to_string().contains("pos") && error.to_string().contains("line 3"), "{error}");
    let mut appender = connection.appender("t").unwrap();
    appender.append_row(params![5, -1]).unwrap();
    assert_eq!(code(appender.close()), "check");
    let error = connection.execute("UPSERT INTO t VALUES (9, 0)", ()).unwrap_err();
    assert_eq!((error.table(), error.key()), (Some("t"), Some("9")));
}
