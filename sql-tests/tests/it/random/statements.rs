//! Rows, labels, types and errors are the same by either executor.
//!
//! Projections of columns and expressions over a condition, in no order, or in the key's or against it with LIMIT and OFFSET.

use saltwing::Database;
use saltwing::StoreKind::Memory;
use sql_tests::has_relational_engine;

use super::answer::{Answer, answer, sorted};
use super::conditions::condition;
use super::tables::{Column, Random, filled, order_by, random, rounds};

/// An expression over the table's columns; with one of ids now and then that fails for some row, if it may.
fn expression(r: &mut Random, key: &[Column], may_fail: bool) -> String {
    let name = r.of(key).name.clone();
    match r.below(16) {
        0 => "id + 1".into(),
        1 => format!("id * {}", r.of(&["2", "2.5", "1e0", "-0.1"])),
        2 => format!("id % 7 - {}", r.of(&["3", "3.25", "9223372036854775000"])),
        3 => format!("COALESCE(w, '{}')", r.of(&["z", ""])),
        4 => "w || '-' || CAST(id AS VARCHAR)".into(),
        5 => format!("CASE WHEN {} THEN id ELSE -1 END", condition(r, key, 1)),
        6 => format!("CASE w WHEN 'p' THEN 1.5 WHEN 'q' THEN {} END", r.of(&["2", "2.25", "NULL"])),
        7 => format!("({})", condition(r, key, 1)),
        8 => format!("{name} IS NULL"),
        9 => "CAST(id AS DECIMAL(5,1)) / 3".into(),
        10 => "ABS(id - 40)".into(),
        11 => "LENGTH(UPPER(w))".into(),
        12 => "SUBSTR(w || 'abc', 2)".into(),
        13 if may_fail => format!("{} / (id - {})", r.of(&["1", "1.5", "1e0"]), r.below(120)),
        14 if may_fail => format!("9223372036854775807 - {} + id", r.below(80)),
        _ => name,
    }
}

fn items(r: &mut Random, key: &[Column], may_fail: bool) -> String {
    if r.one_in(8) {
        return "*".into();
    }
    let item = |r: &mut Random| {
        let item = match r.below(4) {
            0 => r.of(key).name.clone(),
            1 => (*r.of(&["id", "w", "ID", "_row_key"])).into(),
            _ => expression(r, key, may_fail),
        };
        if r.one_in(4) { format!("{item} AS \"Label {}\"", r.below(3)) } else { item }
    };
    let items: Vec<String> = (0..1 + r.below(3)).map(|_| item(r)).collect();
    items.join(", ")
}

/// A statement, and whether its order says which row comes where.
fn statement(r: &mut Random, key: &[Column]) -> (String, bool) {
    let is_ordered = r.one_in(2);
    // Which rows a LIMIT lets an executor compute is its own affair, and so is what of them fails.
    let is_limited = is_ordered && r.one_in(2);
    let items = items(r, key, !is_limited);
    let depth = r.below(3);
    // Without a key to follow, rows would have to be sorted, which the direct path leaves to the other.
    let table = if is_ordered || r.one_in(2) { "t" } else { "u" };
    let mut sql = format!("SELECT {items} FROM {table}");
    if !r.one_in(5) {
        sql.push_str(&format!(" WHERE {}", condition(r, key, depth)));
    }
    if is_ordered {
        let along = r.one_in(2);
        sql.push_str(&format!(" ORDER BY {}", order_by(key, along)));
    }
    if is_limited {
        sql.push_str(&format!(" LIMIT {} OFFSET {}", r.below(8), r.below(6)));
    }
    (sql, is_ordered)
}

#[test]
fn statements_give_the_same_by_either_executor() {
    if !has_relational_engine().unwrap() {
        println!("skipped: there is one executor in this build");
        return;
    }
    let mut r = random(3);
    let (rounds, mut telling, mut failing) = (rounds(25), 0, 0);
    for _ in 0..rounds {
        let (key, keyed, c) = filled(&mut r, Database::memory_builder().store(Memory));
        for _ in 0..12 {
            let (sql, is_ordered) = statement(&mut r, &key);
            let by = |executor: &str| -> Answer {
                c.execute(&format!("SET executor = '{executor}'"), ()).unwrap();
                let answer = answer(&c, &sql);
                if is_ordered { answer } else { sorted(answer) }
            };
            let direct = by("direct");
            assert_eq!(by("datafusion"), direct, "{keyed}\n{sql}");
            match direct {
                Ok((_, rows)) => telling += usize::from(!rows.is_empty()),
                Err(code) => {
                    assert_ne!(code, "not_supported", "by the direct path: {sql}");
                    failing += 1;
                }
            }
        }
    }
    println!("{telling} statements over {rounds} tables gave rows, {failing} failed");
    assert!(telling as u64 > rounds * 4 && failing > 0, "the statements tell too little: {telling}, {failing}");
}
