//! Groups and aggregates are the same with a key and without, and by either executor.
//!
//! With a key, groups may come in its order, the ends of MIN and MAX are looked up, and DISTINCT
//! jumps from prefix to prefix; without one all rows are read, and groups are hashed.

use saltwing::Database;
use saltwing::StoreKind::Memory;
use sql_tests::has_relational_engine;

use super::answer::{Answer, answer, sorted};
use super::conditions::condition;
use super::tables::{Column, Random, filled, random, rounds};

/// A call of an aggregate function.
fn call(r: &mut Random, key: &[Column]) -> String {
    let column = r.of(key);
    let name = if r.one_in(5) { "w" } else { column.name.as_str() };
    // Sums of floats round, each executor in its order; so do averages of large integers.
    let (is_integer, is_decimal) = (column.kind.ty.contains("INT"), column.kind.ty.contains("DECIMAL"));
    let call = match r.below(9) {
        0 => "COUNT(*)".into(),
        1 => format!("COUNT({name})"),
        2 => format!("COUNT(DISTINCT {name})"),
        3 | 4 => format!("MIN({name})"),
        5 | 6 => format!("MAX({name})"),
        7 if is_integer => format!("SUM({})", column.name),
        7 if is_decimal => format!("{}({})", r.of(&["SUM", "AVG"]), column.name),
        _ => format!("{}(id)", r.of(&["SUM", "AVG", "SUM", "COUNT"])),
    };
    if r.one_in(8) { format!("{call} FILTER (WHERE w = 'p')") } else { call }
}

/// What rows are grouped by: mostly the first columns of the key.
fn keys(r: &mut Random, key: &[Column]) -> Vec<String> {
    let mut keys: Vec<String> = match r.below(6) {
        0 => vec!["w".into()],
        1 => vec!["id % 3".into()],
        2 => vec![r.of(key).name.clone()],
        _ => key.iter().take(1 + r.below(key.len())).map(|c| c.name.clone()).collect(),
    };
    if keys.len() > 1 && r.one_in(3) {
        keys.reverse();
    }
    keys
}

/// A statement over the table `{}`, and whether its order says which row comes where.
fn statement(r: &mut Random, key: &[Column]) -> (String, bool) {
    let filter = match r.below(3) {
        0 => String::new(),
        1 => format!(" WHERE {} = {}", key[0].name, key[0].literal(r)),
        _ => {
            let depth = r.below(3);
            format!(" WHERE {}", condition(r, key, depth))
        }
    };
    let calls: Vec<String> = (0..1 + r.below(2)).map(|_| call(r, key)).collect();
    if r.one_in(3) {
        let having = if r.one_in(6) { " HAVING COUNT(*) > 10" } else { "" };
        return (format!("SELECT {} FROM {{}}{filter}{having}", calls.join(", ")), true);
    }
    let keys = keys(r, key);
    let names = keys.join(", ");
    let mut sql = if r.one_in(3) {
        format!("SELECT DISTINCT {names} FROM {{}}{filter}")
    } else {
        let having = if r.one_in(3) { " HAVING COUNT(*) > 1" } else { "" };
        format!("SELECT {names}, {} FROM {{}}{filter} GROUP BY {names}{having}", calls.join(", "))
    };
    let is_ordered = r.one_in(2);
    if is_ordered {
        let descending = r.one_in(2);
        let order: Vec<String> = keys
            .iter()
            .map(|name| {
                let along = key.iter().any(|c| c.name == *name && c.descending);
                let nulls = if r.one_in(2) {
                    ""
                } else if descending {
                    " NULLS LAST"
                } else {
                    " NULLS FIRST"
                };
                format!("{name} {}{nulls}", if along == descending { "ASC" } else { "DESC" })
            })
            .collect();
        sql.push_str(&format!(" ORDER BY {}", order.join(", ")));
        if r.one_in(2) {
            sql.push_str(&format!(" LIMIT {} OFFSET {}", r.below(6), r.below(4)));
        }
    }
    (sql, is_ordered)
}

#[test]
fn groups_are_the_same_with_a_key_and_without_and_by_either_executor() {
    let relational = has_relational_engine().unwrap();
    let mut r = random(7);
    let (rounds, mut telling, mut failing) = (rounds(40), 0, 0);
    for _ in 0..rounds {
        let (key, keyed, c) = filled(&mut r, Database::memory_builder().store(Memory));
        for i in 0..25 {
            let (sql, is_ordered) = statement(&mut r, &key);
            let told = format!("{keyed}\n{sql}");
            let order = |answer: Answer| if is_ordered { answer } else { sorted(answer) };
            let on = |table: &str| order(answer(&c, &sql.replacen("{}", table, 1)));
            c.execute("SET executor = 'direct'", ()).unwrap();
            let (with_key, without) = (on("t"), on("u"));
            assert_eq!(with_key, without, "{told}");
            // Planning a relational query costs a hundred times more.
            if relational && i < 6 {
                c.execute("SET executor = 'datafusion'", ()).unwrap();
                assert_eq!(on("t"), with_key, "by the other executor: {told}");
            }
            match with_key {
                Ok((_, rows)) => telling += usize::from(!rows.is_empty()),
                Err(_) => failing += 1,
            }
        }
    }
    println!("{telling} statements over {rounds} tables gave rows, {failing} failed");
    assert!(telling as u64 > rounds * 10, "the statements tell too little: {telling}");
}
