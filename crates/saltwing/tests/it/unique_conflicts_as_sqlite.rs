//! Random INSERTs with ON CONFLICT over a table with unique indexes do what they do in SQLite.
//!
//! SQLite judges unique values row by row, and we when the statement has written all its rows. So a statement that fails there
//! may succeed here, as one whose rows exchange their values; no value has two rows then. What succeeds there does the same here.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use saltwing::{Database, ErrorCode, blocking::Connection};

use crate::texts;

const ALL: &str = "SELECT k, u, x, y FROM t WHERE k >= -999 ORDER BY k";

fn nullable(limit: i64) -> impl Strategy<Value = String> {
    prop_oneof![5 => (0..limit).prop_map(|n| n.to_string()), 1 => Just("NULL".to_owned())]
}

fn rows() -> impl Strategy<Value = String> {
    let row = (0..12i64, nullable(8), nullable(4), nullable(4));
    let row = row.prop_map(|(k, u, x, y)| format!("({k}, {u}, {x}, {y})"));
    prop::collection::vec(row, 1..5).prop_map(|rows| rows.join(", "))
}

fn update() -> impl Strategy<Value = String> {
    let set = prop::sample::select(vec![
        "u = excluded.u",
        "u = t.u + 1",
        "u = 7 - t.u",
        "u = NULL",
        "x = excluded.x, y = excluded.y",
        "x = t.y, y = t.x",
        "y = t.y + excluded.k",
        "k = excluded.k",
        "k = t.k + 1, u = excluded.u",
    ]);
    let condition = prop::sample::select(vec!["", "", " WHERE t.k > 4", " WHERE excluded.y < 2"]);
    (set, condition).prop_map(|(set, condition)| format!("UPDATE SET {set}{condition}"))
}

fn statement() -> impl Strategy<Value = String> {
    let target = || prop::sample::select(vec!["(k)", "(u)", "(x, y)", "(y, x)"]);
    prop_oneof![
        2 => rows().prop_map(|rows| format!("INSERT INTO t VALUES {rows}")),
        3 => rows().prop_map(|rows| format!("INSERT INTO t VALUES {rows} ON CONFLICT DO NOTHING")),
        1 => rows().prop_map(|rows| format!("INSERT OR IGNORE INTO t VALUES {rows}")),
        4 => (rows(), target()).prop_map(|(rows, target)| format!("INSERT INTO t VALUES {rows} ON CONFLICT {target} DO NOTHING")),
        8 => (rows(), target(), update()).prop_map(|(rows, target, update)| {
            format!("INSERT INTO t VALUES {rows} ON CONFLICT {target} DO {update}")
        }),
        2 => (0..8i64).prop_map(|k| format!("DELETE FROM t WHERE k BETWEEN {k} AND {k} + 2")),
    ]
}

fn sqlite_rows(sqlite: &rusqlite::Connection) -> Vec<String> {
    let mut statement = sqlite.prepare(ALL).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let cell = |column| row.get(column).map(|n: Option<i64>| n.map_or("NULL".to_owned(), |n| n.to_string()));
        Ok((0..4).map(cell).collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    };
    statement.query_map((), row).unwrap().collect::<Result<_, _>>().unwrap()
}

/// No value of `u`, and no pair of `x` and `y`, has two rows.
fn are_unique(rows: &[String]) -> bool {
    let (mut us, mut pairs) = (HashSet::new(), HashSet::new());
    rows.iter().all(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        let (u, pair) = (cells[1], &cells[2..]);
        (u == "NULL" || us.insert(u)) && (pair.contains(&"NULL") || pairs.insert(pair.to_vec()))
    })
}

fn take(ours: &Connection, sqlite: &rusqlite::Connection, sql: &str) -> Result<(), TestCaseError> {
    let wanted = sqlite.execute(sql, ());
    ours.execute("BEGIN", ()).unwrap();
    let found = ours.execute(sql, ());
    match (wanted, found) {
        (Ok(rows), found) => {
            prop_assert_eq!(
                found.map(|done| done.rows_affected).map_err(|error| error.to_string()),
                Ok(rows as u64),
                "{}",
                sql
            );
            ours.execute("COMMIT", ()).unwrap();
        }
        (Err(_), found) => {
            match found {
                Ok(_) => prop_assert!(are_unique(&texts(ours, ALL).unwrap()), "{}", sql),
                Err(error) => prop_assert_eq!(error.code(), ErrorCode::DuplicateKey, "{}: {}", sql, error),
            }
            ours.execute("ROLLBACK", ()).unwrap();
        }
    }
    prop_assert_eq!(texts(ours, ALL).unwrap(), sqlite_rows(sqlite), "{}", sql);
    Ok(())
}

#[test]
fn random_conflicts_go_as_in_sqlite() {
    let config = Config { failure_persistence: None, ..Config::with_cases(Config::default().cases.div_ceil(2)) };
    let cases = (prop_oneof![Just(0u16), Just(3)], any::<bool>(), prop::collection::vec(statement(), 5..40));
    let outcome = TestRunner::new(config).run(&cases, |(salt, is_tiny, statements)| {
        let builder = Database::memory_builder().default_salt_buckets(salt);
        let builder = if is_tiny { builder.tiny_layout() } else { builder };
        let database = builder.open().unwrap();
        let (ours, sqlite) = (database.connect().blocking(), rusqlite::Connection::open_in_memory().unwrap());
        for sql in [
            "CREATE TABLE t (k BIGINT NOT NULL, u BIGINT, x BIGINT, y BIGINT, PRIMARY KEY (k))",
            "CREATE UNIQUE INDEX of_u ON t (u)",
            "CREATE UNIQUE INDEX of_pair ON t (x, y DESC)",
        ] {
            ours.execute(sql, ()).unwrap();
            sqlite.execute(sql, ()).unwrap();
        }
        statements.iter().try_for_each(|sql| take(&ours, &sqlite, sql))?;
        let report = database.check().unwrap();
        prop_assert!(report.is_sound(), "{:?}", report.faults);
        Ok(())
    });
    outcome.unwrap();
}
