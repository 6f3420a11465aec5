//! Skipping by brute force: all rows of small domains, and a scan that goes from stretch to stretch.

use proptest::prelude::*;
use saltwing_plan::{Access, Condition, KeyRegion, ScanRange, Skip};
use saltwing_types::{Direction, Value, number};

use crate::support::brute_force::{Stored, holds};
use crate::support::{Table, parser};

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
    prop_oneof![5 => Just(Wish::Any), 11 => definite_wish()]
}

fn definite_wish() -> impl Strategy<Value = Wish> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
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
    stored(table, rows.into_iter())
}

/// The rows that can be stored, in key order.
fn stored(table: &Table, rows: impl Iterator<Item = Vec<Value>>) -> Vec<Stored> {
    let stored = |row: Vec<Value>| Some(Stored { key: table.codec.encode_logical(&row).ok()?, row, bucket: 0 });
    let mut stored: Vec<Stored> = rows.filter_map(stored).collect();
    stored.sort_by(|a, b| a.key.cmp(&b.key));
    stored
}

fn plan(text: &str, table: &Table) -> (Vec<Condition>, Access) {
    let conditions: Vec<Condition> =
        parser::condition(text, table).unwrap().into_conjuncts().into_iter().map(Condition::new).collect();
    (conditions.clone(), table.plan(conditions))
}

/// Both directions, by going from stretch to stretch, give the rows that meet the conditions and no other.
fn check(
    table: &Table,
    access: &Access,
    skip: &Skip,
    conditions: &[Condition],
    rows: &[Stored],
) -> Result<(), TestCaseError> {
    let keys = |rows: &[&Stored]| rows.iter().map(|row| row.row.clone()).collect::<Vec<_>>();
    let mut wanted: Vec<&Stored> = rows.iter().filter(|row| holds(conditions, &row.row) == Some(true)).collect();
    for reverse in [false, true] {
        if reverse {
            wanted.reverse();
        }
        let found = keys(&skipped(access, skip, rows, reverse));
        let texts: Vec<&str> = conditions.iter().map(|condition| condition.text.as_str()).collect();
        let about = format!("{} where {}, reverse {reverse}", table.definition(), texts.join(" AND "));
        prop_assert_eq!(found, keys(&wanted), "{}", about);
    }
    Ok(())
}

/// The rows of the ranges that lie in wanted skip_filter, in the order in which a scan meets them.
fn skipped<'r>(access: &Access, skip: &Skip, rows: &'r [Stored], reverse: bool) -> Vec<&'r Stored> {
    let ranges: Vec<ScanRange> = access.ranges.iter().collect();
    let holds = |row: &&Stored| ranges.iter().any(|scan| scan.range.contains(&row.key));
    let mut inside: Vec<&Stored> = rows.iter().filter(holds).collect();
    if reverse {
        inside.reverse();
    }
    let mut skip_filter = if reverse { skip.regions(Direction::Reverse) } else { skip.regions(Direction::Forward) };
    let mut wanted = Vec::new();
    let mut rest = inside.as_slice();
    while let Some(first) = rest.first() {
        let (is_wanted, place) = match skip_filter.at(&first.key) {
            KeyRegion::Match(place) => (true, place),
            KeyRegion::Gap(place) => (false, place),
        };
        let holds = |row: &&Stored| {
            place.is_none_or(|place| if reverse { place <= row.key.as_slice() } else { row.key.as_slice() < place })
        };
        let (stretch, after) = rest.split_at(rest.partition_point(holds));
        assert!(!stretch.is_empty(), "a stretch without the requested key");
        if is_wanted {
            wanted.extend_from_slice(stretch);
        }
        rest = after;
    }
    wanted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(2), failure_persistence: None, ..ProptestConfig::default() })]

    /// Conditions that are sets of values are wanted exactly.
    #[test]
    fn what_is_wanted_is_what_the_conditions_want(
        columns in prop::collection::vec((0..TYPES.len(), any::<bool>()).prop_map(|(ty, descends)| Column { ty, descends }), 2..5),
        wishes in prop::collection::vec((definite_wish(), any::<prop::sample::Index>(), prop::collection::vec(wish(), 4)), 1..3),
    ) {
        let table = table(&columns);
        let of_box = |(definite, place, wishes): &(Wish, prop::sample::Index, Vec<Wish>)| {
            let mut wishes = wishes[..columns.len()].to_vec();
            // Each box has a condition.
            if wishes.iter().all(|wish| matches!(wish, Wish::Any)) {
                *place.get_mut(&mut wishes) = definite.clone();
            }
            let texts = columns.iter().zip(&wishes).enumerate().filter_map(|(i, (column, wish))| wish.text(&format!("k{i}"), column.ty));
            texts.collect::<Vec<_>>().join(" AND ")
        };
        let boxes: Vec<String> = wishes.iter().map(of_box).collect();
        let text = boxes.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" OR ");
        let (conditions, access) = plan(&text, &table);
        let Some(skip) = &access.skip else { return Ok(()) };
        check(&table, &access, skip, &conditions, &rows(&table, &columns))?;
    }

    /// Of many boxes only the few around a row are checked, which makes no difference.
    #[test]
    fn many_boxes_want_what_their_conditions_want(
        values in prop::collection::btree_set(0i64..30, 17..30),
        shift in 0i64..31,
        twice: bool,
        descends in prop::collection::vec(any::<bool>(), 5),
        leading in prop::sample::select(vec!["", " AND z = 2", " AND z IN (1, 3)", " AND z > 1", " AND b = 1"]),
    ) {
        let order = |i: usize| if descends[i] { " desc" } else { "" };
        let table = parser::ranges(&format!(
            "ranges key=(z int{}, a int{}, b int{}, c int{}, d int{})", order(0), order(1), order(2), order(3), order(4)
        )).unwrap();
        // No two of them differ in one column only, so that they stay apart.
        let of = |a: i64| (a * 7 + shift) % 31;
        let mut list: Vec<String> = values.iter().map(|a| format!("({a}, {}, 1)", of(*a))).collect();
        if twice {
            list.extend(values.iter().map(|a| format!("({a}, {}, 2)", of(*a) + 1)));
        }
        let text = format!("(a, c, d) IN ({}){leading}", list.join(", "));
        let (conditions, access) = plan(&text, &table);
        let skip = access.skip.as_ref().unwrap();
        let row = |i: i64| {
            let a = i / 12 % 30;
            [i / 360 % 2 + 1, a, i / 6 % 2 + 1, of(a) + i / 2 % 3 - 1, i % 2 + 1].map(Value::Int).to_vec()
        };
        check(&table, &access, skip, &conditions, &stored(&table, (0..720).map(row)))?;
    }
}
