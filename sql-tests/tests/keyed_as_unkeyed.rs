//! A condition keeps the same rows whether a key serves it or not.
//!
//! Random tables are made twice: with a key (of random types, directions and salt),
//! and without one, where nothing but the filter decides. Random conditions must give
//! the same rows on both; with ORDER BY along the key or against it, and LIMIT and
//! OFFSET, the very rows that the whole table in its order says. The order itself is
//! held to the order of values. DELETE deletes what SELECT shows.
//!
//! `SLT_SEED=n` takes another seed, `SLT_ROUNDS=n` more tables.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::cmp::Ordering;
use std::collections::BTreeSet;

use saltwing::StoreKind::{Fjall, Memory, Sled};
use saltwing::blocking::Connection;
use saltwing::{Builder, Database, Value};
use sql_tests::has_relational_engine;

/// SplitMix64: a test's randomness, from its seed alone.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A type with the literals that rows have, and those that only conditions have.
struct Kind {
    ty: &'static str,
    rows: &'static [&'static str],
    others: &'static [&'static str],
    /// Whether a key column of it may be NULL.
    variable: bool,
}

const fn kind(ty: &'static str, rows: &'static [&'static str], others: &'static [&'static str]) -> Kind {
    Kind { ty, rows, others, variable: false }
}

const fn variable(ty: &'static str, rows: &'static [&'static str], others: &'static [&'static str]) -> Kind {
    Kind { ty, rows, others, variable: true }
}

const KINDS: [Kind; 17] = [
    kind("TINYINT", &["-128", "-1", "0", "1", "127"], &["128", "-129", "0.5", "1e0", "99999999999999999999"]),
    kind("INTEGER", &["-2147483648", "-1", "0", "1", "2", "7", "2147483647"], &["2147483648", "1.5", "-2e0", "'7'"]),
    kind("BIGINT", &["-9223372036854775808", "-1", "0", "5", "9223372036854775807"], &["9223372036854775808", "4.999"]),
    kind("UNSIGNED_INT", &["0", "1", "2147483647"], &["-1", "2147483648", "0.5"]),
    kind("FLOAT", &["-1.5", "0.0", "0.1", "3.4028235e38", "16777216"], &["0.10000001", "16777217", "1e300", "-1e300"]),
    kind("DOUBLE", &["-1e300", "-0.1", "0.0", "0.1", "1e300"], &["0.1000000000000000001", "1"]),
    kind("BOOLEAN", &["TRUE", "FALSE"], &[]),
    kind(
        "DATE",
        &["'1969-12-31 23:59:59.999'", "'1970-01-01'", "'2024-02-29'"],
        &["TIMESTAMP '1970-01-01 00:00:00.0000001'", "'0001-01-01'", "DATE '9999-12-31'"],
    ),
    kind(
        "TIMESTAMP",
        &[
            "'1969-12-31 23:59:59.999999999'",
            "'1970-01-01'",
            "'1970-01-01 00:00:00.000000001'",
            "'2024-02-29 01:02:03.004005006'",
        ],
        &["DATE '1970-01-01'", "'0001-01-01'", "'9999-12-31'"],
    ),
    kind("CHAR(3)", &["'a'", "'ab'", "'abc'", "'b'", "'~~~'"], &["'a  '", "'abcd'", "''", "'é'"]),
    kind(
        "BINARY(2)",
        &["X'00'", "X'0001'", "X'01'", "X'ff'", "X'ffff'"],
        &["X'0100'", "X'010000'", "X''", "X'00ff00'"],
    ),
    variable(
        "DECIMAL",
        &["-100", "-0.5", "0", "0.000001", "1", "99.99", "100", "12345678901234567890.5"],
        &["1.00", "1e2", "99.995", "1e50"],
    ),
    variable("DECIMAL(6,2)", &["-9999.99", "-0.01", "0", "1.5", "9999.99"], &["1.505", "10000", "1.50"]),
    variable("VARCHAR", &["'a'", "'ab'", "'abc'", "'b'", "'é'", "'猫'", "' '", "'~'"], &["''", "'a '", "'aa'"]),
    variable("VARCHAR(3)", &["'x'", "'xy'", "'xyz'", "'🙂'"], &["'xyzz'", "''"]),
    variable("VARBINARY_ENCODED", &["X'00'", "X'00ff'", "X'01'", "X'ff'", "X'ff00'"], &["X'0000'", "X''"]),
    variable("VARBINARY", &["X'00'", "X'00ff'", "X'01'", "X'ff'", "X'ffff'"], &["X'0000'", "X''"]),
];

struct Column {
    name: String,
    kind: &'static Kind,
    descending: bool,
    nullable: bool,
}

impl Column {
    fn is_text(&self) -> bool {
        self.kind.ty.contains("CHAR")
    }

    fn row_literal(&self, r: &mut Random) -> String {
        if self.nullable && r.one_in(5) {
            return "NULL".into();
        }
        (*r.of(self.kind.rows)).into()
    }

    fn literal(&self, r: &mut Random) -> String {
        match r.below(12) {
            0 => "NULL".into(),
            1..=3 if !self.kind.others.is_empty() => (*r.of(self.kind.others)).into(),
            _ => (*r.of(self.kind.rows)).into(),
        }
    }
}

fn random_key(r: &mut Random) -> Vec<Column> {
    let count = 1 + r.below(4);
    (0..count)
        .map(|i| {
            let kind = loop {
                let kind = r.of(&KINDS);
                if kind.ty != "VARBINARY" || i + 1 == count {
                    break kind;
                }
            };
            let descending = kind.ty != "VARBINARY" && r.one_in(2);
            // A key of one column is never NULL; X'ff' would begin as NULL does.
            let refused = kind.ty == "VARBINARY_ENCODED" && descending;
            let nullable = count > 1 && kind.variable && !refused && r.one_in(2);
            Column { name: format!("k{i}"), kind, descending, nullable }
        })
        .collect()
}

fn create(r: &mut Random, key: &[Column]) -> (String, String) {
    let columns: Vec<String> =
        key.iter().map(|c| format!("{} {}{}", c.name, c.kind.ty, if c.nullable { "" } else { " NOT NULL" })).collect();
    let parts: Vec<String> =
        key.iter().map(|c| format!("{}{}", c.name, if c.descending { " DESC" } else { "" })).collect();
    let leading_count = 1 + r.below(key.len());
    let leading: Vec<&str> = key.iter().take(leading_count).map(|c| c.name.as_str()).collect();
    let salt = match r.below(6) {
        0 | 1 => String::new(),
        2 => " SALT_BUCKETS = 1".into(),
        3 => " SALT_BUCKETS = 3".into(),
        4 => " SALT_BUCKETS = 16".into(),
        _ => format!(" SALT_BUCKETS = 5, SALT_BY = ({})", leading.join(", ")),
    };
    let keyed = format!(
        "CREATE TABLE t ({}, id INTEGER, w VARCHAR, CONSTRAINT pk PRIMARY KEY ({})){salt}",
        columns.join(", "),
        parts.join(", ")
    );
    let bare: Vec<String> = key.iter().map(|c| format!("{} {}", c.name, c.kind.ty)).collect();
    (keyed, format!("CREATE TABLE u ({}, id INTEGER, w VARCHAR)", bare.join(", ")))
}

fn condition(r: &mut Random, key: &[Column], depth: usize) -> String {
    if depth > 0 && r.one_in(2) {
        let (a, b) = (condition(r, key, depth - 1), condition(r, key, depth - 1));
        return match r.below(7) {
            0 => format!("NOT ({a})"),
            1 | 2 => format!("({a} OR {b})"),
            _ => format!("({a} AND {b})"),
        };
    }
    let column = r.of(key);
    let name = &column.name;
    match r.below(15) {
        0 => format!("{name} IS NULL"),
        1 => format!("{name} IS NOT NULL"),
        2 => format!("{name} BETWEEN {} AND {}", column.literal(r), column.literal(r)),
        3 => format!("{name} NOT BETWEEN {} AND {}", column.literal(r), column.literal(r)),
        4 | 5 => {
            let list: Vec<String> = (0..1 + r.below(4)).map(|_| column.literal(r)).collect();
            format!("{name} {}IN ({})", if r.one_in(4) { "NOT " } else { "" }, list.join(", "))
        }
        6 if column.is_text() => {
            let pattern = *r.of(&["a%", "a_", "%b%", "", "ab", "_", "x%z", "%", "猫%"]);
            format!("{name} {}LIKE '{pattern}'", if r.one_in(4) { "NOT " } else { "" })
        }
        7 if key.len() > 1 => rows(r, key),
        8 => format!("w = '{}'", *r.of(&["p", "q", "r"])),
        9 => format!("{} {} {name}", column.literal(r), operator(r)),
        10 => format!("{name} IS {}DISTINCT FROM {}", if r.one_in(2) { "NOT " } else { "" }, column.literal(r)),
        _ => format!("{name} {} {}", operator(r), column.literal(r)),
    }
}

const OPERATORS: [&str; 8] = ["=", "=", "=", "<>", "<", "<=", ">", ">="];

fn operator(r: &mut Random) -> &'static str {
    r.of::<&str>(&OPERATORS)
}

/// A comparison of row values, over any of the key's columns.
fn rows(r: &mut Random, key: &[Column]) -> String {
    let mut columns: Vec<&Column> = key.iter().collect();
    if r.one_in(4) {
        columns.reverse();
    }
    columns.truncate(2 + r.below(columns.len() - 1));
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let row = |r: &mut Random| {
        let literals: Vec<String> = columns.iter().map(|c| c.literal(r)).collect();
        format!("({})", literals.join(", "))
    };
    let left = format!("({})", names.join(", "));
    if r.one_in(3) {
        let list: Vec<String> = (0..1 + r.below(3)).map(|_| row(r)).collect();
        return format!("{left} IN ({})", list.join(", "));
    }
    format!("{left} {} {}", operator(r), row(r))
}

/// Ids of the rows, in the order in which they come; or the error's code.
fn ids(c: &Connection, sql: &str) -> Result<Vec<i64>, String> {
    let error = |e: saltwing::Error| e.code().to_string();
    c.query(sql, ()).map_err(error)?.map(|row| row.and_then(|row| row.get::<i64>(0)).map_err(error)).collect()
}

fn sorted(mut list: Vec<i64>) -> Vec<i64> {
    list.sort_unstable();
    list
}

/// ORDER BY along the key or, against it, its exact opposite, NULLs included.
fn order_by(key: &[Column], along: bool) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|c| {
            let direction = if c.descending == along { "DESC" } else { "ASC" };
            format!("{} {direction} NULLS {}", c.name, if along { "FIRST" } else { "LAST" })
        })
        .collect();
    parts.join(", ")
}

/// The whole table along its key, held to the order of its values.
fn whole_table(c: &Connection, key: &[Column], told: &str) -> Vec<i64> {
    let names: Vec<&str> = key.iter().map(|c| c.name.as_str()).collect();
    let sql = format!("SELECT id, {} FROM t ORDER BY {}", names.join(", "), order_by(key, true));
    let rows: Vec<Vec<Value>> = c.query(&sql, ()).unwrap().map(|row| row.unwrap().values().unwrap()).collect();
    for pair in rows.windows(2) {
        let by_column = key.iter().zip(pair[0].iter().zip(&pair[1]).skip(1)).map(|(column, (a, b))| {
            let ordering = a.sort_cmp(b);
            // NULLs come first in both directions.
            if column.descending && !a.is_null() && !b.is_null() { ordering.reverse() } else { ordering }
        });
        let ordering = by_column.fold(Ordering::Equal, Ordering::then);
        assert_eq!(ordering, Ordering::Less, "{told}\n{:?}\n{:?}", pair[0], pair[1]);
    }
    rows.iter().map(|row| if let Value::Int(id) = row[0] { id } else { panic!("{row:?}") }).collect()
}

fn fill(r: &mut Random, c: &Connection, key: &[Column]) {
    for id in 0..80 {
        let literals: Vec<String> = key.iter().map(|column| column.row_literal(r)).collect();
        if literals.iter().all(|literal| literal == "NULL") {
            continue;
        }
        let w = *r.of(&["'p'", "'q'", "NULL"]);
        c.execute(&format!("UPSERT INTO t VALUES ({}, {id}, {w})", literals.join(", ")), ()).unwrap();
    }
    c.execute("UPSERT INTO u SELECT * FROM t", ()).unwrap();
}

/// Returns how many conditions kept some rows, and not all.
fn one_table(r: &mut Random, builder: Builder, executors: &[&str]) -> usize {
    let mut telling = 0;
    let key = random_key(r);
    let (keyed, unkeyed) = create(r, &key);
    let database = builder.full_scan("allow").unwrap().buffered().open().unwrap();
    let c = database.connect().blocking();
    c.execute(&keyed, ()).unwrap_or_else(|error| panic!("{keyed}: {error}"));
    c.execute(&unkeyed, ()).unwrap();
    fill(r, &c, &key);
    for executor in executors {
        c.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        let whole = whole_table(&c, &key, &keyed);
        // Planning a relational query costs a hundred times more.
        for _ in 0..if *executor == "datafusion" { 2 } else { 25 } {
            let depth = r.below(4);
            let condition = condition(r, &key, depth);
            let told = format!("{keyed}\n{executor}: {condition}");
            let kept = one_condition(r, &c, &key, &condition, &whole, &told);
            telling += usize::from(kept > 0 && kept < whole.len());
        }
    }
    c.execute("SET executor = 'auto'", ()).unwrap();
    delete_some(r, &c, &key, &keyed);
    telling
}

/// Returns how many rows the condition keeps; none where it is refused, on both tables alike.
fn one_condition(r: &mut Random, c: &Connection, key: &[Column], condition: &str, whole: &[i64], told: &str) -> usize {
    let expected = ids(c, &format!("SELECT id FROM u WHERE {condition}"));
    let found = ids(c, &format!("SELECT id FROM t WHERE {condition}"));
    assert_eq!(found.map(sorted), expected.clone().map(sorted), "{told}");
    let Ok(expected) = expected else { return 0 };
    let expected: BTreeSet<i64> = expected.into_iter().collect();
    let count = ids(c, &format!("SELECT COUNT(*) FROM t WHERE {condition}"));
    assert_eq!(count, Ok(vec![expected.len() as i64]), "{told}");
    for along in [true, false] {
        let mut rows: Vec<i64> = whole.iter().copied().filter(|id| expected.contains(id)).collect();
        if !along {
            rows.reverse();
        }
        let order = order_by(key, along);
        let found = ids(c, &format!("SELECT id FROM t WHERE {condition} ORDER BY {order}"));
        assert_eq!(found.as_ref(), Ok(&rows), "{told}\nORDER BY {order}");
        let (limit, offset) = (r.below(8), r.below(6));
        let rows: Vec<i64> = rows.into_iter().skip(offset).take(limit).collect();
        let found =
            ids(c, &format!("SELECT id FROM t WHERE {condition} ORDER BY {order} LIMIT {limit} OFFSET {offset}"));
        assert_eq!(found, Ok(rows), "{told}\nORDER BY {order} LIMIT {limit} OFFSET {offset}");
    }
    expected.len()
}

fn delete_some(r: &mut Random, c: &Connection, key: &[Column], told: &str) {
    for _ in 0..5 {
        let condition = condition(r, key, 2);
        let Ok(gone) = ids(c, &format!("SELECT id FROM u WHERE {condition}")) else { continue };
        let told = format!("{told}\nDELETE {condition}");
        let deleted = c.execute(&format!("DELETE FROM t WHERE {condition}"), ()).unwrap();
        assert_eq!(deleted.rows_affected, gone.len() as u64, "{told}");
        c.execute(&format!("DELETE FROM u WHERE {condition}"), ()).unwrap();
        let left = |table: &str| ids(c, &format!("SELECT id FROM {table}")).map(sorted);
        assert_eq!(left("t"), left("u"), "{told}");
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

#[test]
fn a_condition_keeps_the_same_rows_with_a_key_and_without() {
    let relational = has_relational_engine().unwrap();
    let executors: &[&str] = if relational { &["auto", "datafusion"] } else { &["auto"] };
    let mut r = Random(number("SLT_SEED", 1));
    let (rounds, mut telling) = (number("SLT_ROUNDS", 40), 0);
    for round in 0..rounds {
        let directory = tempfile::tempdir().unwrap();
        let builder = match round % 20 {
            0 => Database::builder(directory.path()).store(Fjall),
            10 => Database::builder(directory.path()).store(Sled),
            _ => Database::memory_builder().store(Memory),
        };
        telling += one_table(&mut r, builder, executors);
    }
    println!("{telling} conditions over {rounds} tables kept some rows, and not all");
    assert!(telling as u64 > rounds * 5, "the conditions tell too little: {telling}");
}
