//! Random tables, with a key and without one.

use saltwing::Builder;
use saltwing::blocking::Connection;

/// SplitMix64: a test's randomness, from its seed alone.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// A type with the literals that rows have, and those that only conditions have.
pub(crate) struct Kind {
    pub(crate) ty: &'static str,
    pub(crate) rows: &'static [&'static str],
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

const KINDS: [Kind; 24] = [
    kind("TINYINT", &["-128", "-1", "0", "1", "127"], &["128", "-129", "0.5", "1e0", "99999999999999999999"]),
    kind("INTEGER", &["-2147483648", "-1", "0", "1", "2", "7", "2147483647"], &["2147483648", "1.5", "-2e0", "'7'"]),
    kind("BIGINT", &["-9223372036854775808", "-1", "0", "5", "9223372036854775807"], &["9223372036854775808", "4.999"]),
    kind("UNSIGNED_INT", &["0", "1", "2147483647"], &["-1", "2147483648", "0.5"]),
    kind("SMALLINT", &["-32768", "-1", "0", "1", "300", "32767"], &["32768", "-32769", "300.5", "3e2", "'1'"]),
    kind("UNSIGNED_TINYINT", &["0", "1", "127"], &["-1", "128", "0.5"]),
    kind("UNSIGNED_LONG", &["0", "1", "4294967296", "9223372036854775807"], &["-1", "9223372036854775808", "1e18"]),
    kind("UNSIGNED_DOUBLE", &["0.0", "0.1", "1.5", "1e300"], &["-0.1", "0.1000000000000000001", "1"]),
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
    kind(
        "UNSIGNED_TIMESTAMP",
        &["'1970-01-01'", "'1970-01-01 00:00:00.000000001'", "'2024-02-29 01:02:03.004005006'"],
        &["'1969-12-31'", "DATE '1970-01-01'", "'9999-12-31'"],
    ),
    kind(
        "TIME",
        &["'1970-01-01 00:00:00.001'", "'1970-01-01 23:59:59'", "'2024-02-29'"],
        &["'1969-12-31'", "'0001-01-01'"],
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
    variable(
        "DECIMAL(38,10)",
        &["-9999999999999999999999999999.9999999999", "-0.0000000001", "0", "1.5", "9999999999999999999999999999"],
        &["0.00000000005", "1e30", "1.50"],
    ),
    variable("DECIMAL(6,2)", &["-9999.99", "-0.01", "0", "1.5", "9999.99"], &["1.505", "10000", "1.50"]),
    variable("VARCHAR", &["'a'", "'ab'", "'abc'", "'b'", "'é'", "'猫'", "' '", "'~'"], &["''", "'a '", "'aa'"]),
    variable("VARCHAR(3)", &["'x'", "'xy'", "'xyz'", "'🙂'"], &["'xyzz'", "''"]),
    variable("VARBINARY_ENCODED", &["X'00'", "X'00ff'", "X'01'", "X'ff'", "X'ff00'"], &["X'0000'", "X''"]),
    variable("VARBINARY", &["X'00'", "X'00ff'", "X'01'", "X'ff'", "X'ffff'"], &["X'0000'", "X''"]),
];

#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: &'static Kind,
    pub(crate) descending: bool,
    pub(crate) nullable: bool,
    pub(crate) in_key: bool,
}

impl Column {
    pub(crate) fn is_text(&self) -> bool {
        self.kind.ty.contains("CHAR")
    }

    pub(crate) fn row_literal(&self, r: &mut Random) -> String {
        if self.nullable && r.one_in(5) {
            return "NULL".into();
        }
        // A key has no empty text.
        if !self.in_key && self.kind.ty.starts_with("VARCHAR") && r.one_in(6) {
            return "''".into();
        }
        (*r.of(self.kind.rows)).into()
    }

    pub(crate) fn literal(&self, r: &mut Random) -> String {
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
            Column { name: format!("k{i}"), kind, descending, nullable, in_key: true }
        })
        .collect()
}

/// Random columns that are no part of a key.
pub(crate) fn value_columns(r: &mut Random) -> Vec<Column> {
    let column =
        |i| Column { name: format!("c{i}"), kind: r.of(&KINDS), descending: false, nullable: true, in_key: false };
    (0..3).map(column).collect()
}

/// A random key; with the same random rows a table `t` that has it, and `u` that has none. Also how `t` was made.
pub(crate) fn filled(r: &mut Random, builder: Builder) -> (Vec<Column>, String, Connection) {
    let c = builder.full_scan("allow").unwrap().buffered().open().unwrap().connect().blocking();
    let (key, keyed) = filled_with(r, &c, &[], |_, _| {});
    (key, keyed, c)
}

