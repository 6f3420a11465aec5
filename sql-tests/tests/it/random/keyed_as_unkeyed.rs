//! A condition keeps the same rows whether a key serves it or not.
//!
//! Random conditions must give the same rows on a table with a key and on one without; with
//! ORDER BY along the key or against it, and LIMIT and
//! OFFSET, the very rows that the whole table in its order says. The order itself is
//! held to the order of values. DELETE deletes what SELECT shows.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use saltwing::StoreKind::{Memory, Redb, Sled};
use saltwing::blocking::Connection;
use saltwing::{Builder, Database, Value};
use sql_tests::has_relational_engine;

use super::conditions::condition;
use super::tables::{Column, Random, filled, order_by, random, rounds};

/// Ids of the rows, in the order in which they come; or the error's code.
fn ids(c: &Connection, sql: &str) -> Result<Vec<i64>, String> {
    let error = |e: saltwing::Error| e.code().to_string();
    c.query(sql, ()).map_err(error)?.map(|row| row.and_then(|row| row.get::<i64>(0)).map_err(error)).collect()
}

fn sorted(mut list: Vec<i64>) -> Vec<i64> {
    list.sort_unstable();
    list
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

/// Returns how many conditions kept some rows, and not all.
fn one_table(r: &mut Random, builder: Builder, executors: &[&str]) -> usize {
    let mut telling = 0;
    let (key, keyed, c) = filled(r, builder);
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

#[test]
fn a_condition_keeps_the_same_rows_with_a_key_and_without() {
    let relational = has_relational_engine().unwrap();
    let executors: &[&str] = if relational { &["auto", "datafusion"] } else { &["auto"] };
    let mut r = random(1);
    let (rounds, mut telling) = (rounds(40), 0);
    for round in 0..rounds {
        let directory = tempfile::tempdir().unwrap();
        let builder = match round % 20 {
            0 | 5 => Database::builder(directory.path()).store(Redb),
            10 => Database::builder(directory.path()).store(Sled),
            _ => Database::memory_builder().store(Memory),
        };
        telling += one_table(&mut r, builder, executors);
    }
    println!("{telling} conditions over {rounds} tables kept some rows, and not all");
    assert!(telling as u64 > rounds * 5, "the conditions tell too little: {telling}");
}
