//! Statements whose rows are known to be wrong, each with the right ones. `docs/semantics.md` lists what they have in common.
//!
//! DataFusion compares and sorts some types by its own rules. A case fails once its rows are right: then it moves to a `.slt` file. It
//! stands in none before, because an index or the other executor makes some of them right.

use saltwing::StoreKind::Memory;
use saltwing::{Database, Value};
use sql_tests::has_relational_engine;

/// Some tables.
struct Tables {
    /// Statements that make them.
    made: &'static [&'static str],
    known: &'static [Known],
}

/// A query, or a statement and the number of rows that it changes; rows as text, sorted where the query says no order.
struct Known {
    sql: &'static str,
    right: &'static str,
    now: &'static str,
}

const fn known(sql: &'static str, right: &'static str, now: &'static str) -> Known {
    Known { sql, right, now }
}

const CASES: &[Tables] = &[
    // A sort in memory takes a CHAR without its padding: a TAB is below a blank.
    Tables {
        made: &[
            "CREATE TABLE t (k INTEGER PRIMARY KEY, c CHAR(3))",
            "UPSERT INTO t VALUES (1, 'a'), (2, E'a\\t'), (3, 'a!')",
        ],
        known: &[
            known("SELECT k FROM t ORDER BY c", "2, 1, 3", "1, 2, 3"),
            known("SELECT rank() OVER (ORDER BY c) FROM t ORDER BY k", "2, 1, 3", "1, 2, 3"),
            known("SELECT k FROM t ORDER BY c LIMIT 1", "2", "1"),
            known("SELECT min(x.c) = 'a' FROM t x JOIN t y ON x.k = y.k", "false", "true"),
        ],
    },
    // DESC and NULLS LAST are for arrays that are NULL, and turn the elements that are NULL, too.
    Tables {
        made: &[
            "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER ARRAY)",
            "UPSERT INTO t VALUES (1, ARRAY[1,2]), (2, ARRAY[1,NULL]), (3, ARRAY[1])",
        ],
        known: &[
            known("SELECT k FROM t ORDER BY a DESC", "1, 2, 3", "2, 1, 3"),
            known("SELECT k FROM t ORDER BY a DESC LIMIT 1", "1", "2"),
            known("SELECT k FROM t ORDER BY a NULLS LAST", "3, 2, 1", "3, 1, 2"),
            known("SELECT rank() OVER (ORDER BY a DESC) FROM t ORDER BY k", "1, 2, 3", "2, 1, 3"),
            known("SELECT first_value(k ORDER BY a DESC) FROM t", "1", "2"),
        ],
    },
];

/// The rows, one value each, or the code of the error.
fn answer(tables: &Tables, sql: &str) -> String {
    let builder = Database::memory_builder().store(Memory).full_scan("allow").unwrap();
    let c = builder.buffered().open().unwrap().connect().blocking();
    tables.made.iter().for_each(|sql| {
        c.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    });
    let rows = match c.query(sql, ()) {
        Ok(rows) => rows,
        Err(error) => return error.code().to_string(),
    };
    let text = |value: Value| match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Bool(value) => value.to_string(),
        other => format!("{other:?}"),
    };
    let value = |row: saltwing::Row| row.values().unwrap().into_iter().map(text).collect::<String>();
    let rows: Result<Vec<String>, _> = rows.map(|row| row.map(value)).collect();
    rows.map_or_else(|error| error.code().to_string(), |rows| rows.join(", "))
}

#[test]
fn what_is_known_to_be_wrong_is_so_still() {
    if !has_relational_engine().unwrap() {
        println!("skipped: there is one executor in this build");
        return;
    }
    for tables in CASES {
        for Known { sql, right, now } in tables.known {
            let found = answer(tables, sql);
            assert_ne!(&found, right, "this is right now, and belongs into a .slt file: {sql}");
            assert_eq!(&found, now, "this is wrong in another way: {sql}");
        }
    }
}
