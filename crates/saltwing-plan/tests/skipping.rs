//! Skipping by brute force: all rows of small domains, and a scan that goes from stretch to stretch.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use proptest::prelude::*;
use saltwing_plan::{Access, Condition, Skip, Stretch};
use saltwing_types::{Value, number};

use support::brute_force::{Stored, holds};
use support::{Table, parser};

/// Types of key columns, with literals of their values in ascending order.
const TYPES: [(&str, &[&str]); 6] = [
    ("int", &["-7", "1", "2", "3", "9"]),
    ("varchar not null", &["''", "'a'", "'ab'", "'b'"]),
    ("varchar", &["'a'", "'ab'", "'b'"]),
    ("tinyint", &["-128", "0", "1", "127"]),
    ("char(2)", &["'a'", "'ab'", "'b'"]),
    ("decimal", &["-1.5", "0", "12", "100"]),
];

#[derive(Clone, Debug)]
struct Column {
    ty: usize,
    descends: bool,
}

/// What a condition says of a column, by the numbers of its values.
#[derive(Clone, Debug)]
enum Wish {
    Any,
    In(Vec<prop::sample::Index>),
    Between(prop::sample::Index, prop::sample::Index),
    Above(prop::sample::Index),
    Below(prop::sample::Index),
    Null,
    NullOrAbove(prop::sample::Index),
    NotNull,
}

impl Wish {
    fn text(&self, name: &str, ty: usize) -> Option<String> {
        let literals = TYPES[ty].1;
        let literal = |index: &prop::sample::Index| *index.get(literals);
        Some(match self {
            Self::Any => return None,
            Self::In(list) => format!("{name} IN ({})", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
            Self::Between(a, b) => format!("{name} BETWEEN {} AND {}", literal(a), literal(b)),
            Self::Above(a) => format!("{name} > {}", literal(a)),
            Self::Below(a) => format!("{name} < {}", literal(a)),
            Self::Null => format!("{name} IS NULL"),
            Self::NullOrAbove(a) => format!("({name} IS NULL OR {name} >= {})", literal(a)),
            Self::NotNull => format!("{name} IS NOT NULL"),
        })
    }
}

fn wish() -> impl Strategy<Value = Wish> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        5 => Just(Wish::Any),
        4 => prop::collection::vec(index(), 1..3).prop_map(Wish::In),
        2 => (index(), index()).prop_map(|(a, b)| Wish::Between(a, b)),
        1 => index().prop_map(Wish::Above),
        1 => index().prop_map(Wish::Below),
        1 => Just(Wish::Null),
        1 => index().prop_map(Wish::NullOrAbove),
        1 => Just(Wish::NotNull),
    ]
}

fn table(columns: &[Column]) -> Table {
    let column = |(i, column): (usize, &Column)| {
        format!("k{i} {}{}", TYPES[column.ty].0, if column.descends { " desc" } else { "" })
    };
    let columns: Vec<String> = columns.iter().enumerate().map(column).collect();
    parser::ranges(&format!("ranges key=({})", columns.join(", "))).unwrap()
}

/// All rows, in key order.
fn rows(table: &Table, columns: &[Column]) -> Vec<Stored> {
    let mut rows = vec![Vec::new()];
    for (i, column) in columns.iter().enumerate() {
        let condition = parser::condition(&format!("k{i} IN ({})", TYPES[column.ty].1.join(", ")), table).unwrap();
        let mut values = if table.columns[i].nullable { vec![Value::Null] } else { Vec::new() };
        condition.walk(&mut |e| {
            if let saltwing_types::Expr::Literal(value, _) = e {
                values.push(number::assign(value.clone(), table.columns[i].ty).unwrap());
            }
        });
        rows = rows
            .iter()
            .flat_map(|row: &Vec<Value>| {
                values.iter().map(move |value| [row.as_slice(), std::slice::from_ref(value)].concat())
            })
            .collect();
    }
    let stored = |row: Vec<Value>| Some(Stored { key: table.codec.encode_logical(&row).ok()?, row, bucket: 0 });
    let mut stored: Vec<Stored> = rows.into_iter().filter_map(stored).collect();
    stored.sort_by(|a, b| a.key.cmp(&b.key));
    stored
}

/// The rows of the ranges that lie in wanted stretches, in the order in which a scan meets them.
fn skipped<'r>(access: &Access, skip: &Skip, rows: &'r [Stored], reverse: bool) -> Vec<&'r Stored> {
    let mut inside: Vec<&Stored> = rows.iter().filter(|row| access.ranges.contains(&row.key)).collect();
    if reverse {
        inside.reverse();
    }
    let mut stretches = if reverse { skip.reverse() } else { skip.forward() };
    let mut wanted = Vec::new();
    let mut rest = inside.as_slice();
    while let Some(first) = rest.first() {
        let (is_wanted, place) = match stretches.at(&first.key) {
            Stretch::Wanted(place) => (true, place),
            Stretch::Unwanted(place) => (false, place),
        };
        let holds = |row: &&Stored| {
            place.is_none_or(|place| if reverse { place <= row.key.as_slice() } else { row.key.as_slice() < place })
        };
        let (stretch, behind) = rest.split_at(rest.partition_point(holds));
        assert!(!stretch.is_empty(), "a stretch without the key that it was asked for");
        if is_wanted {
            wanted.extend_from_slice(stretch);
        }
        rest = behind;
    }
    wanted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Conditions that are sets of values are wanted exactly.
    #[test]
    fn what_is_wanted_is_what_the_conditions_want(
        columns in prop::collection::vec((0..TYPES.len(), any::<bool>()).prop_map(|(ty, descends)| Column { ty, descends }), 2..5),
        wishes in prop::collection::vec(prop::collection::vec(wish(), 4), 1..3),
    ) {
        let table = table(&columns);
        let of_box = |wishes: &Vec<Wish>| {
            let texts = columns.iter().zip(wishes).enumerate().filter_map(|(i, (column, wish))| wish.text(&format!("k{i}"), column.ty));
            texts.collect::<Vec<_>>().join(" AND ")
        };
        let boxes: Vec<String> = wishes.iter().map(of_box).filter(|text| !text.is_empty()).collect();
        prop_assume!(boxes.len() == wishes.len());
        let text = boxes.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" OR ");
        let conditions: Vec<Condition> =
            parser::condition(&text, &table).unwrap().into_conjuncts().into_iter().map(Condition::new).collect();
        let access = table.plan(conditions.clone());
        let Some(skip) = &access.skip else { return Ok(()) };
        let rows = rows(&table, &columns);
        for reverse in [false, true] {
            let keys = |rows: Vec<&Stored>| rows.iter().map(|row| row.row.clone()).collect::<Vec<_>>();
            let mut wanted: Vec<&Stored> = rows.iter().filter(|row| holds(&conditions, &row.row) == Some(true)).collect();
            if reverse {
                wanted.reverse();
            }
            let found = keys(skipped(&access, skip, &rows, reverse));
            prop_assert_eq!(found, keys(wanted), "{} where {}, reverse {}", table.definition(), text, reverse);
        }
    }
}
