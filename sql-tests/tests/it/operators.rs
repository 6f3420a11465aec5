//! Runs each operator that compares, sorts or groups, on each type. The evaluator compares single rows; both executors must give the
//! rows that follow from those comparisons.

use std::collections::BTreeSet;

use saltwing::StoreKind::Memory;
use saltwing::blocking::Connection;
use saltwing::{Database, Value};
use sql_tests::has_relational_engine;

/// A type, and literals of it whose order, or equality, is easily missed.
struct Values {
    ty: &'static str,
    literals: &'static [&'static str],
}

const fn values(ty: &'static str, literals: &'static [&'static str]) -> Values {
    Values { ty, literals }
}

/// Types that compare with each other, family by family.
const FAMILIES: &[&[Values]] = &[
    &[
        values("TINYINT", &["-128", "0", "1", "127"]),
        values("SMALLINT", &["-32768", "0", "1", "32767"]),
        values("INTEGER", &["-2147483648", "0", "1", "16777217"]),
        values("BIGINT", &["-9223372036854775808", "0", "1", "9007199254740993", "9223372036854775807"]),
        values("UNSIGNED_INT", &["0", "1", "16777217"]),
        values("UNSIGNED_LONG", &["0", "1", "9223372036854775807"]),
        values("FLOAT", &["-0.0", "0.0", "0.1", "1", "16777216", "CAST('NaN' AS FLOAT)"]),
        values(
            "DOUBLE",
            &["-0.0", "0.0", "0.1", "1", "9007199254740992", "9223372036854775807", "CAST('NaN' AS DOUBLE)"],
        ),
        values("DECIMAL(5,2)", &["0", "0.10", "1.00", "999.99"]),
        values("DECIMAL", &["-0.1", "0", "0.1", "1.0", "9007199254740993", "9223372036854775807.5"]),
    ],
    &[values("BOOLEAN", &["FALSE", "TRUE"])],
    &[
        values("DATE", &["DATE '1969-12-31'", "DATE '2024-01-31 12:00:00.001'"]),
        values("TIME", &["TIME '1970-01-01 00:00:00'", "TIME '2024-01-31 12:00:00.001'"]),
        values(
            "TIMESTAMP",
            &[
                "TIMESTAMP '2024-01-31 12:00:00.001'",
                "TIMESTAMP '2024-01-31 12:00:00.001000001'",
                "TIMESTAMP '1969-12-31'",
            ],
        ),
    ],
    &[
        values("CHAR(3)", &["'a'", r"E'a\t'", "'a!'", "'ab'", "''"]),
        values("CHAR(5)", &["'a'", r"E'a\t'", "'a!'", "'abcde'"]),
        values("VARCHAR", &["'a'", "'a '", r"E'a\t'", "'a!'", "'ab'"]),
    ],
    &[
        values("BINARY(2)", &["X'61'", "X'6100'", "X'6162'"]),
        values("VARBINARY", &["X'61'", "X'6100'", "X'6162'", "X'ff'"]),
    ],
    &[values("UUID", &["'00000000-0000-0000-0000-000000000001'", "'ffffffff-0000-0000-0000-000000000000'"])],
    &[values(
        "INTERVAL",
        &[
            "INTERVAL '30 days'",
            "INTERVAL '1 month'",
            "INTERVAL '29 days 24 hours'",
            "INTERVAL '31 days'",
            "INTERVAL '0 days'",
        ],
    )],
    &[values("INTEGER ARRAY", &["ARRAY[1]", "ARRAY[1, NULL]", "ARRAY[1, 2]", "ARRAY[NULL, 1]", "ARRAY[2]"])],
    &[values("CHAR(3) ARRAY", &["ARRAY['a']", r"ARRAY[E'a\t']", "ARRAY['a!']", "ARRAY['a', 'b']", "ARRAY['a', NULL]"])],
    &[values("VARCHAR ARRAY", &["ARRAY['a']", "ARRAY['']", "ARRAY['a', NULL]", "ARRAY[NULL, 'a']", "ARRAY['a', 'b']"])],
    &[values(
        "DOUBLE ARRAY",
        &["ARRAY[0.0E0]", "ARRAY[-0.0E0]", "ARRAY[1.5E0, NULL]", "ARRAY[1.5E0]", "ARRAY[CAST('NaN' AS DOUBLE)]"],
    )],
];

/// How two values compare, and NULL if either is.
const OPERATORS: [&str; 8] = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"];

/// The rows as pairs of numbers.
fn pairs(c: &Connection, sql: &str) -> Result<BTreeSet<(i64, i64)>, String> {
    let rows = c.query(sql, ()).map_err(|error| format!("{sql}: {error}"))?;
    let number = |value: &Value| if let Value::Int(number) = value { *number } else { panic!("{sql}: {value:?}") };
    rows.map(|row| {
        let values = row.and_then(|row| row.values()).map_err(|error| format!("{sql}: {error}"))?;
        Ok((number(&values[0]), number(&values[1])))
    })
    .collect()
}

fn numbers(c: &Connection, sql: &str) -> Result<Vec<i64>, String> {
    let rows = c.query(sql, ()).map_err(|error| format!("{sql}: {error}"))?;
    rows.map(|row| match row.and_then(|row| row.values()).map_err(|error| format!("{sql}: {error}"))?.as_slice() {
        [Value::Int(number)] => Ok(*number),
        other => panic!("{sql}: {other:?}"),
    })
    .collect()
}

/// The number of rows.
fn count(c: &Connection, sql: &str) -> Result<i64, String> {
    let rows = c.query(sql, ()).map_err(|error| format!("{sql}: {error}"))?;
    let rows = rows.collect::<Result<Vec<_>, _>>().map_err(|error| format!("{sql}: {error}"))?;
    Ok(rows.len() as i64)
}

/// What a query gives on the direct path, if that runs it, and in the relational engine, which is the executor afterwards.
fn on_both<T>(c: &Connection, run: impl Fn(&Connection) -> Result<T, String>) -> Vec<T> {
    let on = |executor: &str| {
        c.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
        run(c)
    };
    let direct = match on("direct") {
        Err(error) if error.contains("on the direct path is not supported") => None,
        found => Some(found.unwrap()),
    };
    direct.into_iter().chain([on("datafusion").unwrap()]).collect()
}

/// Tables `a` and `b` of values, and `p` of all pairs of them, each with the numbers of its values.
struct Tables {
    connection: Connection,
    /// Tables with the rows of `b` and an index of the values, if the type can be indexed.
    indexed: Vec<&'static str>,
}

fn tables(a: &Values, b: &Values) -> Tables {
    let builder = Database::memory_builder().store(Memory).full_scan("allow").unwrap();
    let c = builder.buffered().open().unwrap().connect().blocking();
    let run = |sql: &str| c.execute(sql, ()).unwrap_or_else(|error| panic!("{sql}: {error}"));
    for (name, Values { ty, literals }) in [("a", a), ("b", b)] {
        run(&format!("CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v {ty})"));
        for (k, literal) in literals.iter().chain(&["NULL"]).enumerate() {
            run(&format!("UPSERT INTO {name} VALUES ({k}, {literal})"));
        }
    }
    let mut indexed = Vec::new();
    for (name, order) in [("ascending", "ASC"), ("descending", "DESC")] {
        run(&format!("CREATE TABLE {name} (k BIGINT NOT NULL PRIMARY KEY, v {})", b.ty));
        // A type may have no order in keys, and a value no form in them: NaN.
        let create = format!("CREATE INDEX of_{name} ON {name} (v {order})");
        let fill = format!("UPSERT INTO {name} SELECT k, v FROM b");
        if [create, fill].iter().all(|sql| c.execute(sql, ()).is_ok()) {
            indexed.push(name);
        }
    }
    run(&format!(
        "CREATE TABLE p (i BIGINT NOT NULL, j BIGINT NOT NULL, v {}, w {}, CONSTRAINT pk PRIMARY KEY (i, j))",
        a.ty, b.ty
    ));
    for (i, left) in a.literals.iter().chain(&["NULL"]).enumerate() {
        for (j, right) in b.literals.iter().chain(&["NULL"]).enumerate() {
            run(&format!("UPSERT INTO p VALUES ({i}, {j}, {left}, {right})"));
        }
    }
    Tables { connection: c, indexed }
}

/// The pairs of numbers for whose values an operator holds, row by row.
fn evaluated(c: &Connection, op: &str) -> BTreeSet<(i64, i64)> {
    c.execute("SET executor = 'direct'", ()).unwrap();
    let found = pairs(c, &format!("SELECT i, j FROM p WHERE v {op} w")).unwrap();
    c.execute("SET executor = 'datafusion'", ()).unwrap();
    found
}

/// What differs from the comparisons of single rows.
fn differences(a: &Values, b: &Values) -> Vec<String> {
    let Tables { connection: c, indexed } = tables(a, b);
    let mut wrong = Vec::new();
    let mut held = |sql: String, wanted: &BTreeSet<(i64, i64)>| match pairs(&c, &sql) {
        Ok(found) if found == *wanted => {}
        Ok(found) => wrong.push(format!("{} and {}: {sql}\n  wanted {wanted:?}\n  found  {found:?}", a.ty, b.ty)),
        Err(error) => wrong.push(format!("{} and {}: {error}", a.ty, b.ty)),
    };
    let all: Vec<(i64, i64)> = {
        let numbers = |values: &Values| 0..=values.literals.len() as i64;
        numbers(a).flat_map(|i| numbers(b).map(move |j| (i, j))).collect()
    };
    let of_left = |test: &dyn Fn(i64) -> bool| -> BTreeSet<(i64, i64)> {
        all.iter().map(|(i, _)| *i).filter(|i| test(*i)).map(|i| (i, 0)).collect()
    };
    for op in OPERATORS {
        let wanted = evaluated(&c, op);
        held(format!("SELECT i, j FROM p WHERE v {op} w"), &wanted);
        held(format!("SELECT a.k, b.k FROM a JOIN b ON a.v {op} b.v"), &wanted);
        held(format!("SELECT a.k, b.k FROM a CROSS JOIN b WHERE a.v {op} b.v"), &wanted);
        held(
            format!("SELECT a.k, b.k FROM a FULL JOIN b ON a.v {op} b.v WHERE a.k IS NOT NULL AND b.k IS NOT NULL"),
            &wanted,
        );
        for table in &indexed {
            held(format!("SELECT a.k, x.k FROM a JOIN {table} x ON a.v {op} x.v"), &wanted);
        }
        held(
            format!("SELECT a.k, 0 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.v {op} b.v)"),
            &of_left(&|i| wanted.iter().any(|(left, _)| *left == i)),
        );
        if op.starts_with("IS") {
            continue;
        }
        let some = of_left(&|i| wanted.iter().any(|(left, _)| *left == i));
        held(format!("SELECT k, 0 FROM a WHERE v {op} ANY (SELECT v FROM b)"), &some);
        held(
            format!("SELECT k, 0 FROM a WHERE v {op} ALL (SELECT v FROM b WHERE k < 1)"),
            &of_left(&|i| wanted.contains(&(i, 0))),
        );
    }
    let equal = evaluated(&c, "=");
    for sql in ["SELECT a.k, b.k FROM a JOIN b USING (v)", "SELECT a.k, b.k FROM a JOIN b ON a.v BETWEEN b.v AND b.v"] {
        held(sql.into(), &equal);
    }
    // Row values of several types compare in one type, which may not hold all digits of both.
    let of_rows = (a.ty == b.ty).then_some("SELECT k, 0 FROM a WHERE (v, 0) IN (SELECT v, 0 FROM b)");
    for sql in ["SELECT k, 0 FROM a WHERE v IN (SELECT v FROM b)"].into_iter().chain(of_rows) {
        held(sql.into(), &of_left(&|i| equal.iter().any(|(left, _)| *left == i)));
    }
    for (j, literal) in b.literals.iter().enumerate() {
        let wanted = equal.iter().filter(|(_, right)| *right == j as i64).map(|(left, _)| (*left, 0)).collect();
        held(format!("SELECT k, 0 FROM a WHERE v IN (CAST({literal} AS {}), NULL)", b.ty), &wanted);
    }
    let differs = evaluated(&c, "<>");
    held(
        "SELECT k, 0 FROM a WHERE v NOT IN (SELECT v FROM b WHERE v IS NOT NULL)".into(),
        &of_left(&|i| {
            let others = all.iter().filter(|(left, right)| *left == i && *right < b.literals.len() as i64);
            others.into_iter().all(|pair| differs.contains(pair))
        }),
    );
    wrong
}

/// What differs in orders and groups of one type.
fn differences_within(of: &Values) -> Vec<String> {
    let c = tables(of, of).connection;
    let (less, same) = (evaluated(&c, "<"), evaluated(&c, "IS NOT DISTINCT FROM"));
    let (mut wrong, null) = (Vec::new(), of.literals.len() as i64);
    let known: Vec<i64> = (0..null).collect();
    let rank = |of: i64| 1 + known.iter().filter(|other| less.contains(&(**other, of))).count() as i64;
    let mut note = |sql: &str, is_right: bool, found: &dyn std::fmt::Debug| {
        if !is_right {
            wrong.push(format!("{}: {sql}\n  found {found:?}", of.ty));
        }
    };
    for (direction, nulls) in [("ASC", "FIRST"), ("ASC", "LAST"), ("DESC", "FIRST"), ("DESC", "LAST")] {
        let sql = format!("SELECT k FROM a ORDER BY v {direction} NULLS {nulls}, k");
        let mut wanted = known.clone();
        wanted.sort_by_key(|k| if direction == "ASC" { rank(*k) } else { -rank(*k) });
        wanted.insert(if nulls == "FIRST" { 0 } else { known.len() }, null);
        for limit in ["", " LIMIT 2"] {
            let (sql, rows) = (format!("{sql}{limit}"), if limit.is_empty() { wanted.len() } else { 2 });
            for found in on_both(&c, |c| numbers(c, &sql)) {
                note(&sql, found == wanted[..rows], &found);
            }
        }
        let sql = format!("SELECT k, rank() OVER (ORDER BY v {direction}) FROM a WHERE v IS NOT NULL");
        let found = pairs(&c, &sql).unwrap();
        let place = |k: i64| match direction {
            "ASC" => rank(k),
            _ => 1 + known.iter().filter(|other| less.contains(&(k, **other))).count() as i64,
        };
        note(&sql, found == known.iter().map(|k| (*k, place(*k))).collect(), &found);
        let sql = format!("SELECT first_value(k ORDER BY v {direction}, k) FROM a WHERE v IS NOT NULL");
        let found = numbers(&c, &sql).unwrap();
        note(
            &sql,
            found == known.iter().copied().min_by_key(|k| (place(*k), *k)).into_iter().collect::<Vec<_>>(),
            &found,
        );
    }
    for (call, op) in [("min", "<"), ("max", ">")] {
        let sql = format!(
            "SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM (SELECT {call}(v) AS m FROM a) q WHERE a.v {op} m OR m {op} a.v OR a.v IS NULL)"
        );
        let found: BTreeSet<i64> = numbers(&c, &sql).unwrap().into_iter().collect();
        let ranks = known.iter().map(|k| rank(*k));
        let best = if call == "min" { ranks.min() } else { ranks.max() };
        let best: BTreeSet<i64> = known.iter().copied().filter(|k| Some(rank(*k)) == best).collect();
        note(&sql, found == best, &found);
        let sql = format!("SELECT k FROM a WHERE v = (SELECT {call}(v) FROM a)");
        for found in on_both(&c, |c| numbers(c, &sql)) {
            note(&sql, found.iter().copied().collect::<BTreeSet<i64>>() == best, &found);
        }
        let sql = format!(
            "SELECT x.k, y.k FROM a x JOIN a y ON x.k = y.k WHERE (SELECT {call}(z.v) FROM a z WHERE z.k = x.k) IS DISTINCT FROM y.v"
        );
        let found = pairs(&c, &sql).unwrap();
        note(&sql, found.is_empty(), &found);
    }
    // Intervals of one length are grouped by their parts.
    if of.ty != "INTERVAL" {
        let groups: BTreeSet<(i64, i64)> =
            (0..=null).map(|k| ((0..=null).find(|first| same.contains(&(*first, k))).unwrap_or(k), k)).collect();
        for sql in [
            "SELECT g.first, a.k FROM a JOIN (SELECT v, min(k) AS first FROM a GROUP BY v) g ON g.v IS NOT DISTINCT FROM a.v",
            "SELECT min(k) OVER (PARTITION BY v), k FROM a",
        ] {
            let found = pairs(&c, sql).unwrap();
            note(sql, found == groups, &found);
        }
        let size = |first: i64| groups.iter().filter(|(other, _)| *other == first).count() as i64;
        let sizes: BTreeSet<(i64, i64)> = groups.iter().map(|(first, _)| (*first, size(*first))).collect();
        for sql in ["SELECT min(k), count(*) FROM a GROUP BY v", "SELECT min(k), count(*) FROM a GROUP BY v, v IS NULL"]
        {
            for found in on_both(&c, |c| pairs(c, sql)) {
                note(sql, found == sizes, &found);
            }
        }
        let distinct = groups.iter().map(|(first, _)| *first).collect::<BTreeSet<i64>>().len() as i64;
        let sql = "SELECT count(DISTINCT v) FROM a";
        for found in on_both(&c, |c| numbers(c, sql)) {
            note(sql, found == [distinct - 1], &found);
        }
        let sql = "SELECT DISTINCT v FROM a";
        for found in on_both(&c, |c| count(c, sql)) {
            note(sql, found == distinct, &found);
        }
        let sql = "SELECT count(*) FROM (SELECT DISTINCT ON (v) v, k FROM a ORDER BY v, k) q";
        let found = numbers(&c, sql).unwrap();
        note(sql, found == [distinct], &found);
        for sql in [
            "SELECT count(*) FROM (SELECT DISTINCT v FROM a) q",
            "SELECT count(*) FROM (SELECT v FROM a UNION SELECT v FROM b) q",
            "SELECT count(*) FROM (SELECT v FROM a INTERSECT SELECT v FROM b) q",
            "SELECT count(*) + (SELECT count(*) FROM (SELECT v FROM a EXCEPT SELECT v FROM b) e) FROM (SELECT DISTINCT v FROM b) q",
        ] {
            let found = numbers(&c, sql).unwrap();
            note(sql, found == [distinct], &found);
        }
    }
    wrong
}

#[test]
fn each_operator_on_each_type_means_the_same_to_both_executors() {
    if !has_relational_engine().unwrap() {
        println!("skipped: there is one executor in this build");
        return;
    }
    let mut wrong = Vec::new();
    for family in FAMILIES {
        for a in *family {
            wrong.extend(differences_within(a));
            for b in *family {
                wrong.extend(differences(a, b));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
