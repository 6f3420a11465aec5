//! Random conditions over a table's key.

use super::tables::{Column, Random};

pub(crate) fn condition(r: &mut Random, key: &[Column], depth: usize) -> String {
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