/// As [`filled`], with further columns. `created` runs before there are rows.
pub(crate) fn filled_with(
    r: &mut Random,
    c: &Connection,
    values: &[Column],
    created: impl FnOnce(&mut Random, &[Column]),
) -> (Vec<Column>, String) {
    let key = random_key(r);
    let (keyed, unkeyed) = create(r, &key, values);
    c.execute(&keyed, ()).unwrap_or_else(|error| panic!("{keyed}: {error}"));
    c.execute(&unkeyed, ()).unwrap();
    created(r, &key);
    fill(r, c, &key, values);
    (key, keyed)
}

/// So that some rows are many blocks.
const SMALL_BLOCKS: &str = "BLOCK_ROWS = 4";

fn create(r: &mut Random, key: &[Column], values: &[Column]) -> (String, String) {
    let columns: Vec<String> =
        key.iter().map(|c| format!("{} {}{}", c.name, c.kind.ty, if c.nullable { "" } else { " NOT NULL" })).collect();
    let parts: Vec<String> =
        key.iter().map(|c| format!("{}{}", c.name, if c.descending { " DESC" } else { "" })).collect();
    let leading_count = 1 + r.below(key.len());
    let leading: Vec<&str> = key.iter().take(leading_count).map(|c| c.name.as_str()).collect();
    let salt = match r.below(6) {
        0 | 1 => String::new(),
        2 => "SALT_BUCKETS = 1, ".into(),
        3 => "SALT_BUCKETS = 3, ".into(),
        4 => "SALT_BUCKETS = 16, ".into(),
        _ => format!("SALT_BUCKETS = 5, SALT_BY = ({}), ", leading.join(", ")),
    };
    let values: String = values.iter().map(|c| format!(", {} {}", c.name, c.kind.ty)).collect();
    let keyed = format!(
        "CREATE TABLE t ({}, id INTEGER, w VARCHAR{values}, CONSTRAINT pk PRIMARY KEY ({})) {salt}{SMALL_BLOCKS}",
        columns.join(", "),
        parts.join(", ")
    );
    let bare: Vec<String> = key.iter().map(|c| format!("{} {}", c.name, c.kind.ty)).collect();
    (keyed, format!("CREATE TABLE u ({}, id INTEGER, w VARCHAR{values}) {SMALL_BLOCKS}", bare.join(", ")))
}

/// ORDER BY along the key or, against it, its exact opposite, NULLs included.
pub(crate) fn order_by(key: &[Column], along: bool) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|c| {
            let direction = if c.descending == along { "DESC" } else { "ASC" };
            format!("{} {direction} NULLS {}", c.name, if along { "FIRST" } else { "LAST" })
        })
        .collect();
    parts.join(", ")
}

/// Writes the rows of both tables: they are recent, or in blocks, or in blocks with recent ones among them.
fn fill(r: &mut Random, c: &Connection, key: &[Column], values: &[Column]) {
    for id in 0..80 {
        let literals: Vec<String> = key.iter().map(|column| column.row_literal(r)).collect();
        if literals.iter().all(|literal| literal == "NULL") {
            continue;
        }
        let w = *r.of(&["'p'", "'q'", "NULL"]);
        let values: String = values.iter().map(|column| format!(", {}", column.row_literal(r))).collect();
        let done = c.execute(&format!("UPSERT INTO t VALUES ({}, {id}, {w}{values})", literals.join(", ")), ());
        // An index does not take each value.
        assert!(done.is_ok() || !values.is_empty() && matches!(done, Err(error) if error.code().as_str() == "bad_key"));
    }
    let run = |sql: &str| c.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("UPSERT INTO u SELECT * FROM t");
    let lie = r.below(3);
    if lie > 0 {
        run("COMPACT t, u");
    }
    if lie > 1 {
        run("UPSERT INTO t SELECT * FROM t WHERE id % 3 = 0");
        run("DELETE FROM u WHERE id % 3 = 0");
        run("UPSERT INTO u SELECT * FROM t WHERE id % 3 = 0");
    }
}

fn asked_for(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// The generator of a test. The variable that fixes the cases of property tests asks for other tables here, too.
pub(crate) fn random(own_seed: u64) -> Random {
    Random(own_seed.wrapping_add(asked_for("PROPTEST_RNG_SEED").unwrap_or(0)))
}

/// How many tables a test makes: `usual`, or more as property tests run more cases.
pub(crate) fn rounds(usual: u64) -> u64 {
    asked_for("PROPTEST_CASES").map_or(usual, |cases| (usual * cases).div_ceil(256))
}
