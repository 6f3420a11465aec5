//! Random expressions of SQL, most of which are refused.

use super::corpus::Corpus;
use super::words::{FUNCTIONS, LITERALS, OPERATORS, TABLES, TYPES};
use crate::random::Random;

/// Names of columns of any table, and of some that there are not.
const COLUMNS: &[&str] = &[
    "k", "v", "n", "d", "b", "x", "a", "p", "q", "r", "fuzz_a.k", "fuzz_b.p", "t.v", "missing", "\"V\"", "oid",
    "relname",
];

const PARTS: &[&str] = &["YEAR", "EPOCH", "DOW", "MICROSECOND", "nothing"];

/// An expression of at most `depth` levels. Most of its names are in `columns`.
pub fn expression(random: &mut Random, corpus: &Corpus, columns: &[&'static str], depth: u32) -> String {
    if depth == 0 || random.one_in(5) {
        return leaf(random, columns);
    }
    let depth = depth - 1;
    let mut inner = || expression(random, corpus, columns, depth);
    let (one, two, three) = (inner(), inner(), inner());
    match random.below(19) {
        0..=3 => format!("({one} {} {two})", random.text_of(&OPERATORS)),
        4..=6 => format!("{}({})", corpus.function(random), arguments(random, &[one, two, three])),
        7 | 8 => {
            let distinct = if random.one_in(6) { "DISTINCT " } else { "" };
            let over =
                if random.one_in(5) { format!(" OVER (PARTITION BY {two} ORDER BY {three})") } else { String::new() };
            format!(
                "{}({distinct}{}){over}",
                random.text_of(&FUNCTIONS),
                arguments(random, &[one, two.clone(), three.clone()])
            )
        }
        9 => format!("CAST({one} AS {})", random.text_of(&TYPES)),
        10 => format!("({one})::{}", random.text_of(&TYPES)),
        11 => format!("CASE WHEN {one} THEN {two} ELSE {three} END"),
        12 => format!("({one} BETWEEN {two} AND {three})"),
        13 => format!("({one} IN ({two}, {three}))"),
        14 => format!("({one} IS {}NULL)", if random.one_in(2) { "NOT " } else { "" }),
        15 => format!("ARRAY[{one}, {two}][{}]", leaf(random, columns)),
        16 => format!("EXTRACT({} FROM {one})", random.text_of(PARTS)),
        17 => format!("({one}, {two}) < ({three}, {one})"),
        _ => subquery(random, &one, &two),
    }
}

/// A query in an expression.
fn subquery(random: &mut Random, one: &str, two: &str) -> String {
    let table = random.text_of(TABLES);
    match random.below(3) {
        0 => format!("EXISTS (SELECT {one} FROM {table} WHERE {two})"),
        1 => format!("({one} = ANY(SELECT {two} FROM {table}))"),
        _ => format!("(SELECT {one} FROM {table} ORDER BY {two} LIMIT 1)"),
    }
}

fn arguments(random: &mut Random, all: &[String]) -> String {
    let count = random.index(all.len().saturating_add(1));
    all.get(..count).unwrap_or_default().join(", ")
}

fn leaf(random: &mut Random, columns: &[&'static str]) -> String {
    match random.below(40) {
        0..=15 if !columns.is_empty() => random.text_of(columns).to_owned(),
        0..=16 => random.text_of(COLUMNS).to_owned(),
        17 | 18 => format!("${}", random.below(4)),
        19 => format!("'{}'", "x".repeat(random.index(20_000))),
        20 => format!("{}e{}", random.next(), random.below(800) - 400),
        21 => (random.next() as i64).to_string(),
        22 => format!("{}1{}", "(".repeat(random.index(100)), ")".repeat(random.index(100))),
        23 => "NOT ".repeat(random.index(50)) + "TRUE",
        _ => random.text_of(&LITERALS).to_owned(),
    }
}
